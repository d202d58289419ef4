package model_test

import (
	"reflect"
	"testing"

	. "github.com/berth-project/berth/model"
)

func TestDisplayName(t *testing.T) {
	tests := []struct {
		workload Workload
		want     string
	}{
		{Workload{ID: "1"}, "1"},
		{Workload{ID: "1", Name: "web"}, "web"},
		{Workload{ID: "1", Namespace: "ns"}, "ns/1"},
		{Workload{ID: "1", Namespace: "ns", Name: "web"}, "ns/web"},
	}
	for _, tt := range tests {
		if got := tt.workload.DisplayName(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.workload, got, tt.want)
		}
	}
}

// TestEstimatedLoad: an estimate counts as it is; without one, defaults stand in
// for no CPU and no memory, and for nothing else.
func TestEstimatedLoad(t *testing.T) {
	tests := []struct {
		about string
		w     Workload
		want  Resources
	}{
		{"nothing", Workload{}, Resources{CPU: DefaultCPUEstimate, Memory: DefaultMemoryEstimate}},
		{"cpu only", Workload{Requests: Resources{CPU: 7}}, Resources{CPU: 7, Memory: DefaultMemoryEstimate}},
		{"memory only", Workload{Requests: Resources{Memory: 7}}, Resources{CPU: DefaultCPUEstimate, Memory: 7}},
		{"others", Workload{Requests: Resources{CPU: 1, Memory: 2, EphemeralStorage: 3, Scalars: []Scalar{{"x", 4}}}},
			Resources{CPU: 1, Memory: 2, EphemeralStorage: 3, Scalars: []Scalar{{"x", 4}}}},
		{"estimate of nothing", Workload{Requests: Resources{CPU: 7}, Estimate: &Resources{}}, Resources{}},
	}
	for _, tt := range tests {
		before := tt.w.Clone()
		if got := tt.w.EstimatedLoad(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.about, got, tt.want)
		}
		if !reflect.DeepEqual(&tt.w, before) {
			t.Errorf("%s: the workload changed", tt.about)
		}
	}
}

func TestQoSClass(t *testing.T) {
	for _, c := range []struct {
		w    Workload
		want QoSClass
	}{
		{Workload{}, BestEffort},
		{Workload{Requests: Resources{CPU: 1}}, Burstable},
		{Workload{Requests: Resources{Memory: 1}}, Burstable},
		{Workload{Requests: Resources{EphemeralStorage: 1, Scalars: []Scalar{{Name: "gpu", Amount: 1}}}}, BestEffort},
		{Workload{Requests: Resources{CPU: 1}, QoS: Guaranteed}, Guaranteed},
		{Workload{Requests: Resources{CPU: 1}, QoS: BestEffort}, BestEffort},
	} {
		if got := c.w.QoSClass(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.w.Requests, got, c.want)
		}
	}
}

func TestMayPreempt(t *testing.T) {
	for policy, want := range map[PreemptionPolicy]bool{"": true, PreemptLower: true, PreemptNever: false} {
		w := Workload{Preemption: policy}
		if w.MayPreempt() != want {
			t.Errorf("%q: %v", policy, !want)
		}
	}
}
