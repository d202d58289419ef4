package model_test

import (
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestValidateAppGraph(t *testing.T) {
	for _, test := range []struct {
		name  string
		graph AppGraph
		want  []string
	}{
		{name: "no components", graph: AppGraph{ID: "g"}},
		{name: "one of them is not there", graph: AppGraph{ID: "g", Components: []AppComponent{{"a", []AppNeed{{"a", 0}, {"b", 1000000}}}}}},
		{"nothing", AppGraph{}, lines("id: must not be empty")},
		{"twice", AppGraph{ID: "g", Components: []AppComponent{{"a", []AppNeed{{"b", 1}, {"b", -1}, {"", 1000001}}}, {Name: "a"}, {}}}, lines(
			"components[0].needs[1].maxCost: -1 is not between 0 and 1000000\ncomponents[0].needs[1]: has the same component as [0]\n" +
				"components[0].needs[2].component: must not be empty\ncomponents[0].needs[2].maxCost: 1000001 is not between 0 and 1000000\n" +
				"components[1]: has the same name as [0]\ncomponents[2].name: must not be empty")},
	} {
		t.Run(test.name, func(t *testing.T) { checkProblems(t, &test.graph, test.want...) })
	}
}

func TestValidateNetworkCosts(t *testing.T) {
	for _, test := range []struct {
		name  string
		costs NetworkCosts
		want  []string
	}{
		{name: "no levels", costs: NetworkCosts{Name: "n"}},
		{name: "two levels", costs: NetworkCosts{Name: "n", Levels: []CostLevel{{"region", []NetworkCost{{"a", "b", 0}, {"b", "a", 1000000}}}, {ByZone, nil}}}},
		{"nothing", NetworkCosts{Levels: make([]CostLevel, 5)}, lines("name: must not be empty\nlevels: 5 is not between 0 and 4\n" +
			"levels[0].key: must not be empty\nlevels[1].key: must not be empty\nlevels[1]: has the same key as [0]\n" +
			"levels[2].key: must not be empty\nlevels[2]: has the same key as [0]\nlevels[3].key: must not be empty\nlevels[3]: has the same key as [0]\n" +
			"levels[4].key: must not be empty\nlevels[4]: has the same key as [0]")},
		{"costs", NetworkCosts{Name: "n", Levels: []CostLevel{{"k", []NetworkCost{{"a", "b", 1}, {"a", "a", -1}, {"a", "b", 2}}}}}, lines(
			"levels[0].costs[1].cost: -1 is not between 0 and 1000000\nlevels[0].costs[1].to: is the place that it comes from\n" +
				"levels[0].costs[2]: has the same from and to as [0]")},
	} {
		t.Run(test.name, func(t *testing.T) { checkProblems(t, &test.costs, test.want...) })
	}
}

func TestRandomNetworksAreValid(t *testing.T) {
	r := seeded(t)
	for range 500 {
		g, n := modeltest.RandomAppGraph(r), modeltest.RandomNetworkCosts(r)
		if err := g.Validate(); err != nil {
			t.Fatal(err)
		}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		checkEqualAndApart(t, g, CloneObject(g))
		checkEqualAndApart(t, n, CloneObject(n))
	}
}
