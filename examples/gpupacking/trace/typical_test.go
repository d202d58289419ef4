package trace_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

var (
	cpuOnly = trace.Shape{CPU: 4000}
	half    = trace.Shape{CPU: 4000, GPUs: 1, Share: 500}
	pair    = trace.Shape{CPU: 4000, GPUs: 2, Share: 1000}
)

// pods makes a trace with so many pods of each shape.
func pods(t *testing.T, counts map[trace.Shape]int) *trace.Trace {
	t.Helper()
	var all []trace.Pod
	for shape, n := range counts {
		for range n {
			all = append(all, trace.Pod{Name: fmt.Sprint(len(all)), Shape: shape})
		}
	}
	made, err := trace.New([]trace.Node{{Name: "n", GPUs: 1}}, all)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func checkTypical(t *testing.T, got trace.Typical, want ...trace.TypicalPod) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i].Shape != want[i].Shape || math.Abs(got[i].Weight-want[i].Weight) > 1e-15 {
			t.Errorf("number %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestTypicalEndsAt95Percent(t *testing.T) {
	checkTypical(t, pods(t, map[trace.Shape]int{half: 10, cpuOnly: 9, pair: 1}).Typical(),
		trace.TypicalPod{Shape: half, Weight: 10. / 19},
		trace.TypicalPod{Shape: cpuOnly, Weight: 9. / 19},
	)
}

func TestTypicalTakesTheShapeThatReaches95Percent(t *testing.T) {
	checkTypical(t, pods(t, map[trace.Shape]int{half: 10, cpuOnly: 8, pair: 2}).Typical(),
		trace.TypicalPod{Shape: half, Weight: 0.5},
		trace.TypicalPod{Shape: cpuOnly, Weight: 0.4},
		trace.TypicalPod{Shape: pair, Weight: 0.1},
	)
}

// Equally common shapes come in descending order of CPU, then share, then
// number of GPUs, then spec.
func TestTypicalOrderOfEquals(t *testing.T) {
	want := []trace.Shape{
		{CPU: 2, Share: 500, GPUs: 1},
		{CPU: 1, Share: 1000, GPUs: 2},
		{CPU: 1, Share: 1000, GPUs: 1, Spec: "B"},
		{CPU: 1, Share: 1000, GPUs: 1, Spec: "A"},
		{CPU: 1, Share: 1000, GPUs: 1},
		{CPU: 1, Share: 500, GPUs: 1, Spec: "C"},
	}
	counts := map[trace.Shape]int{}
	for _, shape := range want {
		counts[shape] = 1
	}
	for i, got := range pods(t, counts).Typical() {
		if got.Shape != want[i] {
			t.Errorf("number %d is %v, want %v", i, got.Shape, want[i])
		}
	}
}

// What of the idle milli one shape cannot use.
func TestFragment(t *testing.T) {
	withSpec := func(s trace.Shape, spec trace.Spec) trace.Shape {
		s.Spec = spec
		return s
	}
	tests := []struct {
		name  string
		shape trace.Shape
		cpu   int64
		gpus  []int64
		want  float64
	}{
		{"nothing where every device can be used", half, 4000, []int64{500, 1000}, 0},
		{"the devices with less than the share", half, 4000, []int64{499, 1000, 200}, 699},
		{"everything where too few devices fit", pair, 4000, []int64{1000, 999}, 1999},
		{"devices beyond the needed number are of use", pair, 4000, []int64{1000, 1000, 1000, 300}, 300},
		{"everything where the CPU is short", half, 3999, []int64{1000, 200}, 1200},
		{"everything where CPU and devices are short", pair, 0, []int64{400}, 400},
		{"everything for a pod without GPUs", cpuOnly, 4000, []int64{1000, 200}, 1200},
		{"everything for a pod without GPUs that does not fit", cpuOnly, 0, []int64{1000}, 1000},
		{"everything where the model is another", withSpec(half, "B|C"), 4000, []int64{1000}, 1000},
		{"as ever where the model is listed", withSpec(half, "B|A"), 4000, []int64{1000, 1}, 1},
		{"a model is not a part of a model's name", withSpec(half, "AA"), 4000, []int64{1000}, 1000},
		{"nothing of a full node", half, 4000, []int64{0, 0}, 0},
		{"nothing of a node without GPUs", half, 4000, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			typical := trace.Typical{{Shape: test.shape, Weight: 1}}
			if got := typical.Fragment("A", test.cpu, test.gpus); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestFragmentIsWeighted(t *testing.T) {
	typical := trace.Typical{{Shape: half, Weight: 0.75}, {Shape: pair, Weight: 0.25}}
	if got, want := typical.Fragment("A", 4000, []int64{400, 600}), 0.75*400+0.25*1000; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The mix has the rare shapes, too.
func TestMixHasAllShapes(t *testing.T) {
	made := pods(t, map[trace.Shape]int{half: 97, cpuOnly: 2, pair: 1})
	checkTypical(t, made.Typical(), trace.TypicalPod{Shape: half, Weight: 1})
	checkTypical(t, made.Mix(),
		trace.TypicalPod{Shape: half, Weight: 0.97}, trace.TypicalPod{Shape: cpuOnly, Weight: 0.02}, trace.TypicalPod{Shape: pair, Weight: 0.01})
}
