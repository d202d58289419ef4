package extpointstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Questions are what an [extpoints.Index] is asked in a test.
type Questions struct {
	// Keys are those that Topology is asked for.
	Keys []string
	// Namespaces and Selectors are for Classes and ClassesWhere, each of the
	// ones with each of the others.
	Namespaces []string
	Selectors  []*model.Selector // nil is one that selects nothing
	// Labels are those that Terms is asked for, for every kind.
	Labels []map[string]string
}

// QuestionsAbout makes questions about what is on the nodes: at most the given
// number of keys, of namespaces and of sets of labels, a few selectors for each
// of these, and some questions that must have no answer.
func QuestionsAbout(nodes []*extpoints.NodeInfo, most int) Questions {
	q := Questions{
		Keys:       []string{"no such label"},
		Namespaces: []string{"no such namespace"},
		Selectors:  []*model.Selector{nil, {}},
		Labels:     []map[string]string{nil},
	}
	most++
	for _, n := range nodes {
		for _, key := range slices.Sorted(maps.Keys(n.Node.Labels)) {
			if len(q.Keys) < most && !slices.Contains(q.Keys, key) {
				q.Keys = append(q.Keys, key)
			}
		}
		for _, w := range n.Workloads {
			if len(q.Namespaces) < most && !slices.Contains(q.Namespaces, w.Namespace) {
				q.Namespaces = append(q.Namespaces, w.Namespace)
			}
			known := func(labels map[string]string) bool { return maps.Equal(labels, w.Labels) }
			if len(q.Labels) < most && !slices.ContainsFunc(q.Labels, known) {
				q.Labels = append(q.Labels, w.Labels)
				q.Selectors = append(q.Selectors, selectorsAbout(w.Labels)...)
			}
		}
	}
	return q
}

// selectorsAbout makes selectors some of which select the labels.
func selectorsAbout(labels map[string]string) []*model.Selector {
	selectors := []*model.Selector{model.SelectLabels(labels)}
	one := func(r model.Requirement) {
		selectors = append(selectors, &model.Selector{Requirements: []model.Requirement{r}})
	}
	for i, key := range slices.Sorted(maps.Keys(labels)) {
		if i == 3 {
			break
		}
		value := labels[key]
		one(model.Requirement{Key: key, Operator: model.In, Values: []string{value}})
		one(model.Requirement{Key: key, Operator: model.In, Values: []string{"no such value", value, value}})
		one(model.Requirement{Key: key, Operator: model.In})
		one(model.Requirement{Key: key, Operator: model.NotIn, Values: []string{value}})
		one(model.Requirement{Key: key, Operator: model.Exists})
		one(model.Requirement{Key: key, Operator: model.DoesNotExist})
	}
	return selectors
}

// Compare asks both and says where the answers differ, or where what got says
// does not fit together.
func (q *Questions) Compare(got, want extpoints.Index) []string {
	var problems []string
	report := func(question, problem string) {
		if problem != "" {
			problems = append(problems, "Index: "+question+": "+problem)
		}
	}
	for _, key := range q.Keys {
		report(fmt.Sprintf("Topology(%q)", key), compareTopologies(got, got.Topology(key), want.Topology(key)))
	}
	for _, s := range q.Selectors {
		for _, namespace := range q.Namespaces {
			classes := func(x extpoints.Index) (*answer, string) {
				a := newAnswer(x)
				x.Classes(namespace, s, a.class)
				return a, ""
			}
			report(fmt.Sprintf("Classes(%q, %s)", namespace, selectorText(s)), compareAnswers(classes, got, want))
		}
		where := func(x extpoints.Index) (*answer, string) { return classesWhere(x, q.Namespaces, s) }
		report(fmt.Sprintf("ClassesWhere(%q, %s)", q.Namespaces, selectorText(s)), compareAnswers(where, got, want))
	}
	for kind := range extpoints.PreferredAntiAffinityTerm + 1 {
		for _, labels := range q.Labels {
			terms := func(x extpoints.Index) (*answer, string) {
				a := newAnswer(x)
				x.Terms(kind, labels, a.term)
				return a, ""
			}
			report(fmt.Sprintf("Terms(%d, %q)", kind, labels), compareAnswers(terms, got, want))
		}
	}
	return problems
}

