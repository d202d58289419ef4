package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// lot is an extender that answers by lot. What it says of a workload and a node is
// always the same, so that a decision can be explained; of some workloads it says
// nothing sensible until it is calm.
type lot struct {
	seed         uint64
	calm         *bool
	orchestrator extpoints.Orchestrator
	deaf         func()
}

// draw returns a number below n that depends on the keys.
func (x *lot) draw(n uint64, keys ...string) uint64 {
	h := fnv.New64a()
	for _, k := range keys {
		fmt.Fprintf(h, "%d %s;", x.seed, k)
	}
	return h.Sum64() >> 20 % n
}

func (x *lot) filter(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	if x.deaf != nil {
		x.deaf()
	}
	r := &extpoints.ExtenderFilterResult{Failed: map[string]string{}, Unresolvable: map[string]string{}}
	lot := x.draw(12, w.ID, "filter")
	if !*x.calm {
		switch lot {
		case 0:
			return nil, errors.New("out of order")
		case 1:
			panic("oh")
		case 2:
			return nil, nil
		case 3:
			r.Nodes = []string{"nobody"}
		}
	}
	if lot == 4 {
		r.Failed["n0"], r.Failed["nobody"] = "named unasked", "named unasked"
	}
	r.Bare = lot == 5
	for i := range nodes {
		name := nodes[len(nodes)-1-i].Node.Name
		switch {
		case lot < 4 || lot > 8 || x.draw(4, w.ID, name) > 0 || name == "spare": // where all must fit in the end
			r.Nodes = append(r.Nodes, name)
		case lot == 6:
			r.Unresolvable[name] = "no use"
		case lot == 7:
			r.Failed[name] = "busy"
		}
	}
	return r, nil
}

func (x *lot) prioritize(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (map[string]int64, error) {
	if x.deaf != nil {
		x.deaf()
	}
	points := map[string]int64{}
	switch x.draw(8, w.ID, "prioritize") {
	case 0:
		return nil, errors.New("out of order")
	case 1:
		panic("oh")
	case 2:
		points["nobody"] = 1 << 62
	}
	for _, n := range nodes {
		if x.draw(3, w.ID, n.Node.Name, "scored") > 0 {
			points[n.Node.Name] = int64(x.draw(4, w.ID, n.Node.Name, "points"))
		}
	}
	return points, nil
}

func (x *lot) preempt(_ context.Context, w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, _ extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	if x.deaf != nil {
		x.deaf()
	}
	switch x.draw(8, w.ID, "preempt") {
	case 0:
		return nil, errors.New("out of order")
	case 1:
		panic("oh")
	}
	maps.DeleteFunc(candidates, func(node string, _ *extpoints.Victims) bool { return x.draw(4, w.ID, node, "preempt") == 0 })
	return candidates, nil
}

func (x *lot) bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	if !*x.calm && x.draw(4, w.ID, b.Node) == 0 {
		return errors.New("out of order")
	}
	return x.orchestrator.Bind(ctx, w, b)
}

// lots are three of them.
func lots(seed uint64, o extpoints.Orchestrator, calm *bool, deaf func()) []extpoints.Extender {
	x := func(name string, ignorable bool, seed uint64) extpoints.Extender {
		l := &lot{seed: seed, calm: calm, orchestrator: o, deaf: deaf}
		e := extpoints.Extender{
			Name: name, Ignorable: ignorable, Weight: 1 + int64(seed%5), Filter: l.filter, Prioritize: l.prioritize, Preempt: l.preempt,
			Interested: func(w *model.Workload) bool { return l.draw(3, w.ID) > 0 },
		}
		if name == "binder" {
			e.Bind = l.bind
		}
		return e
	}
	return []extpoints.Extender{x("ignorable", true, seed), x("binder", seed%2 == 0, seed+1000), x("plain", false, seed+2000)}
}

// With extenders that fail in every way nothing is lost either, the number of
// workers does not show, and a replay, which asks nobody, does the same.
func TestHistoriesWithExtenders(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 8) {
		simulated := func(workers int) *simulate.Result {
			o := simulate.Options{Record: true, Workers: workers, TieBreak: engine.TieBreak(seed % 3)}
			if seed%5 == 0 {
				o.Nodes, o.Steps = 110+int(seed%250), 60
			}
			calm := false
			o.Configure = func(cfg *engine.Config) {
				calm = false // a failure is looked into with more histories
				cfg.Extenders = lots(seed, cfg.Orchestrator, &calm, nil)
			}
			o.Calm = func() { calm = true }
			return simulate.Run(t, seed, o)
		}
		one, many := simulated(1), simulated(16)
		require.Len(t, many.Lives, len(one.Lives), "seed %d", seed)
		for i, life := range one.Lives {
			requireSameLines(t, life.Events, many.Lives[i].Events, "seed %d, 1 and 16 workers", seed)
			requireSameLog(t, life.Log, many.Lives[i].Log, "seed %d, 1 and 16 workers", seed)

			var events []string
			var again bytes.Buffer
			cfg := one.Config(&events)
			cfg.Extenders = lots(seed, nil, new(bool), func() { t.Errorf("seed %d: a replay asks nobody", seed) })
			cfg.Recorder = engine.NewRecorder(&again)
			_, err := engine.Replay(cfg, bytes.NewReader(life.Log))
			require.NoError(t, err, "seed %d", seed)
			requireSameLines(t, life.Events, events, "seed %d, replay", seed)
			requireSameLog(t, life.Log, again.Bytes(), "seed %d, replay", seed)
		}
	}
}
