package model_test

import (
	"testing"

	. "github.com/berth-project/berth/model"
)

// TestRequirementMatches is the table of operators: what each says of a label
// that has the value, another value, is empty, or is missing, and of
// requirements that are not valid, which match nothing.
func TestRequirementMatches(t *testing.T) {
	labels := map[string]string{
		"app": "web", "empty": "", "n": "5", "neg": "-5", "zero": "05", "plus": "+5", "float": "5.0",
		"max": "9223372036854775807", "over": "9223372036854775808",
	}
	tests := []struct {
		key      string
		operator Operator
		values   []string
		want     bool
	}{
		{"app", In, []string{"web"}, true},
		{"app", In, []string{"db", "web", "web"}, true},
		{"app", In, []string{"db"}, false},
		{"app", In, []string{"WEB"}, false},
		{"empty", In, []string{""}, true},
		{"missing", In, []string{""}, false},

		{"app", NotIn, []string{"db"}, true},
		{"app", NotIn, []string{"web"}, false},
		{"app", NotIn, []string{"db", "web"}, false},
		{"empty", NotIn, []string{""}, false},
		{"missing", NotIn, []string{""}, true},

		{"app", Exists, nil, true},
		{"app", Exists, []string{}, true},
		{"empty", Exists, nil, true},
		{"missing", Exists, nil, false},

		{"app", DoesNotExist, nil, false},
		{"empty", DoesNotExist, nil, false},
		{"missing", DoesNotExist, nil, true},

		{"n", Gt, []string{"4"}, true},
		{"n", Gt, []string{"5"}, false},
		{"n", Gt, []string{"-9"}, true},
		{"n", Gt, []string{"10"}, false}, // as numbers, not as text
		{"neg", Gt, []string{"-6"}, true},
		{"zero", Gt, []string{"4"}, true},
		{"plus", Gt, []string{"4"}, true},
		{"float", Gt, []string{"4"}, false},
		{"app", Gt, []string{"4"}, false},
		{"empty", Gt, []string{"-1"}, false},
		{"missing", Gt, []string{"-1"}, false},
		{"max", Gt, []string{"9223372036854775806"}, true},
		{"over", Gt, []string{"0"}, false},

		{"n", Lt, []string{"6"}, true},
		{"n", Lt, []string{"5"}, false},
		{"neg", Lt, []string{"0"}, true},
		{"app", Lt, []string{"6"}, false},
		{"missing", Lt, []string{"6"}, false},

		{"app", "", nil, false},
		{"app", "in", []string{"web"}, false},
		{"app", In, nil, false},
		{"app", NotIn, nil, false},
		{"missing", NotIn, nil, false},
		{"app", Exists, []string{"web"}, false},
		{"missing", DoesNotExist, []string{"web"}, false},
		{"n", Gt, nil, false},
		{"n", Gt, []string{"1", "2"}, false},
		{"n", Gt, []string{"x"}, false},
		{"n", Lt, []string{"9.5"}, false},
		{"", DoesNotExist, nil, false},
		{"", NotIn, []string{"web"}, false},
	}
	for _, tt := range tests {
		s := Selector{Requirements: []Requirement{{Key: tt.key, Operator: tt.operator, Values: tt.values}}}
		if got := s.Matches(labels); got != tt.want {
			t.Errorf("%s %s %q: %v, want %v", tt.key, tt.operator, tt.values, got, tt.want)
		}
	}
}

func TestSelectorMatches(t *testing.T) {
	web := Requirement{Key: "app", Operator: In, Values: []string{"web"}}
	front := Requirement{Key: "tier", Operator: In, Values: []string{"front"}}
	tests := []struct {
		name     string
		selector *Selector
		labels   map[string]string
		want     bool
	}{
		{"nil selects nothing", nil, nil, false},
		{"nil selects nothing", nil, map[string]string{"app": "web"}, false},
		{"empty selects everything", &Selector{}, nil, true},
		{"empty selects everything", &Selector{Requirements: []Requirement{}}, map[string]string{"app": "web"}, true},
		{"one holds", &Selector{[]Requirement{web}}, map[string]string{"app": "web"}, true},
		{"all must hold", &Selector{[]Requirement{web, front}}, map[string]string{"app": "web"}, false},
		{"all hold", &Selector{[]Requirement{web, front}}, map[string]string{"app": "web", "tier": "front"}, true},
		{"no labels", &Selector{[]Requirement{web}}, nil, false},
	}
	for _, tt := range tests {
		if got := tt.selector.Matches(tt.labels); got != tt.want {
			t.Errorf("%s: %v with %v: %v, want %v", tt.name, tt.selector, tt.labels, got, tt.want)
		}
	}
}

// TestSelectLabels: all of the labels are wanted, others do not matter, and no
// labels select everything.
func TestSelectLabels(t *testing.T) {
	s := SelectLabels(map[string]string{"b": "2", "a": "1"})
	if len(s.Requirements) != 2 || s.Requirements[0].Key != "a" || s.Requirements[1].Key != "b" {
		t.Errorf("not in the order of the keys: %v", s)
	}
	for _, tt := range []struct {
		labels map[string]string
		want   bool
	}{
		{map[string]string{"a": "1", "b": "2", "c": "3"}, true},
		{map[string]string{"a": "1"}, false},
		{map[string]string{"a": "1", "b": "1"}, false},
	} {
		if got := s.Matches(tt.labels); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.labels, got, tt.want)
		}
	}
	if !SelectLabels(nil).Matches(nil) {
		t.Error("no labels should select everything")
	}
}
