package extpointstest

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// indexView is a view whose index is wrong in some way.
type indexView struct {
	*View
	liar
}

func (v indexView) Index() extpoints.Index { return v.liar }

// liar is the right index with some methods replaced.
type liar struct {
	extpoints.Index
	slots    int
	topology func(*extpoints.Topology)
	class    func(extpoints.WorkloadClass, func(*extpoints.WorkloadClass))
	term     func(extpoints.TermClass, func(*extpoints.TermClass))
	askTwice bool
}

func (l liar) Slots() int { return l.Index.Slots() + l.slots }

func (l liar) Topology(key string) *extpoints.Topology {
	t := l.Index.Topology(key)
	if l.topology != nil && key == "zone" {
		l.topology(t)
	}
	return t
}

func (l liar) tell(f func(*extpoints.WorkloadClass)) func(*extpoints.WorkloadClass) {
	if l.class == nil {
		return f
	}
	return func(c *extpoints.WorkloadClass) { l.class(*c, f) }
}

func (l liar) Classes(namespace string, s *model.Selector, f func(*extpoints.WorkloadClass)) {
	l.Index.Classes(namespace, s, l.tell(f))
}

func (l liar) ClassesWhere(in func(string) bool, s *model.Selector, f func(*extpoints.WorkloadClass)) {
	if l.askTwice {
		in("ns")
	}
	l.Index.ClassesWhere(in, s, l.tell(f))
}

func (l liar) Terms(kind extpoints.TermKind, labels map[string]string, f func(*extpoints.TermClass)) {
	l.Index.Terms(kind, labels, func(t *extpoints.TermClass) {
		if l.term != nil {
			l.term(*t, f)
		} else {
			f(t)
		}
	})
}

// oddCounts are counts that say three different things.
type oddCounts struct{ extpoints.Counts }

func (oddCounts) Total() int { return 9 }

func TestIndexProblems(t *testing.T) {
	term := model.AffinityTerm{Selector: model.SelectLabels(map[string]string{"app": "web"}), TopologyKey: "zone"}
	view := NewView(
		NodeWith(&model.Node{Name: "a", Labels: map[string]string{"zone": "1"}},
			&model.Workload{ID: "1", Namespace: "ns", Labels: map[string]string{"app": "web"}, Affinity: &model.WorkloadAffinity{Required: []model.AffinityTerm{term}}},
			&model.Workload{ID: "2", Namespace: "ns", Labels: map[string]string{"app": "web"}}),
		NodeWith(&model.Node{Name: "b", Labels: map[string]string{"zone": "2"}},
			&model.Workload{ID: "3", Namespace: "other", Labels: map[string]string{"app": "db"}}),
	)
	type class = extpoints.WorkloadClass
	for name, c := range map[string]struct {
		liar liar
		want string // "" where nothing is wrong
	}{
		"right":     {liar{}, ""},
		"more room": {liar{slots: 1, topology: func(t *extpoints.Topology) { t.Of = append(t.Of, 0) }}, "Of has length 2, Slots is 3"},
		"less room": {liar{slots: -1}, "node b has the slot 1 of 1"},
		"other domain": {liar{topology: func(t *extpoints.Topology) { t.Of[1] = 1 }},
			`Index: Topology("zone"): Of[1] is 1, want 2`},
		"other value": {liar{topology: func(t *extpoints.Topology) { t.Values[2] = "1" }},
			`Index: Topology("zone"): Values are ["" "1" "1"], want ["" "1" "2"]`},
		"other sum": {liar{topology: func(t *extpoints.Topology) { t.Nodes[2] = 2 }},
			`Index: Topology("zone"): Nodes are [0 1 2], want [0 1 1]`},
		"no classes": {liar{class: func(class, func(*class)) {}}, "are in slots map[], want map[0:2]"},
		"one class too many": {liar{class: func(c class, f func(*class)) {
			f(&c)
			c.Terminating = true
			f(&c)
		}}, "terminating true are in slots map[0:2], want none"},
		"a class twice": {liar{class: func(c class, f func(*class)) {
			f(&c)
			f(&c)
		}}, "two classes of workloads in"},
		"odd counts": {liar{class: func(c class, f func(*class)) {
			c.Counts = oddCounts{c.Counts}
			f(&c)
		}}, "Total is 9, but there are 2"},
		"asks twice": {liar{askTwice: true}, "the namespace ns was asked for twice"},
		"other weight": {liar{term: func(c extpoints.TermClass, f func(*extpoints.TermClass)) {
			c.Weight = 1
			f(&c)
		}}, `Index: Terms(0, map["app":"web"]): terms with weight 0`},
		"a term in two halves": {liar{term: func(c extpoints.TermClass, f func(*extpoints.TermClass)) {
			c.Counts = counts{0: 1}
			f(&c)
			f(&c)
		}}, "are in slots map[0:2], want map[0:1]"},
	} {
		c.liar.Index = view.Index()
		got := strings.Join(viewProblems(indexView{view, c.liar}), "; ")
		if !strings.Contains(got, c.want) || got != "" && c.want == "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	view.NodeInfos[1].Slot = 0
	if got := strings.Join(indexProblems(liar{Index: NewView().Index(), slots: 1}, view.NodeInfos), "; "); got != "the nodes a and b have the slot 0" {
		t.Error(got)
	}
}
