package trace_test

import (
	"reflect"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

func TestGenerateIsAFunctionOfItsArguments(t *testing.T) {
	if !reflect.DeepEqual(trace.Generate(1, 10, 20), trace.Generate(1, 10, 20)) {
		t.Error("the same arguments gave two traces")
	}
	if reflect.DeepEqual(trace.Generate(1, 10, 20), trace.Generate(2, 10, 20)) {
		t.Error("two seeds gave the same trace")
	}
}

// What Generate makes is what New would: sorted, with capacity and demand.
func TestGenerateMakesATraceThatCanBeRun(t *testing.T) {
	for _, size := range []int{1, 50} {
		generated := trace.Generate(1, size, size)
		same, err := trace.New(generated.Nodes, generated.Pods)
		if err != nil || !reflect.DeepEqual(same, generated) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

func TestGenerateGivesEveryKindOfPod(t *testing.T) {
	var none, share, several, picky bool
	for _, p := range trace.Generate(1, 1, 100).Pods {
		none = none || p.GPUs == 0
		share = share || p.Sharing()
		several = several || p.GPUs > 1
		picky = picky || p.Spec != ""
	}
	if !none || !share || !several || !picky {
		t.Error("a kind of pod is missing")
	}
}
