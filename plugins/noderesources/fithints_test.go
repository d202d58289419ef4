package noderesources

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func sized(cpu, memory int64, scalars ...model.Scalar) *model.Node {
	return &model.Node{Name: "n", Allocatable: amounts(cpu, memory, 0, scalars...)}
}

func atMost(most int64, n *model.Node) *model.Node {
	n.MaxWorkloads = most
	return n
}

func TestNodeHint(t *testing.T) {
	for _, c := range []struct {
		name     string
		want     model.Resources
		old, new *model.Node
		hint     extpoints.Hint
		fails    bool
	}{
		{"no node", amounts(1, 1, 0), sized(1, 1), nil, extpoints.HintQueue, true},
		{"a new node, too small", amounts(2, 2, 0), nil, sized(1, 2), extpoints.HintSkip, false},
		{"a new node, large enough", amounts(2, 2, 0), nil, sized(2, 2), extpoints.HintQueue, false},
		{"a new node that takes nothing", amounts(2, 2, 0), nil, atMost(model.NoWorkloads, sized(2, 2)), extpoints.HintSkip, false},
		{"grew, but is still too small", amounts(3, 2, 0), sized(1, 2), sized(2, 2), extpoints.HintSkip, false},
		{"grew and is large enough", amounts(2, 2, 0), sized(1, 2), sized(2, 2), extpoints.HintQueue, false},
		{"grew further", amounts(2, 2, 0), sized(2, 2), sized(3, 2), extpoints.HintQueue, false},
		{"shrank", amounts(1, 1, 0), sized(3, 3), sized(2, 2), extpoints.HintSkip, false},
		{"one more, one less", amounts(1, 1, 0), sized(3, 3), sized(4, 2), extpoints.HintQueue, false},
		{"grew in what nobody asked for", amounts(1, 0, 0), sized(1, 1), sized(1, 2), extpoints.HintSkip, false},
		{"grew in a scalar", amounts(0, 0, 0, some(scalarA, 1)), sized(1, 1), sized(1, 1, some(scalarA, 1)), extpoints.HintQueue, false},
		{"grew in another scalar", amounts(0, 0, 0, some(scalarA, 1)), sized(1, 1, some(scalarA, 1)), sized(1, 1, some(scalarA, 1), some(scalarB, 1)), extpoints.HintSkip, false},
		{"grew in a scalar of which none is wanted", amounts(1, 1, 0, some(scalarA, 0)), sized(1, 1), sized(1, 1, some(scalarA, 1)), extpoints.HintSkip, false},
		{"more places", amounts(1, 1, 0), atMost(1, sized(1, 1)), atMost(2, sized(1, 1)), extpoints.HintQueue, false},
		{"more places for one that asks for nothing", amounts(0, 0, 0), atMost(1, sized(1, 1)), atMost(2, sized(1, 1)), extpoints.HintQueue, false},
		{"as many places as there can be", amounts(0, 0, 0), atMost(1, sized(1, 1)), sized(1, 1), extpoints.HintQueue, false},
		{"fewer places", amounts(0, 0, 0), sized(1, 1), atMost(5, sized(1, 1)), extpoints.HintSkip, false},
		{"nothing asked for, node grew", amounts(0, 0, 0), sized(1, 1), sized(2, 2), extpoints.HintSkip, false},
	} {
		got, err := newFit(t, nil).afterNodeChange(asking(c.want), &extpoints.Event{OldNode: c.old, NewNode: c.new})
		if got != c.hint || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

// Filter lets the workload onto the node, but the hint that could have told it
// looks at the ignored scalar. It is so in the reference.
func TestNodeHintDoesNotIgnore(t *testing.T) {
	f := newFit(t, FitArgs{IgnoredResources: []string{scalarB}})
	w := asking(amounts(2, 0, 0, some(scalarB, 1)))
	if got := filter(t, f, w.Requests, sized(2, 2), amounts(0, 0, 0)); !got.IsSuccess() {
		t.Errorf("Filter: %v", got)
	}
	if got, _ := f.afterNodeChange(w, &extpoints.Event{OldNode: sized(1, 2), NewNode: sized(2, 2)}); got != extpoints.HintSkip {
		t.Errorf("hint: %v", got)
	}
}

func TestScaleDownHint(t *testing.T) {
	info := func(r model.Resources) *extpoints.WorkloadInfo {
		return &extpoints.WorkloadInfo{Workload: asking(r)}
	}
	for _, c := range []struct {
		name     string
		want     model.Resources
		old, new *extpoints.WorkloadInfo
		hint     extpoints.Hint
		fails    bool
	}{
		{"no workload", amounts(1, 0, 0), info(amounts(2, 0, 0)), nil, extpoints.HintQueue, true},
		{"less CPU, which is wanted", amounts(1, 0, 0), info(amounts(2, 2, 2)), info(amounts(1, 2, 2)), extpoints.HintQueue, false},
		{"less memory, which is wanted", amounts(0, 1, 0), info(amounts(2, 2, 2)), info(amounts(2, 1, 2)), extpoints.HintQueue, false},
		{"less disk, which is wanted", amounts(0, 0, 1), info(amounts(2, 2, 2)), info(amounts(2, 2, 1)), extpoints.HintQueue, false},
		{"less of a scalar that is wanted", amounts(0, 0, 0, some(scalarA, 1)), info(amounts(0, 0, 0, some(scalarA, 2))), info(amounts(0, 0, 0)), extpoints.HintQueue, false},
		{"less CPU, which is not wanted", amounts(0, 1, 0), info(amounts(2, 2, 2)), info(amounts(1, 2, 2)), extpoints.HintSkip, false},
		{"less of a scalar of which none is wanted", amounts(0, 0, 0, some(scalarA, 0)), info(amounts(0, 0, 0, some(scalarA, 2))), info(amounts(0, 0, 0)), extpoints.HintSkip, false},
		{"more CPU", amounts(1, 1, 0), info(amounts(2, 2, 2)), info(amounts(3, 2, 2)), extpoints.HintSkip, false},
	} {
		got, err := asksForLess(asking(c.want), &extpoints.Event{OldWorkload: c.old, NewWorkload: c.new})
		if got != c.hint || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestFitEvents(t *testing.T) {
	for compat, always := range map[extpoints.Compat]bool{extpoints.Improved: false, extpoints.KubeScheduler137: true} {
		h := extpointstest.NewHandle()
		h.Mode = compat
		p, err := NewFit(FitArgs{}, h)
		if err != nil {
			t.Fatal(err)
		}
		checkFitEvents(t, p, always)
	}
}

// checkFitEvents: departures wake always, or if they help.
func checkFitEvents(t *testing.T, f *Fit, departures bool) {
	hints, err := f.EventsToRegister()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		resource model.ObjectKind
		action   extpoints.Action
		always   bool
	}{
		{extpoints.AssignedWorkload, extpoints.Delete, departures},
		{extpoints.NodeResource, extpoints.Add | extpoints.UpdateNodeAllocatable, false},
		{extpoints.AssignedWorkload, extpoints.UpdateWorkloadScaleDown, false},
		{extpoints.TargetWorkload, extpoints.UpdateWorkloadScaleDown, true},
		{model.DeviceClassKind, extpoints.Add | extpoints.Update, false},
	}
	for i, w := range want {
		if h := hints[i]; h.Event.Resource != w.resource || h.Event.Action != w.action || (h.Hint == nil) != w.always {
			t.Errorf("event %d is %+v, want %+v", i, h, w)
		}
	}
	if len(hints) != len(want) {
		t.Errorf("%d events", len(hints))
	}
}
