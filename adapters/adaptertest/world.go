package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// world is a harness, the session under way in it, and what the check knows of
// both.
type world struct {
	tb TB
	h  Harness

	// Of the session under way; engine is nil where there is none.
	engine *engine.Engine
	probe  *probe
	ctx    context.Context
	cancel context.CancelFunc
	wait   func() error
	// view is of the session under way, or of the last one.
	view func() *engine.View

	slots map[string]int64    // by node
	dead  map[string][]period // by node

	wanted map[string]int // how often to be started, by workload
}

// period is a part of the history, from one length of it to another.
type period struct {
	from, to int // to is -1 while it lasts
}

func newWorld(tb TB, newHarness NewHarness) *world {
	tb.Helper()
	w := &world{tb: tb, h: newHarness(tb), slots: map[string]int64{}, dead: map[string][]period{}, wanted: map[string]int{}}
	tb.Cleanup(w.end)
	return w
}

// start begins a session whose binds go through b (nil: straight).
func (w *world) start(b binder, change ...func(*engine.Config)) {
	w.tb.Helper()
	if b == nil {
		b = straight
	}
	w.probe = &probe{nameless: make(chan struct{}), binder: b, barred: map[string]bool{}}
	cfg, err := w.probe.config()
	w.must("make the configuration", err)
	for _, f := range change {
		f(&cfg)
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	s, err := w.h.Start(w.ctx, cfg)
	if err != nil || s.Engine == nil || s.Wait == nil {
		w.cancel()
		w.tb.Fatalf("start a session: error %v, session %+v", err, s)
	}
	w.engine, w.wait, w.view = s.Engine, s.Wait, s.Engine.View
}

// end ends the session under way, if there is one, and waits for it.
func (w *world) end() {
	w.tb.Helper()
	if w.engine == nil {
		return
	}
	w.cancel()
	wait := w.wait
	w.engine = nil
	done := make(chan error, 1)
	go func() { done <- wait() }()
	timer := time.NewTimer(2 * deadline) // more than the drain timeout
	defer timer.Stop()
	select {
	case err := <-done:
		w.must("run the session", err)
	case <-timer.C:
		w.tb.Fatalf("the session did not end within %v", 2*deadline)
	}
}

func (w *world) must(what string, err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatalf("%s: %v", what, err)
	}
}

// node lets a node join that has room for so many workloads of the kit's.
func (w *world) node(name string, slots int64) {
	w.tb.Helper()
	if periods := w.dead[name]; len(periods) > 0 {
		periods[len(periods)-1].to = len(w.h.Log().Events())
	}
	w.slots[name] = slots
	w.must("add node "+name, w.h.AddNode(&model.Node{
		Name:         name,
		Labels:       map[string]string{"kubernetes.io/hostname": name},
		Allocatable:  model.Resources{CPU: slots * slotCPU, Memory: slots * slotMemory},
		MaxWorkloads: slots,
	}))
}

// What one workload of the kit's needs.
const (
	slotCPU    = 1000
	slotMemory = 64 << 20
)

func (w *world) kill(node string) {
	w.tb.Helper()
	w.must("kill node "+node, w.h.KillNode(node))
	w.dead[node] = append(w.dead[node], period{len(w.h.Log().Events()), -1})
}

func (w *world) submit(names ...string) {
	w.tb.Helper()
	for _, name := range names {
		w.must("submit workload "+name, w.h.Submit(newWorkload(name)))
	}
}

func newWorkload(name string) *model.Workload {
	return &model.Workload{ID: name, Name: name, Requests: model.Resources{CPU: slotCPU, Memory: slotMemory}}
}

// workload returns what the view knows of the workload with the name.
func workload(v *engine.View, name string) (model.WorkloadRecord, bool) {
	var found model.WorkloadRecord
	for r := range v.Workloads() {
		if r.Name == name && (found.Workload == nil || r.CreateIndex > found.CreateIndex) {
			found = r
		}
	}
	return found, found.Workload != nil
}

// record is workload for one that must be there.
func (w *world) record(name string) model.WorkloadRecord {
	w.tb.Helper()
	r, ok := workload(w.engine.View(), name)
	if !ok {
		w.tb.Fatalf("the engine does not know workload %s\n%s", name, w.situation())
	}
	return r
}

// until waits until the engine's record and the world, which says for each
// workload on which nodes it runs, are as they should be.
func (w *world) until(what string, is func(v *engine.View, on map[string][]string) bool) {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	for {
		v, events := w.engine.View(), w.h.Log().Events()
		if is(v, runs(events)) {
			return
		}
		w.mustHaveNames(v)
		// Whichever changes first.
		changed, changes := context.WithCancel(ctx)
		w.h.Log().after(len(events), changes)
		_, _ = v.Wait(changed, engine.QueryWorkloads())
		changes()
		if ctx.Err() != nil {
			w.tb.Fatalf("waited for %v in vain: %s\n%s", deadline, what, w.situation())
		}
	}
}

