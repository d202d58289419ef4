package generate

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeAffinity draws which nodes a pod must have and which it likes.
func (s *Source) NodeAffinity() *v1.NodeAffinity {
	a := &v1.NodeAffinity{}
	if s.Percent(60) {
		sel := &v1.NodeSelector{}
		for range 1 + s.IntN(3) {
			sel.NodeSelectorTerms = append(sel.NodeSelectorTerms, s.nodeTerm())
		}
		if !s.Several && namesSeveral(sel) {
			sel.NodeSelectorTerms = sel.NodeSelectorTerms[:1]
		}
		a.RequiredDuringSchedulingIgnoredDuringExecution = sel
	}
	for range s.IntN(4) {
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			v1.PreferredSchedulingTerm{Weight: int32(Pick(s, 1, 2, 50, 99, 100)), Preference: s.nodeTerm()})
	}
	return a
}

func (s *Source) nodeTerm() v1.NodeSelectorTerm {
	var t v1.NodeSelectorTerm
	for range Pick(s, 0, 1, 1, 1, 2, 3) {
		t.MatchExpressions = append(t.MatchExpressions, s.nodeRequirement())
	}
	if s.Percent(15) {
		for range 1 + s.IntN(2) {
			t.MatchFields = append(t.MatchFields, v1.NodeSelectorRequirement{Key: metav1.ObjectNameField,
				Operator: Pick(s, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: []string{NodeName(s.IntN(s.Nodes + 1))}})
		}
	}
	return t
}

func (s *Source) nodeRequirement() v1.NodeSelectorRequirement {
	r := v1.NodeSelectorRequirement{Key: Pick(s, nodeKeys...)}
	values := nodeValues
	if s.Tame {
		r.Key = Pick(s, "rack", "weight", v1.LabelTopologyZone)
		values = []string{"a", "b", "z0", "z1", "0", "1"}
	}
	r.Operator = Pick(s, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists,
		v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt)
	switch r.Operator {
	case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
		for range 1 + s.IntN(4) {
			r.Values = append(r.Values, Pick(s, values...))
		}
	case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
		r.Values = []string{Pick(s, "0", "1", "2", "01", "9223372036854775807")}
		if s.Odd && s.Percent(20) {
			r.Values = []string{"-7"} // a whole number that no label can have
		}
		if s.Tame {
			r.Key = "weight"
		}
	}
	return r
}

// namesSeveral reports whether every one of several terms names nodes.
func namesSeveral(sel *v1.NodeSelector) bool {
	if len(sel.NodeSelectorTerms) < 2 {
		return false
	}
	for _, t := range sel.NodeSelectorTerms {
		names := false
		for _, f := range t.MatchFields {
			names = names || f.Operator == v1.NodeSelectorOpIn
		}
		if !names {
			return false
		}
	}
	return true
}
