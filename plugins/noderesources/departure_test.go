package noderesources

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// atRandom is a random request, or with a higher most the size of a node.
func atRandom(r *rand.Rand, most int64) model.Resources {
	a := amounts(r.Int64N(most), r.Int64N(most), 0)
	if r.IntN(2) == 0 {
		a.Set(scalarA, r.Int64N(most))
	}
	return a
}

// TestDepartureHintIsFiltersVerdict: the hint about a node that was left says Skip
// only if Filter rejects that node, and Queue only if Filter does not, or if the
// workload may displace others there, or is nominated to it.
func TestDepartureHintIsFiltersVerdict(t *testing.T) {
	skipped, queued, displacing := 0, 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := atRandom(r, 30)
		node := extpoints.NewNodeInfo(&model.Node{Name: "n", Allocatable: size, MaxWorkloads: 1 + r.Int64N(6)})
		for i := range r.IntN(5) {
			node.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprint(i), Requests: atRandom(r, 8), Priority: r.Int32N(3)}})
		}
		view := extpointstest.NewView(node)
		w := asking(atRandom(r, 10))
		if w.Priority = r.Int32N(3); r.IntN(3) == 0 {
			w.Preemption = model.PreemptNever
		}
		info := &extpoints.WorkloadInfo{Workload: w}
		nominated := r.IntN(5) == 0
		if nominated {
			view.Nominating = map[string][]*extpoints.WorkloadInfo{"n": {info}}
		}
		h := extpointstest.NewHandle()
		h.Cluster = view
		args := FitArgs{}
		if r.IntN(4) == 0 {
			args.IgnoredResources = []string{scalarA}
		}
		f, err := NewFit(args, h)
		if err != nil {
			t.Fatal(err)
		}

		hint, err := f.afterDeparture(w, &extpoints.Event{OldWorkload: info, WorkloadNode: "n"})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		verdict := func(n *extpoints.NodeInfo) *extpoints.Status {
			return f.Filter(extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view}).State(), info, n)
		}
		got := verdict(node)
		alone := node.Clone()
		for _, o := range node.Workloads {
			if w.MayPreempt() && o.Priority < w.Priority {
				alone.RemoveWorkload(o.ID)
			}
		}
		want := got.IsSuccess() || nominated
		if got.Code() == extpoints.Unschedulable { // not for good
			want = want || verdict(alone).IsSuccess()
		}
		if (hint == extpoints.HintQueue) != want {
			t.Fatalf("seed %d: %s, and Filter says %q of %+v on %+v", seed, hint, got, w, node)
		}
		switch {
		case hint == extpoints.HintSkip:
			skipped++
		case got.IsSuccess():
			queued++
		default:
			displacing++
		}
	}
	if skipped < 500 || queued < 500 || displacing < 50 {
		t.Errorf("%d skipped, %d queued, %d that displace others: too few to show anything", skipped, queued, displacing)
	}
}

// A node that is not known may serve anybody, and one that is gone nobody.
func TestDepartureHintWithoutNode(t *testing.T) {
	for name, want := range map[string]extpoints.Hint{"": extpoints.HintQueue, "gone": extpoints.HintSkip} {
		got, err := newFit(t, nil).afterDeparture(asking(amounts(1, 0, 0)), &extpoints.Event{WorkloadNode: name})
		if got != want || err != nil {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
}

// A workload that asks for less on a node wakes those who ask for that, and whom the
// node may serve now.
func TestScaleDownHintLooksAtTheNode(t *testing.T) {
	h := extpointstest.NewHandle()
	node := extpoints.NewNodeInfo(sized(10, 10))
	after := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "a", Requests: amounts(6, 6, 0)}}
	node.AddWorkload(after)
	h.Cluster = extpointstest.NewView(node)
	p, err := NewFit(FitArgs{}, h)
	if err != nil {
		t.Fatal(err)
	}
	before := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "a", Requests: amounts(8, 6, 0)}}
	for _, c := range []struct {
		name string
		want model.Resources
		hint extpoints.Hint
	}{
		{"it fits now", amounts(4, 4, 0), extpoints.HintQueue},
		{"it does not fit yet", amounts(5, 4, 0), extpoints.HintSkip},
		{"it lacks something else", amounts(4, 5, 0), extpoints.HintSkip},
		{"it asks for none of what there is more of", amounts(0, 1, 0), extpoints.HintSkip},
	} {
		got, err := p.afterScaleDown(asking(c.want), &extpoints.Event{OldWorkload: before, NewWorkload: after, WorkloadNode: "n"})
		if got != c.hint || err != nil {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}
