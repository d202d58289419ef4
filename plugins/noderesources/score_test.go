package noderesources

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/helper"
)

// exact makes a workload whose estimated load is its request, also where that
// is 0: what kube-scheduler makes of a request that is there and 0.
func exact(id string, r model.Resources) *model.Workload {
	return &model.Workload{ID: id, Requests: r, Estimate: &r}
}

// load is a node of a size, with workloads of the given requests on it.
type load struct {
	size model.Resources
	used []model.Resources
}

func (l load) node(estimated bool) *extpoints.NodeInfo {
	var workloads []*model.Workload
	for i, r := range l.used {
		w := exact(string(rune('a'+i)), r)
		if estimated {
			w.Estimate = nil
		}
		workloads = append(workloads, w)
	}
	return extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: l.size}, workloads...)
}

// scoreAll scores each node with and without a PreScore before.
func scoreAll(t *testing.T, p extpoints.ScorePlugin, w *model.Workload, nodes []*extpoints.NodeInfo) []int64 {
	t.Helper()
	s := extpointstest.NewSituation(w, nodes...)
	state := s.State()
	var scores, alone []int64
	for _, n := range nodes {
		score, _ := p.Score(state, s.Workload, n)
		alone = append(alone, score)
	}
	if status := p.(extpoints.PreScorePlugin).PreScore(state, s.Workload, nodes); status != nil {
		t.Errorf("PreScore: %v", status)
	}
	for _, n := range nodes {
		score, status := p.Score(state, s.Workload, n)
		if status != nil {
			t.Errorf("Score: %v", status)
		}
		scores = append(scores, score)
	}
	if !slices.Equal(scores, alone) {
		t.Errorf("%v with PreScore, %v without", scores, alone)
	}
	return scores
}

func TestFitScore(t *testing.T) {
	none := amounts(0, 0, 0)
	for _, c := range []struct {
		name        string
		want        model.Resources
		nodes       []load
		resources   []ResourceWeight
		least, most []int64
	}{
		{"nothing anywhere", none, []load{{size: amounts(4000, 10000, 0)}}, nil, []int64{100}, []int64{0}},
		// CPU 25 and 50 left, memory 50: (25+50)/2 = 37.5 and 50.
		{"nodes of different size", amounts(3000, 5000, 0), []load{{size: amounts(4000, 10000, 0)}, {size: amounts(6000, 10000, 0)}}, nil, []int64{37, 50}, []int64{62, 50}},
		// CPU 60 used; memory 0 and 25.
		{"only what is there", none, []load{
			{amounts(10000, 20000, 0), []model.Resources{amounts(3000, 0, 0), amounts(3000, 0, 0)}},
			{amounts(10000, 20000, 0), []model.Resources{amounts(3000, 0, 0), amounts(3000, 5000, 0)}},
		}, nil, []int64{70, 57}, []int64{30, 42}},
		{"what is there and what comes", amounts(3000, 5000, 0), []load{
			{amounts(10000, 20000, 0), []model.Resources{amounts(3000, 0, 0)}},
			{amounts(10000, 50000, 0), []model.Resources{amounts(3000, 5000, 0)}},
		}, nil, []int64{57, 60}, []int64{42, 40}},
		{"more than there is", amounts(6000, 0, 0), []load{{amounts(4000, 10000, 0), []model.Resources{amounts(0, 5000, 0)}}}, nil, []int64{25}, []int64{75}},
		{"weights", amounts(3000, 5000, 0), []load{{size: amounts(4000, 10000, 0)}},
			[]ResourceWeight{{Name: model.CPU, Weight: 2}, {Name: model.Memory, Weight: 1}}, []int64{33}, []int64{66}},
		{"a scalar that is not asked for", amounts(3000, 5000, 0), []load{{size: amounts(4000, 10000, 0, some(scalarA, 4))}},
			[]ResourceWeight{{Name: model.CPU, Weight: 1}, {Name: scalarA, Weight: 5}}, []int64{25}, []int64{75}},
		{"a scalar that is asked for", amounts(3000, 5000, 0, some(scalarA, 1)), []load{{amounts(4000, 10000, 0, some(scalarA, 4)), []model.Resources{amounts(0, 0, 0, some(scalarA, 2))}}},
			[]ResourceWeight{{Name: model.CPU, Weight: 1}, {Name: scalarA, Weight: 1}}, []int64{25}, []int64{75}},
		{"a scalar that the node has not", amounts(3000, 5000, 0, some(scalarA, 1)), []load{{size: amounts(4000, 10000, 0)}},
			[]ResourceWeight{{Name: model.CPU, Weight: 1}, {Name: scalarA, Weight: 1}}, []int64{25}, []int64{75}},
		{"disk", amounts(0, 0, 10), []load{{amounts(4000, 10000, 100), []model.Resources{amounts(0, 0, 20)}}},
			[]ResourceWeight{{Name: model.EphemeralStorage, Weight: 1}}, []int64{70}, []int64{30}},
		{"a node with nothing at all", amounts(0, 0, 0), []load{{}}, nil, []int64{0}, []int64{0}},
	} {
		var nodes []*extpoints.NodeInfo
		for _, l := range c.nodes {
			nodes = append(nodes, l.node(false))
		}
		for strategy, want := range map[StrategyType][]int64{LeastAllocated: c.least, MostAllocated: c.most} {
			f := newFit(t, FitArgs{Strategy: Strategy{Type: strategy, Resources: c.resources}})
			if got := scoreAll(t, f, exact("w", c.want), nodes); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", c.name, strategy, got, want)
			}
		}
	}
}

