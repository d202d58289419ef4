package noderesourcesfitplus

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

const gpu = "example.com/gpu"

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Args: Args{Resources: []Resource{
		{model.CPU, LeastAllocated, 1}, {model.Memory, MostAllocated, 3},
	}}})
}

// amounts of CPU in cores, memory in GiB, and GPUs.
func amounts(cores, gib, gpus int64) model.Resources {
	r := model.Resources{CPU: 1000 * cores, Memory: model.GiB(gib)}
	if gpus > 0 {
		r = r.With(gpu, gpus)
	}
	return r
}

// The first two are known answers of the upstream plugin: node_resources_fit_plus_test.go, TestPlugin_Score,
// whose answer is that the first of its two nodes scores more. Its other tests are of the functions by
// which it looks at pods, which are the adapter's here. The rest is by the rules.
func TestScore(t *testing.T) {
	packedGPUs := []Resource{{gpu, MostAllocated, 2}, {model.CPU, LeastAllocated, 1}, {model.Memory, LeastAllocated, 1}}
	twoOfThem := packedGPUs[:2]
	asks := amounts(16, 32, 2)
	asks.EphemeralStorage = model.GiB(10)
	for _, c := range []struct {
		name            string
		resources       []Resource
		has, used, asks model.Resources
		want            int64
	}{
		{"beside another with GPUs", packedGPUs, amounts(96, 512, 8), amounts(16, 32, 4), asks, (2*75 + 66 + 87) / 4},
		{"on an empty node", packedGPUs, amounts(96, 512, 8), amounts(0, 0, 0), asks, (2*25 + 83 + 93) / 4},
		{"all GPUs, and a quarter of the CPU", twoOfThem, amounts(8, 8, 8), amounts(1, 0, 4), amounts(1, 0, 4), (2*100 + 75) / 3},
		{"all GPUs, and half of the CPU", twoOfThem, amounts(8, 8, 8), amounts(2, 0, 6), amounts(2, 0, 2), (2*100 + 50) / 3},
		{"nothing that counts", twoOfThem, amounts(8, 8, 8), amounts(8, 0, 8), amounts(0, 4, 0), 100},
		{"more than there is, most", []Resource{{gpu, MostAllocated, 1}}, amounts(8, 8, 4), amounts(1, 1, 2), amounts(1, 1, 3), 100},
		{"more than there is, least", []Resource{{gpu, LeastAllocated, 1}}, amounts(8, 8, 4), amounts(1, 1, 2), amounts(1, 1, 3), 0},
		{"a node that has none, most", []Resource{{gpu, MostAllocated, 1}}, amounts(8, 8, 0), amounts(0, 0, 0), amounts(1, 1, 1), 0},
		{"a node that has none counts", twoOfThem, amounts(8, 8, 0), amounts(0, 0, 0), amounts(2, 0, 1), (2*0 + 75) / 3},
		{"amounts that no sum can hold", []Resource{{gpu, MostAllocated, 1}}, amounts(1, 1, math.MaxInt64), amounts(0, 0, math.MaxInt64/2), amounts(0, 0, math.MaxInt64), 100},
	} {
		node := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: c.has}, &model.Workload{ID: "runs", Requests: c.used, Estimate: &c.used})
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Requests: c.asks}, node)
		p, err := New(Args{Resources: c.resources}, extpointstest.NewHandle())
		if err != nil {
			t.Fatal(err)
		}
		if got, st := p.Score(s.State(), s.Workload, node); got != c.want || st != nil {
			t.Errorf("%s: got %d, want %d, %v", c.name, got, c.want, st)
		}
	}
}

// Of CPU and memory the estimated load counts, of what runs and of the workload.
func TestEstimatesCount(t *testing.T) {
	node := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: amounts(8, 8, 0)}, &model.Workload{ID: "runs", Estimate: &model.Resources{CPU: 2000}})
	w := &model.Workload{ID: "w", Requests: model.Resources{CPU: 1}, Estimate: &model.Resources{CPU: 2000}}
	s := extpointstest.NewSituation(w, node)
	p, err := New(Args{Resources: []Resource{{model.CPU, MostAllocated, 1}}}, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Score(s.State(), s.Workload, node); got != 50 {
		t.Errorf("got %d", got)
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		resources []Resource
		want      []string
	}{
		{nil, []string{"resources: must not be empty"}},
		{[]Resource{{"", MostAllocated, 1}, {gpu, "Best", 0}, {gpu, LeastAllocated, 101}}, []string{
			"resources[0].name: must not be empty", fmt.Sprintf(`resources[1].strategy: "Best" of %q is neither "LeastAllocated" nor "MostAllocated"`, gpu),
			fmt.Sprintf("resources[1].weight: 0 of %q is not between 1 and 100", gpu), fmt.Sprintf("resources[2].name: %q is there twice", gpu),
			fmt.Sprintf("resources[2].weight: 101 of %q is not between 1 and 100", gpu),
		}},
	} {
		_, err := New(Args{Resources: c.resources}, extpointstest.NewHandle())
		if err == nil || slices.ContainsFunc(c.want, func(want string) bool { return !strings.Contains(err.Error(), want) }) {
			t.Errorf("%+v: %v", c.resources, err)
		}
	}
}
