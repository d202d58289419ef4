package reference

import (
	"reflect"
	"slices"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// small is a trace for tests that need no particular one.
func small() *trace.Trace { return trace.Generate(5, 30, 200) }

// known are the policies that this package has: all that are told the mix.
func known() []trace.Policy {
	return slices.DeleteFunc(trace.Policies(), func(p trace.Policy) bool { return p == trace.Learned })
}

func TestRunIsAFunctionOfTraceAndSeed(t *testing.T) {
	for _, policy := range known() {
		one, again, other := Run(small(), policy, 1), Run(small(), policy, 1), Run(small(), policy, 2)
		if !reflect.DeepEqual(one.Placements, again.Placements) {
			t.Errorf("%s: the same seed gave two runs", policy)
		}
		if reflect.DeepEqual(one.Placements, other.Placements) {
			t.Errorf("%s: two seeds gave the same run", policy)
		}
	}
}

// Remembering verdicts changes nothing: a simulation that forgets all of them
// before each pod decides the same.
func TestMemoryIsNotVisible(t *testing.T) {
	for _, policy := range known() {
		if policy == trace.Rollout && testing.Short() {
			continue // every score takes long
		}
		s := newSimulation(small(), policy, 9)
		for i, want := range Run(small(), policy, 9).Placements {
			s.memory = memory{}
			if got := s.place(s.order.Pods[i]); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: pod %d went to %v, want %v", policy, i, got, want)
			}
		}
	}
}

// No policy gives away what a node does not have, and none drops a pod that
// fits somewhere.
func TestPlacementsRespectTheNodes(t *testing.T) {
	for _, policy := range known() {
		s := newSimulation(small(), policy, 3)
		dropped := 0
		for i, pod := range s.order.Pods {
			fitting := s.feasible(pod)
			p := s.place(pod)
			if p.Node == Nowhere {
				dropped++
			}
			if (p.Node == Nowhere) != (len(fitting) == 0) {
				t.Fatalf("%s: pod %d went to %d with %d nodes that fit", policy, i, p.Node, len(fitting))
			}
			if p.Node != Nowhere && len(p.Devices) != pod.GPUs {
				t.Fatalf("%s: pod %d has the devices %v, wants %d", policy, i, p.Devices, pod.GPUs)
			}
		}
		if dropped == 0 {
			t.Errorf("%s: nothing was ever dropped: the trace is too small to tell", policy)
		}
		for i := range s.nodes {
			checkNode(t, policy, &s.nodes[i])
		}
	}
}

func checkNode(t *testing.T, policy trace.Policy, n *node) {
	t.Helper()
	if n.cpu < 0 || n.memory < 0 || n.pods > trace.MaxPodsPerNode {
		t.Errorf("%s: a node ended as %+v", policy, n)
	}
	for _, left := range n.gpus {
		if left < 0 || left > trace.WholeGPU {
			t.Errorf("%s: a node ended as %+v", policy, n)
		}
	}
}

// Among equal scores the smallest rank wins, wherever the node is in the list.
func TestTiesGoToTheSmallestRank(t *testing.T) {
	s := simulation{nodes: []node{{rank: 3}, {rank: 0}, {rank: 2}, {rank: 1}}}
	tests := []struct {
		name       string
		candidates []candidate
		want       int
	}{
		{"one of all", []candidate{{0, 7}, {1, 7}, {2, 7}, {3, 7}}, 1},
		{"one of the best", []candidate{{0, 8}, {1, 7}, {2, 8}}, 2},
		{"the only best", []candidate{{0, 9}, {1, 7}, {2, 8}}, 0},
	}
	for _, test := range tests {
		if got := s.best(test.candidates).node; got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

func TestAnUnknownPolicyPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Run(small(), "unknown", 1)
}
