package adaptertest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// checkRestart ends a session with work in every stage: "ran" is confirmed,
// "asked" was started but its bind has not returned, "asking" is being bound
// and the adapter has not been asked yet, "waiting" fits nowhere.
func checkRestart(w *world) {
	entered := make(chan string, 2)
	w.node("n1", 5)
	w.submit("ran")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		var err error
		if wl.Name != "asking" {
			err = o.Bind(ctx, wl, b)
		}
		if wl.Name == "ran" || err != nil {
			return err
		}
		entered <- wl.Name
		<-ctx.Done()
		return context.Cause(ctx)
	}, func(cfg *engine.Config) { cfg.DrainTimeout = -1 })
	w.probe.bar("waiting")
	w.running("ran")
	w.submit("asked", "asking", "waiting")
	receive(w, "the binds of asked and asking", entered)
	receive(w, "the binds of asked and asking", entered)
	w.end()

	w.submit("late")
	w.start(nil)
	w.running("ran", "asked", "asking", "waiting", "late")
	w.once("ran", "asked", "asking", "waiting", "late")
}

// checkRestartAfterChanges changes the world while nobody looks.
func checkRestartAfterChanges(w *world) {
	w.node("n1", 2)
	w.submit("done")
	w.start(nil)
	w.running("done")
	w.node("n2", 2)
	w.submit("a", "b")
	w.running("a", "b")
	w.end()

	w.must("finish workload done", w.h.Finish("done"))
	w.kill("n2")
	w.node("n3", 2)
	w.submit("new")
	w.start(nil)
	w.running("a", "b", "new")
	w.once("done", "new")
	w.until("done is finished or forgotten", func(v *engine.View, _ map[string][]string) bool {
		r, ok := workload(v, "done")
		return !ok || r.Phase == model.Finished
	})
	w.noNode("n2")
}

func checkSlowBinds(w *world) {
	const limit = 2
	var under, most atomic.Int64
	names := []string{"a", "b", "c", "d", "e", "f"}
	entered, release := make(chan struct{}, len(names)), make(chan struct{})
	w.node("n1", int64(len(names)))
	w.submit(names...)
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		n := under.Add(1)
		defer under.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		entered <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return o.Bind(ctx, wl, b)
	}, func(cfg *engine.Config) { cfg.MaxBindings, cfg.MaxBindingsPerNode = limit, limit })
	for range limit {
		receive(w, "binds that are under way at once", entered)
	}
	close(release)
	w.running(names...)
	w.once(names...)
	if n := most.Load(); n != limit {
		w.tb.Errorf("%d binds were under way at once, want %d", n, limit)
	}
}

// checkDrain: the bind begins before the session is told to end and goes on
// after it.
func checkDrain(w *world) {
	entered := make(chan struct{}, 1)
	stopped, answer := make(chan error, 1), make(chan error, 1)
	w.node("n1", 1)
	w.submit("a")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		entered <- struct{}{}
		<-w.ctx.Done()
		stopped <- context.Cause(ctx)
		err := o.Bind(ctx, wl, b)
		answer <- err
		return err
	})
	receive(w, "the bind of a", entered)
	w.end()
	if err := receive(w, "the end of the session", stopped); err != nil {
		w.tb.Errorf("the bind was cancelled (%v) although there was time", err)
	}
	if err := receive(w, "the answer of Bind", answer); err != nil {
		w.tb.Errorf("Bind while the engine stops: %v, want success", err)
	}
	w.start(nil)
	w.running("a")
	w.once("a")
}

func checkDrainTimeout(w *world) {
	entered := make(chan struct{}, 1)
	cause := make(chan error, 1)
	w.node("n1", 1)
	w.submit("a")
	w.start(func(ctx context.Context, _ extpoints.Orchestrator, _ *model.Workload, _ model.Binding) error {
		entered <- struct{}{}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return ctx.Err()
	}, func(cfg *engine.Config) { cfg.DrainTimeout = time.Millisecond })
	receive(w, "the bind of a", entered)
	w.end()
	if err := receive(w, "the end of the bind", cause); !errors.Is(err, engine.ErrStopped) {
		w.tb.Errorf("the cause of the bind's end is %v, want %v", err, engine.ErrStopped)
	}
	w.start(nil)
	w.running("a")
	w.once("a")
}