// Workloads that do not say how much they want count as 100 milli-CPU and 200
// MiB, the waiting one and those on the node.
func TestFitScoreEstimates(t *testing.T) {
	const unit = 200 << 20
	node := load{amounts(1000, 10*unit, 0), []model.Resources{amounts(0, 0, 0), amounts(0, 0, 0)}}.node(true)
	if got := scoreAll(t, newFit(t, nil), asking(amounts(0, 0, 0)), []*extpoints.NodeInfo{node}); got[0] != 70 {
		t.Errorf("%v, want 70: three of ten parts are taken", got)
	}
	// Of everything else the request counts, whatever the estimate says.
	f := newFit(t, FitArgs{Strategy: Strategy{Resources: []ResourceWeight{{Name: scalarA}}}})
	w := &model.Workload{ID: "w", Requests: amounts(0, 0, 0, some(scalarA, 1)), Estimate: &model.Resources{}}
	node = load{size: amounts(0, 0, 0, some(scalarA, 4))}.node(true)
	if got := scoreAll(t, f, w, []*extpoints.NodeInfo{node}); got[0] != 75 {
		t.Errorf("%v, want 75", got)
	}
}

func TestRequestedToCapacityRatio(t *testing.T) {
	falling := []helper.ShapePoint{{Utilization: 0, Score: 10}, {Utilization: 100, Score: 0}}
	rising := []helper.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}
	slightly := []helper.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 1}}
	gpu := func(n int64) model.Resources { return amounts(4000, 10000, 0, some(scalarA, n)) }
	two := []ResourceWeight{{Name: scalarA, Weight: 3}, {Name: scalarB, Weight: 5}}
	for _, c := range []struct {
		name      string
		shape     []helper.ShapePoint
		resources []ResourceWeight
		want      model.Resources
		node      load
		score     int64
	}{
		{"nothing", falling, nil, amounts(0, 0, 0), load{size: amounts(4000, 10000, 0)}, 100},
		// 75% and 50% used: 25 and 50, mean 37.5, rounded up.
		{"rounds to the nearest", falling, nil, amounts(3000, 5000, 0), load{size: amounts(4000, 10000, 0)}, 38},
		{"counts what is there", falling, nil, amounts(0, 0, 0), load{amounts(6000, 10000, 0), []model.Resources{amounts(3000, 5000, 0)}}, 50},
		// Memory is full and would score 0: it does not count at all.
		{"leaves out what scores nothing", falling, nil, amounts(2000, 10000, 0), load{size: amounts(4000, 10000, 0)}, 50},
		{"everything scores nothing", falling, nil, amounts(4000, 10000, 0), load{size: amounts(4000, 10000, 0)}, 0},
		{"more than there is", rising, nil, amounts(5000, 0, 0), load{size: amounts(4000, 10000, 0)}, 100},
		{"a scalar not asked for", slightly, []ResourceWeight{{Name: scalarA}}, amounts(0, 0, 0), load{size: gpu(8)}, 0},
		// 25% of 10, rounded down to 2.
		{"a scalar asked for", slightly, []ResourceWeight{{Name: scalarA}}, amounts(0, 0, 0, some(scalarA, 2)), load{size: gpu(8)}, 2},
		{"a scalar half full", slightly, []ResourceWeight{{Name: scalarA}}, amounts(0, 0, 0, some(scalarA, 2)), load{size: gpu(4)}, 5},
		{"a scalar full", slightly, []ResourceWeight{{Name: scalarA}}, amounts(0, 0, 0, some(scalarA, 2)), load{gpu(4), []model.Resources{amounts(0, 0, 0, some(scalarA, 2))}}, 10},
		// (25*3 + 50*5) / 8 = 40.6
		{"two scalars by weight", rising, two, amounts(0, 0, 0, some(scalarA, 2), some(scalarB, 2)), load{size: amounts(0, 0, 0, some(scalarA, 8), some(scalarB, 4))}, 41},
	} {
		f := newFit(t, FitArgs{Strategy: Strategy{Type: RequestedToCapacityRatio, Resources: c.resources, Shape: c.shape}})
		if got := scoreAll(t, f, exact("w", c.want), []*extpoints.NodeInfo{c.node.node(false)}); got[0] != c.score {
			t.Errorf("%s: %d, want %d", c.name, got[0], c.score)
		}
	}
}

