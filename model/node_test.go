package model_test

import (
	"testing"

	. "github.com/berth-project/berth/model"
)

func TestTolerates(t *testing.T) {
	tests := []struct {
		toleration Toleration
		taint      Taint
		want       bool
	}{
		{Toleration{Key: "k", Value: "v"}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Key: "k", Operator: TolerateEqual, Value: "v"}, Taint{"k", "v", NoExecute}, true},
		{Toleration{Key: "k", Value: "v"}, Taint{"k", "w", NoSchedule}, false},
		{Toleration{Key: "k", Value: "v"}, Taint{"l", "v", NoSchedule}, false},
		{Toleration{Key: "k"}, Taint{"k", "", NoSchedule}, true},
		{Toleration{Key: "k"}, Taint{"k", "v", NoSchedule}, false},

		{Toleration{Key: "k", Operator: TolerateExists}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Key: "k", Operator: TolerateExists}, Taint{"k", "", PreferNoSchedule}, true},
		{Toleration{Key: "k", Operator: TolerateExists}, Taint{"l", "v", NoSchedule}, false},
		{Toleration{Operator: TolerateExists}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Operator: TolerateExists}, Taint{"l", "", NoExecute}, true},

		{Toleration{Key: "k", Operator: TolerateExists, Effect: NoSchedule}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Key: "k", Operator: TolerateExists, Effect: NoSchedule}, Taint{"k", "v", NoExecute}, false},
		{Toleration{Operator: TolerateExists, Effect: NoExecute}, Taint{"k", "v", NoSchedule}, false},
		{Toleration{Key: "k", Value: "v", Effect: NoSchedule}, Taint{"k", "w", NoSchedule}, false},

		// Not valid, and yet it means something, as in Kubernetes: every key
		// with that value; the value of Exists does not matter.
		{Toleration{Value: "v"}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Value: "v"}, Taint{"k", "w", NoSchedule}, false},
		{Toleration{Key: "k", Operator: TolerateExists, Value: "x"}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Key: "k", Operator: "Gt", Value: "1"}, Taint{"k", "2", NoSchedule}, false},
	}
	for _, tt := range tests {
		if got := tt.toleration.Tolerates(&tt.taint); got != tt.want {
			t.Errorf("%+v tolerates %+v: %v, want %v", tt.toleration, tt.taint, got, tt.want)
		}
	}
}
