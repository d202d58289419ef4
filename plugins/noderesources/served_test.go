package noderesources

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// withClasses is a view in which devices can serve scalarA, and those of the
// class "direct".
func withClasses(nodes ...*extpoints.NodeInfo) *extpointstest.View {
	view := extpointstest.NewView(nodes...)
	class := modeltest.DeviceClass("named")
	class.Resource = scalarA
	view.Put(class, modeltest.DeviceClass("direct"))
	return view
}

// What devices can serve is not asked of nodes that do not offer it themselves.
func TestFilterLeavesScalarsToDevices(t *testing.T) {
	direct := model.DeviceClassResource + "direct"
	for _, c := range []struct {
		name string
		want model.Resources
		node *model.Node
		used model.Resources
		says string
	}{
		{"a node without the scalar", amounts(1, 0, 0, some(scalarA, 2)), sized(1, 1), amounts(0, 0, 0), "Success"},
		{"a node with none of the scalar", amounts(1, 0, 0, some(scalarA, 2)), sized(1, 1, some(scalarA, 0)), amounts(0, 0, 0), "Success"},
		{"a node with too little", amounts(1, 0, 0, some(scalarA, 2)), sized(1, 1, some(scalarA, 1)), amounts(0, 0, 0), "UnschedulableAndUnresolvable: Insufficient example.com/aaa"},
		{"a node with too little left", amounts(1, 0, 0, some(scalarA, 2)), sized(1, 1, some(scalarA, 2)), amounts(0, 0, 0, some(scalarA, 1)), "Unschedulable: Insufficient example.com/aaa"},
		{"the name of the class", amounts(0, 0, 0, some(direct, 1)), sized(1, 1), amounts(0, 0, 0), "Success"},
		{"the name of no class", amounts(0, 0, 0, some(model.DeviceClassResource+"other", 1)), sized(1, 1), amounts(0, 0, 0), "UnschedulableAndUnresolvable: Insufficient deviceclass.resource.kubernetes.io/other"},
		{"another scalar besides", amounts(0, 0, 0, some(scalarB, 1), some(scalarA, 1)), sized(1, 1), amounts(0, 0, 0), "UnschedulableAndUnresolvable: Insufficient example.com/bbb"},
	} {
		node := extpointstest.NodeWith(c.node, &model.Workload{ID: "other", Requests: c.used})
		s := &extpointstest.Situation{Workload: &extpoints.WorkloadInfo{Workload: asking(c.want)}, View: withClasses(node)}
		f, state := newFit(t, nil), s.State()
		alone := f.Filter(state, s.Workload, node)
		f.PreFilter(state, s.Workload)
		if got := f.Filter(state, s.Workload, node); got.String() != c.says || alone.String() != c.says {
			t.Errorf("%s: %v, without PreFilter %v, want %s", c.name, got, alone, c.says)
		}
	}
}

func fitIn(t *testing.T, view extpoints.ClusterView) *Fit {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Cluster = view
	p, err := NewFit(FitArgs{}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSignLeavesOutWhatDevicesServe(t *testing.T) {
	f := fitIn(t, withClasses())
	for name, unsigned := range map[string]bool{scalarA: true, scalarB: false, model.DeviceClassResource + "direct": true} {
		if _, status := f.Sign(asking(amounts(1, 1, 0, some(name, 1)))); (status.Code() == extpoints.Unschedulable) != unsigned {
			t.Errorf("%s: %v", name, status)
		}
	}
	if _, status := f.Sign(asking(amounts(1, 1, 0, some(scalarA, 0)))); !status.IsSuccess() {
		t.Errorf("none wanted: %v", status)
	}
}

// A node leaves what it does not offer to devices; the hint says so, too.
func TestNodeHintKnowsOfDevices(t *testing.T) {
	f, w := fitIn(t, withClasses()), asking(amounts(1, 0, 0, some(scalarA, 2)))
	for _, c := range []struct {
		name     string
		old, new *model.Node
		hint     extpoints.Hint
	}{
		{"a new node without the scalar", nil, sized(1, 1), extpoints.HintQueue},
		{"no longer offers too little", sized(1, 1, some(scalarA, 1)), sized(1, 1), extpoints.HintQueue},
		{"still offers too little", sized(1, 1), sized(1, 1, some(scalarA, 1)), extpoints.HintSkip},
		{"is too small otherwise", nil, sized(0, 1), extpoints.HintSkip},
	} {
		if got, err := f.afterNodeChange(w, &extpoints.Event{OldNode: c.old, NewNode: c.new}); got != c.hint || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestClassHint(t *testing.T) {
	class := func(resource string) *model.DeviceClass { return &model.DeviceClass{Name: "c", Resource: resource} }
	w := asking(amounts(0, 0, 0, some(scalarA, 1)))
	byName := asking(amounts(0, 0, 0, some(model.DeviceClassResource+"c", 1)))
	for _, c := range []struct {
		name     string
		w        *model.Workload
		old, new *model.DeviceClass
		hint     extpoints.Hint
	}{
		{"a new class for it", w, nil, class(scalarA), extpoints.HintQueue},
		{"a new class for another", w, nil, class(scalarB), extpoints.HintSkip},
		{"a new class for none", w, nil, class(""), extpoints.HintSkip},
		{"a new class of the name", byName, nil, class(""), extpoints.HintQueue},
		{"stands for it now", w, class(scalarB), class(scalarA), extpoints.HintQueue},
		{"stands for it as before", w, class(scalarA), class(scalarA), extpoints.HintSkip},
		{"stands for it no longer", w, class(scalarA), class(""), extpoints.HintSkip},
		{"of the name changes", byName, class(""), class(scalarA), extpoints.HintSkip},
	} {
		change := &extpoints.Event{NewObject: c.new}
		if c.old != nil {
			change.OldObject = c.old
		}
		if got, err := afterClassChange(c.w, change); got != c.hint || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	if got, err := afterClassChange(w, &extpoints.Event{}); got != extpoints.HintQueue || err == nil {
		t.Errorf("no class: %v, %v", got, err)
	}
}
