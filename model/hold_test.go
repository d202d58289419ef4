package model_test

import (
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestValidateHold(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	terms := &NodeTerms{Terms: []NodeTerm{{Labels: []Requirement{{Key: "rack", Operator: Exists}}}}}
	for _, test := range []struct {
		name string
		hold Hold
		want []string
	}{
		{name: "one node, for ever", hold: Hold{Name: "h", Nodes: []string{"n"}}},
		{name: "everything", hold: Hold{Name: "h", From: noon, Until: noon.Add(1), Nodes: []string{"n"}, NodeTerms: terms, Amounts: Resources{CPU: 1}, Users: &Selector{}, Flex: true}},
		{name: "selected nodes, since ever", hold: Hold{Name: "h", Until: noon, NodeTerms: terms}},
		{"nothing", Hold{}, lines("name: must not be empty\nnodes: must not be empty where there are no node terms")},
		{"an empty interval", Hold{Name: "h", From: noon, Until: noon, Nodes: []string{"n"}}, lines(
			"until: 2026-06-01T12:00:00Z is not after from, 2026-06-01T12:00:00Z")},
		{"the end before the beginning", Hold{Name: "h", From: noon, Until: noon.Add(-time.Hour), Nodes: []string{"n"}}, lines(
			"until: 2026-06-01T11:00:00Z is not after from, 2026-06-01T12:00:00Z")},
		{"less than nothing", Hold{Name: "h", Nodes: []string{"n"}, Amounts: Resources{Memory: -1}}, lines("amounts.memory: -1 is less than 0")},
		{"bad parts", Hold{Name: "h", Nodes: []string{"n", ""}, NodeTerms: &NodeTerms{}, Users: &Selector{Requirements: []Requirement{{Key: "k"}}}}, lines(
			"nodes[1]: must not be empty\nnodeTerms.terms: must have at least one term; without any, no node would do\n" +
				`users.requirements[0].operator: "" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt`)},
	} {
		t.Run(test.name, func(t *testing.T) { checkProblems(t, &test.hold, test.want...) })
	}
}

func TestHoldCovers(t *testing.T) {
	a, b := &Node{Name: "a", Labels: map[string]string{"rack": "1"}}, &Node{Name: "b"}
	terms := &NodeTerms{Terms: []NodeTerm{{Labels: []Requirement{{Key: "rack", Operator: Exists}}}}}
	for _, test := range []struct {
		name         string
		hold         Hold
		wantA, wantB bool
	}{
		{"by name", Hold{Nodes: []string{"b", "c"}}, false, true},
		{"by terms", Hold{NodeTerms: terms}, true, false},
		{"by either", Hold{Nodes: []string{"b"}, NodeTerms: terms}, true, true},
		{"by terms alone: no terms are not all nodes", Hold{Nodes: []string{"c"}}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.hold.Covers(a) != test.wantA || test.hold.Covers(b) != test.wantB {
				t.Errorf("a %v, b %v", test.hold.Covers(a), test.hold.Covers(b))
			}
		})
	}
}

func TestRandomHoldsAreValid(t *testing.T) {
	r := seeded(t)
	for range 1000 {
		h := modeltest.RandomHold(r)
		if err := h.Validate(); err != nil {
			t.Fatal(err)
		}
		checkEqualAndApart(t, h, CloneObject(h))
	}
}
