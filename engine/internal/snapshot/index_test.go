package snapshot

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// indexOf makes a View with workloads on one node.
func indexOf(workloads ...*model.Workload) *View {
	v := New()
	v.PutNode(&model.Node{Name: "a"})
	for i, w := range workloads {
		w.ID = fmt.Sprint(i)
		v.Place(&extpoints.WorkloadInfo{Workload: w}, "a")
	}
	return v
}

func FuzzLabels(f *testing.F) {
	f.Add("ns", "a", "b=c", "", "", "a=b", "c", "", "")
	f.Add("", "ab", "c", "d", "e", "a", "bc", "de", "")
	f.Add("\x00", "a", "\x01b", "c", "", "a\x01", "b", "c", "")
	f.Fuzz(func(t *testing.T, namespace, key1, value1, key2, value2, key3, value3, key4, value4 string) {
		first := map[string]string{key1: value1, key2: value2}
		second := map[string]string{key3: value3, key4: value4}
		affinity := func(namespaces []string, labels map[string]string) *model.WorkloadAffinity {
			return &model.WorkloadAffinity{Required: []model.AffinityTerm{{Namespaces: namespaces, Selector: model.SelectLabels(labels), TopologyKey: value1}}}
		}
		v := indexOf(
			&model.Workload{Namespace: namespace, Labels: first, Affinity: affinity([]string{key1, value1}, first)},
			&model.Workload{Namespace: namespace, Labels: second, Affinity: affinity([]string{key3, value3}, first)},
			&model.Workload{Namespace: key1, Labels: first, Affinity: affinity([]string{key1, value1}, second)},
			&model.Workload{Namespace: key1 + namespace, Labels: second, Affinity: affinity(nil, second)},
		)
		extpointstest.TestView(t, v)
		checkIndex(t, v)
	})
}

func classes(v *View, namespace string, selector *model.Selector) map[string]int {
	found := map[string]int{}
	v.Index().Classes(namespace, selector, func(c *extpoints.WorkloadClass) { found[fmt.Sprint(c.Labels)] += c.Counts.Total() })
	return found
}

// TestReplaceMovesClasses: what a workload is may change while it is on a node.
func TestReplaceMovesClasses(t *testing.T) {
	v := indexOf(&model.Workload{Labels: map[string]string{"app": "web"}})
	old := v.Peek("a").Workloads[0]
	terminating := func(want bool) {
		t.Helper()
		v.Index().Classes("", &model.Selector{}, func(c *extpoints.WorkloadClass) {
			require.Equal(t, want, c.Terminating)
			require.Equal(t, 1, c.Counts.Total())
		})
	}
	terminating(false)
	w := *old
	w.Terminating = true
	v.Replace(&w, "a")
	terminating(true)
	v.Replace(old, "a")
	terminating(false)

	relabelled := *old.Workload
	relabelled.Labels = map[string]string{"app": "db"}
	v.Replace(&extpoints.WorkloadInfo{Workload: &relabelled}, "a")
	require.Equal(t, map[string]int{"map[app:db]": 1}, classes(v, "", &model.Selector{}))

	moved := relabelled
	moved.Namespace = "ns"
	v.Replace(&extpoints.WorkloadInfo{Workload: &moved}, "a")
	require.Empty(t, classes(v, "", &model.Selector{}))
	require.Equal(t, map[string]int{"map[app:db]": 1}, classes(v, "ns", &model.Selector{}))

	// The labels stay, what it thinks of others changes.
	apart := moved
	apart.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{Selector: &model.Selector{}}}}
	v.Replace(&extpoints.WorkloadInfo{Workload: &apart}, "a")
	extpointstest.TestView(t, v)
	together := moved
	together.Affinity = apart.AntiAffinity
	v.Replace(&extpoints.WorkloadInfo{Workload: &together}, "a")
	extpointstest.TestView(t, v)

	v.Unplace("0", "a")
	require.Zero(t, v.spaces, "nothing is left of it")
	require.Zero(t, v.terms)
}

