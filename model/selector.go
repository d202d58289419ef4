package model

import (
	"slices"
	"strconv"
)

// Operator is the relation of a [Requirement] between a label's value and the
// requirement's values, and of a [Toleration] between the taint's value and its own.
type Operator string

// The operators. A requirement may have all but Equal; NotIn and DoesNotExist also
// hold where the label is missing. A toleration may have Equal, Exists, Gt and Lt. Gt
// and Lt compare whole numbers and take exactly one value.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	Gt           Operator = "Gt"
	Lt           Operator = "Lt"
	Equal        Operator = "Equal"
)

// FieldName is the only field of a node that [NodeTerm].Fields may name.
const FieldName = "name"

// Requirement is one condition on one label (or, in [NodeTerm].Fields, on one
// field of a node).
type Requirement struct {
	Key      string   // of the label, or of the field
	Operator Operator // how to compare
	Values   []string // at least one for In and NotIn, none for Exists and DoesNotExist, one whole number for Gt and Lt
}

// matches reports whether the labels meet the requirement. Gt and Lt do not
// hold where the label's value is not a whole number. A requirement that is not
// valid, such as a NotIn without values or an Exists with some, matches nothing.
func (r *Requirement) matches(labels map[string]string) bool {
	if r.Key == "" {
		return false
	}
	value, present := labels[r.Key]
	switch r.Operator {
	case In:
		return present && slices.Contains(r.Values, value)
	case NotIn:
		return len(r.Values) > 0 && (!present || !slices.Contains(r.Values, value))
	case Exists:
		return present && len(r.Values) == 0
	case DoesNotExist:
		return !present && len(r.Values) == 0
	case Gt, Lt:
		return present && r.compares(value)
	}
	return false
}

// matchesField is matches for the fields of a node.
func (r *Requirement) matchesField(n *Node) bool {
	if r.Key != FieldName || len(r.Values) != 1 {
		return false
	}
	switch r.Operator {
	case In:
		return n.Name == r.Values[0]
	case NotIn:
		return n.Name != r.Values[0]
	}
	return false
}

func (r *Requirement) compares(value string) bool {
	if len(r.Values) != 1 {
		return false
	}
	have, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	want, err := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil {
		return false
	}
	if r.Operator == Gt {
		return have > want
	}
	return have < want
}

// Selector selects objects by their labels: all requirements must hold. A
// Selector without requirements selects everything; a nil *Selector selects
// nothing.
type Selector struct {
	Requirements []Requirement // all must hold; none selects everything
}

// SelectLabels returns the selector that wants each of the labels to have
// exactly the given value. The requirements are in the order of the keys.
func SelectLabels(labels map[string]string) *Selector {
	s := &Selector{}
	for _, key := range sortedKeys(labels) {
		s.Requirements = append(s.Requirements, Requirement{Key: key, Operator: In, Values: []string{labels[key]}})
	}
	return s
}

// Matches reports whether the labels are selected.
func (s *Selector) Matches(labels map[string]string) bool {
	if s == nil {
		return false
	}
	return matchesAll(s.Requirements, labels)
}

func matchesAll(requirements []Requirement, labels map[string]string) bool {
	for i := range requirements {
		if !requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
