package bound_test

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/internal/bound"
	"github.com/berth-project/berth/examples/gpupacking/internal/openb"
	"github.com/berth-project/berth/examples/gpupacking/internal/reference"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

func node(cpu int64, gpus int, model string) trace.Node {
	return trace.Node{CPU: cpu, Memory: 1000, GPUs: gpus, Model: model}
}

func times(n int, s trace.Shape) []trace.Shape {
	list := make([]trace.Shape, n)
	for i := range list {
		list[i] = s
	}
	return list
}

// Where it is plain what is best, the bound is just that, or a little more.
func TestBoundIsTight(t *testing.T) {
	share := func(cpu, milli int64) trace.Shape { return trace.Shape{CPU: cpu, GPUs: 1, Share: milli} }
	for _, tt := range []struct {
		name  string
		nodes []trace.Node
		pods  []trace.Shape
		want  float64
	}{
		{"everything fits", []trace.Node{node(100, 2, "A")}, times(2, share(10, 1000)), 100},
		{"half is asked for", []trace.Node{node(100, 2, "A")}, times(1, share(10, 1000)), 50},
		{"CPU for one of two", []trace.Node{node(15, 2, "A")}, times(2, share(10, 1000)), 75}, // fractions: one and a half
		{"pods without GPUs take CPU", []trace.Node{node(20, 2, "A")}, append(times(2, share(10, 1000)), trace.Shape{CPU: 10}), 50},
		{"one of 600 milli goes on each GPU", []trace.Node{node(100, 2, "A")}, times(4, share(10, 600)), 60},
		{"two of 400 milli go on each GPU", []trace.Node{node(100, 2, "A")}, times(6, share(10, 400)), 80},
		{"a model that nobody has", []trace.Node{node(100, 2, "A")}, []trace.Shape{share(1, 1000), {GPUs: 1, Share: 1000, Spec: "B"}}, 50},
		{"one of two models", []trace.Node{node(100, 1, "A"), node(100, 1, "B")}, times(2, trace.Shape{GPUs: 1, Share: 1000, Spec: "B"}), 50},
		{"more GPUs than a node has", []trace.Node{node(100, 1, "A"), node(100, 1, "A")}, append(times(1, share(1, 500)), trace.Shape{GPUs: 2, Share: 1000}), 25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var nodes []trace.Node
			for i, n := range tt.nodes {
				n.Name = fmt.Sprint(i)
				nodes = append(nodes, n)
			}
			var pods []trace.Pod
			for i, s := range tt.pods {
				pods = append(pods, trace.Pod{Name: fmt.Sprint(i), Shape: s})
			}
			var arrived []*trace.Pod
			for i := range pods {
				arrived = append(arrived, &pods[i])
			}
			made, err := trace.New(nodes, pods)
			if err != nil {
				t.Fatal(err)
			}
			if got := bound.Percent(made, arrived, 5000); got < tt.want-1e-6 || got > tt.want+0.5 {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// No policy allocates more than the bound, on whatever trace.
func TestNoPolicyIsAboveTheBound(t *testing.T) {
	for seed := range int64(6) {
		made := trace.Generate(seed, 4+4*int(seed), 100)
		limit := bound.Percent(made, bound.Arrived(made, seed), 2000)
		for _, policy := range []trace.Policy{trace.Random, trace.BestFit, trace.FGD} {
			if got := reference.Run(made, policy, seed).Allocation[trace.Full]; got > limit+0.01 {
				t.Errorf("seed %d: %s allocates %v, and the bound is %v", seed, policy, got, limit)
			}
		}
	}
}

// The published runs, and bounds that are well below 100 %.
func TestPublishedRunsAreBelowTheBound(t *testing.T) {
	published := openb.Published(t)
	for list, most := range map[string]float64{"default": 97.6, "gpuspec10": 97.5, "gpushare100": 90.8, "multigpu50": 99.3} {
		made := openb.Load(t, list)
		limit := bound.Percent(made, bound.Arrived(made, openb.FirstSeed), 5000)
		if limit > most {
			t.Errorf("%s: the bound is %v, want at most %v", list, limit, most)
		}
		for key, series := range published.Allocation {
			if key.List == list && key.Seed == openb.FirstSeed && series[trace.Full] > limit {
				t.Errorf("%v allocates %v, and the bound is %v", key, series[trace.Full], limit)
			}
		}
	}
}