// TestAnchor: where there are many classes, those that a selector may select
// are looked up by the label that leaves the fewest.
func TestAnchor(t *testing.T) {
	var workloads []*model.Workload
	for i := range 100 {
		workloads = append(workloads, &model.Workload{Labels: map[string]string{
			"app": "web", "tier": fmt.Sprint(i % 10), "replica": fmt.Sprint(i),
		}})
	}
	s, _ := indexOf(workloads...).spaces.of("")
	in := func(key string, values ...string) model.Requirement {
		return model.Requirement{Key: key, Operator: model.In, Values: values}
	}
	app, tier, replica := in("app", "web"), in("tier", "1", "2"), in("replica", "1", "2", "3")
	for _, c := range []struct {
		about        string
		requirements []model.Requirement
		want         string
	}{
		{"no requirement", nil, ""},
		{"all have it", []model.Requirement{app}, ""},
		{"some have it", []model.Requirement{tier}, "tier"},
		{"most have it", []model.Requirement{in("tier", "1", "2", "3", "4")}, ""},
		{"a value counts once", []model.Requirement{in("tier", "1", "1", "1", "1")}, "tier"},
		{"the fewest have it", []model.Requirement{app, tier, replica}, "replica"},
		{"the fewest have it", []model.Requirement{replica, tier}, "replica"},
		{"none has it", []model.Requirement{replica, in("app", "db"), tier}, "app"},
		{"no value will do", []model.Requirement{app, in("tier")}, "tier"},
		{"too many values", []model.Requirement{in("none", make([]string, maxAnchor+1)...)}, ""},
		{"another operator", []model.Requirement{{Key: "replica", Operator: model.NotIn, Values: []string{"1"}}}, ""},
	} {
		got := ""
		if r := s.anchor(&model.Selector{Requirements: c.requirements}); r != nil {
			got = r.Key
		}
		require.Equal(t, c.want, got, "%s: %v", c.about, c.requirements)
	}
}

// TestGhostsAreNotInTheIndex: only workloads on nodes that are there count.
func TestGhostsAreNotInTheIndex(t *testing.T) {
	v := New()
	w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w"}}
	v.Place(w, "a")
	require.Empty(t, classes(v, "", &model.Selector{}))
	v.PutNode(&model.Node{Name: "a"})
	require.Equal(t, map[string]int{"map[]": 1}, classes(v, "", &model.Selector{}))
	v.RemoveNode("a")
	require.Empty(t, classes(v, "", &model.Selector{}))
	require.Zero(t, v.spaces)
	v.Replace(w, "a")
	v.PutNode(&model.Node{Name: "a"})
	require.Equal(t, map[string]int{"map[]": 1}, classes(v, "", &model.Selector{}))
}

// TestSlots: a node has its slot from when it comes until it is settled that it
// is gone; then another may have it.
func TestSlots(t *testing.T) {
	v := New()
	for _, name := range []string{"a", "b", "c"} {
		v.PutNode(&model.Node{Name: name, Zone: name})
	}
	slot := func(name string) int32 { return v.Nodes().Get(name).Slot }
	require.Equal(t, []int32{0, 1, 2}, []int32{slot("a"), slot("b"), slot("c")})
	v.RemoveNode("a")
	v.PutNode(&model.Node{Name: "a"})
	v.PutNode(&model.Node{Name: "b", Zone: "a"})
	v.Place(workload("w"), "c")
	require.Equal(t, []int32{0, 1, 2}, []int32{slot("a"), slot("b"), slot("c")}, "nobody saw it go")
	v.RemoveNode("b")
	v.PutNode(&model.Node{Name: "d"})
	require.Equal(t, int32(3), slot("d"), "b may still come back")
	v.PutNode(&model.Node{Name: "e"})
	require.Equal(t, int32(1), slot("e"))
	require.Equal(t, 4, v.Index().Slots())
}

func TestTopologyIsRemembered(t *testing.T) {
	v := New()
	put := func(name, rack string) {
		v.PutNode(&model.Node{Name: name, Labels: map[string]string{"rack": rack}, MaxWorkloads: 5})
	}
	put("a", "1")
	put("b", "2")
	before := v.Index().Topology("rack")
	require.Equal(t, []string{"", "1", "2"}, before.Values)
	same := func(v *View) {
		t.Helper()
		require.Same(t, before, v.Index().Topology("rack"))
	}
	same(v)
	v.Place(workload("w"), "a")
	put("a", "1")
	b := v.Branch()
	same(v)
	same(b)
	v.Fork()
	put("b", "1")
	require.Equal(t, []int32{0, 2}, v.Index().Topology("rack").Nodes)
	same(b)
	v.RemoveNode("a")
	require.Equal(t, []int32{0, 1}, v.Index().Topology("rack").Nodes)
	same(b)
	put("c", "3")
	require.Equal(t, []int32{0, 1, 1}, v.Index().Topology("rack").Nodes)
	same(b)

	before = v.Index().Topology("rack")
	for i := range 2 * maxTopologies {
		require.Equal(t, fmt.Sprint(i), v.Index().Topology(fmt.Sprint(i)).Key)
	}
	same(v)
	require.Len(t, *v.topologies.made.Load(), maxTopologies)
}

