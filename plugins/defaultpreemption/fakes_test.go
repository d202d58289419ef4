package defaultpreemption

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

var now = extpointstest.Now

// on is a workload that runs on a node: of the priority, with the milli-CPU, for
// so many minutes. With 0 minutes it has no start time.
func on(id string, priority int32, cpu int64, minutes int) *extpoints.WorkloadInfo {
	w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Priority: priority, Requests: model.Resources{CPU: cpu}}}
	if minutes != 0 {
		w.PlacedAt = now.Add(-time.Duration(minutes) * time.Minute)
	}
	return w
}

// labelled puts the label app to the workload.
func labelled(w *extpoints.WorkloadInfo, app string) *extpoints.WorkloadInfo {
	w.Labels = map[string]string{"app": app}
	return w
}

// displaced makes the workload one that is terminating to make room.
func displaced(w *extpoints.WorkloadInfo) *extpoints.WorkloadInfo {
	w.Terminating, w.Displaced = true, true
	return w
}

// terminating makes the workload one that is terminating by itself.
func terminating(w *extpoints.WorkloadInfo) *extpoints.WorkloadInfo {
	w.Terminating = true
	return w
}

// node has the milli-CPU, and the workloads.
func node(name string, cpu int64, workloads ...*extpoints.WorkloadInfo) *extpoints.NodeInfo {
	n := extpoints.NewNodeInfo(&model.Node{Name: name, Allocatable: model.Resources{CPU: cpu}})
	for _, w := range workloads {
		n.AddWorkload(w)
	}
	return n
}

var (
	insufficient = extpoints.NewStatus(extpoints.Unschedulable, "Insufficient cpu")
	tooSmall     = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "Insufficient cpu")
)

// fits is a filter that looks at CPU only.
func fits(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
	switch {
	case w.Requests.CPU > n.Node.Allocatable.CPU:
		return tooSmall
	case w.Requests.CPU > n.Node.Allocatable.CPU-n.Requested.CPU:
		return insufficient
	}
	return nil
}

// statuses are what fits says of the nodes, unless the map has something else.
type statuses struct {
	view  extpoints.ClusterView
	w     *extpoints.WorkloadInfo
	other map[string]*extpoints.Status
}

func (s statuses) Get(name string) *extpoints.Status {
	if st, ok := s.other[name]; ok {
		return st
	}
	return fits(nil, s.w, s.view.Nodes().Get(name))
}

func (s statuses) WithCode(c extpoints.Code) []*extpoints.NodeInfo {
	var list []*extpoints.NodeInfo
	for i := range s.view.Nodes().Len() {
		if n := s.view.Nodes().At(i); s.Get(n.Node.Name).Code() == c {
			list = append(list, n)
		}
	}
	return list
}

// attempt is one call of PostFilter, with what came of it.
type attempt struct {
	args   Args
	w      *extpoints.WorkloadInfo
	nodes  []*extpoints.NodeInfo
	view   func(*extpointstest.View)    // changes the view
	other  map[string]*extpoints.Status // in place of what fits says
	engine extpointstest.Preemption     // Filters default to fits
	seed   uint64                       // default: one that begins with the first node
	cycle  *extpoints.Cycle             // afterwards
	result *extpoints.PostFilterResult  // afterwards
}

func (a *attempt) run(t testing.TB) *extpoints.Status {
	t.Helper()
	if a.engine.Filters == nil {
		a.engine.Filters = fits
	}
	h := extpointstest.NewHandle()
	h.Preempting = &a.engine
	p, err := New(a.args, h)
	if err != nil {
		t.Fatal(err)
	}
	view := extpointstest.NewView(a.nodes...)
	if a.view != nil {
		a.view(view)
	}
	if a.seed == 0 {
		a.seed = firstFirst(len(a.nodes))
	}
	before := sums(a.nodes)
	a.cycle = extpoints.NewCycle(extpoints.CycleOptions{View: view, Now: now, Seed: a.seed})
	var st *extpoints.Status
	a.result, st = p.PostFilter(a.cycle.State(), a.w, statuses{view, a.w, a.other})
	if sums(a.nodes) != before {
		t.Error("the nodes of the view have changed")
	}
	return st
}

// String says what was asked for: "n1: a b" is an eviction of a and b and a
// nomination to n1, "-x" takes the nomination of x.
func (a *attempt) String() string {
	var words []string
	if a.result != nil {
		words = append(words, a.result.Nominate+":")
	}
	for _, e := range a.cycle.Requests().Evictions {
		words = append(words, e.ID)
	}
	for _, id := range a.cycle.Requests().Unnominations {
		words = append(words, "-"+id)
	}
	return strings.Join(words, " ")
}

func sums(nodes []*extpoints.NodeInfo) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprint(&b, n.Node.Name, n.Requested.CPU)
		for _, w := range n.Workloads {
			b.WriteString(" " + w.ID)
		}
	}
	return b.String()
}

// firstFirst is a seed by which the search begins with the first of n nodes.
func firstFirst(n int) uint64 {
	for seed := uint64(1); ; seed++ {
		if n == 0 || helper.Draw(seed, offsetStream, n) == 0 {
			return seed
		}
	}
}

func p32(n int32) *int32 { return &n }

// budget allows so many workloads with the label to be displaced.
func budget(id, app string, allowed int32, displaced ...string) *model.Budget {
	return &model.Budget{ID: id, Selector: model.SelectLabels(map[string]string{"app": app}), Allowed: allowed, Displaced: displaced}
}

func withBudgets(list ...*model.Budget) func(*extpointstest.View) {
	return func(v *extpointstest.View) { v.BudgetList = list }
}

func ids(list []*extpoints.WorkloadInfo) string {
	var b []string
	for _, w := range list {
		b = append(b, w.ID)
	}
	return strings.Join(b, " ")
}

// extender is one that answers by a function.
type extender struct {
	name      string
	about     string // the workload that it is interested in; empty: all
	ignorable bool
	answer    func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error)
	seen      []string // candidates it was asked about, "n1=a,b"
}

func (e *extender) outside() extpoints.Extender {
	return extpoints.Extender{
		Name: e.name, Ignorable: e.ignorable, Preempt: e.preempt,
		Interested: func(w *model.Workload) bool { return e.about == "" || e.about == w.ID },
	}
}

func (e *extender) preempt(_ context.Context, _ *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, _ extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	for name, v := range candidates {
		e.seen = append(e.seen, name+"="+strings.ReplaceAll(ids(v.Workloads), " ", ","))
	}
	slices.Sort(e.seen)
	return e.answer(candidates)
}
