package devicepacking

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// gpus makes a node with devices of one class, given by model and what is left.
func gpus(cpu int64, models []string, free []int64) *extpoints.NodeInfo {
	n := &model.Node{Allocatable: model.Resources{CPU: cpu}}
	for _, m := range models {
		n.Devices = append(n.Devices, model.Device{Class: "gpu", Model: m})
	}
	info := extpoints.NewNodeInfo(n)
	copy(info.DeviceFree, free)
	return info
}

func fragmentsOf(list []Typical, n *extpoints.NodeInfo) float64 {
	var b buffer
	p := newPool(&b, "gpu", n)
	f := newFragments(list)
	return f.of(&p)
}

func TestFragmentsByCause(t *testing.T) {
	n := gpus(4000, []string{"A", "A", "A"}, []int64{1000, 400, 200}) // 1600 idle
	for _, tt := range []struct {
		name string
		t    Typical
		want float64
	}{
		{"fits", Typical{CPU: 4000, Share: 100, Count: 1}, 0},
		{"fits, with leftovers", Typical{Share: 300, Count: 1}, 200},
		{"fits with whole devices", Typical{Share: 1000, Count: 1}, 600},
		{"lacks devices", Typical{Share: 1000, Count: 2}, 1600},
		{"lacks cpu", Typical{CPU: 4001, Share: 100, Count: 1}, 1600},
		{"lacks both", Typical{CPU: 4001, Share: 1000, Count: 2}, 1600},
		{"needs none", Typical{CPU: 4000}, 1600},
		{"needs none, lacks cpu", Typical{CPU: 4001}, 1600},
		{"no access", Typical{Share: 100, Count: 1, Models: []string{"B", "C"}}, 1600},
		{"access", Typical{Share: 300, Count: 1, Models: []string{"B", "A"}}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.t.Weight = 1
			require.Equal(t, tt.want, fragmentsOf([]Typical{tt.t}, n))
		})
	}
	mixed := gpus(4000, []string{"A", "B", "B"}, []int64{1000, 400, 200})
	require.Equal(t, 1200.0, fragmentsOf([]Typical{{Share: 300, Count: 1, Models: []string{"B"}, Weight: 1}}, mixed), "judged by device")
	require.Equal(t, 1600.0, fragmentsOf([]Typical{{Share: 300, Count: 2, Models: []string{"B"}, Weight: 1}}, mixed))
}

// plain is F as it is defined, summed up as it comes.
func plain(list []Typical, n *extpoints.NodeInfo) float64 {
	var sum float64
	for i := range list {
		t := &list[i]
		request := model.DeviceRequest{Class: "gpu", Count: t.Count, Share: t.Share, Models: t.Models}
		var idle, usable, fitting int64
		for d, g := range n.DeviceFree {
			idle += g
			if request.Admits(&n.Node.Devices[d]) && g >= t.Share {
				usable += g
				fitting++
			}
		}
		if t.Count == 0 || fitting < t.Count || cpuLeft(n) < t.CPU {
			usable = 0
		}
		sum += t.Weight * float64(idle-usable)
	}
	return sum
}

// byBucket is F for nodes of one model, by the letter of the authors' program:
// six sums, then their sum. It must be met to the last bit.
func byBucket(list []Typical, cpu int64, name string, free []int64) float64 {
	var lackBoth, lackGPU, lackCPU, noneNeeded, noneNeededLackCPU, noAccess float64
	var idle int64
	for _, g := range free {
		idle += g
	}
	for _, t := range list {
		var fitting, leftover int64
		for _, g := range free {
			if g >= t.Share {
				fitting++
			} else {
				leftover += g
			}
		}
		all := t.Weight * float64(idle)
		switch {
		case t.Count == 0 && cpu >= t.CPU:
			noneNeeded += all
		case t.Count == 0:
			noneNeededLackCPU += all
		case len(t.Models) > 0 && !slices.Contains(t.Models, name):
			noAccess += all
		case fitting >= t.Count && cpu >= t.CPU:
			lackGPU += t.Weight * float64(leftover)
		case fitting >= t.Count:
			lackCPU += all
		case cpu >= t.CPU:
			lackGPU += all
		default:
			lackBoth += all
		}
	}
	return lackBoth + lackGPU + lackCPU + noneNeeded + noneNeededLackCPU + noAccess
}

