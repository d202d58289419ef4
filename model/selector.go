package model

import (
	"slices"
	"strconv"
)

// Operator is the relation of a [Requirement] between a label's value and the
// requirement's values.
type Operator string

// The operators. NotIn and DoesNotExist also hold where the label is missing.
// Gt and Lt compare whole numbers and take exactly one value.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	Gt           Operator = "Gt"
	Lt           Operator = "Lt"
)

// Requirement is one condition on one label (or, in [NodeTerm].Fields, on one
// field of a node).
type Requirement struct {
	Key      string
	Operator Operator
	Values   []string
}

// Matches reports whether the labels meet the requirement. Gt and Lt do not
// hold where the label's value is not a whole number. A requirement that is not
// valid, such as a NotIn without values or an Exists with some, matches nothing.
func (r *Requirement) Matches(labels map[string]string) bool {
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

// matchesField is Matches for the fields of a node.
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
	Requirements []Requirement
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
		if !requirements[i].Matches(labels) {
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
