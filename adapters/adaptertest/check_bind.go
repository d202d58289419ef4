package adaptertest

import (
	"context"
	"errors"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var errByTheKit = errors.New("an error made by the adapter kit")

func checkBindTwice(w *world) {
	w.node("n1", 2)
	w.submit("a")
	w.start(nil)
	w.running("a")
	a := w.record("a")
	ctx, cancel := w.direct()
	defer cancel()
	for range 2 {
		err := call(func() error {
			return w.orchestrator().Bind(ctx, a.Workload, model.Binding{Workload: a.ID, Node: a.Node, Devices: a.Shares})
		})
		if err != nil {
			w.tb.Errorf("Bind again, to the node where it runs: %v, want success", err)
		}
	}
	w.once("a")
}

func checkBindElsewhere(w *world) {
	w.node("n1", 1)
	w.submit("a")
	w.start(nil)
	w.running("a")
	w.node("n2", 1)
	w.submit("b") // so that n2 is known to the adapter for sure
	w.runningOn("n2", "b")
	w.must("finish workload b", w.h.Finish("b"))
	w.gone("b")
	a := w.record("a")
	ctx, cancel := w.direct()
	defer cancel()
	err := call(func() error {
		return w.orchestrator().Bind(ctx, a.Workload, model.Binding{Workload: a.ID, Node: "n2"})
	})
	if err == nil {
		w.tb.Errorf("Bind to n2 of what runs on n1: success, want an error")
	}
	w.runningOn("n1", "a")
	w.once("a")
}

func checkBindConcurrently(w *world) {
	var mu sync.Mutex
	var failed []error
	w.node("n1", 2)
	w.node("n2", 2)
	w.submit("a", "b", "c")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		err := errors.Join(together(4, func() error { return o.Bind(ctx, wl, b) })...)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, err)
		}
		return err
	})
	w.running("a", "b", "c")
	w.once("a", "b", "c")
	w.end()
	for _, err := range failed {
		w.tb.Errorf("Bind four times at once: %v, want four successes", err)
	}
}

// checkBindEnded leaves the answer open, but not that it is true.
func checkBindEnded(w *world) {
	var tried once
	w.node("n1", 1)
	w.node("n2", 1)
	w.submit("a")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		if tried.first(wl.Name) {
			ended, cancel := context.WithCancelCause(ctx)
			cancel(errByTheKit)
			ctx = ended
		}
		return o.Bind(ctx, wl, b)
	})
	w.running("a")
	w.once("a")
}

// checkBindFails: "broken" cannot be bound, and as long as it cannot, the room
// is there for "other".
func checkBindFails(w *world) {
	failed := make(chan struct{}, 1)
	repaired := make(chan struct{})
	w.node("n1", 1)
	w.submit("broken")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		if wl.Name != "broken" || isClosed(repaired) {
			return o.Bind(ctx, wl, b)
		}
		select {
		case failed <- struct{}{}:
		default:
		}
		return errByTheKit
	})
	receive(w, "a bind of workload broken", failed)
	w.submit("other")
	w.running("other")
	close(repaired)
	w.must("finish workload other", w.h.Finish("other"))
	w.running("broken")
	w.once("broken", "other")
}

// checkBindAnswerLost: the world starts the workload and says so, but the
// answer never reaches the engine, which has another node to try.
func checkBindAnswerLost(w *world) {
	var tried once
	w.node("n1", 3)
	w.node("n2", 3)
	w.submit("a", "b", "c")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		err := o.Bind(ctx, wl, b)
		if err == nil && tried.first(wl.Name) {
			return errByTheKit
		}
		return err
	})
	w.running("a", "b", "c")
	w.once("a", "b", "c")
}

// checkEvictWhileBinding: a bind that is under way may have arrived, so it is
// not called off; the adapter is asked to evict what it has started.
func checkEvictWhileBinding(w *world) {
	var tried once
	entered, release := make(chan struct{}, 1), make(chan struct{})
	w.node("n1", 1)
	w.submit("old")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		if tried.first(wl.Name) && wl.Name == "old" {
			entered <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return o.Bind(ctx, wl, b)
	})
	receive(w, "a bind of workload old", entered)
	w.submit("new")
	w.probe.bar("old") // it may be wanted again, but not here
	w.must("evict workload old", w.engine.Evict(w.record("old").ID, "the check wants its room"))
	close(release)
	w.running("new")
	w.once("old", "new")
}

// once tells the first time from all others.
type once struct {
	mu   sync.Mutex
	seen map[string]int
}

// first reports whether it is called for the name for the first time.
func (o *once) first(name string) bool { return o.nth(name) == 1 }

// nth is how often it has been called for the name.
func (o *once) nth(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[string]int{}
	}
	o.seen[name]++
	return o.seen[name]
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
