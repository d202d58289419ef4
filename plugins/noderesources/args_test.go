package noderesources

import (
	"errors"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

func TestFitArgs(t *testing.T) {
	const by = `arguments of plugin "NodeResourcesFit": `
	for _, c := range []struct {
		name string
		args any
		want string
	}{
		{"none", nil, ""},
		{"zero", FitArgs{}, ""},
		{"all good", &FitArgs{
			IgnoredResources: []string{"example.com/a"}, IgnoredResourceGroups: []string{"example.com"},
			Strategy: Strategy{Type: RequestedToCapacityRatio, Resources: []ResourceWeight{{model.CPU, 100}}, Shape: []helper.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}},
		}, ""},
		{"every kind of wrong name and weight", FitArgs{
			IgnoredResources: []string{"a", ""}, IgnoredResourceGroups: []string{"", "a/b"},
			Strategy: Strategy{Type: "Nonsense", Resources: []ResourceWeight{{"", 1}, {model.CPU, -1}, {model.Memory, 101}}},
		}, by + `ignoredResources[1]: a name is needed; ignoredResourceGroups[0]: a name is needed; ignoredResourceGroups[1]: "a/b" must not contain a slash; ` +
			`strategy.resources[0].name: a name is needed; strategy.resources[1].weight: -1 is not in [1, 100]; strategy.resources[2].weight: 101 is not in [1, 100]; ` +
			`strategy.type: "Nonsense" is none of LeastAllocated, MostAllocated, RequestedToCapacityRatio`},
		{"a shape that is not for it", FitArgs{Strategy: Strategy{Type: MostAllocated, Shape: []helper.ShapePoint{{}}}},
			by + "strategy.shape: only for type RequestedToCapacityRatio"},
		{"no shape", FitArgs{Strategy: Strategy{Type: RequestedToCapacityRatio}},
			by + "strategy.shape: at least one point is needed for type RequestedToCapacityRatio"},
		{"every kind of wrong shape", FitArgs{Strategy: Strategy{Type: RequestedToCapacityRatio, Shape: []helper.ShapePoint{{Utilization: -1, Score: 11}, {Utilization: 50, Score: -1}, {Utilization: 50, Score: 5}, {Utilization: 101, Score: 5}}}},
			by + "strategy.shape[0].utilization: -1 is not in [0, 100]; strategy.shape[0].score: 11 is not in [0, 10]; strategy.shape[1].score: -1 is not in [0, 10]; " +
				"strategy.shape[2].utilization: 50 is not above the one before it; strategy.shape[3].utilization: 101 is not in [0, 100]"},
	} {
		p, err := extpoints.FactoryOf(NewFit)(c.args, extpointstest.NewHandle())
		if got := text(err); got != c.want || (p == nil) != (err != nil) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBalancedAllocationArgs(t *testing.T) {
	_, err := NewBalancedAllocation(BalancedAllocationArgs{Resources: []ResourceWeight{{model.CPU, 2}, {model.CPU, 1}, {"", 0}}}, nil)
	const want = `arguments of plugin "NodeResourcesBalancedAllocation": resources[0].weight: 2 must be 1; resources[1].name: "cpu" is there twice; resources[2].name: a name is needed`
	if text(err) != want || !errors.Is(err, model.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// WithDefaults leaves what it was given as it was.
func TestWithDefaultsCopies(t *testing.T) {
	given := FitArgs{Strategy: Strategy{Resources: []ResourceWeight{{Name: model.CPU}}}}
	if got := given.WithDefaults(); got.Strategy.Resources[0].Weight != 1 || got.Strategy.Type != LeastAllocated {
		t.Errorf("%+v", got)
	}
	if given.Strategy.Resources[0].Weight != 0 {
		t.Error("the caller's list was changed")
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
