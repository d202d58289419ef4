package interpodaffinity

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// readyView is a view whose index has its answers ready, as an engine's does.
type readyView struct {
	*extpointstest.View
	index readyIndex
}

func (v *readyView) Index() extpoints.Index { return &v.index }

type readyIndex struct {
	slots      int
	topologies map[string]*extpoints.Topology
	classes    []*extpoints.WorkloadClass
	terms      [extpoints.PreferredAntiAffinityTerm + 1][]*extpoints.TermClass
}

func (x *readyIndex) Slots() int                              { return x.slots }
func (x *readyIndex) Topology(key string) *extpoints.Topology { return x.topologies[key] }

func (x *readyIndex) Classes(namespace string, selector *model.Selector, f func(*extpoints.WorkloadClass)) {
	x.ClassesWhere(func(name string) bool { return name == namespace }, selector, f)
}

func (x *readyIndex) ClassesWhere(in func(string) bool, selector *model.Selector, f func(*extpoints.WorkloadClass)) {
	for _, c := range x.classes {
		if in(c.Namespace) && selector.Matches(c.Labels) {
			f(c)
		}
	}
}

func (x *readyIndex) Terms(kind extpoints.TermKind, labels map[string]string, f func(*extpoints.TermClass)) {
	for _, c := range x.terms[kind] {
		if c.Term.Selector.Matches(labels) {
			f(c)
		}
	}
}

// pairs are counts as pairs of slot and count.
type pairs [][2]int32

func (p pairs) Total() int {
	total := 0
	for i := range p {
		total += int(p[i][1])
	}
	return total
}

func (p pairs) AddTo(sums []int32) {
	for i := range p {
		sums[p[i][0]] += p[i][1]
	}
}

func (p pairs) Each(f func(slot, count int32)) {
	for i := range p {
		f(p[i][0], p[i][1])
	}
}

// crowd is a situation with 5,000 nodes in 3 zones. On each are 10 workloads of
// 500 apps, the first of which is on every node; whoever is made by like is of
// the first.
func crowd(like func(app string) *model.Workload) (*readyView, *extpoints.WorkloadInfo) {
	const size, each, apps = 5000, 10, 500
	v := &readyView{View: &extpointstest.View{}}
	v.index = readyIndex{slots: size, topologies: map[string]*extpoints.Topology{
		"zone": {Key: "zone", Of: make([]int32, size), Values: []string{"", "a", "b", "c"}, Nodes: make([]int32, 4)},
		"host": {Key: "host", Of: make([]int32, size), Values: make([]string, size+1), Nodes: make([]int32, size+1)},
	}}
	on := make([]pairs, apps)
	for slot := range int32(size) {
		v.index.topologies["zone"].Of[slot] = slot%3 + 1
		v.index.topologies["host"].Of[slot] = slot + 1
		for i := range int32(each) {
			app := i * (slot*7 + i) % apps
			on[app] = append(on[app], [2]int32{slot, 1})
		}
		v.NodeInfos = append(v.NodeInfos, node("", like("app=0")))
		v.NodeInfos[slot].Slot = slot
	}
	for app := range on {
		w := like(fmt.Sprint("app=", app))
		v.index.classes = append(v.index.classes, &extpoints.WorkloadClass{Labels: w.Labels, Counts: on[app]})
		extpointstest.EachTerm(w, func(kind extpoints.TermKind, weight int32, term *model.AffinityTerm) {
			v.index.terms[kind] = append(v.index.terms[kind], &extpoints.TermClass{Term: term, Weight: weight, Counts: on[app]})
		})
	}
	return v, info(like("app=0"))
}

var crowds = []struct {
	name string
	like func(app string) *model.Workload
}{
	{"apart by host", func(app string) *model.Workload { return workload(app, awayFrom(to(app, "host"))) }},
	{"near by zone", func(app string) *model.Workload { return workload(app, nearTo(to(app, "zone"))) }},
	{"dislikes by host", func(app string) *model.Workload { return workload(app, dislikes(10, to(app, "host"))) }},
	{"no terms", func(app string) *model.Workload { return workload(app) }},
}

// BenchmarkPlugin is each stage at 5,000 nodes with 10 workloads each. Aim:
// PreFilter and PreScore below 150 us, Filter and Score below 100 ns.
func BenchmarkPlugin(b *testing.B) {
	p := newPlugin(b, Args{})
	for _, c := range crowds {
		view, w := crowd(c.like)
		state := extpoints.NewCycle(extpoints.CycleOptions{View: view, Now: extpointstest.Now, Seed: 1}).State()
		node := view.NodeInfos[4321]
		run := func(stage string, f func()) {
			b.Run(c.name+"/"+stage, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		run("PreFilter", func() { p.PreFilter(state, w) })
		if _, ok := prepared.Get(state); ok {
			run("Filter", func() { p.Filter(state, w, node) })
			run("Clone and RemoveWorkload", func() { p.RemoveWorkload(state.Clone(), w, node.Workloads[0], node) })
			without := state.Clone()
			p.RemoveWorkload(without, w, node.Workloads[0], node)
			run("Filter on a clone", func() { p.Filter(without, w, node) })
		}
		run("PreScore", func() { p.PreScore(state, w, view.NodeInfos) })
		if _, ok := weighed.Get(state); ok {
			run("Score", func() { p.Score(state, w, node) })
		}
	}
}
