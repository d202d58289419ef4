package generate

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podTerm draws a term about other pods, for a pod with the given labels.
func (s *Source) podTerm(own map[string]string) v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{LabelSelector: s.selector(), TopologyKey: Pick(s, topologyKeys...), NamespaceSelector: s.namespaceSelector()}
	if s.Percent(15) {
		t.Namespaces = some(s, 3, Namespaces...)
	}
	if t.LabelSelector != nil && s.Percent(15) {
		s.mergeKeys(&t, own)
	}
	return t
}

// mergeKeys lets the term match labels of the pod itself. Like the API server
// it puts what that means into the selector.
func (s *Source) mergeKeys(t *v1.PodAffinityTerm, own map[string]string) {
	l := t.LabelSelector.DeepCopy()
	add := func(key string, operator metav1.LabelSelectorOperator) {
		if value, ok := own[key]; ok {
			l.MatchExpressions = append(l.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
	if s.Percent(70) {
		t.MatchLabelKeys = []string{"version"}
		add("version", metav1.LabelSelectorOpIn)
	} else {
		t.MismatchLabelKeys = []string{"tier"}
		add("tier", metav1.LabelSelectorOpNotIn)
	}
	t.LabelSelector = l
}

func (s *Source) podTerms(own map[string]string, most int) []v1.PodAffinityTerm {
	var terms []v1.PodAffinityTerm
	for range s.IntN(most + 1) {
		terms = append(terms, s.podTerm(own))
	}
	if len(terms) > 0 && s.Percent(10) {
		terms = append(terms, *terms[0].DeepCopy()) // the same term twice
	}
	return terms
}

func (s *Source) weightedTerms(own map[string]string, most int) []v1.WeightedPodAffinityTerm {
	var terms []v1.WeightedPodAffinityTerm
	for range s.IntN(most + 1) {
		terms = append(terms, v1.WeightedPodAffinityTerm{Weight: int32(Pick(s, 1, 2, 50, 99, 100)), PodAffinityTerm: s.podTerm(own)})
	}
	return terms
}

// relations draws affinity and anti-affinity to other pods.
func (s *Source) relations(a *v1.Affinity, own map[string]string) {
	often := 1
	switch {
	case s.Related:
		often = 3
	case s.Unrelated:
		return
	}
	if s.Wild(12 * often) {
		a.PodAffinity = &v1.PodAffinity{}
		if s.Percent(50) {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = s.podTerms(own, 2)
		}
		if s.Percent(60) {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = s.weightedTerms(own, 3)
		}
	}
	if s.Wild(12 * often) {
		a.PodAntiAffinity = &v1.PodAntiAffinity{}
		if s.Percent(50) {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = s.podTerms(own, 2)
		}
		if s.Percent(60) {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = s.weightedTerms(own, 3)
		}
	}
}

// spread draws topology spread constraints; mostly none.
func (s *Source) spread() []v1.TopologySpreadConstraint {
	percent := 15
	if s.Related {
		percent = 45
	}
	if s.Unrelated || !s.Wild(percent) {
		return nil
	}
	var constraints []v1.TopologySpreadConstraint
	for range 1 + s.IntN(3) {
		c := v1.TopologySpreadConstraint{
			MaxSkew:           int32(Pick(s, 1, 1, 1, 2, 3, 5)),
			TopologyKey:       Pick(s, topologyKeys...),
			WhenUnsatisfiable: Pick(s, v1.DoNotSchedule, v1.ScheduleAnyway),
			LabelSelector:     s.selector(),
		}
		if c.WhenUnsatisfiable == v1.DoNotSchedule && s.Percent(30) {
			c.MinDomains = new(Pick(s, int32(1), 2, 3, 6))
		}
		c.NodeAffinityPolicy, c.NodeTaintsPolicy = s.inclusion(), s.inclusion()
		if c.LabelSelector != nil && s.Percent(20) {
			c.MatchLabelKeys = some(s, 2, "version", "tier", "no-such-label")
		}
		same := func(o v1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}
		if !slices.ContainsFunc(constraints, same) {
			constraints = append(constraints, c)
		}
	}
	return constraints
}

func (s *Source) inclusion() *v1.NodeInclusionPolicy {
	switch s.IntN(4) {
	case 0:
		return new(v1.NodeInclusionPolicyHonor)
	case 1:
		return new(v1.NodeInclusionPolicyIgnore)
	}
	return nil
}

// DefaultConstraints draws constraints for pods that have none of their own;
// there may be none. They have no selector.
func (s *Source) DefaultConstraints() []v1.TopologySpreadConstraint {
	related := s.Related
	s.Related = true
	constraints := s.spread()
	s.Related = related
	for i := range constraints {
		constraints[i].LabelSelector, constraints[i].MatchLabelKeys = nil, nil
	}
	return constraints
}
