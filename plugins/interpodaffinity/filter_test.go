package interpodaffinity

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

var letters = map[string]string{
	"Success": ".",
	"UnschedulableAndUnresolvable: node(s) didn't match workload affinity rules":   "A",
	"Unschedulable: node(s) didn't match workload anti-affinity rules":             "X",
	"Unschedulable: node(s) didn't satisfy existing workloads anti-affinity rules": "E",
}

// verdicts is a letter for each node: . accepted, A not near, X not apart,
// E not wanted there.
func verdicts(t *testing.T, p *InterPodAffinity, state *extpoints.CycleState, s *extpointstest.Situation) string {
	t.Helper()
	text := ""
	for _, n := range s.View.NodeInfos {
		status := p.Filter(state, s.Workload, n).String()
		if letters[status] == "" {
			t.Fatalf("Filter says %q", status)
		}
		text += letters[status]
	}
	return text
}

type nodes = []*extpoints.NodeInfo

var (
	web = workload("app=web")
	db  = workload("app=db")
)

var filterCases = []struct {
	name  string
	w     *model.Workload
	nodes nodes
	want  string // see verdicts; "skip" where PreFilter skips
}{
	{"no terms anywhere", web, nodes{node("zone=a", db)}, "skip"},
	{"only preferred terms", workload("app=web", likes(5, to("app=db", "zone")), dislikes(5, to("app=web", "zone"))), nodes{node("zone=a", web)}, "skip"},

	{"near: in the same domain", workload("", nearTo(to("app=db", "zone"))),
		nodes{node("zone=a", db), node("zone=a"), node("zone=b"), node("")}, "..AA"},
	{"near: nobody is there", workload("", nearTo(to("app=db", "zone"))), nodes{node("zone=a", web), node("zone=b")}, "AA"},
	{"near: an empty value is a domain like others", workload("", nearTo(to("app=db", "zone"))),
		nodes{node("zone=", db), node("zone="), node("zone=b"), node("rack=")}, "..AA"},
	{"near: a selector without requirements", workload("", nearTo(to("*", "zone"))), nodes{node("zone=a", db), node("zone=b")}, ".A"},
	{"near: no selector means nobody", workload("", nearTo(to("", "zone"))), nodes{node("zone=a", db), node("zone=b")}, "AA"},
	{"near: one workload must be meant by all terms", workload("", nearTo(to("app=db", "zone"), to("tier=back", "zone"))),
		nodes{node("zone=a", db, workload("tier=back")), node("zone=b", workload("app=db,tier=back"))}, "A."},
	{"near: all topologies, though not of the same workload", workload("", nearTo(to("app=db", "zone"), to("app", "rack"))),
		nodes{node("zone=a,rack=1", db), node("zone=a,rack=2"), node("zone=b,rack=1"), node("zone=b,rack=3", db), node("zone=a,rack=3"), node("zone=a"), node("rack=1")},
		".A...AA"},
	{"near: the first of its kind goes where the labels are", workload("app=web", nearTo(to("app=web", "zone"))), nodes{node("zone=a", db), node("")}, ".A"},
	{"near: the second follows it", workload("app=web", nearTo(to("app=web", "zone"))), nodes{node("zone=a", web), node("zone=b")}, ".A"},
	{"near: the first of its kind must be meant by all terms", workload("app=web", nearTo(to("app=web", "zone"), to("tier=back", "zone"))), nodes{node("zone=a")}, "A"},
	{"near: the first of its kind needs all labels", workload("app=web", nearTo(to("app=web", "zone"), to("app", "rack"))),
		nodes{node("zone=a"), node("rack=1"), node("zone=a,rack=1")}, "AA."},
	{"near: one that is on a node without the label is not there", workload("app=web", nearTo(to("app=web", "zone"))), nodes{node("", web), node("zone=a")}, "A."},
	{"near: one that is there for one of the keys is there", workload("app=web", nearTo(to("app=web", "zone"), to("app=web", "rack"))),
		nodes{node("zone=a", web), node("zone=a,rack=1")}, "AA"},
	{"near: the first of its kind in another namespace than it speaks of", workload("app=web", nearTo(toIn("a", "", "app=web", "zone"))), nodes{node("zone=a")}, "A"},

	{"apart: not in the same domain", workload("", awayFrom(to("app=db", "zone"))),
		nodes{node("zone=a", db), node("zone=a"), node("zone=b"), node("")}, "XX.."},
	{"apart: without the label nobody is near", workload("app=web", awayFrom(to("app=web", "zone"))), nodes{node("", web)}, "."},
	{"apart: any of the terms", workload("", awayFrom(to("app=db", "zone"), to("tier=back", "rack"))),
		nodes{node("zone=a,rack=1", db), node("zone=b,rack=2", workload("tier=back")), node("zone=b,rack=3"), node("zone=a,rack=4"), node("zone=c,rack=2")},
		"XX.XX"},
	{"apart: two terms of the same key", workload("", awayFrom(to("app=db", "zone"), to("app=web", "zone"))),
		nodes{node("zone=a", db), node("zone=b", web), node("zone=c")}, "XX."},
	{"apart: no selector means nobody", workload("", awayFrom(to("", "zone"))), nodes{node("zone=a", db)}, "."},

	{"barred: not in the same domain", web, nodes{node("zone=a", workload("", awayFrom(to("app=web", "zone")))), node("zone=a"), node("zone=b"), node("")}, "EE.."},
	{"barred: only the labels that are meant", db, nodes{node("zone=a", workload("", awayFrom(to("app=web", "zone"))))}, "skip"},
	{"barred: on a node without the label it bars nothing", web, nodes{node("", workload("", awayFrom(to("app=web", "zone")))), node("zone=b")}, "skip"},
	{"barred: several keys", web, nodes{
		node("zone=a,rack=1", workload("", awayFrom(to("app=web", "zone"), to("app", "rack")))), node("zone=a,rack=2"), node("zone=b,rack=1"), node("zone=b,rack=2"),
	}, "EEE."},
	{"barred: their affinity and preferences do not bar", web, nodes{
		node("zone=a", workload("", nearTo(to("app=db", "zone")), likes(9, to("app=db", "zone")), dislikes(9, to("app=web", "zone")))), node("zone=b"),
	}, "skip"},

	{"the first rule that is broken is the reason", workload("app=web", nearTo(to("app=db", "zone")), awayFrom(to("app=db", "rack"))), nodes{
		node("zone=a,rack=1", workload("app=db", awayFrom(to("app=web", "host")))), // too near in the rack
		node("zone=a,rack=2,host=x", workload("", awayFrom(to("app=web", "host")))),
		node("zone=a,rack=3,host=y"),
		node("zone=b,rack=1,host=x"),
	}, "XE.A"},

	{"namespaces: a term that names none speaks of its own", workload("", inside("a"), awayFrom(to("app=db", "host"))),
		nodes{node("host=1", workload("app=db", inside("a"))), node("host=2", workload("app=db", inside("b")))}, "X."},
	{"namespaces: by name, not its own", workload("", inside("a"), awayFrom(toIn("b b", "", "app=db", "host"))),
		nodes{node("host=1", workload("app=db", inside("a"))), node("host=2", workload("app=db", inside("b"))), node("host=3", db)}, ".X."},
	{"namespaces: by selector", workload("", inside("a"), awayFrom(toIn("", "team=b", "app=db", "host"))),
		nodes{node("host=1", workload("app=db", inside("a"))), node("host=2", workload("app=db", inside("b"))), node("host=3", db)}, ".X."},
	{"namespaces: by name and by selector", workload("", inside("a"), awayFrom(toIn("ghost", "team=b", "app=db", "host"))),
		nodes{node("host=1", workload("app=db", inside("a"))), node("host=2", workload("app=db", inside("b"))), node("host=3", workload("app=db", inside("ghost")))}, ".XX"},
	{"namespaces: a selector without requirements means all", workload("", inside("a"), awayFrom(toIn("", "*", "app=db", "host"))),
		nodes{node("host=1", workload("app=db", inside("a"))), node("host=2", workload("app=db", inside("b"))), node("host=3", workload("app=db", inside("ghost")))}, "XXX"},
	{"namespaces: another selector means none without an object", workload("", awayFrom(toIn("", "!team", "app=db", "host"))),
		nodes{node("host=1", workload("app=db", inside("a"))), node("host=2", workload("app=db", inside("ghost")))}, ".."},
	{"namespaces: of others, by selector", workload("app=web", inside("b")), nodes{
		node("host=1", workload("", inside("a"), awayFrom(toIn("", "team=b", "app=web", "host")))),
		node("host=2", workload("", inside("a"), awayFrom(toIn("", "team=a", "app=web", "host")))),
		node("host=3", workload("", inside("a"), awayFrom(to("app=web", "host")))),
		node("host=4", workload("", inside("b"), awayFrom(to("app=web", "host")))),
		node("host=5", workload("", inside("a"), awayFrom(toIn("b", "", "app=web", "host")))),
	}, "E..EE"},
	{"namespaces: of others, one without an object has no labels", workload("app=web", inside("ghost")), nodes{
		node("host=1", workload("", inside("a"), awayFrom(toIn("", "!team", "app=web", "host")))),
		node("host=2", workload("", inside("a"), awayFrom(toIn("", "*", "app=web", "host")))),
		node("host=3", workload("", inside("a"), awayFrom(toIn("", "team", "app=web", "host")))),
	}, "EE."},
	{"near: all terms must speak of the namespace", workload("", nearTo(toIn("a b", "", "app=db", "host"), toIn("", "team=b", "app", "host"))),
		nodes{node("host=1", workload("app=db", inside("a"))), node("host=2", workload("app=db", inside("b")))}, "A."},

	{"a term that is not valid means nobody", workload("", awayFrom(model.AffinityTerm{
		Selector: &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: "Near"}}}, TopologyKey: "zone",
	})), nodes{node("zone=a", web)}, "."},
}