// TestTopologyIsRenewed: after a change of some nodes a topology has the others from the one before; also where nobody
// has asked in between, and on a branch. After many changes, and where a value has gone, it is made anew.
func TestTopologyIsRenewed(t *testing.T) {
	v := New()
	put := func(v *View, name, zone, rack string) {
		v.PutNode(&model.Node{Name: name, Zone: zone, Labels: map[string]string{"rack": rack}})
	}
	renewed := func(v *View, changes int) {
		t.Helper()
		x := v.Index()
		if f := v.topologies.before("rack"); changes > 0 {
			require.Len(t, f.changed, changes)
		} else {
			require.Nil(t, f)
		}
		require.Equal(t, v.topology("rack"), x.Topology("rack"))
	}
	for i := range 200 {
		put(v, fmt.Sprint("n", i), fmt.Sprint(i%2), fmt.Sprint("r", i/3))
	}
	renewed(v, 0)
	put(v, "n7", "1", "other") // a value in the middle
	renewed(v, 1)
	v.RemoveNode("n0")
	put(v, "n300", "0", "")
	renewed(v, 2)
	put(v, "n301", "2", "r5")
	b := v.Branch()
	put(b, "n302", "0", "r60")
	v.RemoveNode("n301")
	b.RemoveNode("n1")
	renewed(b, 3)
	renewed(v, 2)
	for i := range maxChanged {
		put(v, fmt.Sprint("n", 400+i), "1", "new")
	}
	renewed(v, maxChanged)
	for i := range maxChanged + 1 {
		put(v, fmt.Sprint("n", 500+i), "1", "newer")
	}
	renewed(v, 0)
	v.RemoveNode("n7") // the only one that has its value
	renewed(v, 0)
}

// TestTopologyOfAFork: whether somebody forked and looked makes no difference to
// the numbers that values have.
func TestTopologyOfAFork(t *testing.T) {
	numbers := func(look bool) []string {
		v := New()
		for _, name := range []string{"a", "b", "c"} {
			v.PutNode(&model.Node{Name: name, Zone: "1", Labels: map[string]string{"rack": name}})
		}
		v.Settle()
		v.PutNode(&model.Node{Name: "d", Zone: "1", Labels: map[string]string{"rack": "d"}})
		if look {
			v.Fork().Index().Topology("rack")
		}
		v.PutNode(&model.Node{Name: "c", Zone: "2", Labels: map[string]string{"rack": "c"}})
		return v.Index().Topology("rack").Values
	}
	require.Equal(t, []string{"", "a", "c", "b", "d"}, numbers(false))
	require.Equal(t, numbers(false), numbers(true))
}

// TestSharedTerms: workloads with the same term are one class of terms.
func TestSharedTerms(t *testing.T) {
	term := func() model.AffinityTerm {
		return model.AffinityTerm{Selector: model.SelectLabels(map[string]string{"app": "web"}), TopologyKey: "zone"}
	}
	named := term()
	named.Namespaces = []string{"ns"}
	workload := func(namespace string, terms ...model.AffinityTerm) *model.Workload {
		return &model.Workload{Namespace: namespace, AntiAffinity: &model.WorkloadAffinity{Required: terms}}
	}
	v := indexOf(workload("ns", term()), workload("ns", term(), term()), workload("other", named), workload("other", term()))
	totals := func(kind extpoints.TermKind) map[string]int {
		found := map[string]int{}
		v.Index().Terms(kind, map[string]string{"app": "web"}, func(c *extpoints.TermClass) {
			require.NotContains(t, found, c.Term.Namespaces[0])
			found[c.Term.Namespaces[0]] = c.Counts.Total()
		})
		return found
	}
	require.Equal(t, map[string]int{"ns": 4, "other": 1}, totals(extpoints.RequiredAntiAffinityTerm))
	require.Empty(t, totals(extpoints.RequiredAffinityTerm))
}

