package devices_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/helper"
)

// seeded returns a generator and prints its seed.
func seeded(t *testing.T) *rand.Rand {
	seed := modeltest.Seed(t)
	return rand.New(rand.NewPCG(seed, 0))
}

// randomNode makes a node of up to most devices, some of them in use.
func randomNode(r *rand.Rand, most int) *extpoints.NodeInfo {
	n := &model.Node{Name: "n"}
	var free []int64
	for range r.IntN(most + 1) {
		n.Devices = append(n.Devices, model.Device{Class: []string{"gpu", "gpu", "fpga"}[r.IntN(3)], Model: []string{"A", "B"}[r.IntN(2)]})
		free = append(free, []int64{0, 300, 500, 700, 1000, 1000, 1000}[r.IntN(7)])
	}
	return used(extpoints.NewNodeInfo(n), free...)
}

func randomRequests(r *rand.Rand, most int) []model.DeviceRequest {
	requests := make([]model.DeviceRequest, 1+r.IntN(most))
	for i := range requests {
		a := ask([]string{"gpu", "gpu", "gpu", "fpga"}[r.IntN(4)], 1, []int64{100, 200, 300, 500, 700, 1000}[r.IntN(6)])
		if a.IsWhole() {
			a.Count = 1 + r.Int64N(2)
		}
		a.Models = [][]string{nil, nil, {"A"}, {"B"}, {"B", "A"}}[r.IntN(5)]
		requests[i] = a
	}
	return requests
}

// fitsByForce tries every choice of devices for every request: the plain
// meaning of "can be served together".
func fitsByForce(devices []model.Device, free []int64, requests []model.DeviceRequest) bool {
	if len(requests) == 0 {
		return true
	}
	r := &requests[0]
	for chosen := range 1 << len(devices) {
		after, count := slices.Clone(free), int64(0)
		fits := true
		for d := range devices {
			if chosen>>d&1 == 1 {
				count++
				fits = fits && r.Admits(&devices[d]) && after[d] >= r.Share
				after[d] -= r.Share
			}
		}
		if fits && count == r.Count && fitsByForce(devices, after, requests[1:]) {
			return true
		}
	}
	return false
}

func TestFilterAgreesWithForce(t *testing.T) {
	r := seeded(t)
	outcomes := map[extpoints.Code]int{}
	for i := range 8000 {
		n, w := randomNode(r, 5), workload("w", randomRequests(r, 4)...)
		status := filter(t, cycle(n), w, n)
		outcomes[status.Code()]++
		say := fmt.Sprintf("case %d: %v on %v with %v left: %v", i, w.Workload.Devices, n.Node.Devices, n.DeviceFree, status)
		require.Equal(t, fitsByForce(n.Node.Devices, n.DeviceFree, w.Workload.Devices), status.IsSuccess(), say)
		empty := slices.Repeat([]int64{1000}, len(n.DeviceFree))
		if !status.IsSuccess() {
			require.Equal(t, fitsByForce(n.Node.Devices, empty, w.Workload.Devices), status.Code() == extpoints.Unschedulable, say)
		}
	}
	require.Len(t, outcomes, 3, "the cases are one-sided: %v", outcomes)
}

// randomWish chooses any devices that fit, wise or not.
type randomWish struct{ *rand.Rand }

func (c randomWish) ChooseDevices(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo, request int, free []int64) []int {
	r := &w.Workload.Devices[request]
	var chosen []int
	for _, d := range c.Perm(len(free)) {
		if r.Admits(&n.Node.Devices[d]) && free[d] >= r.Share && int64(len(chosen)) < r.Count {
			chosen = append(chosen, d)
		}
	}
	if int64(len(chosen)) < r.Count || c.IntN(4) == 0 {
		return nil
	}
	return chosen
}

