package podtopologyspread

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

const (
	queue = extpoints.HintQueue
	leave = extpoints.HintSkip
)

func other(namespace string, labels ...string) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "other", Namespace: namespace, Labels: labelled(labels...)}}
}

func TestHintsOfAssignedWorkloads(t *testing.T) {
	byZone, byVersion := required("zone", 1), required("host", 1, selecting(model.SelectLabels(labelled("version=2"))))
	none, replica := web("w"), web("w")
	replica.OwnerSelector = model.SelectLabels(labelled("app=web"))
	defaults := Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{{TopologyKey: "zone", Mode: model.SpreadRequired, MaxSkew: 1}}}
	for _, c := range []struct {
		name          string
		args          any
		w             *model.Workload
		before, after *extpoints.WorkloadInfo
		want          extpoints.Hint
	}{
		{"neither before nor after", nil, web("w", byZone), nil, nil, queue},
		{"a selected one comes", nil, web("w", byZone), nil, other("ns", "app=web"), queue},
		{"a selected one goes", nil, web("w", byZone), other("ns", "app=web"), nil, queue},
		{"another one comes", nil, web("w", byZone), nil, other("ns", "app=db"), leave},
		{"another one goes", nil, web("w", byZone), other("ns", "app=db"), nil, leave},
		{"one of another namespace comes", nil, web("w", byZone), nil, other("", "app=web"), leave},
		{"one of another namespace goes", nil, web("w", byZone), other("", "app=web"), nil, leave},
		{"the second constraint selects it", nil, web("w", byZone, byVersion), nil, other("ns", "version=2"), queue},
		{"it begins to be selected", nil, web("w", byZone), other("ns", "app=db"), other("ns", "app=web"), queue},
		{"it is no longer selected", nil, web("w", byZone), other("ns", "app=web"), other("ns"), queue},
		{"it stays selected", nil, web("w", byZone), other("ns", "app=web"), other("ns", "app=web", "x=y"), leave},
		{"its labels are as they were", nil, web("w", byZone), other("ns", "app=web"), other("ns", "app=web"), leave},
		{"its labels are as they were, in another namespace", nil, web("w", byZone), other("", "app=web"), other("", "app=db"), leave},
		{"one constraint loses it, another gets it", nil, web("w", byZone, byVersion), other("ns", "app=web"), other("ns", "version=2"), queue},
		{"preferred constraints reject nothing", nil, web("w", preferred("zone", 1)), nil, other("ns", "app=web"), leave},
		{"no constraints", nil, none, nil, other("ns", "app=web"), leave},
		{"default constraints", defaults, replica, nil, other("ns", "app=web"), queue},
		{"default constraints, not selected", defaults, replica, nil, other("ns", "app=db"), leave},
		{"a selector without requirements", nil, web("w", required("zone", 1, selecting(&model.Selector{}))), nil, other("ns"), queue},
	} {
		got, err := newPlugin(t, c.args).afterAssignedChange(c.w, &extpoints.Event{OldWorkload: c.before, NewWorkload: c.after})
		if got != c.want || (err != nil) != (c.before == nil && c.after == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestHintsOfTheWorkloadItself(t *testing.T) {
	p := keeping(t, extpoints.KubeScheduler137)
	honoring, byZone := required("zone", 1, taintsPolicy(model.Honor)), required("zone", 1)
	tolerant := web("w", honoring)
	tolerant.Tolerations = []model.Toleration{{Key: "spot", Operator: model.Exists}}
	tolerantUnasked := tolerant.Clone()
	tolerantUnasked.Spread = []model.SpreadConstraint{byZone}
	relabelled := func(w *model.Workload, labels ...string) *model.Workload {
		w.Labels = labelled(labels...)
		return w
	}
	byVersion := required("zone", 1, matchLabels("version"))
	for _, c := range []struct {
		name          string
		before, after *model.Workload
		want          extpoints.Hint
	}{
		{"a toleration where taints are honored", web("w", honoring), tolerant, queue},
		{"a toleration where they are not", web("w", byZone), tolerantUnasked, leave},
		{"it is no longer selected", web("w", byZone), relabelled(web("w", byZone), "app=db"), queue},
		{"it begins to be selected", relabelled(web("w", byZone), "app=db"), web("w", byZone), queue},
		{"a label that does not matter", web("w", byZone), relabelled(web("w", byZone), "app=web", "x=y"), leave},
		{"nothing", web("w", byZone), web("w", byZone), leave},
		{"the label of a match label key: the new selector selects the new workload only",
			relabelled(web("w", byVersion), "app=web", "version=1"), relabelled(web("w", byVersion), "app=web", "version=2"), queue},
		{"and neither, where it selects neither",
			relabelled(web("w", byVersion), "version=1"), relabelled(web("w", byVersion), "version=2"), leave},
	} {
		got, err := p.afterTargetChange(c.after, &extpoints.Event{
			OldWorkload: &extpoints.WorkloadInfo{Workload: c.before}, NewWorkload: &extpoints.WorkloadInfo{Workload: c.after}})
		if got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	if got, err := p.afterTargetChange(tolerant, &extpoints.Event{}); got != queue || err == nil {
		t.Errorf("without the workload: %v, %v", got, err)
	}
}

func TestHintsOfNodes(t *testing.T) {
	p := keeping(t, extpoints.KubeScheduler137)
	node := func(labels ...string) *model.Node { return &model.Node{Name: "n", Labels: labelled(labels...)} }
	tainted := func(n *model.Node) *model.Node {
		n.Taints = []model.Taint{{Key: "spot", Effect: model.NoSchedule}}
		return n
	}
	both := web("w", required("zone", 1), required("host", 1))
	for _, c := range []struct {
		name          string
		before, after *model.Node
		want          extpoints.Hint
	}{
		{"no node", nil, nil, queue},
		{"a new one with both keys", nil, node("zone=a", "host=n"), queue},
		{"a new one with one of them", nil, node("zone=a"), leave},
		{"one with both keys goes", node("zone=a", "host=n"), nil, queue},
		{"one with one of them goes", node("zone=a"), nil, leave},
		{"it gets the second key", node("zone=a"), node("zone=a", "host=n"), queue},
		{"it loses one", node("zone=a", "host=n"), node("zone=a"), queue},
		{"it moves", node("zone=a", "host=n"), node("zone=b", "host=n"), queue},
		{"another label", node("zone=a", "host=n"), node("zone=a", "host=n", "x=y"), leave},
		{"it lacks a key and moves", node("zone=a"), node("zone=b"), leave},
		{"new taints", node("zone=a", "host=n"), tainted(node("zone=a", "host=n")), queue},
		{"taints go", tainted(node("zone=a", "host=n")), node("zone=a", "host=n"), queue},
		{"new taints where a key is missing", node("zone=a"), tainted(node("zone=a")), leave},
	} {
		got, err := p.afterNodeChange(both, &extpoints.Event{OldNode: c.before, NewNode: c.after})
		if got != c.want || (err != nil) != (c.before == nil && c.after == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestEventsToRegister(t *testing.T) {
	hints, err := keeping(t, extpoints.KubeScheduler137).EventsToRegister()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"AssignedWorkload/Add|Delete|UpdateWorkloadLabel",
		"TargetWorkload/UpdateWorkloadLabel|UpdateWorkloadToleration",
		"Node/Add|Delete|UpdateNodeLabel|UpdateNodeTaint",
	}
	for i, h := range hints {
		if i >= len(want) || h.Event.String() != want[i] {
			t.Errorf("event %d is %s", i, h.Event)
		}
	}
	if len(hints) != len(want) {
		t.Errorf("%d events, want %d", len(hints), len(want))
	}
}

// TestHintsBeyondTheReference: what the reference misses wakes workloads
// here.
func TestHintsBeyondTheReference(t *testing.T) {
	constraint := required("zone", 1, matchLabels("version"))
	selecting := web("w", constraint)
	selecting.NodeSelector = map[string]string{"disk": "ssd"}
	node := func(labels ...string) *model.Node { return &model.Node{Name: "n", Labels: labelled(labels...)} }
	other, leaving := &extpoints.WorkloadInfo{Workload: web("a")}, &extpoints.WorkloadInfo{Workload: web("a"), Terminating: true}
	relabelled := func(version string) *extpoints.WorkloadInfo {
		w := web("w", constraint)
		w.Labels = labelled("version=" + version)
		return &extpoints.WorkloadInfo{Workload: w}
	}
	for _, c := range []struct {
		name string
		ask  func(*PodTopologySpread) (extpoints.Hint, error)
	}{
		{"a label that node affinity asks for", func(p *PodTopologySpread) (extpoints.Hint, error) {
			return p.afterNodeChange(selecting, &extpoints.Event{OldNode: node("zone=a"), NewNode: node("zone=a", "disk=ssd")})
		}},
		{"one begins to be on its way out", func(p *PodTopologySpread) (extpoints.Hint, error) {
			return p.afterAssignedChange(web("w", required("zone", 1)), &extpoints.Event{OldWorkload: other, NewWorkload: leaving})
		}},
		{"a label that MatchLabelKeys names", func(p *PodTopologySpread) (extpoints.Hint, error) {
			return p.afterTargetChange(relabelled("2").Workload, &extpoints.Event{OldWorkload: relabelled("1"), NewWorkload: relabelled("2")})
		}},
	} {
		for compat, want := range map[extpoints.Compat]extpoints.Hint{extpoints.Improved: queue, extpoints.KubeScheduler137: leave} {
			if got, err := c.ask(keeping(t, compat)); got != want || err != nil {
				t.Errorf("%s, %s: %v, %v", c.name, compat, got, err)
			}
		}
	}
}
