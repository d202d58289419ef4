package helper_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/helper"
)

func TestTightestDevices(t *testing.T) {
	a, b := model.Device{Class: "gpu", Model: "A"}, model.Device{Class: "gpu", Model: "B"}
	devices := []model.Device{a, {Class: "fpga", Model: "A"}, b, a, b}
	free := []int64{1000, 1000, 600, 600, 1000}
	for _, tt := range []struct {
		name    string
		request model.DeviceRequest
		want    []int
		ok      bool
	}{
		{"share", model.DeviceRequest{Class: "gpu", Count: 1, Share: 600}, []int{2}, true},
		{"share of a model", model.DeviceRequest{Class: "gpu", Count: 1, Share: 600, Models: []string{"A"}}, []int{3}, true},
		{"larger share", model.DeviceRequest{Class: "gpu", Count: 1, Share: 601}, []int{0}, true},
		{"whole", model.DeviceRequest{Class: "gpu", Count: 2, Share: 1000}, []int{0, 4}, true},
		{"too few", model.DeviceRequest{Class: "gpu", Count: 3, Share: 1000}, []int{0, 4}, false},
		{"none", model.DeviceRequest{Class: "tpu", Count: 1, Share: 1}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := helper.TightestDevices(nil, devices, free, &tt.request)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.ok, ok)
		})
	}
	got, ok := helper.TightestDevices([]int{0}, devices, free, &model.DeviceRequest{Class: "gpu", Count: 1, Share: 1000})
	require.True(t, ok)
	require.Equal(t, []int{0, 0}, got, "what is in dst already is not looked at")
}

// TestTightestDevicesAgainstSorting compares with sorting what fits.
func TestTightestDevicesAgainstSorting(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		devices, free := make([]model.Device, r.IntN(10)), make([]int64, 10)
		request := model.DeviceRequest{Class: "gpu", Count: 1 + r.Int64N(4), Share: 1 + r.Int64N(1000), Models: []string{"A"}}
		var fitting []int
		for d := range devices {
			devices[d] = model.Device{Class: "gpu", Model: []string{"A", "A", "B"}[r.IntN(3)]}
			free[d] = []int64{0, 400, 800, 1000}[r.IntN(4)]
			if devices[d].Model == "A" && free[d] >= request.Share {
				fitting = append(fitting, d)
			}
		}
		slices.SortStableFunc(fitting, func(a, b int) int { return cmp.Compare(free[a], free[b]) })
		got, ok := helper.TightestDevices(nil, devices, free, &request)
		require.Equal(t, int64(len(fitting)) >= request.Count, ok)
		require.Equal(t, fitting[:min(int(request.Count), len(fitting))], got)
	}
}

func TestDevicesFragment(t *testing.T) {
	sign := func(requests ...model.DeviceRequest) string {
		f := helper.DevicesFragment(&model.Workload{Devices: requests})
		require.Equal(t, helper.SignDevices, f.Key)
		return f.Value
	}
	a := model.DeviceRequest{Class: "gpu", Count: 1, Share: 500, Models: []string{"A", "B"}}
	b := model.DeviceRequest{Class: "gpu", Count: 1, Share: 500, Models: []string{"B", "A"}}
	c := model.DeviceRequest{Class: "gpu", Count: 2, Share: 1000}
	require.Equal(t, sign(a), sign(b), "the order of models has no meaning")
	require.NotEqual(t, sign(a, c), sign(c, a), "that of requests has")
	require.NotEqual(t, sign(a), sign(a, a))
	require.Empty(t, sign())
}