func compareTopologies(x extpoints.Index, got, want *extpoints.Topology) string {
	if got.Key != want.Key {
		return "it has another key"
	}
	if len(got.Of) != x.Slots() {
		return fmt.Sprintf("Of has length %d, Slots is %d", len(got.Of), x.Slots())
	}
	for slot, domain := range got.Of {
		switch {
		case slot < len(want.Of) && domain != want.Of[slot]:
			return fmt.Sprintf("Of[%d] is %d, want %d", slot, domain, want.Of[slot])
		case slot >= len(want.Of) && domain != 0:
			return fmt.Sprintf("Of[%d] is %d, but no node has that slot", slot, domain)
		}
	}
	if len(got.Values) != len(want.Values) || !slices.Equal(got.Values[1:], want.Values[1:]) {
		return fmt.Sprintf("Values are %q, want %q", got.Values, want.Values)
	}
	if len(got.Nodes) != len(want.Nodes) || !slices.Equal(got.Nodes[1:], want.Nodes[1:]) {
		return fmt.Sprintf("Nodes are %d, want %d", got.Nodes, want.Nodes)
	}
	return ""
}

// answer is what f was called with: for each class or term, how many are in
// which slot.
type answer struct {
	slots    int
	counts   map[string]map[int32]int32
	problems []string
}

func newAnswer(x extpoints.Index) *answer {
	return &answer{slots: x.Slots(), counts: map[string]map[int32]int32{}}
}

// classesWhere asks for all namespaces but the last.
func classesWhere(x extpoints.Index, namespaces []string, s *model.Selector) (*answer, string) {
	a, problem := newAnswer(x), ""
	asked := map[string]bool{}
	x.ClassesWhere(func(namespace string) bool {
		if asked[namespace] {
			problem = "the namespace " + namespace + " was asked for twice"
		}
		asked[namespace] = true
		return namespace != namespaces[len(namespaces)-1]
	}, s, a.class)
	return a, problem
}

func (a *answer) class(c *extpoints.WorkloadClass) {
	key := fmt.Sprintf("workloads in %q with %q, terminating %v", c.Namespace, c.Labels, c.Terminating)
	if a.counts[key] != nil {
		a.problems = append(a.problems, "two classes of "+key)
	}
	a.add(key, c.Counts)
}

// term adds up terms that are the same: an index need not put them together.
func (a *answer) term(t *extpoints.TermClass) {
	namespaces := slices.Compact(slices.Sorted(slices.Values(t.Term.Namespaces)))
	a.add(fmt.Sprintf("terms with weight %d, selector %s, namespaces %q and %s, topology key %q", t.Weight,
		selectorText(t.Term.Selector), namespaces, selectorText(t.Term.NamespaceSelector), t.Term.TopologyKey), t.Counts)
}

func (a *answer) add(key string, c extpoints.Counts) {
	if a.counts[key] == nil {
		a.counts[key] = map[int32]int32{}
	}
	each, total := map[int32]int32{}, 0
	c.Each(func(slot, count int32) {
		if count <= 0 || each[slot] != 0 {
			a.problems = append(a.problems, fmt.Sprintf("slot %d has a count of %d and then of %d of the %s", slot, each[slot], count, key))
		}
		each[slot] = count
		total += int(count)
		a.counts[key][slot] += count
	})
	if total != c.Total() || total == 0 {
		a.problems = append(a.problems, fmt.Sprintf("Total is %d, but there are %d of the %s", c.Total(), total, key))
	}
	sums := slices.Repeat([]int32{7}, a.slots)
	c.AddTo(sums)
	for slot, sum := range sums {
		if sum != 7+each[int32(slot)] {
			a.problems = append(a.problems, fmt.Sprintf("AddTo adds %d in slot %d, where there are %d of the %s", sum-7, slot, each[int32(slot)], key))
		}
	}
}

func compareAnswers(ask func(extpoints.Index) (*answer, string), got, want extpoints.Index) string {
	g, problem := ask(got)
	if problem != "" {
		return problem
	}
	if len(g.problems) > 0 {
		return strings.Join(g.problems, ", ")
	}
	w, _ := ask(want)
	for _, key := range slices.Sorted(maps.Keys(w.counts)) {
		if !maps.Equal(g.counts[key], w.counts[key]) {
			return fmt.Sprintf("%s are in slots %v, want %v", key, g.counts[key], w.counts[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(g.counts)) {
		if w.counts[key] == nil {
			return fmt.Sprintf("%s are in slots %v, want none", key, g.counts[key])
		}
	}
	return ""
}

func selectorText(s *model.Selector) string {
	if s == nil {
		return "nil"
	}
	return fmt.Sprintf("%q", s.Requirements)
}