func randomCase(r *rand.Rand, mixed bool) ([]Typical, *extpoints.NodeInfo) {
	list := make([]Typical, 1+r.IntN(80))
	for i := range list {
		t := &list[i]
		t.CPU, t.Weight = r.Int64N(8)*1000, r.Float64()/float64(len(list))
		t.Models = [][]string{nil, nil, {"A"}, {"B"}, {"A", "B"}, {"C"}}[r.IntN(6)]
		if r.IntN(5) > 0 {
			t.Share, t.Count = []int64{1000, 500, 1 + r.Int64N(1000)}[r.IntN(3)], 1
			if t.Share == 1000 {
				t.Count = 1 << r.IntN(4)
			}
		}
	}
	models, free := make([]string, r.IntN(20)), make([]int64, 20)
	for i := range models {
		models[i] = "A"
		if mixed && r.IntN(2) == 0 {
			models[i] = "B"
		}
		free[i] = []int64{0, 500, 1000, r.Int64N(1001)}[r.IntN(4)]
	}
	return list, gpus(r.Int64N(8)*1000, models, free)
}

func TestFragmentsAgreeWithTheirTwins(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 4000 {
		list, n := randomCase(r, i%2 == 0)
		got := fragmentsOf(list, n)
		require.InDelta(t, plain(list, n), got, 1e-6)
		if i%2 == 1 {
			require.Equal(t, byBucket(list, cpuLeft(n), "A", n.DeviceFree), got)
		}
	}
}

// TestFGDAgreesWithItsTwin compares the score of workloads with one request and
// the device of a share with the rule, tried device by device.
func TestFGDAgreesWithItsTwin(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		list, n := randomCase(r, false)
		p := newFGD(base{class: "gpu"}, Args{Typical: list}).(*fgd)
		request := model.DeviceRequest{Class: "gpu", Count: 1, Share: 1 + r.Int64N(1000)}
		if r.IntN(3) == 0 {
			request.Share, request.Count = 1000, 1+r.Int64N(2)
		}
		w := &extpoints.WorkloadInfo{Workload: &model.Workload{Requests: model.Resources{CPU: r.Int64N(3) * 1000}, Devices: []model.DeviceRequest{request}}}
		want, device := chooseByRule(list, n, w.Requests.CPU, &request)
		if want < 0 {
			continue // does not fit
		}
		got, _ := p.Score(nil, w, n)
		require.Equal(t, want, got)
		if !request.IsWhole() {
			require.Equal(t, []int{device}, p.ChooseDevices(nil, w, n, 0, n.DeviceFree))
		}
	}
}

// chooseByRule returns -1 where the request does not fit.
func chooseByRule(list []Typical, n *extpoints.NodeInfo, cpu int64, r *model.DeviceRequest) (best int64, device int) {
	c := cpuLeft(n)
	points := func(after []int64) int64 {
		gain := byBucket(list, c, "A", n.DeviceFree) - byBucket(list, c-cpu, "A", after)
		return int64(100 * (1 / (1 + math.Exp(-gain/1000))))
	}
	if r.IsWhole() {
		after, count := slices.Clone(n.DeviceFree), r.Count
		for d := range after {
			if after[d] == 1000 && count > 0 {
				after[d] = 0
				count--
			}
		}
		if count > 0 {
			return -1, -1
		}
		return points(after), -1
	}
	best = -1
	for d, g := range n.DeviceFree {
		if g < r.Share {
			continue
		}
		after := slices.Clone(n.DeviceFree)
		after[d] -= r.Share
		if p := points(after); p > best {
			best, device = p, d
		}
	}
	return best, device
}
