package noderesources

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// proposed is a placement of the nodes with the members proposed for it.
func proposed(nodes []*extpoints.NodeInfo, members ...*model.Workload) *extpoints.Assignments {
	a := &extpoints.Assignments{Placement: &extpoints.Placement{Nodes: nodes}}
	for _, m := range members {
		a.Proposals = append(a.Proposals, extpoints.Proposal{Workload: &extpoints.WorkloadInfo{Workload: m}})
	}
	return a
}

func scorePlacement(t *testing.T, f *Fit, a *extpoints.Assignments) int64 {
	t.Helper()
	score, status := f.ScorePlacement(nil, nil, a)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	return score
}

// All nodes of a placement count as one, and fuller is better.
func TestScorePlacement(t *testing.T) {
	half := load{amounts(4000, 1000, 0), []model.Resources{amounts(1000, 500, 0)}}
	empty := load{size: amounts(6000, 1000, 0)}
	scalars := load{amounts(4000, 1000, 0, some(scalarA, 8)), []model.Resources{amounts(0, 0, 0, some(scalarA, 3))}}
	cpuOnly := []ResourceWeight{{Name: model.CPU}}
	m := func(cpu, memory int64, s ...model.Scalar) *model.Workload {
		return exact(fmt.Sprint("m", cpu, memory, s), amounts(cpu, memory, 0, s...))
	}
	for _, c := range []struct {
		name     string
		strategy Strategy
		nodes    []load
		members  []*model.Workload
		want     int64
	}{
		{"nobody", Strategy{Resources: cpuOnly}, []load{half, empty}, nil, 10},
		{"two members", Strategy{Resources: cpuOnly}, []load{half, empty}, []*model.Workload{m(1500, 0), m(1500, 0)}, 40},
		{"the strategy for nodes does not matter", Strategy{Type: LeastAllocated, Resources: cpuOnly}, []load{half, empty}, []*model.Workload{m(3000, 0)}, 40},
		{"rounded down", Strategy{Resources: cpuOnly}, []load{half, empty}, []*model.Workload{m(3099, 0)}, 40},
		{"CPU and memory alike", Strategy{}, []load{half, empty}, []*model.Workload{m(3000, 1100)}, 60},
		{"by weight", Strategy{Resources: []ResourceWeight{{Name: model.CPU, Weight: 3}, {Name: model.Memory, Weight: 1}}},
			[]load{half, empty}, []*model.Workload{m(3000, 1100)}, 50},
		{"more than there is", Strategy{Resources: cpuOnly}, []load{half, empty}, []*model.Workload{m(20000, 0)}, 100},
		{"no nodes", Strategy{}, nil, []*model.Workload{m(1, 1)}, 0},
		{"what no node has does not count", Strategy{Resources: []ResourceWeight{{Name: model.CPU}, {Name: scalarB}}},
			[]load{half, empty}, []*model.Workload{m(3000, 0, some(scalarB, 1))}, 40},
		{"a scalar that nobody asks for does not count", Strategy{Resources: []ResourceWeight{{Name: model.CPU}, {Name: scalarA}}},
			[]load{scalars, scalars}, []*model.Workload{m(800, 0)}, 10},
		{"a scalar that one member asks for does", Strategy{Resources: []ResourceWeight{{Name: model.CPU}, {Name: scalarA}}},
			[]load{scalars, empty}, []*model.Workload{m(1000, 0), m(0, 0, some(scalarA, 1))}, (10 + 50) / 2},
	} {
		var nodes []*extpoints.NodeInfo
		for _, l := range c.nodes {
			nodes = append(nodes, l.node(false))
		}
		f := newFit(t, FitArgs{Strategy: c.strategy})
		if got := scorePlacement(t, f, proposed(nodes, c.members...)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Members without requests count with their estimated load, as when a node is
// scored, and with what Fit is to count of them where that is given.
func TestScorePlacementCountsTheEstimate(t *testing.T) {
	nodes := []*extpoints.NodeInfo{load{size: amounts(1000, 0, 0)}.node(false)}
	f := newFit(t, nil)
	for want, w := range map[int64]*model.Workload{
		10: {ID: "a"}, // 100 milli-CPU
		25: {ID: "b", Estimate: &model.Resources{CPU: 250}},
		40: {ID: "c", FitLoad: &model.Resources{CPU: 400}},
	} {
		if got := scorePlacement(t, f, proposed(nodes, w)); got != want {
			t.Errorf("%s: %d, want %d", w.ID, got, want)
		}
	}
}

func TestScorePlacementByDefinition(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	f := newFit(t, FitArgs{Strategy: Strategy{Resources: []ResourceWeight{{Name: model.CPU, Weight: 3}, {Name: model.Memory, Weight: 2}, {Name: scalarA, Weight: 7}}}})
	random := func() model.Resources { return amounts(r.Int64N(5), r.Int64N(5), 0, some(scalarA, r.Int64N(3))) }
	for range 2000 {
		var nodes []*extpoints.NodeInfo
		for range r.IntN(4) {
			nodes = append(nodes, load{random(), []model.Resources{random()}}.node(false))
		}
		var members []*model.Workload
		for range r.IntN(4) {
			members = append(members, exact("m", random()))
		}
		var total, weights int64
		for _, w := range f.placements.resources {
			var asked, taken, capacity int64
			for _, m := range members {
				asked += m.Requests.Get(w.name)
			}
			for _, n := range nodes {
				if size := n.Node.Allocatable.Get(w.name); size > 0 && (w.name != scalarA || asked > 0) {
					capacity += size
					taken += n.Requested.Get(w.name)
				}
			}
			if capacity > 0 {
				total += min(asked+taken, capacity) * 100 / capacity * w.weight
				weights += w.weight
			}
		}
		want := total / max(weights, 1)
		if got := scorePlacement(t, f, proposed(nodes, members...)); got != want {
			t.Fatalf("seed %d: %d, want %d", seed, got, want)
		}
	}
}

// Sums that are no int64 do not leave the range.
func TestScorePlacementOfHugeAmounts(t *testing.T) {
	huge := amounts(math.MaxInt64, math.MaxInt64, 0)
	node := load{huge, []model.Resources{huge, huge}}.node(false)
	got := scorePlacement(t, newFit(t, nil), proposed([]*extpoints.NodeInfo{node, node}, exact("a", huge), exact("b", huge)))
	if got < extpoints.MinScore || got > extpoints.MaxScore {
		t.Errorf("%d", got)
	}
}
