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
		{Toleration{Key: "k", Operator: Equal, Value: "v"}, Taint{"k", "v", NoExecute}, true},
		{Toleration{Key: "k", Value: "v"}, Taint{"k", "w", NoSchedule}, false},
		{Toleration{Key: "k", Value: "v"}, Taint{"l", "v", NoSchedule}, false},
		{Toleration{Key: "k"}, Taint{"k", "", NoSchedule}, true},
		{Toleration{Key: "k"}, Taint{"k", "v", NoSchedule}, false},

		{Toleration{Key: "k", Operator: Exists}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Key: "k", Operator: Exists}, Taint{"k", "", PreferNoSchedule}, true},
		{Toleration{Key: "k", Operator: Exists}, Taint{"l", "v", NoSchedule}, false},
		{Toleration{Operator: Exists}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Operator: Exists}, Taint{"l", "", NoExecute}, true},

		{Toleration{Key: "k", Operator: Exists, Effect: NoSchedule}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Key: "k", Operator: Exists, Effect: NoSchedule}, Taint{"k", "v", NoExecute}, false},
		{Toleration{Operator: Exists, Effect: NoExecute}, Taint{"k", "v", NoSchedule}, false},
		{Toleration{Key: "k", Value: "v", Effect: NoSchedule}, Taint{"k", "w", NoSchedule}, false},

		// Not valid, and yet it means something, as in Kubernetes: every key
		// with that value; the value of Exists does not matter.
		{Toleration{Value: "v"}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Value: "v"}, Taint{"k", "w", NoSchedule}, false},
		{Toleration{Key: "k", Operator: Exists, Value: "x"}, Taint{"k", "v", NoSchedule}, true},
		{Toleration{Operator: Gt, Value: "1"}, Taint{"k", "2", NoSchedule}, true},
		{Toleration{Key: "k", Operator: "Like", Value: "v"}, Taint{"k", "v", NoSchedule}, false},
	}
	for _, tt := range tests {
		if got := tt.toleration.Tolerates(&tt.taint); got != tt.want {
			t.Errorf("%+v tolerates %+v: %v, want %v", tt.toleration, tt.taint, got, tt.want)
		}
	}
}

// Gt and Lt compare the taint's value with the toleration's, as numbers.
func TestToleratesNumbers(t *testing.T) {
	const least, most = "-9223372036854775808", "9223372036854775807"
	for _, c := range []struct {
		taint, toleration string
		gt, lt            bool
	}{
		{"800", "950", false, true},
		{"950", "800", true, false},
		{"950", "950", false, false},
		{"9", "10", false, true}, // not as text
		{"0", "5", false, true},
		{"0", "-1", true, false},
		{"1", "0", true, false},
		{"-1", "0", false, true},
		{"-200", "-100", false, true},
		{"-50", "-100", true, false},
		{"10", "-20", true, false},
		{"999999999", "1000000000", false, true},
		{"100", "9223372036854775806", false, true},
		{most, "9223372036854775806", true, false},
		{least, "-9223372036854775807", false, true},
		{least, most, false, true},

		// Not plain numbers of 64 bits, on one side or both.
		{"high", "950", false, false},
		{"950", "high", false, false},
		{"", "-1", false, false},
		{"5", "", false, false},
		{"+5", "1", false, false},
		{"5", "+1", false, false},
		{"05", "1", false, false},
		{"5", "01", false, false},
		{"-05", "-9", false, false},
		{"00", "-1", false, false},
		{"-0", "-1", false, false},
		{"-", "-1", false, false},
		{"--5", "-9", false, false},
		{"5", "-", false, false},
		{"1.5", "1", false, false},
		{"5", "1.5", false, false},
		{"5", "1 2", false, false},
		{"1e3", "1", false, false},
		{"0x10", "1", false, false},
		{"1_000", "1", false, false},
		{" 5", "1", false, false},
		{"5 ", "1", false, false},
		{"\u0665", "1", false, false},
		{"9223372036854775808", "1", false, false},
		{"1", "-9223372036854775809", false, false},
	} {
		taint := Taint{"k", c.taint, NoSchedule}
		gt := Toleration{Key: "k", Operator: Gt, Value: c.toleration}
		lt := Toleration{Key: "k", Operator: Lt, Value: c.toleration}
		if gt.Tolerates(&taint) != c.gt || lt.Tolerates(&taint) != c.lt {
			t.Errorf("a taint of value %q: greater than %q %v, less %v; want %v and %v",
				c.taint, c.toleration, gt.Tolerates(&taint), lt.Tolerates(&taint), c.gt, c.lt)
		}
		if gt.Effect = NoExecute; gt.Tolerates(&taint) {
			t.Errorf("%+v tolerates %+v of another effect", gt, taint)
		}
		if lt.Key = "l"; lt.Tolerates(&taint) {
			t.Errorf("%+v tolerates %+v of another key", lt, taint)
		}
	}
}
