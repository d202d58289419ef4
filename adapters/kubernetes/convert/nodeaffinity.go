package convert

import (
	"strings"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// nodeOperators are the operators of a node selector.
var nodeOperators = map[v1.NodeSelectorOperator]selection.Operator{
	v1.NodeSelectorOpIn:           selection.In,
	v1.NodeSelectorOpNotIn:        selection.NotIn,
	v1.NodeSelectorOpExists:       selection.Exists,
	v1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	v1.NodeSelectorOpGt:           selection.GreaterThan,
	v1.NodeSelectorOpLt:           selection.LessThan,
}

// never stands for a requirement that cannot be read: no node meets it.
var never = []model.Requirement{
	{Key: v1.LabelHostname, Operator: model.Exists},
	{Key: v1.LabelHostname, Operator: model.DoesNotExist},
}

func (p *problems) nodeAffinity(at *field.Path, a *v1.NodeAffinity) *model.NodeAffinity {
	if a == nil {
		return nil
	}
	m := &model.NodeAffinity{}
	if s := a.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		m.Required = &model.NodeTerms{}
		for i := range s.NodeSelectorTerms {
			here := at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Index(i)
			m.Required.Terms = append(m.Required.Terms, p.nodeTerm(here, &s.NodeSelectorTerms[i], anyValues))
		}
		if len(m.Required.Terms) == 0 {
			m.Required.Terms = []model.NodeTerm{{}} // no node will do, as one empty term says, too
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		t := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
		here := at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		term := p.nodeTerm(here.Child("preference"), &t.Preference, goodValues)
		if p.weight(here, t.Weight) {
			m.Preferred = append(m.Preferred, model.PreferredNodeTerm{Weight: t.Weight, NodeTerm: term})
		}
	}
	return m
}

// valuePolicy says what is thought of a requirement with a value that is no
// number, for Gt and Lt, or that no label can have. The API server lets such
// values in. In a required term the scheduler goes on to the next term, so they
// are no problem; in a preferred one it gives up as soon as it has a choice of
// nodes, so they are.
type valuePolicy bool

const (
	goodValues valuePolicy = false
	anyValues  valuePolicy = true
)

// nodeTerm translates one term. One with a requirement that cannot be read
// matches no node.
//
// Rules: component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go,
// v0.37.1, and kube-scheduler plugins/nodeaffinity/node_affinity.go, 1.37.1.
func (p *problems) nodeTerm(at *field.Path, t *v1.NodeSelectorTerm, values valuePolicy) model.NodeTerm {
	var m model.NodeTerm
	for i := range t.MatchExpressions {
		e := &t.MatchExpressions[i]
		if p.readable(at.Child("matchExpressions").Index(i), e, values) {
			m.Labels = append(m.Labels, model.Requirement{Key: e.Key, Operator: model.Operator(e.Operator), Values: e.Values})
		} else {
			m.Labels = append(m.Labels, never...)
		}
	}
	for i := range t.MatchFields {
		e := &t.MatchFields[i]
		here := at.Child("matchFields").Index(i)
		switch {
		case e.Key != metav1.ObjectNameField:
			p.report(here.Child("key"), "%q is not %q, the only field", e.Key, metav1.ObjectNameField)
		case e.Operator != v1.NodeSelectorOpIn && e.Operator != v1.NodeSelectorOpNotIn:
			p.report(here.Child("operator"), "%q is neither In nor NotIn", e.Operator)
		case len(e.Values) != 1:
			p.report(here.Child("values"), "must be exactly one value, not %d", len(e.Values))
		case !utf8.ValidString(e.Values[0]):
			p.report(here.Child("values"), "%q is not valid UTF-8", e.Values[0])
		default:
			m.Fields = append(m.Fields, model.Requirement{Key: model.FieldName, Operator: model.Operator(e.Operator), Values: e.Values})
			continue
		}
		m.Labels = append(m.Labels, never...)
	}
	return m
}

// readable reports whether the scheduler can read the requirement.
func (p *problems) readable(at *field.Path, e *v1.NodeSelectorRequirement, values valuePolicy) bool {
	operator, known := nodeOperators[e.Operator]
	if !known {
		p.report(at.Child("operator"), "%q is not an operator of a node selector", e.Operator)
		return false
	}
	_, err := labels.NewRequirement(e.Key, operator, e.Values, field.WithPath(at))
	if err != nil {
		p.reportAll(at, err, func(field string) bool {
			return values == anyValues && strings.HasPrefix(field, at.Child("values").String()+"[")
		})
	}
	return err == nil
}
