package podtopologyspread

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// The benchmarks are of 5,000 nodes in three zones with ten workloads each, one
// of each of ten apps. Aims: PreFilter and PreScore well below 100 us, Filter and
// Score well below 100 ns a node, both without allocation.

// benchView is a view whose index is as fast as that of an engine.
type benchView struct {
	*extpointstest.View
	index *benchIndex
}

func (v benchView) Index() extpoints.Index { return v.index }

// benchIndex answers from what it was asked for before, and has its counts in
// slices by slot.
type benchIndex struct {
	extpoints.Index // for topologies
	slots           int
	topologies      map[string]*extpoints.Topology
	classes         []*extpoints.WorkloadClass
}

func (x *benchIndex) Slots() int { return x.slots }

func (x *benchIndex) Topology(key string) *extpoints.Topology {
	t := x.topologies[key]
	if t == nil {
		t = x.Index.Topology(key)
		x.topologies[key] = t
	}
	return t
}

func (x *benchIndex) Classes(namespace string, s *model.Selector, f func(*extpoints.WorkloadClass)) {
	for _, c := range x.classes {
		if c.Namespace == namespace && s.Matches(c.Labels) {
			f(c)
		}
	}
}

type dense []int32

func (d dense) Total() int { panic("not asked for") }

func (d dense) AddTo(sums []int32) {
	for slot, count := range d {
		sums[slot] += count
	}
}

func (d dense) Each(func(slot, count int32)) { panic("not asked for") }

func bench(w *model.Workload) (*PodTopologySpread, *extpoints.WorkloadInfo, benchView) {
	const nodes, apps = 5000, 10
	view := &extpointstest.View{}
	for i := range nodes {
		name := fmt.Sprintf("node-%04d", i)
		zone := string(rune('a' + i%3))
		n := &model.Node{Name: name, Labels: map[string]string{hostKey: name, zoneKey: zone, "disk": []string{"ssd", "hdd"}[i%2]}}
		view.NodeInfos = append(view.NodeInfos, extpoints.NewNodeInfo(n))
	}
	view.Number()
	index := &benchIndex{Index: view.Index(), slots: nodes, topologies: map[string]*extpoints.Topology{}}
	for i := range apps {
		counts := make(dense, nodes)
		for j := range counts {
			counts[j] = 1
		}
		index.classes = append(index.classes, &extpoints.WorkloadClass{Namespace: "ns", Labels: labelled(fmt.Sprintf("app=%d", i)), Counts: counts})
	}
	p, _ := New(Args{}, extpointstest.NewHandle())
	v := benchView{view, index}
	info := &extpoints.WorkloadInfo{Workload: w}
	// What the index remembers between cycles is not part of a cycle.
	for i := range w.Spread {
		index.Topology(w.Spread[i].TopologyKey)
	}
	for i := range systemConstraints {
		index.Topology(systemConstraints[i].TopologyKey)
	}
	return p, info, v
}

func (v benchView) state() *extpoints.CycleState {
	return extpoints.NewCycle(extpoints.CycleOptions{View: v, Now: extpointstest.Now, Seed: 1}).State()
}

func oneApp() *model.Selector { return model.SelectLabels(labelled("app=1")) }

func allApps() *model.Selector {
	return &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: model.Exists}}}
}

// benchWorkloads have constraints of the mode.
func benchWorkloads(c func(string, int32, ...func(*model.SpreadConstraint)) model.SpreadConstraint) map[string]*model.Workload {
	affinity := web("w", c(zoneKey, 1, selecting(oneApp())))
	affinity.NodeSelector = labelled("disk=ssd")
	return map[string]*model.Workload{
		"zone":          web("w", c(zoneKey, 1, selecting(oneApp()))),
		"zone-all":      web("w", c(zoneKey, 1, selecting(allApps()))),
		"host":          web("w", c(hostKey, 1, selecting(oneApp()))),
		"zone-host":     web("w", c(zoneKey, 1, selecting(oneApp())), c(hostKey, 1, selecting(oneApp()))),
		"zone-affinity": affinity,
		"zone-taints":   web("w", c(zoneKey, 1, selecting(oneApp()), taintsPolicy(model.Honor))),
	}
}

func BenchmarkPreFilter(b *testing.B) {
	for name, w := range benchWorkloads(required) {
		p, info, view := bench(w)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.PreFilter(view.state(), info)
			}
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	for name, w := range benchWorkloads(required) {
		p, info, view := bench(w)
		state := view.state()
		p.PreFilter(state, info)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p.Filter(state, info, view.NodeInfos[i%5000])
			}
		})
	}
}

// One node is tried with a workload less, and with it again.
func BenchmarkClone(b *testing.B) {
	p, info, view := bench(benchWorkloads(required)["zone-host"])
	state := view.state()
	p.PreFilter(state, info)
	gone := other("ns", "app=1")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		node, clone := view.NodeInfos[i%5000], state.Clone()
		p.RemoveWorkload(clone, info, gone, node)
		p.Filter(clone, info, node)
		p.AddWorkload(clone, info, gone, node)
	}
}

func BenchmarkPreScore(b *testing.B) {
	workloads := benchWorkloads(preferred)
	workloads["System"] = web("w")
	workloads["System"].OwnerSelector = oneApp()
	for name, w := range workloads {
		p, info, view := bench(w)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.PreScore(view.state(), info, view.NodeInfos)
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	p, info, view := bench(benchWorkloads(preferred)["zone-host"])
	state := view.state()
	p.PreScore(state, info, view.NodeInfos)
	b.Run("Score", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p.Score(state, info, view.NodeInfos[i%5000])
		}
	})
	b.Run("NormalizeScore", func(b *testing.B) {
		scores := make([]int64, 5000)
		b.ReportAllocs()
		for b.Loop() {
			p.NormalizeScore(state, info, view.NodeInfos, scores)
		}
	})
}
