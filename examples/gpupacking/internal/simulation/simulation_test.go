package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/internal/reference"
	"github.com/berth-project/berth/examples/gpupacking/internal/simulation"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// The engine and the rules written down plainly place every pod alike: on the
// same node and on the same GPUs. Random draws otherwise, and the reference does not
// learn.
func TestPlacementsAreThoseOfTheReference(t *testing.T) {
	seeds := int64(20)
	if testing.Short() {
		seeds = 5
	}
	for _, policy := range trace.Policies() {
		if policy == trace.Random || policy == trace.Learned {
			continue
		}
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				// From scarce to plenty: both drop some pods and place most.
				made := trace.Generate(seed, 5+int(seed)*5, 200)
				got, want := run(t, made, policy, seed), reference.Run(made, policy, seed)
				checkPlacements(t, fmt.Sprintf("seed %d", seed), got.Placements, want.Placements)
				if !sameMeasures(got.Run, want.Run) {
					t.Errorf("seed %d: the placements agree and the measures do not", seed)
				}
			}
		})
	}
}

func checkPlacements(t *testing.T, name string, got []simulation.Placement, want []reference.Placement) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d placements, want %d", name, len(got), len(want))
	}
	for i := range want {
		if got[i].Node != want[i].Node || !slices.Equal(got[i].Devices, want[i].Devices) {
			t.Fatalf("%s: arrival %d went to %v, want %v", name, i, got[i], want[i])
		}
	}
}

// sameMeasures compares what is printed: columns without a value are NaN, which
// does not equal itself.
func sameMeasures(a, b trace.Run) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// Random fills the cluster like any other policy, and repeats itself.
func TestRandomIsAFunctionOfTheSeed(t *testing.T) {
	made := trace.Generate(3, 20, 100)
	one, again, other := run(t, made, trace.Random, 1), run(t, made, trace.Random, 1), run(t, made, trace.Random, 2)
	if !reflect.DeepEqual(one.Placements, again.Placements) {
		t.Error("the same seed gave two runs")
	}
	if reflect.DeepEqual(one.Placements, other.Placements) {
		t.Error("two seeds gave the same run")
	}
	placed := 0
	for i, p := range one.Placements {
		pod := made.Arrange(1).Pods[i]
		if p.Node == simulation.Nowhere {
			continue
		}
		placed++
		if len(p.Devices) != pod.GPUs {
			t.Errorf("arrival %d has the GPUs %v, wants %d", i, p.Devices, pod.GPUs)
		}
	}
	if placed == 0 || placed == len(one.Placements) {
		t.Errorf("%d of %d pods are placed", placed, len(one.Placements))
	}
}

// Odd but valid input: nodes without GPUs or without anything, a node of many
// GPUs, a pod larger than every node, models that nobody has.
func TestOddTraces(t *testing.T) {
	nodes := []trace.Node{
		{Name: "bare"},
		{Name: "cpu", CPU: 64000, Memory: 1 << 18, Model: "A"},
		{Name: "large", CPU: 1 << 30, Memory: 1 << 30, GPUs: 40, Model: "B"},
		{Name: "plain", CPU: 32000, Memory: 1 << 17, GPUs: 2},
	}
	var pods []trace.Pod
	for i, shape := range []trace.Shape{
		{}, {CPU: 1 << 31}, {CPU: 1000, GPUs: 1, Share: 1, Spec: "A|B|B"}, {CPU: 1000, GPUs: 30, Share: 1000},
		{GPUs: 1, Share: 999}, {GPUs: 1, Share: 1000, Spec: "nobody"}, {GPUs: 100, Share: 1000},
	} {
		pods = append(pods, trace.Pod{Name: fmt.Sprint(i), Memory: int64(i), Shape: shape})
	}
	made, err := trace.New(nodes, pods)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range trace.Policies() {
		got := run(t, made, policy, 1)
		if policy != trace.Random && policy != trace.Learned {
			checkPlacements(t, string(policy), got.Placements, reference.Run(made, policy, 1).Placements)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(stopped)
	if _, err := simulation.Run(ctx, trace.Generate(1, 5, 5), trace.FGD, 1, 1); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkRun(b *testing.B) {
	made := trace.Generate(1, 200, 2000)
	for _, policy := range trace.Policies() {
		b.Run(string(policy), func(b *testing.B) {
			pods := 0
			for b.Loop() {
				result, err := simulation.Run(context.Background(), made, policy, 1, 1)
				if err != nil {
					b.Fatal(err)
				}
				pods += result.Pods
			}
			b.ReportMetric(float64(pods)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}
