package model_test

import (
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// TestNodeTermMatches: labels and fields must all hold, and an empty or an
// invalid term matches no node.
func TestNodeTermMatches(t *testing.T) {
	node := modeltest.Node("n1").Label("disk", "ssd").Label("cores", "8").Build()
	label := func(key string, operator Operator, values ...string) Requirement {
		return Requirement{Key: key, Operator: operator, Values: values}
	}
	name := func(operator Operator, values ...string) Requirement {
		return Requirement{Key: FieldName, Operator: operator, Values: values}
	}
	ssd, hdd := label("disk", In, "ssd"), label("disk", In, "hdd")
	tests := []struct {
		about  string
		labels []Requirement
		fields []Requirement
		want   bool
	}{
		{"empty", nil, nil, false},
		{"empty", []Requirement{}, []Requirement{}, false},
		{"label", []Requirement{ssd}, nil, true},
		{"label", []Requirement{hdd}, nil, false},
		{"all labels", []Requirement{ssd, label("cores", Gt, "4")}, nil, true},
		{"one label fails", []Requirement{ssd, label("cores", Gt, "8")}, nil, false},
		{"missing label", []Requirement{label("gpu", NotIn, "a100")}, nil, true},
		{"name", nil, []Requirement{name(In, "n1")}, true},
		{"name", nil, []Requirement{name(In, "n2")}, false},
		{"not name", nil, []Requirement{name(NotIn, "n1")}, false},
		{"not name", nil, []Requirement{name(NotIn, "n2")}, true},
		{"both names", nil, []Requirement{name(In, "n1"), name(In, "n2")}, false},
		{"label and name", []Requirement{ssd}, []Requirement{name(In, "n1")}, true},
		{"label fails", []Requirement{hdd}, []Requirement{name(In, "n1")}, false},
		{"name fails", []Requirement{ssd}, []Requirement{name(In, "n2")}, false},

		{"two names in one", nil, []Requirement{name(In, "n1", "n2")}, false},
		{"no names", nil, []Requirement{name(NotIn)}, false},
		{"operator of labels", nil, []Requirement{name(Exists)}, false},
		{"field that does not exist", nil, []Requirement{label("zone", NotIn, "z1")}, false},
		{"invalid label", []Requirement{ssd, label("disk", "Is", "ssd")}, nil, false},
	}
	for _, tt := range tests {
		term := NodeTerm{Labels: tt.labels, Fields: tt.fields}
		if got := term.Matches(node); got != tt.want {
			t.Errorf("%s: %+v: %v, want %v", tt.about, term, got, tt.want)
		}
	}
}

// TestNodeTermsMatch: one alternative is enough; nil is no condition, an empty
// list cannot be met.
func TestNodeTermsMatch(t *testing.T) {
	node := modeltest.Node("n1").Label("disk", "ssd").Build()
	ssd := NodeTerm{Labels: []Requirement{{Key: "disk", Operator: In, Values: []string{"ssd"}}}}
	hdd := NodeTerm{Labels: []Requirement{{Key: "disk", Operator: In, Values: []string{"hdd"}}}}
	tests := []struct {
		about string
		terms *NodeTerms
		want  bool
	}{
		{"nil", nil, true},
		{"no terms", &NodeTerms{}, false},
		{"empty term", &NodeTerms{[]NodeTerm{{}}}, false},
		{"match", &NodeTerms{[]NodeTerm{ssd}}, true},
		{"no match", &NodeTerms{[]NodeTerm{hdd}}, false},
		{"second matches", &NodeTerms{[]NodeTerm{{}, hdd, ssd}}, true},
	}
	for _, tt := range tests {
		if got := tt.terms.Matches(node); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.about, got, tt.want)
		}
	}
}
