package noderesourcetopologymatch

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// TestContract is the contract among reports, with the default arguments and others. The hints
// see what is there after the change.
func TestContract(t *testing.T) {
	for name, args := range map[string]Args{
		"default": {}, "most": {Strategy: MostAllocated, Book: Wait}, "balanced": {Strategy: BalancedAllocation, MaxAge: time.Hour},
		"fewest": {Strategy: LeastNUMANodes, Book: Ignore},
	} {
		t.Run(name, func(t *testing.T) {
			h := extpointstest.NewHandle()
			extpointstest.TestPlugin(t, extpointstest.Suite{
				Name: Name, Factory: extpoints.FactoryOf(New), Args: args, Rounds: 500,
				Handle: func() extpoints.Handle { return h },
				Random: random,
				Change: func(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
					c := change(r, s)
					if c != nil {
						h.Cluster = c.After.View
					}
					return c
				},
			})
		})
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// random is a situation in which most nodes have a report, and most workloads are guaranteed
// what they request.
func random(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	classed := func(w *model.Workload) {
		w.QoS = pick(r, model.Guaranteed, model.Guaranteed, model.Burstable, model.BestEffort)
		if w.Containers = nil; r.IntN(2) == 0 {
			half := model.Resources{CPU: w.Requests.CPU / 2, Memory: w.Requests.Memory / 2}
			rest := w.Requests.Clone()
			rest.Sub(&half)
			w.Containers = []model.Container{{Name: "a", Startup: r.IntN(3) == 0, Requests: half}, {Name: "b", Requests: rest}}
		}
	}
	classed(s.Workload.Workload)
	for _, n := range s.View.NodeInfos {
		for _, w := range n.Workloads {
			classed(w.Workload)
		}
		if r.IntN(5) > 0 {
			s.View.Put(report(r, n))
		}
	}
	return s
}

// report is one of the node.
func report(r *rand.Rand, n *extpoints.NodeInfo) *model.NodeTopology {
	t := &model.NodeTopology{
		Node: n.Node.Name, At: extpointstest.Now.Add(-pick(r, 0, 2*time.Minute, 30*time.Minute, 3*time.Hour)), Listed: r.IntN(2) == 0,
		Policy: pick(r, model.AlignSingleZone, model.AlignSingleZone, model.AlignSingleZone, model.AlignBestEffort, ""),
		Scope:  pick(r, model.AlignWorkload, model.AlignContainer, ""),
	}
	for id := range 1 + r.IntN(3) {
		z := model.NodeZone{ID: 2 * id, Distances: map[int]int{0: 10 + 2*id, 2: 12, 4: 10}}
		for _, name := range []string{model.CPU, model.Memory, "example.com/gpu"} {
			if r.IntN(5) > 0 {
				all := n.Node.Allocatable.Get(name)/2 + 1
				z.Resources = append(z.Resources, model.ZoneResource{Name: name, Allocatable: all, Available: r.Int64N(all + 1)})
			}
		}
		t.Zones = append(t.Zones, z)
	}
	for _, w := range n.Workloads {
		if r.IntN(3) > 0 {
			t.Workloads = append(t.Workloads, w.ID)
			if r.IntN(2) == 0 {
				t.Uses = append(t.Uses, model.ZoneUse{Workload: w.ID, Zone: t.Zones[0].ID, Resources: w.Requests})
			}
		}
	}
	slices.Sort(t.Workloads)
	return t
}

// change changes the report of a node or, one time in two, something else.
func change(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	if r.IntN(2) == 0 {
		return extpointstest.RandomChange(r, s)
	}
	put := report(r, s.View.NodeInfos[r.IntN(len(s.View.NodeInfos))])
	old := s.View.NodeTopology(put.Node)
	view := *s.View
	view.Objects = slices.Clone(view.Objects)
	after := &extpointstest.Situation{Workload: s.Workload, View: &view}
	e := extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: model.NodeTopologyKind, Action: extpoints.Add}, NewObject: put}
	after.View.Put(put)
	if old != nil {
		e.Action, e.OldObject = extpoints.Update, old
		if r.IntN(4) == 0 {
			e.Action, e.NewObject = extpoints.Delete, nil
			after.View.Drop(model.NodeTopologyKind, put.Node)
		}
	}
	return &extpointstest.Changed{What: fmt.Sprintf("%s: %+v becomes %+v", e.ClusterEvent, old, e.NewObject), After: after, Changes: []extpoints.Event{e}}
}

