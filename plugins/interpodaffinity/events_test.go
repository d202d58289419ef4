package interpodaffinity

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func TestEvents(t *testing.T) {
	reference := "AssignedWorkload/Add|Delete|UpdateWorkloadLabel TargetWorkload/UpdateWorkloadLabel Node/Add|UpdateNodeLabel "
	for _, c := range []struct {
		p    InterPodAffinity
		want string
	}{
		{InterPodAffinity{compat: extpoints.KubeScheduler137}, reference},
		{InterPodAffinity{}, reference + "Node/Delete Namespace/All "},
	} {
		events, err := c.p.EventsToRegister()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, h := range events {
			got += h.Event.String() + " "
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// beyond are the cases in which the reference sleeps and we do not.
var beyond = map[string]bool{
	"comes from a namespace that is selected": true,
	"goes, and was the last of its kind":      true,
	"near: loses a label":                     true,
	"no terms of its own":                     true,
	"preferred terms only":                    true,
}

func TestHintAfterWorkloadChange(t *testing.T) {
	nearDB := workload("app=web", nearTo(to("app=db", "zone")))
	nearBoth := workload("app=web", nearTo(to("app=db", "zone"), to("tier", "zone")))
	notDB := workload("app=web", awayFrom(to("app=none", "zone"), to("app=db", "zone")))
	both, bars := workload("app=db,tier=x"), workload("", awayFrom(to("app=web", "zone")))
	for _, c := range []struct {
		name          string
		w             *model.Workload
		before, after *model.Workload
		want          extpoints.Hint
	}{
		{"none has come or gone", nearDB, nil, nil, extpoints.HintQueue}, // and an error

		{"comes, and is wanted", nearDB, nil, db, extpoints.HintQueue},
		{"comes, and is not wanted", nearDB, nil, web, extpoints.HintSkip},
		{"comes, and one term of two means it", nearBoth, nil, db, extpoints.HintSkip},
		{"comes, and both terms mean it", nearBoth, nil, both, extpoints.HintQueue},
		{"comes, and there is no affinity", notDB, nil, db, extpoints.HintSkip},
		{"comes from another namespace", nearDB, nil, workload("app=db", inside("a")), extpoints.HintSkip},
		{"comes from any namespace", workload("", nearTo(toIn("", "*", "app=db", "zone"))), nil, workload("app=db", inside("a")), extpoints.HintQueue},
		{"comes from a namespace that is named", workload("", nearTo(toIn("a", "", "app=db", "zone"))), nil, workload("app=db", inside("a")), extpoints.HintQueue},
		// Not looked up, though the namespace has the label.
		{"comes from a namespace that is selected", workload("", nearTo(toIn("", "team=a", "app=db", "zone"))), nil, workload("app=db", inside("a")), extpoints.HintSkip},
		{"comes from a namespace that should lack a label", workload("", nearTo(toIn("", "!team", "app=db", "zone"))), nil, workload("app=db", inside("a")), extpoints.HintQueue},

		{"becomes wanted", nearDB, web, db, extpoints.HintQueue},
		{"is wanted as before", nearDB, db, both, extpoints.HintSkip},
		{"is no longer wanted", nearDB, db, web, extpoints.HintSkip},
		{"becomes wanted by all", nearBoth, db, both, extpoints.HintQueue},
		{"gets out of the way", notDB, db, web, extpoints.HintQueue},
		{"is in the way as before", notDB, db, both, extpoints.HintSkip},
		{"gets in the way", notDB, web, db, extpoints.HintSkip},
		{"has its labels changed and bars as before", web, bars, bars, extpoints.HintSkip},

		{"goes, and was in the way", notDB, db, nil, extpoints.HintQueue},
		{"goes, and was not", notDB, web, nil, extpoints.HintSkip},
		{"goes, and barred", web, bars, nil, extpoints.HintQueue},
		{"goes, and barred others", db, bars, nil, extpoints.HintSkip},
		{"goes, and barred in another namespace", workload("app=web", inside("a")), bars, nil, extpoints.HintSkip},
		{"goes, and was wanted", nearDB, db, nil, extpoints.HintSkip},
		// It would now be the first of its kind.
		{"goes, and was the last of its kind", workload("app=web", nearTo(to("app=web", "zone"))), web, nil, extpoints.HintSkip},
	} {
		for _, h := range []hints{{reference: true}, {}} {
			want := c.want
			if !h.reference && beyond[c.name] {
				want = extpoints.HintQueue
			}
			got, err := h.afterWorkloadChange(c.w, &extpoints.Event{OldWorkload: info(c.before), NewWorkload: info(c.after)})
			if got != want || (err != nil) != (c.before == nil && c.after == nil) {
				t.Errorf("%s (%+v): %v, %v", c.name, h, got, err)
			}
		}
	}
}

func info(w *model.Workload) *extpoints.WorkloadInfo {
	if w == nil {
		return nil
	}
	return &extpoints.WorkloadInfo{Workload: w}
}

func TestHintAfterOwnLabelChange(t *testing.T) {
	if got, err := afterOwnLabelChange(web, &extpoints.Event{OldWorkload: info(web), NewWorkload: info(db)}); got != extpoints.HintQueue || err != nil {
		t.Error(got, err)
	}
}

func TestHintAfterNodeChange(t *testing.T) {
	node := func(text string) *model.Node { return &model.Node{Name: "n", Labels: labels(text)} }
	near := workload("", nearTo(to("app=db", "zone"), to("app=db", "rack")))
	apart := workload("", awayFrom(to("app=db", "zone"), to("app=db", "rack")))
	both := workload("", nearTo(to("app=db", "zone")), awayFrom(to("app=db", "rack")))
	for _, c := range []struct {
		name     string
		w        *model.Workload
		old, new *model.Node
		want     extpoints.Hint
	}{
		{"no node", near, node("zone=a"), nil, extpoints.HintQueue}, // and an error

		{"near: new, with one of the labels", near, nil, node("rack=1"), extpoints.HintQueue},
		{"near: new, with none", near, nil, node("host=1"), extpoints.HintSkip},
		{"near: gets a label", near, node("zone=a"), node("zone=a,rack="), extpoints.HintQueue},
		{"near: moves", near, node("zone=a"), node("zone=b"), extpoints.HintQueue},
		{"near: loses a label", near, node("zone=a"), node(""), extpoints.HintSkip},
		{"near: another label changes", near, node("zone=a"), node("zone=a,host=1"), extpoints.HintSkip},

		{"apart: new, with one of the labels", apart, nil, node("rack=1"), extpoints.HintQueue},
		{"apart: new, with none", apart, nil, node(""), extpoints.HintQueue},
		{"apart: gets a label", apart, node("zone=a"), node("zone=a,rack=1"), extpoints.HintSkip},
		{"apart: moves", apart, node("rack=1"), node("rack=2"), extpoints.HintQueue},
		{"apart: loses a label", apart, node("rack="), node(""), extpoints.HintQueue},
		{"apart: another label changes", apart, node("zone=a"), node("zone=a,host=1"), extpoints.HintSkip},

		{"both: gets the label of the wrong one", both, node("zone=a"), node("zone=a,rack=1"), extpoints.HintSkip},
		{"both: gets the label of the right one", both, node("rack=1"), node("zone=a,rack=1"), extpoints.HintQueue},
		{"both: loses the label of the right one", both, node("zone=a,rack=1"), node("zone=a"), extpoints.HintQueue},
		// Others may bar it from all nodes but this one.
		{"no terms of its own", web, nil, node("zone=a"), extpoints.HintSkip},
		{"preferred terms only", workload("", likes(1, to("app", "zone"))), nil, node("zone=a"), extpoints.HintSkip},
	} {
		for _, h := range []hints{{reference: true}, {}} {
			want := c.want
			if !h.reference && beyond[c.name] {
				want = extpoints.HintQueue
			}
			got, err := h.afterNodeChange(c.w, &extpoints.Event{OldNode: c.old, NewNode: c.new})
			if got != want || (err != nil) != (c.new == nil) {
				t.Errorf("%s (%+v): %v, %v", c.name, h, got, err)
			}
		}
	}
}

func TestHintAfterNamespaceChange(t *testing.T) {
	web := workload("", nearTo(toIn("", "team=a", "app=db", "zone")))
	for _, c := range []struct {
		name     string
		w        *model.Workload
		old, new *model.Namespace
		want     extpoints.Hint
	}{
		{"a term selects namespaces", web, nil, &model.Namespace{Name: "x"}, extpoints.HintQueue},
		{"no term does", workload("", nearTo(to("app=db", "zone"))), nil, &model.Namespace{Name: "x"}, extpoints.HintSkip},
		{"a term means all of them", workload("", nearTo(toIn("", "*", "app=db", "zone"))), &model.Namespace{Name: "x"}, nil, extpoints.HintSkip},
		{"its own changes", workload("", inside("x")), &model.Namespace{Name: "x"}, &model.Namespace{Name: "x"}, extpoints.HintQueue},
		{"its own goes", workload("", inside("x")), &model.Namespace{Name: "x"}, nil, extpoints.HintQueue},
	} {
		got, err := afterNamespaceChange(c.w, &extpoints.Event{OldNamespace: c.old, NewNamespace: c.new})
		if got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}