// TestReserveFollowsFilter fills and empties a node at random: what Filter lets
// pass Reserve can serve, with devices that serve it, and no device ever gives
// more than it has.
func TestReserveFollowsFilter(t *testing.T) {
	r := seeded(t)
	p := newPlugin(t)
	placed := 0
	for range 300 {
		n := extpoints.NewNodeInfo(randomNode(r, 8).Node)
		for i := range 40 {
			if len(n.Workloads) > 0 && r.IntN(3) == 0 {
				n.RemoveWorkload(n.Workloads[r.IntN(len(n.Workloads))].ID)
			}
			s, w := cycle(n), workload(strconv.Itoa(i), randomRequests(r, 4)...)
			if !filter(t, s, w, n).IsSuccess() {
				continue
			}
			if r.IntN(2) == 0 {
				helper.DeviceChooserKey.Set(s, helper.DeviceChooser(randomWish{r}))
			}
			b := &model.Binding{Node: "n"}
			require.Nil(t, p.Reserve(s, w, b))
			requireServes(t, n, w, b.Devices)
			n.AddWorkload(&extpoints.WorkloadInfo{Workload: w.Workload, Shares: b.Devices})
			require.GreaterOrEqual(t, slices.Min(n.DeviceFree), int64(0))
			placed++
		}
		for len(n.Workloads) > 0 {
			n.RemoveWorkload(n.Workloads[0].ID)
		}
		for _, free := range n.DeviceFree {
			require.Equal(t, model.WholeDevice, free)
		}
	}
	require.Greater(t, placed, 1000)
}

// requireServes checks shares against requests, in their order.
func requireServes(t *testing.T, n *extpoints.NodeInfo, w *extpoints.WorkloadInfo, shares []model.DeviceShare) {
	t.Helper()
	for i := range w.Workload.Devices {
		r := &w.Workload.Devices[i]
		require.GreaterOrEqual(t, int64(len(shares)), r.Count)
		seen := map[int]bool{}
		for _, s := range shares[:r.Count] {
			require.False(t, seen[s.Device], "one device twice")
			seen[s.Device] = true
			require.True(t, r.Admits(&n.Node.Devices[s.Device]))
			require.Equal(t, r.Share, s.Share)
		}
		shares = shares[r.Count:]
	}
	require.Empty(t, shares)
}

// TestReserveIsAFunction reserves the same twice.
func TestReserveIsAFunction(t *testing.T) {
	r := seeded(t)
	p := newPlugin(t)
	for range 2000 {
		n, w := randomNode(r, 8), workload("w", randomRequests(r, 4)...)
		one, two := &model.Binding{Node: "n"}, &model.Binding{Node: "n"}
		first, second := p.Reserve(cycle(n), w, one), p.Reserve(cycle(n), w, two)
		require.Equal(t, first.String(), second.String())
		require.Equal(t, one, two)
	}
}

// hopeless makes requests that only a very long search could judge.
func hopeless() (*extpoints.NodeInfo, *extpoints.WorkloadInfo) {
	var requests []model.DeviceRequest
	for i := range int64(33) {
		requests = append(requests, ask("gpu", 1, 334+5*i)) // two of any fit a device, and never three
	}
	return node(slices.Repeat([]string{"A"}, 16)...), workload("w", requests...)
}

// TestFilterGivesUp wants an answer all the same.
func TestFilterGivesUp(t *testing.T) {
	n, w := hopeless()
	require.Equal(t, extpoints.UnschedulableAndUnresolvable, filter(t, cycle(n), w, n).Code())
}

func BenchmarkFilter(b *testing.B) {
	full := used(node(slices.Repeat([]string{"A"}, 8)...), 0, 0, 0, 0, 0, 0, 0, 400)
	for name, w := range map[string]*extpoints.WorkloadInfo{
		"share":  workload("w", ask("gpu", 1, 400)),
		"whole":  workload("w", ask("gpu", 4, 1000)),
		"models": workload("w", ask("gpu", 1, 400, "C", "B", "A")),
		"two":    workload("w", ask("gpu", 1, 300), ask("gpu", 1, 100)),
	} {
		b.Run(name, func(b *testing.B) {
			p, s := newPlugin(b), cycle(full)
			p.PreFilter(s, w)
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(s, w, full)
			}
		})
	}
	b.Run("hopeless", func(b *testing.B) {
		n, w := hopeless()
		p, s := newPlugin(b), cycle(n)
		p.PreFilter(s, w)
		for b.Loop() {
			p.Filter(s, w, n)
		}
	})
}

func BenchmarkReserve(b *testing.B) {
	n := node(slices.Repeat([]string{"A"}, 8)...)
	p, s, w := newPlugin(b), cycle(n), workload("w", ask("gpu", 4, 1000))
	p.PreFilter(s, w)
	b.ReportAllocs()
	for b.Loop() {
		p.Reserve(s, w, &model.Binding{Node: "n"})
	}
}
