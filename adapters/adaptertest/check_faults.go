package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// fault is a way in which a bind can go wrong; bound says whether the adapter
// was asked before it did.
type fault struct {
	name  string
	bound bool
	fail  func() error
}

func returns(err error) func() error { return func() error { return err } }

// faults are all of them.
var faults = []fault{
	{"error", false, returns(errByTheKit)},
	{"error-bound", true, returns(errByTheKit)},
	{"joined", false, returns(errors.Join(errByTheKit, errors.New("and another")))},
	{"canceled", false, returns(context.Canceled)},
	{"canceled-bound", true, returns(fmt.Errorf("wrapped: %w", context.Canceled))},
	{"deadline", false, returns(fmt.Errorf("wrapped: %w", context.DeadlineExceeded))},
	{"not-there", false, returns(fmt.Errorf("wrapped: %w", extpoints.ErrNotThere))},
	{"not-there-bound", true, returns(extpoints.ErrNotThere)},
	{"panic-text", false, func() error { panic("a text") }},
	{"panic-error", false, func() error { panic(errByTheKit) }},
	{"panic-bound", true, func() error { panic("a text") }},
	{"panic-nil", false, func() error { panic(nil) }},
	{"panic-runtime", false, func() error {
		var none map[string]int
		none["x"]++ //nolint:staticcheck // That it panics is the point.
		return nil
	}},
	{"panic-runtime-bound", true, func() error {
		var none []int
		return fmt.Errorf("%d", none[len(none)])
	}},
}

func (f fault) strike(ctx context.Context, o extpoints.Orchestrator, w *model.Workload, b model.Binding) error {
	if f.bound {
		// What it answers is lost, whatever it is.
		_ = o.Bind(ctx, w, b)
	}
	return f.fail()
}

// checkBindErrors gives each workload the fault of its name, twice.
func checkBindErrors(w *world) {
	var tried once
	var names []string
	byName := map[string]fault{}
	for _, f := range faults {
		names = append(names, f.name)
		byName[f.name] = f
	}
	n := int64(len(names))
	w.node("n1", n)
	w.node("n2", n)
	w.submit(names...)
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		if tried.nth(wl.Name) <= 2 {
			return byName[wl.Name].strike(ctx, o, wl, b)
		}
		return o.Bind(ctx, wl, b)
	})
	w.running(names...)
	w.once(names...)
}

// stormSize is how many workloads one of the storm's submitters submits, and
// how many submitters there are.
const (
	stormSize       = 12
	stormSubmitters = 4
)

// checkStorm: for its first attempts each workload meets faults that its name
// chooses, several calls at once among them.
func checkStorm(w *world) {
	var tried once
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		attempt := tried.nth(wl.Name)
		switch roll := roll(wl.Name, attempt); {
		case attempt > 3 || roll >= len(faults)+2:
			return o.Bind(ctx, wl, b)
		case roll >= len(faults):
			return errors.Join(together(3, func() error { return o.Bind(ctx, wl, b) })...)
		default:
			return faults[roll].strike(ctx, o, wl, b)
		}
	})
	names := make([][]string, stormSubmitters)
	failed := make([]error, stormSubmitters)
	var submitters sync.WaitGroup
	for i := range names {
		for j := range stormSize {
			names[i] = append(names[i], fmt.Sprintf("storm-%d-%d", i, j))
		}
		submitters.Go(func() {
			for _, name := range names[i] {
				failed[i] = errors.Join(failed[i], w.h.Submit(newWorkload(name)))
			}
		})
	}
	// With room for all on three of the nodes: who was told that a node is not there keeps away from it
	// for a minute, and waits for the others.
	for _, node := range []string{"n1", "n2", "n3", "n4"} {
		w.node(node, 2*stormSize)
	}
	submitters.Wait()
	w.must("submit workloads", errors.Join(failed...))
	all := slices.Concat(names...)
	w.running(all...)
	w.once(all...)
}

// roll is a number from 0 to len(faults)+3 that looks random.
func roll(name string, attempt int) int {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", name, attempt)
	return int(h.Sum32() % uint32(len(faults)+4))
}
