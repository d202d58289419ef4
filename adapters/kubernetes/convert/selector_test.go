package convert

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/berth-project/berth/model"
)

// TestSelectorTwin compares with apimachinery: what it cannot read is reported,
// and what it can read selects the same.
func TestSelectorTwin(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, true)
	selected := 0
	for range rounds() {
		s := g.labelSelector()
		want, err := metav1.LabelSelectorAsSelector(s)
		var p problems
		got, ok := p.selector(nil, s)
		if ok != (err == nil) || ok != (len(p.list) == 0) {
			t.Fatalf("ok is %v with the problems %v, and apimachinery says %v, of %s", ok, p.list, err, show(s))
		}
		for range 5 {
			of := g.labels()
			if ok && got.Matches(of) != want.Matches(labels.Set(of)) {
				t.Fatalf("%v selects %v: %v, of %s", of, got.Matches(of), want.Matches(labels.Set(of)), show(s))
			}
			if got.Matches(of) {
				selected++
			}
		}
	}
	if selected < rounds()/10 {
		t.Errorf("only %d of %d labels were selected", selected, rounds()*5)
	}
}

func TestEmptySelectors(t *testing.T) {
	t.Parallel()
	var p problems
	if s, ok := p.selector(nil, nil); s != nil || !ok {
		t.Error("nil must stay nil, which selects nothing")
	}
	if s, ok := p.selector(nil, &metav1.LabelSelector{}); !ok || !s.Matches(nil) {
		t.Error("a selector without requirements must select everything")
	}
}

// TestNodeTermsTwin compares with component-helpers: the same nodes, the same
// score, and an error where the scheduler would give up.
func TestNodeTermsTwin(t *testing.T) {
	t.Parallel()
	for _, wild := range []bool{false, true} {
		g := newGenerator(t, wild)
		matched := 0
		for i := range rounds() {
			p := &v1.Pod{Spec: v1.PodSpec{Affinity: g.affinity()}}
			if g.wild {
				p.Spec.Affinity.PodAffinity, p.Spec.Affinity.PodAntiAffinity = nil, nil
			} else {
				p.Spec.NodeSelector = g.labels()
			}
			w, err := Pod(p)
			n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeNames[i%len(nodeNames)], Labels: g.labels()}}
			for k := range n.Labels {
				if k == "" || strings.Contains(k, "\xff") {
					delete(n.Labels, k)
				}
			}
			m := &model.Node{Name: n.Name, Labels: n.Labels}
			want, _ := nodeaffinity.GetRequiredNodeAffinity(p).Match(n)
			got := model.SelectLabels(w.NodeSelector).Matches(m.Labels)
			if w.NodeAffinity != nil {
				got = got && w.NodeAffinity.Required.Matches(m)
			}
			if err == nil && got != want {
				t.Fatalf("node %v matches %v: %v, of %s", n.Labels, got, want, show(p.Spec))
			}
			if want {
				matched++
			}
			if a := p.Spec.Affinity.NodeAffinity; a != nil {
				preferred, unreadable := nodeaffinity.NewPreferredSchedulingTerms(a.PreferredDuringSchedulingIgnoredDuringExecution)
				switch {
				case unreadable != nil && err == nil:
					t.Fatalf("the scheduler would say %v, of %s", unreadable, show(p.Spec))
				case unreadable == nil && err == nil && score(w, m) != preferred.Score(n):
					t.Fatalf("the score is %d, not %d, of %s", score(w, m), preferred.Score(n), show(p.Spec))
				}
			}
		}
		if matched < rounds()/10 {
			t.Errorf("only %d of %d nodes matched", matched, rounds())
		}
	}
}

func score(w *model.Workload, n *model.Node) int64 {
	var sum int64
	for i := range w.NodeAffinity.Preferred {
		if t := &w.NodeAffinity.Preferred[i]; t.Matches(n) {
			sum += int64(t.Weight)
		}
	}
	return sum
}

// TestTermsThatCannotBeRead: all problems of a pod at once, each with its field.
func TestTermsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	near := metav1.LabelSelectorRequirement{Key: "app", Operator: "Near"}
	term := func(key string, s metav1.LabelSelectorRequirement) v1.PodAffinityTerm {
		return v1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{s}}}
	}
	good := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpExists}
	gt := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "weight", Operator: v1.NodeSelectorOpGt, Values: []string{"many"}}}}
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: v1.PodSpec{Affinity: &v1.Affinity{
		PodAffinity: &v1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  []v1.PodAffinityTerm{term("zone", good), term("zone", near)},
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term("zone", good)}, {Weight: 0, PodAffinityTerm: term("", good)}},
		},
		NodeAffinity: &v1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{gt, {}}},
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{Weight: 1, Preference: gt}},
		},
	}}}
	w, err := Pod(p)
	want := `pod "default/p"` +
		`: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]: Invalid value: "many": for 'Gt', 'Lt' operators, the value must be an integer` +
		`; spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].labelSelector.matchExpressions[0].operator: "Near" is not an operator of a label selector` +
		`; spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].podAffinityTerm.topologyKey: must not be empty` +
		`; spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].weight: 0 is not between 1 and 100`
	if text(err) != want {
		t.Errorf("the error is\n%v\nnot\n%s", err, want)
	}
	if len(w.Affinity.Required) != 0 {
		t.Error("a list with a term that cannot be read must come to nothing: so the scheduler takes it of a pod on a node")
	}
	if len(w.Affinity.Preferred) != 1 {
		t.Error("the preferred terms can be read: the good one must stay")
	}
}