// TestFilterIsWhatItSays compares the filter, which remembers what it has computed, with the rules
// written down as they are said, over maps. Each node is asked about twice.
func TestFilterIsWhatItSays(t *testing.T) {
	const seed = 20261126
	r := rand.New(rand.NewPCG(seed, seed))
	p, err := New(Args{}, extpointstest.NewHandle()) // one for all, with what it remembers
	if err != nil {
		t.Fatal(err)
	}
	rejected, passed := 0, 0
	for i := range 8000 {
		s := random(r)
		state := s.State()
		for j := range 2 * len(s.View.NodeInfos) {
			n := s.View.NodeInfos[j/2]
			node := n
			if r.IntN(3) == 0 && len(n.Workloads) > 0 { // somebody is taken off to try it out
				node = n.Clone()
				node.RemoveWorkload(n.Workloads[0].ID)
			}
			got, want := p.Filter(state, s.Workload, node).Message(), slowFilter(s, n, node)
			if got != want {
				t.Fatalf("seed %d, round %d, node %s: got %q, want %q\n%s%+v", seed, i, n.Node.Name, got, want, s, s.View.NodeTopology(n.Node.Name))
			}
			if want == "" {
				passed++
			} else {
				rejected++
			}
		}
	}
	if min(rejected, passed) < 1000 {
		t.Errorf("only %d were rejected and %d passed", rejected, passed)
	}
}

func slowFilter(s *extpointstest.Situation, was, is *extpoints.NodeInfo) string {
	t, w := s.View.NodeTopology(is.Node.Name), s.Workload.Workload
	if t == nil || t.Policy != model.AlignSingleZone || !aligned(w) {
		return ""
	}
	left := slowLeft(t, was, is)
	parts := partsOf(w)
	if t.Scope == model.AlignWorkload {
		parts = []model.Container{{Requests: w.Requests}}
	}
	for _, part := range parts {
		home := -1
		for _, z := range slices.Backward(t.Zones) {
			if slowFits(left, z.ID, &part.Requests, w, is.Node) {
				home = z.ID
			}
		}
		switch {
		case home < 0 && t.Scope == model.AlignWorkload:
			return "cannot align workload"
		case home < 0 && part.Startup:
			return "cannot align init container"
		case home < 0:
			return "cannot align container"
		case part.Startup:
			continue
		}
		for name := range left[home] {
			if w.QoS == model.Guaranteed || name == "example.com/gpu" {
				left[home][name] -= part.Requests.Get(name)
			}
		}
	}
	return ""
}

// slowLeft is what is left by zone and resource.
func slowLeft(t *model.NodeTopology, was, is *extpoints.NodeInfo) map[int]map[string]int64 {
	left := map[int]map[string]int64{}
	has := func(n *extpoints.NodeInfo, id string) bool {
		return slices.ContainsFunc(n.Workloads, func(w *extpoints.WorkloadInfo) bool { return w.ID == id })
	}
	for _, z := range t.Zones {
		left[z.ID] = map[string]int64{}
		for _, r := range z.Resources {
			amount := r.Available
			for _, u := range t.Uses {
				if u.Zone == z.ID && has(was, u.Workload) && !has(is, u.Workload) {
					amount = max(amount, min(amount+u.Resources.Get(r.Name), r.Allocatable))
				}
			}
			for _, w := range is.Workloads {
				known := slices.Contains(t.Workloads, w.ID) && !w.PlacedAt.After(t.At)
				if !t.Listed {
					known = !w.PlacedAt.IsZero() && w.PlacedAt.Before(t.At)
				}
				if !known && (w.QoS == model.Guaranteed || r.Name == "example.com/gpu") {
					amount = max(amount-w.Requests.Get(r.Name), 0)
				}
			}
			left[z.ID][r.Name] = amount
		}
	}
	return left
}