func TestBalancedAllocation(t *testing.T) {
	withScalar := []ResourceWeight{{Name: model.CPU}, {Name: model.Memory}, {Name: scalarA}}
	for _, c := range []struct {
		name      string
		resources []ResourceWeight
		want      model.Resources
		node      load
		score     int64
	}{
		// From 0% and 0% to 75% and 50%: 100 before, 100-12.5 after; 50+(50-13)/2.
		{"gets less even", nil, amounts(3000, 5000, 0), load{size: amounts(4000, 10000, 0)}, 68},
		{"stays even", nil, amounts(3000, 5000, 0), load{size: amounts(6000, 10000, 0)}, 75},
		// 30% and 0% to 60% and 25%: 85 before, 82 after.
		{"one was ahead", nil, amounts(3000, 5000, 0), load{amounts(10000, 20000, 0), []model.Resources{amounts(3000, 0, 0)}}, 73},
		// 30% and 25% to 60% and 50%: 97 before, 95 after.
		{"both were there", nil, amounts(3000, 5000, 0), load{amounts(10000, 20000, 0), []model.Resources{amounts(3000, 5000, 0)}}, 74},
		{"the best there is", nil, amounts(0, 5000, 0), load{amounts(3000, 5000, 0), []model.Resources{amounts(3000, 0, 0)}}, 100},
		{"the worst there is", nil, amounts(0, 5000, 0), load{size: amounts(3000, 5000, 0)}, 50},
		// 100% and 50%, and over the top does not count: 100 before, 75 after.
		{"more than there is", nil, amounts(9000, 0, 0), load{amounts(6000, 10000, 0), []model.Resources{amounts(3000, 5000, 0)}}, 62},
		// 85.7%, 12.5%, 37.5% to 50%: deviation 0.305 and 0.299.
		{"three resources", withScalar, amounts(0, 0, 0, some(scalarA, 1)), load{amounts(3500, 40000, 0, some(scalarA, 8)), []model.Resources{amounts(3000, 5000, 0, some(scalarA, 3))}}, 75},
		// 85.7%, 12.5%, 0% to 12.5%: deviation 0.378 and 0.345.
		{"three resources, the third from nothing", withScalar, amounts(0, 0, 0, some(scalarA, 1)), load{amounts(3500, 40000, 0, some(scalarA, 8)), []model.Resources{amounts(3000, 5000, 0)}}, 76},
		{"a scalar not asked for does not count", withScalar, amounts(3000, 5000, 0), load{size: amounts(3500, 40000, 0, some(scalarA, 8))}, 56},
		{"one resource is always even", []ResourceWeight{{Name: model.CPU}}, amounts(3000, 5000, 0), load{size: amounts(4000, 1, 0)}, 75},
		{"a node with nothing", nil, amounts(1, 1, 0), load{}, 75},
	} {
		p, err := NewBalancedAllocation(BalancedAllocationArgs{Resources: c.resources}, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Estimates do not count: they are the defaults here.
		w := asking(c.want)
		if got := scoreAll(t, p, w, []*extpoints.NodeInfo{c.node.node(true)}); got[0] != c.score {
			t.Errorf("%s: %d, want %d", c.name, got[0], c.score)
		}
	}
}

func TestBalancedAllocationSkips(t *testing.T) {
	p, _ := NewBalancedAllocation(BalancedAllocationArgs{}, nil)
	b := p
	s := extpointstest.NewSituation(asking(amounts(0, 0, 7, some(scalarA, 1))), load{size: amounts(1, 1, 1)}.node(false))
	if status := b.PreScore(s.State(), s.Workload, s.View.NodeInfos); status.Code() != extpoints.Skip {
		t.Errorf("PreScore: %v", status)
	}
	if score, status := b.Score(s.State(), s.Workload, s.View.NodeInfos[0]); score != 0 || status != nil {
		t.Errorf("Score without PreScore: %d, %v", score, status)
	}
}

func TestBalancedContract(t *testing.T) {
	for name, args := range map[string]any{
		"defaults": nil,
		"many": BalancedAllocationArgs{Resources: []ResourceWeight{
			{Name: model.CPU}, {Name: model.Memory}, {Name: model.EphemeralStorage}, {Name: "example.com/gpu"}, {Name: "licences"}, {Name: "pods"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			extpointstest.TestPlugin(t, extpointstest.Suite{Name: BalancedAllocationName, Factory: extpoints.FactoryOf(NewBalancedAllocation), Args: args})
		})
	}
}

// The loops that score are compared with their definitions, spelt out.
func TestFitScoreByDefinition(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	f := newFit(t, FitArgs{Strategy: Strategy{Resources: []ResourceWeight{{Name: model.CPU, Weight: 3}, {Name: model.Memory, Weight: 2}, {Name: scalarA, Weight: 7}}}})
	for range 2000 {
		size := amounts(r.Int64N(5), r.Int64N(5), 0, some(scalarA, r.Int64N(5)))
		used := amounts(r.Int64N(5), r.Int64N(5), 0, some(scalarA, r.Int64N(5)))
		want := amounts(r.Int64N(5), r.Int64N(5), 0, some(scalarA, r.Int64N(3)))
		var sum, weights int64
		for _, w := range f.scorer.resources {
			capacity, taken := size.Get(w.name), used.Get(w.name)+want.Get(w.name)
			if capacity == 0 || w.name == scalarA && want.Get(scalarA) == 0 {
				continue
			}
			weights += w.weight
			if taken <= capacity {
				sum += (capacity - taken) * 100 / capacity * w.weight
			}
		}
		expected := int64(0)
		if weights > 0 {
			expected = sum / weights
		}
		if got := scoreAll(t, f, exact("w", want), []*extpoints.NodeInfo{load{size, []model.Resources{used}}.node(false)}); got[0] != expected {
			t.Fatalf("seed %d: size %v used %v want %v: %d, want %d", seed, size, used, want, got[0], expected)
		}
	}
}

// Amounts near the end of int64 neither overflow nor leave the range.
func TestScoreOfHugeAmounts(t *testing.T) {
	node := load{amounts(math.MaxInt64, math.MaxInt64, 0), []model.Resources{amounts(math.MaxInt64/2, math.MaxInt64-1, 0)}}.node(false)
	for strategy, want := range map[StrategyType]int64{LeastAllocated: 25, MostAllocated: 75} {
		f := newFit(t, FitArgs{Strategy: Strategy{Type: strategy}})
		got := scoreAll(t, f, exact("w", amounts(0, math.MaxInt64, 0)), []*extpoints.NodeInfo{node})
		if got[0] < want-1 || got[0] > want+1 {
			t.Errorf("%s: %d, want about %d", strategy, got[0], want)
		}
	}
}

// Amounts that are no int64 in sum, which a node may well have as nobody filters
// by estimates, make no score leave the range either.
func TestScoreOfSumsThatOverflow(t *testing.T) {
	all := amounts(5<<60, 3<<61, 0)
	balanced, err := NewBalancedAllocation(BalancedAllocationArgs{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scorers := map[string]extpoints.ScorePlugin{"balanced": balanced}
	for _, strategy := range []StrategyType{LeastAllocated, MostAllocated} {
		scorers[string(strategy)] = newFit(t, FitArgs{Strategy: Strategy{Type: strategy}})
	}
	for used := range 5 {
		for _, size := range []model.Resources{amounts(1, 1, 0), amounts(100, 1<<40, 0), all} {
			node := load{size, slices.Repeat([]model.Resources{all}, used)}.node(false)
			for i := range used { // then some go again
				for name, p := range scorers {
					for _, want := range []model.Resources{amounts(1, 1, 0), amounts(5<<60, 1, 0)} {
						got := scoreAll(t, p, exact("w", want), []*extpoints.NodeInfo{node})
						if got[0] < extpoints.MinScore || got[0] > extpoints.MaxScore {
							t.Errorf("%s: %d for %d with %d of %d on a node of %d", name, got[0], want.CPU, used-i, used, size.CPU)
						}
					}
				}
				node = node.Clone()
				node.RemoveWorkload(string(rune('a' + i)))
			}
		}
	}
}

func BenchmarkScore(b *testing.B) {
	balanced, _ := NewBalancedAllocation(BalancedAllocationArgs{}, nil)
	for name, p := range map[string]extpoints.ScorePlugin{
		"LeastAllocated": newFit(b, nil), "MostAllocated": newFit(b, FitArgs{Strategy: Strategy{Type: MostAllocated}}),
		"RequestedToCapacityRatio": newFit(b, FitArgs{Strategy: Strategy{Type: RequestedToCapacityRatio, Shape: []helper.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}}}),
		"BalancedAllocation":       balanced,
	} {
		s := extpointstest.NewSituation(asking(amounts(100, 1<<30, 0)), load{amounts(8000, 32<<30, 0), []model.Resources{amounts(100, 1<<30, 0)}}.node(false))
		state := s.State()
		p.(extpoints.PreScorePlugin).PreScore(state, s.Workload, s.View.NodeInfos)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Score(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}