// running waits until the workloads run and the engine knows it.
func (w *world) running(names ...string) {
	w.tb.Helper()
	w.runningOn("", names...)
}

// runningOn is running, on a certain node.
func (w *world) runningOn(node string, names ...string) {
	w.tb.Helper()
	for _, name := range names {
		what := name + " runs and is confirmed"
		if node != "" {
			what += " on " + node
		}
		w.until(what, func(v *engine.View, on map[string][]string) bool {
			r, ok := workload(v, name)
			return ok && r.Phase == model.Confirmed && (node == "" || r.Node == node) && slices.Contains(on[name], r.Node)
		})
	}
}

// gone waits until the workload takes no room as far as the engine knows.
func (w *world) gone(name string) {
	w.tb.Helper()
	w.until(name+" is on no node", func(v *engine.View, _ map[string][]string) bool {
		r, ok := workload(v, name)
		return !ok || !r.Phase.TakesRoom()
	})
}

// noNode waits until the engine does not know the node any more.
func (w *world) noNode(name string) {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	for v := w.engine.View(); ; {
		if _, there := v.Node(name); !there {
			return
		}
		next, err := v.Wait(ctx, engine.QueryNode(name))
		if err != nil {
			w.tb.Fatalf("waited for %v in vain: node %s has gone\n%s", deadline, name, w.situation())
		}
		v = next
	}
}

// receive waits for a signal of the check's own binder.
func receive[T any](w *world, what string, c <-chan T) T {
	w.tb.Helper()
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-w.probe.nameless:
		w.mustHaveNames(w.view())
	case <-timer.C:
	}
	w.tb.Fatalf("waited for %v in vain: %s\n%s", deadline, what, w.situation())
	panic("Fatalf returned")
}

// mustHaveNames ends the check if the adapter drops names: the kit would wait for the
// workload in vain.
func (w *world) mustHaveNames(v *engine.View) {
	w.tb.Helper()
	for r := range v.Workloads() {
		if r.Name == "" {
			w.tb.Fatalf("workload %q was handed to the engine without its Name: the kit knows workloads by it, see Harness", r.ID)
		}
	}
}

var errPanicked = errors.New("the adapter panicked")

// call calls the adapter, and turns a panic into an error.
func call(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", errPanicked, cause)
		}
	}()
	return f()
}

// together calls f n times at once and returns the answers.
func together(n int, f func() error) []error {
	answers := make([]error, n)
	var calls sync.WaitGroup
	for i := range answers {
		calls.Go(func() { answers[i] = call(f) })
	}
	calls.Wait()
	return answers
}

// orchestrator is the adapter under test, for calls past the engine.
func (w *world) orchestrator() extpoints.Orchestrator { return w.probe.handle.Orchestrator() }

// direct is a context for such a call.
func (w *world) direct() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), deadline)
}

// situation says how things are, for messages.
func (w *world) situation() string {
	var b strings.Builder
	if w.engine != nil {
		b.WriteString("the engine's record:\n")
		v := w.engine.View()
		for n := range v.Nodes() {
			fmt.Fprintf(&b, "  node %s\n", n.Name)
		}
		for r := range v.Workloads() {
			fmt.Fprintf(&b, "  workload %s %v %s\n", r.Name, r.Phase, r.Node)
		}
	}
	history := w.h.Log().Events()
	b.WriteString("the world's history:\n")
	for _, e := range history {
		fmt.Fprintf(&b, "  %v\n", e)
	}
	for _, problem := range w.problems(history) {
		fmt.Fprintf(&b, "%s\n", problem)
	}
	return b.String()
}

// problems goes through the history and lists what should not have happened.
func (w *world) problems(history []Event) []string {
	var list []string
	problem := func(i int, format string, args ...any) {
		list = append(list, fmt.Sprintf("line %d of the history: %s", i+1, fmt.Sprintf(format, args...)))
	}
	on := map[string][]string{} // by workload
	used := map[string]int64{}  // by node
	for i, e := range history {
		nodes := on[e.Workload]
		if e.Ended {
			at := slices.Index(nodes, e.Node)
			if at < 0 {
				problem(i, "%v, but does not run there", e)
				continue
			}
			on[e.Workload] = slices.Delete(nodes, at, at+1)
			used[e.Node]--
			continue
		}
		if len(nodes) > 0 {
			problem(i, "%v, but runs on %v already", e, nodes)
		}
		if used[e.Node]++; used[e.Node] > w.slots[e.Node] {
			problem(i, "%v, where there is room for %d only", e, w.slots[e.Node])
		}
		for _, p := range w.dead[e.Node] {
			if i >= p.from && (p.to < 0 || i < p.to) {
				problem(i, "%v, which has gone", e)
			}
		}
		on[e.Workload] = append(nodes, e.Node)
	}
	return list
}