// slowFits reports whether the zone can serve the requests.
func slowFits(left map[int]map[string]int64, zone int, requests *model.Resources, w *model.Workload, node *model.Node) bool {
	for _, name := range append([]string{model.CPU, model.Memory}, slices.Sorted(maps.Keys(asMap(requests.Scalars)))...) {
		wanted := requests.Get(name)
		if wanted <= 0 {
			continue
		}
		if _, offered := asMap(node.Allocatable.Scalars)[name]; !offered && name != model.CPU && name != model.Memory {
			return false
		}
		anywhere := false
		for _, z := range left {
			if _, ok := z[name]; ok {
				anywhere = true
			}
		}
		have, ok := left[zone][name]
		if anywhere && !ok {
			return false
		}
		if ok && have < wanted && (w.QoS == model.Guaranteed || name != model.CPU && name != model.Memory) {
			return false
		}
	}
	return true
}

func asMap(list []model.Scalar) map[string]int64 {
	m := map[string]int64{}
	for _, s := range list {
		m[s.Name] = s.Amount
	}
	return m
}

func TestArgs(t *testing.T) {
	_, err := New(Args{
		Strategy: "Best", Book: "None", Resources: []ResourceWeight{{"", 1}, {"cpu", -1}, {"cpu", 2}}, MaxAge: -1,
	}, extpointstest.NewHandle())
	const want = `arguments of plugin "NodeResourceTopologyMatch": strategy: "Best" is not one of LeastAllocated, MostAllocated, BalancedAllocation, LeastNUMANodes;` +
		` book: "None" is not one of OverReserve, Wait, Ignore;` +
		` resources[0].name: must not be empty;` +
		` resources[1].weight: -1 is not between 0 and 1099511627776;` +
		` resources[2].name: "cpu" is listed twice;` +
		` maxAge: -1ns is negative`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// BenchmarkFilter is a node with two zones and 30 workloads, all of which are in its report.
func BenchmarkFilter(b *testing.B) {
	zone := func(id int) model.NodeZone {
		return model.NodeZone{ID: id, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: 32000, Available: 8000}, {Name: model.Memory, Allocatable: 64 << 30, Available: 16 << 30}}}
	}
	n := nodeOf("n", []model.NodeZone{zone(0), zone(1)}, nil)
	report := &model.NodeTopology{Node: "n", At: extpointstest.Now, Policy: model.AlignSingleZone, Listed: true, Zones: []model.NodeZone{zone(0), zone(1)}}
	for i := range 30 {
		w := &model.Workload{ID: fmt.Sprintf("workload-%02d", i), QoS: model.Guaranteed, Requests: model.Resources{CPU: 1000}}
		n.AddWorkload(&extpoints.WorkloadInfo{Workload: w, PlacedAt: extpointstest.Now.Add(-time.Hour)})
		report.Workloads = append(report.Workloads, w.ID)
	}
	for name, listed := range map[string]bool{"by the list": true, "by time": false} {
		b.Run(name, func(b *testing.B) {
			report := *report
			report.Listed = listed
			p, err := New(Args{}, extpointstest.NewHandle())
			if err != nil {
				b.Fatal(err)
			}
			s := extpointstest.NewSituation(&model.Workload{ID: "w", QoS: model.Guaranteed, Requests: model.Resources{CPU: 4000, Memory: 1 << 30}}, n)
			s.View.Put(&report)
			state := s.State()
			b.ReportAllocs()
			for b.Loop() {
				if st := p.Filter(state, s.Workload, n); st != nil {
					b.Fatal(st)
				}
			}
		})
	}
}
