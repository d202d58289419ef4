package convert

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// labelOperators are the operators of a label selector.
var labelOperators = map[metav1.LabelSelectorOperator]selection.Operator{
	metav1.LabelSelectorOpIn:           selection.In,
	metav1.LabelSelectorOpNotIn:        selection.NotIn,
	metav1.LabelSelectorOpExists:       selection.Exists,
	metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
}

// selector translates a label selector. As in the model, nil selects nothing
// and one without requirements everything. It is not ok where a requirement
// cannot be read, which is reported; the scheduler cannot read the selector
// then, and the result is not to be used.
//
// Rules: apimachinery pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector),
// v0.37.1.
func (p *problems) selector(at *field.Path, s *metav1.LabelSelector) (_ *model.Selector, ok bool) {
	if s == nil {
		return nil, true
	}
	before := len(p.list)
	m := &model.Selector{}
	add := func(here *field.Path, key string, operator model.Operator, parsed selection.Operator, values []string) {
		if _, err := labels.NewRequirement(key, parsed, values, field.WithPath(here)); err != nil {
			p.reportAll(here, err, nil)
			return
		}
		m.Requirements = append(m.Requirements, model.Requirement{Key: key, Operator: operator, Values: values})
	}
	for _, key := range sortedKeys(s.MatchLabels) {
		add(at.Child("matchLabels").Key(key), key, model.In, selection.In, []string{s.MatchLabels[key]})
	}
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		here := at.Child("matchExpressions").Index(i)
		parsed, known := labelOperators[e.Operator]
		if !known {
			p.report(here.Child("operator"), "%q is not an operator of a label selector", e.Operator)
			continue
		}
		add(here, e.Key, model.Operator(e.Operator), parsed, e.Values)
	}
	if len(p.list) > before {
		return nil, false
	}
	return m, true
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
