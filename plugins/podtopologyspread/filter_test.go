package podtopologyspread

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// short makes a verdict readable in a table.
var short = strings.NewReplacer(
	"UnschedulableAndUnresolvable: node(s) didn't match workload topology spread constraints (missing required label)", "label",
	"Unschedulable: node(s) didn't match workload topology spread constraints", "skew",
	"Success", "ok",
)

// verdicts are PreFilter's, where it is not success, or else Filter's for each
// node.
func verdicts(p *PodTopologySpread, s *extpointstest.Situation) string {
	state := s.State()
	if _, status := p.PreFilter(state, s.Workload); status != nil {
		return status.String()
	}
	return short.Replace(strings.Join(ask(p, state, s), " "))
}

// threeOneNone are five nodes in three zones: three workloads in zone a (one of
// them on the second node), one in b, none in c.
func threeOneNone() []*extpoints.NodeInfo {
	return []*extpoints.NodeInfo{on("a1", 2, "zone=a", "host=a1"), on("a2", 1, "zone=a", "host=a2"),
		on("b1", 1, "zone=b", "host=b1"), on("b2", 0, "zone=b", "host=b2"), on("c1", 0, "zone=c", "host=c1")}
}

func TestFilter(t *testing.T) {
	everything := &model.Selector{}
	version := func(w *model.Workload) *model.Workload {
		w.Labels["version"] = "2"
		return w
	}
	stranger := func(w *model.Workload) *model.Workload {
		w.Labels = labelled("app=db")
		return w
	}
	elsewhere := func(w *model.Workload) *model.Workload {
		w.Namespace = "other"
		return w
	}
	onlyIn := func(zone string, w *model.Workload) *model.Workload {
		w.NodeSelector = labelled("zone=" + zone)
		return w
	}
	avoiding := func(zone string, w *model.Workload) *model.Workload {
		w.NodeAffinity = &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{
			{Key: "zone", Operator: model.NotIn, Values: []string{zone}}}}}}}
		return w
	}
	for _, c := range []struct {
		name string
		w    *model.Workload
		want string // for the nodes of threeOneNone
	}{
		{"no constraint", web("w"), "Skip"},
		{"only a preferred constraint", web("w", preferred("zone", 1)), "Skip"},
		{"3 1 0 with skew 1: only the emptiest zone", web("w", required("zone", 1)), "skew skew skew skew ok"},
		{"3 1 0 with skew 2: up to 2", web("w", required("zone", 2)), "skew skew ok ok ok"},
		{"3 1 0 with skew 4: anywhere", web("w", required("zone", 4)), "ok ok ok ok ok"},
		{"by host: each counts for itself", web("w", required("host", 1)), "skew skew skew ok ok"},
		{"the workload itself is not selected, so it does not add to the count", stranger(web("w", required("zone", 1))), "skew skew ok ok ok"},
		{"workloads of other namespaces do not count", elsewhere(web("w", required("zone", 1))), "ok ok ok ok ok"},
		{"a key that no node has", web("w", required("rack", 1)), "label label label label label"},
		{"both of two constraints", web("w", required("zone", 2), required("host", 1)), "skew skew skew ok ok"},
		{"a preferred constraint beside it changes nothing", web("w", required("zone", 1), preferred("rack", 1)), "skew skew skew skew ok"},
		{"a missing selector selects nothing, not even the workload", web("w", required("zone", 1, selecting(nil))), "ok ok ok ok ok"},
		{"a selector without requirements counts nothing", web("w", required("zone", 1, selecting(everything))), "ok ok ok ok ok"},

		{"fewer zones than wanted: the smallest count is 0", onlyIn("a", web("w", required("zone", 1, minDomains(2)))), "skew skew ok ok ok"},
		{"one zone that takes part, and no minimum", onlyIn("a", web("w", required("zone", 1))), "ok ok ok ok ok"},
		{"as many zones as wanted", web("w", required("zone", 1, minDomains(3))), "skew skew skew skew ok"},
		{"the node selector leaves zone c out, so b has the smallest count", avoiding("c", web("w", required("zone", 1))), "skew skew ok ok ok"},
		{"unless the policy is to ignore it", avoiding("c", web("w", required("zone", 1, affinityPolicy(model.Ignore)))), "skew skew skew skew ok"},
		{"nothing of version 2 is there", version(web("w", required("zone", 1, matchLabels("version")))), "ok ok ok ok ok"},
		{"the workload lacks the label", web("w", required("zone", 1, matchLabels("version"))), "skew skew skew skew ok"},
		{"a key that the selector has too", web("w", required("zone", 1, matchLabels("app"))), "skew skew skew skew ok"},
		{"match label keys and a selector without requirements", web("w", required("zone", 1, selecting(everything), matchLabels("app"))), "skew skew skew skew ok"},
	} {
		s := extpointstest.NewSituation(c.w, threeOneNone()...)
		if got := verdicts(newPlugin(t, nil), s); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Nodes that lack a label take no part, in any of the constraints.
func TestFilterMissingLabels(t *testing.T) {
	nodes := []*extpoints.NodeInfo{on("a1", 1, "zone=a", "host=a1"), on("b1", 1, "zone=b", "host=b1"),
		on("c1", 0, "zone=c"), on("x1", 5, "host=x1"), on("y1", 0)}
	for _, c := range []struct {
		name string
		w    *model.Workload
		want string
	}{
		{"zone", web("w", required("zone", 1)), "skew skew ok label label"},
		{"zone and host: zone c has no node with both", web("w", required("zone", 1), required("host", 1)), "ok ok label label label"},
		{"in the other order: the host of x1 takes no part and is as if empty", web("w", required("host", 1), required("zone", 1)), "ok ok label label label"},
	} {
		if got := verdicts(newPlugin(t, nil), extpointstest.NewSituation(c.w, nodes...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	empty := []*extpoints.NodeInfo{on("e", 1, "zone="), on("a1", 0, "zone=a")}
	if got := verdicts(newPlugin(t, nil), extpointstest.NewSituation(web("w", required("zone", 1)), empty...)); got != "skew ok" {
		t.Errorf("an empty value is a value: %s", got)
	}
}

func TestFilterTaints(t *testing.T) {
	tainted := func(effect model.TaintEffect) []*extpoints.NodeInfo {
		nodes := threeOneNone()
		nodes[4].Node.Taints = []model.Taint{{Key: "dedicated", Effect: effect}}
		return nodes
	}
	tolerant := web("w", required("zone", 1, taintsPolicy(model.Honor)))
	tolerant.Tolerations = []model.Toleration{{Key: "dedicated", Operator: model.Exists}}
	for _, c := range []struct {
		name   string
		w      *model.Workload
		effect model.TaintEffect
		want   string
	}{
		{"taints are ignored", web("w", required("zone", 1)), model.NoSchedule, "skew skew skew skew ok"},
		{"honored: zone c takes no part, and is as if empty", web("w", required("zone", 1, taintsPolicy(model.Honor))), model.NoSchedule, "skew skew ok ok ok"},
		{"honored, but tolerated", tolerant, model.NoSchedule, "skew skew skew skew ok"},
		{"a taint that only asks", web("w", required("zone", 1, taintsPolicy(model.Honor))), model.PreferNoSchedule, "skew skew skew skew ok"},
	} {
		if got := verdicts(newPlugin(t, nil), extpointstest.NewSituation(c.w, tainted(c.effect)...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What is terminating makes room in advance.
func TestFilterTerminating(t *testing.T) {
	nodes := []*extpoints.NodeInfo{on("a1", 1, "zone=a"), on("b1", 0, "zone=b")}
	nodes[0].Workloads[0].Terminating = true
	if got := verdicts(newPlugin(t, nil), extpointstest.NewSituation(web("w", required("zone", 1)), nodes...)); got != "ok ok" {
		t.Error(got)
	}
}

func TestFilterDefaultConstraints(t *testing.T) {
	list := Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{
		{TopologyKey: "zone", Mode: model.SpreadRequired, MaxSkew: 1}, {TopologyKey: "host", Mode: model.SpreadPreferred, MaxSkew: 1},
	}}
	owned := func(w *model.Workload, s *model.Selector) *model.Workload {
		w.OwnerSelector = s
		return w
	}
	webs := model.SelectLabels(labelled("app=web"))
	for _, c := range []struct {
		name string
		args Args
		w    *model.Workload
		want string
	}{
		{"of a list", list, owned(web("w"), webs), "skew skew skew skew ok"},
		{"no owner", list, web("w"), "Skip"},
		{"an owner that selects everything", list, owned(web("w"), &model.Selector{}), "Skip"},
		{"own constraints, even if only preferred ones", list, owned(web("w", preferred("rack", 1)), webs), "Skip"},
		{"those of System are only preferred", Args{}, owned(web("w"), webs), "Skip"},
		{"an empty list", Args{DefaultingType: List}, owned(web("w"), webs), "Skip"},
	} {
		if got := verdicts(newPlugin(t, c.args), extpointstest.NewSituation(c.w, threeOneNone()...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The extensions count what they are told, also what PreFilter left out.
func TestExtensions(t *testing.T) {
	p := newPlugin(t, nil)
	everything := &model.Selector{}
	other := func(namespace string, labels ...string) *extpoints.WorkloadInfo {
		return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "other", Namespace: namespace, Labels: labelled(labels...)}}
	}
	leaving := other("ns", "app=web")
	leaving.Terminating = true
	for _, c := range []struct {
		name   string
		w      *model.Workload
		add    bool
		other  *extpoints.WorkloadInfo
		node   int // of threeOneNone
		before string
		after  string
	}{
		{"add to the emptiest zone", web("w", required("zone", 1)), true, other("ns", "app=web"), 4, "skew skew skew skew ok", "skew skew ok ok ok"},
		{"remove from another", web("w", required("zone", 1)), false, other("ns", "app=web"), 2, "skew skew skew skew ok", "skew skew ok ok ok"},
		{"one of another namespace", web("w", required("zone", 1)), true, other("", "app=web"), 4, "skew skew skew skew ok", "skew skew skew skew ok"},
		{"one that is not selected", web("w", required("zone", 1)), true, other("ns", "app=db"), 4, "skew skew skew skew ok", "skew skew skew skew ok"},
		{"one on its way out", web("w", required("zone", 1)), false, leaving, 4, "skew skew skew skew ok", "skew skew skew skew ok"},
		{"with a selector without requirements", web("w", required("zone", 1, selecting(everything))), true, other("ns"), 4, "ok ok ok ok ok", "ok ok ok ok skew"},
	} {
		s := extpointstest.NewSituation(c.w, threeOneNone()...)
		state := s.State()
		p.PreFilter(state, s.Workload)
		if got := short.Replace(strings.Join(ask(p, state, s), " ")); got != c.before {
			t.Errorf("%s: before %s, want %s", c.name, got, c.before)
		}
		call := p.RemoveWorkload
		if c.add {
			call = p.AddWorkload
		}
		if status := call(state, s.Workload, c.other, s.View.NodeInfos[c.node]); status != nil {
			t.Errorf("%s: %v", c.name, status)
		}
		if got := short.Replace(strings.Join(ask(p, state, s), " ")); got != c.after {
			t.Errorf("%s: after %s, want %s", c.name, got, c.after)
		}
	}
}

// With three domains of which two are filled up, the third is forgotten: the
// smallest count is then 1 and not 0.
func TestExtensionsRememberTwoDomains(t *testing.T) {
	p := newPlugin(t, nil)
	s := extpointstest.NewSituation(web("w", required("zone", 1)), on("a1", 0, "zone=a"), on("b1", 0, "zone=b"), on("c1", 0, "zone=c"))
	state := s.State()
	p.PreFilter(state, s.Workload)
	for _, node := range s.View.NodeInfos[:2] {
		p.AddWorkload(state, s.Workload, &extpoints.WorkloadInfo{Workload: web("more")}, node)
	}
	if got := short.Replace(strings.Join(ask(p, state, s), " ")); got != "ok ok ok" {
		t.Error(got)
	}
}

// Where PreFilter is disabled in a profile nothing is guessed.
func TestWithoutPreparation(t *testing.T) {
	p := newPlugin(t, nil)
	s := extpointstest.NewSituation(web("w", required("zone", 1), preferred("zone", 1)), threeOneNone()...)
	state, node := s.State(), s.View.NodeInfos[0]
	_, score := p.Score(state, s.Workload, node)
	for name, status := range map[string]*extpoints.Status{
		"Filter":         p.Filter(state, s.Workload, node),
		"AddWorkload":    p.AddWorkload(state, s.Workload, s.Workload, node),
		"RemoveWorkload": p.RemoveWorkload(state, s.Workload, s.Workload, node),
		"Score":          score,
		"NormalizeScore": p.NormalizeScore(state, s.Workload, s.View.NodeInfos, make([]int64, 5)),
	} {
		if status.Code() != extpoints.Error {
			t.Errorf("%s says %v", name, status)
		}
	}
}