func TestFilter(t *testing.T) {
	p := newPlugin(t, Args{})
	for _, c := range filterCases {
		s := situation(c.w, c.nodes...)
		state := s.State()
		result, status := p.PreFilter(state, s.Workload)
		if result != nil {
			t.Errorf("%s: PreFilter narrows the search", c.name)
		}
		got := verdicts(t, p, state, s)
		if status.Code() == extpoints.Skip {
			if got != dots(len(c.nodes)) {
				t.Errorf("%s: PreFilter skips, but Filter says %s", c.name, got)
			}
			got = "skip"
		} else if status != nil {
			t.Errorf("%s: PreFilter says %v", c.name, status)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func dots(n int) string {
	text := ""
	for range n {
		text += "."
	}
	return text
}

// A terminating workload is in the way until it is gone.
func TestTerminatingCount(t *testing.T) {
	p := newPlugin(t, Args{})
	for name, w := range map[string]*model.Workload{
		"X.": workload("", awayFrom(to("app=db", "zone"))),
		".A": workload("", nearTo(to("app=db", "zone"))),
	} {
		s := situation(w, node("zone=a", db), node("zone=b"))
		leaving := *s.View.NodeInfos[0].Workloads[0]
		leaving.Terminating = true
		s.View.NodeInfos[0].Workloads[0] = &leaving
		state := s.State()
		p.PreFilter(state, s.Workload)
		if got := verdicts(t, p, state, s); got != name {
			t.Errorf("%s, want %s", got, name)
		}
	}
}

// Each step is on a clone of the state before it. The workload that comes or
// goes is on, or comes to, the first node.
func TestExtensions(t *testing.T) {
	p := newPlugin(t, Args{})
	two := func(w *model.Workload, on ...*model.Workload) *extpointstest.Situation {
		return situation(w, node("zone=a,rack=1", on...), node("zone=a"), node("zone=b,rack=1"))
	}
	loner := workload("", awayFrom(to("app=web", "zone")))
	byRack := workload("", awayFrom(to("app=web", "rack")))
	for _, c := range []struct {
		name   string
		s      *extpointstest.Situation
		before string
		add    *model.Workload
		added  string
		remove *model.Workload
		then   string
	}{
		{"one to be near to", two(workload("", nearTo(to("app=db", "zone")))), "AAA", db, "..A", db, "AAA"},
		{"the first of its kind", two(workload("app=web", nearTo(to("app=web", "zone")))), "...", web, "..A", web, "..."},
		{"one that some terms mean only", two(workload("", nearTo(to("app=db", "zone"), to("tier", "zone")))), "AAA", db, "AAA", db, "AAA"},
		{"one of two to be near to", two(workload("", nearTo(to("app=db", "zone"))), db), "..A", db, "..A", db, "..A"},
		{"one to be apart from", two(workload("", awayFrom(to("app=db", "zone")))), "...", db, "XX.", db, "..."},
		{"one of two keys", two(workload("", awayFrom(to("app=db", "zone"), to("app=web", "rack")))), "...", db, "XX.", db, "..."},
		{"one that bars", two(workload("app=web", nearTo(to("app=web", "zone")))), "...", loner, "EE.", loner, "..."},
		{"one that bars by a new key", two(web, loner), "EE.", byRack, "EEE", byRack, "EE."},
		{"one that bars others", two(web, loner), "EE.", workload("", awayFrom(to("app=db", "rack"))), "EE.", web, "EE."},
	} {
		first := c.s.View.NodeInfos[0]
		state := c.s.State()
		p.PreFilter(state, c.s.Workload)
		step := func(from *extpoints.CycleState, f func(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status, w *model.Workload, want string) *extpoints.CycleState {
			next := from.Clone()
			if status := f(next, c.s.Workload, &extpoints.WorkloadInfo{Workload: w}, first); status != nil {
				t.Errorf("%s: %v", c.name, status)
			}
			if got := verdicts(t, p, next, c.s); got != want {
				t.Errorf("%s: %s, want %s", c.name, got, want)
			}
			return next
		}
		with := step(state, p.AddWorkload, c.add, c.added)
		step(with, p.RemoveWorkload, c.remove, c.then)
		if got := verdicts(t, p, with, c.s); got != c.added {
			t.Errorf("%s: the clone changed its origin to %s", c.name, got)
		}
		if got := verdicts(t, p, state, c.s); got != c.before {
			t.Errorf("%s: %s at first, want %s", c.name, got, c.before)
		}
	}
}

// Two clones that learn of different new keys do not see each other's.
func TestClonesLearnKeysApart(t *testing.T) {
	p := newPlugin(t, Args{})
	// Three keys to begin with: a list that grew to three has room for a fourth.
	s := situation(web, node("zone=a,x=1,y=1,rack=1,row=1", workload("", awayFrom(to("app", "zone"), to("app", "x"), to("app", "y")))), node("rack=1"), node("row=1"))
	base := s.State()
	p.PreFilter(base, s.Workload)
	bars := func(key string) *extpoints.CycleState {
		c := base.Clone()
		p.AddWorkload(c, s.Workload, &extpoints.WorkloadInfo{Workload: workload("", awayFrom(to("app", key)))}, s.View.NodeInfos[0])
		return c
	}
	byRack, byRow := bars("rack"), bars("row")
	if got := verdicts(t, p, byRack, s) + " " + verdicts(t, p, byRow, s) + " " + verdicts(t, p, base, s); got != "EE. E.E E.." {
		t.Error(got)
	}
}

func TestExtensionsWithoutPreFilter(t *testing.T) {
	p := newPlugin(t, Args{})
	s := situation(web, node("zone=a"))
	if status := p.AddWorkload(s.State(), s.Workload, s.Workload, s.View.NodeInfos[0]); status.Code() != extpoints.Error {
		t.Errorf("%v", status)
	}
}

// A profile may disable PreFilter or PreScore.
func TestUnprepared(t *testing.T) {
	p := newPlugin(t, Args{})
	s := situation(workload("app=web", nearTo(to("app=db", "zone")), awayFrom(to("app=web", "zone")), likes(7, to("app=db", "zone"))),
		node("zone=a", db), node("zone=b", web, db), node("zone=c", workload("app=db", awayFrom(to("app=web", "zone")))), node("zone=d"))
	if got := verdicts(t, p, s.State(), s); got != ".XEA" {
		t.Error(got)
	}
	if score, status := p.Score(s.State(), s.Workload, s.View.NodeInfos[0]); score != 7 || status != nil {
		t.Error(score, status)
	}
}
