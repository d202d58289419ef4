package model_test

import (
	"math"
	"testing"

	. "github.com/berth-project/berth/model"
)

func TestDeviceRequestAdmits(t *testing.T) {
	tests := []struct {
		request DeviceRequest
		device  Device
		want    bool
	}{
		{DeviceRequest{Class: "gpu"}, Device{"gpu", "T4"}, true},
		{DeviceRequest{Class: "gpu"}, Device{"gpu", ""}, true},
		{DeviceRequest{Class: "gpu"}, Device{"fpga", "T4"}, false},
		{DeviceRequest{Class: "gpu", Models: []string{}}, Device{"gpu", "T4"}, true},
		{DeviceRequest{Class: "gpu", Models: []string{"T4"}}, Device{"gpu", "T4"}, true},
		{DeviceRequest{Class: "gpu", Models: []string{"A100", "T4"}}, Device{"gpu", "T4"}, true},
		{DeviceRequest{Class: "gpu", Models: []string{"A100"}}, Device{"gpu", "T4"}, false},
		{DeviceRequest{Class: "gpu", Models: []string{"A100"}}, Device{"gpu", ""}, false},
		{DeviceRequest{Class: "fpga", Models: []string{"T4"}}, Device{"gpu", "T4"}, false},
	}
	for _, tt := range tests {
		if got := tt.request.Admits(&tt.device); got != tt.want {
			t.Errorf("%+v admits %+v: %v, want %v", tt.request, tt.device, got, tt.want)
		}
	}
}

func TestDeviceRequestTotal(t *testing.T) {
	tests := []struct {
		count, share int64
		whole        bool
		total        int64
	}{
		{1, 1, false, 1},
		{1, 999, false, 999},
		{1, 1000, true, 1000},
		{8, 1000, true, 8000},
		{math.MaxInt64 / 1000, 1000, true, math.MaxInt64 / 1000 * 1000},
		{math.MaxInt64/1000 + 1, 1000, true, math.MaxInt64},
		{math.MaxInt64, 1000, true, math.MaxInt64},
		{0, 0, false, 0},
	}
	for _, tt := range tests {
		r := DeviceRequest{Count: tt.count, Share: tt.share}
		if r.IsWhole() != tt.whole || r.Total() != tt.total {
			t.Errorf("%d of %d: whole %v, total %d; want %v, %d", tt.count, tt.share, r.IsWhole(), r.Total(), tt.whole, tt.total)
		}
	}
}