// TestTermsAreSpread: terms are filed under labels that few of them ask for.
func TestTermsAreSpread(t *testing.T) {
	var workloads []*model.Workload
	for i := range 100 {
		labels := map[string]string{"app": "web", "replica": fmt.Sprint(i)}
		workloads = append(workloads, &model.Workload{Affinity: &model.WorkloadAffinity{
			Required: []model.AffinityTerm{{Selector: model.SelectLabels(labels)}},
		}})
	}
	v := indexOf(workloads...)
	checkIndex(t, v)
	v.terms[extpoints.RequiredAffinityTerm].files.each(func(f *file) { require.LessOrEqual(t, f.size, 2) })
}

// TestTermsAreToldApart: one difference makes two terms.
func TestTermsAreToldApart(t *testing.T) {
	base := func() ownTerm {
		return ownTerm{&model.AffinityTerm{
			Selector:   &model.Selector{Requirements: []model.Requirement{{Key: "a", Operator: model.In, Values: []string{"1", "2"}}}},
			Namespaces: []string{"ns"}, TopologyKey: "zone",
		}, extpoints.PreferredAffinityTerm, 1, "ns"}
	}
	one := base()
	class := &extpoints.TermClass{Term: one.named(), Weight: one.weight}
	require.True(t, one.is(class))
	for what, change := range map[string]func(*ownTerm){
		"weight":              func(o *ownTerm) { o.weight = 2 },
		"topology key":        func(o *ownTerm) { o.TopologyKey = "" },
		"namespaces":          func(o *ownTerm) { o.Namespaces = []string{"ns", "n"} },
		"own namespace":       func(o *ownTerm) { o.Namespaces, o.namespace = nil, "n" },
		"namespace selector":  func(o *ownTerm) { o.NamespaceSelector = &model.Selector{} },
		"only the selector":   func(o *ownTerm) { o.Namespaces, o.NamespaceSelector = nil, &model.Selector{} },
		"key":                 func(o *ownTerm) { o.Selector.Requirements[0].Key = "b" },
		"operator":            func(o *ownTerm) { o.Selector.Requirements[0].Operator = model.NotIn },
		"values":              func(o *ownTerm) { o.Selector.Requirements[0].Values = []string{"1"} },
		"no requirement":      func(o *ownTerm) { o.Selector.Requirements = nil },
		"another requirement": func(o *ownTerm) { o.Selector.Requirements = append(o.Selector.Requirements, model.Requirement{}) },
	} {
		other := base()
		change(&other)
		require.False(t, other.is(class), what)
		require.NotEqual(t, one.sum(), other.sum(), what)
	}
	local := base()
	local.Namespaces = nil
	require.True(t, local.is(class), "the own namespace is filled in")
	require.Equal(t, one.sum(), local.sum())
}

// TestWorkloadsMustNotChange: the index notices when it cannot find what it
// counted.
func TestWorkloadsMustNotChange(t *testing.T) {
	v := indexOf(&model.Workload{Labels: map[string]string{"app": "web"}})
	v.Peek("a").Workloads[0].Labels["app"] = "db"
	require.PanicsWithValue(t, "snapshot: the labels or affinity terms of the workload 0 were changed in place while it was on a node",
		func() { v.Unplace("0", "a") })
}

func TestAskingAllocatesNothing(t *testing.T) {
	v := benchView(1000, 2)
	w := benchWorkload("w")
	labels := map[string]string{"app": "web"}
	w.Affinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{Selector: model.SelectLabels(labels)}}}
	v.Place(w, "node-7")
	selector := &model.Selector{}
	sums := make([]int32, v.Index().Slots())
	v.Index().Topology("zone")
	require.Zero(t, testing.AllocsPerRun(10, func() {
		x := v.Index()
		x.Topology("zone")
		x.Classes("", selector, func(c *extpoints.WorkloadClass) { c.Counts.AddTo(sums) })
		x.ClassesWhere(func(string) bool { return true }, selector, func(c *extpoints.WorkloadClass) { c.Counts.AddTo(sums) })
		x.Terms(extpoints.RequiredAffinityTerm, labels, func(c *extpoints.TermClass) { c.Counts.AddTo(sums) })
	}))
}
