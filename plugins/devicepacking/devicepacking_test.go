package devicepacking_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/devicepacking"
	"github.com/berth-project/berth/plugins/helper"
)

func newPlugin(t testing.TB, args any) extpoints.ScorePlugin {
	t.Helper()
	p, err := extpoints.FactoryOf(devicepacking.New)(args, extpointstest.NewHandle())
	require.NoError(t, err)
	return p.(extpoints.ScorePlugin)
}

func ask(count, share int64, models ...string) model.DeviceRequest {
	return model.DeviceRequest{Class: "gpu", Count: count, Share: share, Models: models}
}

// workload makes one that asks for CPU and devices. It holds no devices.
func workload(cpu int64, requests ...model.DeviceRequest) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Requests: model.Resources{CPU: cpu}, Devices: requests}}
}

// node makes a node with gpus of model A; free is what is left of each.
func node(cpu int64, free ...int64) *extpoints.NodeInfo {
	n := &model.Node{Name: "n", Allocatable: model.Resources{CPU: cpu}}
	for range free {
		n.Devices = append(n.Devices, model.Device{Class: "gpu", Model: "A"})
	}
	info := extpoints.NewNodeInfo(n)
	copy(info.DeviceFree, free)
	return info
}

// hosting puts workloads on a node, for the sake of their requests only.
func hosting(n *extpoints.NodeInfo, workloads ...*extpoints.WorkloadInfo) *extpoints.NodeInfo {
	n.Workloads = append(n.Workloads, workloads...)
	return n
}

func cycle(seed uint64) *extpoints.CycleState {
	return extpoints.NewCycle(extpoints.CycleOptions{View: extpointstest.NewView(), Seed: seed}).State()
}

func score(t testing.TB, p extpoints.ScorePlugin, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) int64 {
	t.Helper()
	got, status := p.Score(cycle(1), w, n)
	require.Nil(t, status)
	return got
}

func TestNew(t *testing.T) {
	require.Equal(t, "DevicePacking", newPlugin(t, nil).Name())
	require.Implements(t, (*extpoints.ScoreNormalizer)(nil), newPlugin(t, nil), "the default is BestFit")
	require.Equal(t, newPlugin(t, nil), newPlugin(t, &devicepacking.Args{Policy: devicepacking.BestFit}))
}

func TestArgsNamesAllProblems(t *testing.T) {
	_, err := devicepacking.New(devicepacking.Args{
		Policy: "Tetris", LargestCPU: -1, LargestShares: -2, Relearn: 1,
		Typical: []devicepacking.Typical{
			{CPU: -3, Weight: 0.5},
			{Count: -1, Weight: 0.5},
			{Share: 1, Weight: 0.5},
			{Share: 1001, Count: 1, Weight: 0.5},
			{Share: 0, Count: 1, Weight: 0},
			{Share: 500, Count: 2, Weight: math.NaN()},
		},
	}, extpointstest.NewHandle())
	require.ErrorContains(t, err, "DevicePacking")
	require.ErrorContains(t, err, ": "+
		`Policy: unknown policy "Tetris"; `+
		"LargestCPU: -1 is not above 0; "+
		"LargestShares: -2 is not above 0; "+
		"Typical: is set, and only the policies FGD and Rollout use it; "+
		"Relearn: is set, and only policy Rollout without Typical uses it; "+
		"Typical[0].CPU: -3 is negative; "+
		"Typical[1].Count: -1 is negative; "+
		"Typical[2].Share: 1 of no device; "+
		"Typical[3].Share: 1001 is not between 1 and 1000; "+
		"Typical[4].Share: 0 is not between 1 and 1000; "+
		"Typical[4].Weight: 0 is not above 0 and at most 1; "+
		"Typical[5].Count: 2 devices can only be whole, not shares of 500; "+
		"Typical[5].Weight: NaN is not above 0 and at most 1; "+
		"Typical: the weights add up to NaN, not 1")
	_, err = devicepacking.New(devicepacking.Args{Policy: devicepacking.FGD}, extpointstest.NewHandle())
	require.ErrorContains(t, err, ": Typical: is empty, and policy FGD needs it")
	_, err = devicepacking.New(devicepacking.Args{
		Policy:  devicepacking.FGD,
		Typical: []devicepacking.Typical{{Weight: 0.5}, {CPU: 1, Weight: 0.4}},
	}, extpointstest.NewHandle())
	require.ErrorContains(t, err, ": Typical: the weights add up to 0.9, not 1")
	_, err = devicepacking.New(devicepacking.Args{Policy: devicepacking.Rollout, Relearn: -1}, extpointstest.NewHandle())
	require.ErrorContains(t, err, ": Relearn: -1ns is not above 0")
	_, err = devicepacking.New(devicepacking.Args{Policy: devicepacking.Rollout, Relearn: 1, Typical: []devicepacking.Typical{{Weight: 1}}}, extpointstest.NewHandle())
	require.ErrorContains(t, err, ": Relearn: is set, and only policy Rollout without Typical uses it")
	_, err = devicepacking.New(devicepacking.Args{Units: 4, ModelLabel: "product"}, extpointstest.NewHandle())
	require.ErrorContains(t, err, ": Units: is set, and Resource is not; ModelLabel: is set, and Resource is not")
	_, err = devicepacking.New(devicepacking.Args{Resource: "memory", Units: -4}, extpointstest.NewHandle())
	require.ErrorContains(t, err, ": Resource: is set, and only policy Rollout uses it; Resource: memory does not come in devices; Units: -4 is negative")
}

// case is a node, a workload and the score that the formula gives.
type scoreCase struct {
	name string
	w    *extpoints.WorkloadInfo
	n    *extpoints.NodeInfo
	want int64
}

func runScores(t *testing.T, p extpoints.ScorePlugin, cases []scoreCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, score(t, p, c.w, c.n)) })
	}
}

func TestDotProd(t *testing.T) {
	eight := []int64{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}
	runScores(t, newPlugin(t, devicepacking.Args{Policy: devicepacking.DotProd}), []scoreCase{
		// 64000*6400/128000^2 = 0.025, 2000*500/8000^2 = 0.015625: 97.96
		{"share", workload(6400, ask(1, 500)), node(64000, 1000, 1000), 97},
		// 64000*64000/128000^2 = 0.25: 87.5
		{"cpu only", workload(64000), node(64000, 1000), 87},
		{"largest", workload(128000, ask(8, 1000)), node(128000, eight...), 0},
		{"beyond the largest", workload(256000, ask(8, 1000)), node(256000, eight...), 0},
		{"nothing asked", workload(0), node(64000, 1000), 100},
		// 1000*500/8000^2 = 0.0078: 99.6; the other class is not looked at
		{"two requests", workload(0, ask(1, 300), ask(1, 200), model.DeviceRequest{Class: "fpga", Count: 1, Share: 1000}), node(0, 1000), 99},
	})
	scaled := newPlugin(t, devicepacking.Args{Policy: devicepacking.DotProd, LargestCPU: 64000, LargestShares: 2000})
	// 0.1 and 0.25
	require.EqualValues(t, 82, score(t, scaled, workload(6400, ask(1, 500)), node(64000, 1000, 1000)))
}

func TestBestFit(t *testing.T) {
	p := newPlugin(t, devicepacking.Args{Policy: devicepacking.BestFit})
	runScores(t, p, []scoreCase{
		// 57600/128000/2 = 0.225, 1500/8000/2 = 0.09375: 68.125
		{"share", workload(6400, ask(1, 500)), node(64000, 1000, 1000), 68},
		{"nothing left", workload(64000, ask(2, 1000)), node(64000, 1000, 1000), 100},
		{"cpu only", workload(64000), node(64000, 1000, 1000), 87},
		{"beyond the largest", workload(0), node(512000), -100},
	})
	normalize := func(scores ...int64) []int64 {
		require.Nil(t, p.(extpoints.ScoreNormalizer).NormalizeScore(cycle(1), workload(0), nil, scores))
		return scores
	}
	require.Equal(t, []int64{100, 0, 50, 13}, normalize(68, 30, 49, 35))
	require.Equal(t, []int64{0, 0}, normalize(68, 68))
	require.Equal(t, []int64{0, 100}, normalize(-100, 7))
	require.Empty(t, normalize())
}

func TestClustering(t *testing.T) {
	cpu, share, one, two := workload(1), workload(1, ask(1, 300)), workload(1, ask(1, 1000)), workload(1, ask(2, 1000))
	fpga := workload(1, model.DeviceRequest{Class: "fpga", Count: 1, Share: 1000})
	// 25*(8000-2000)/8000 = 18; with 700 left 22.8
	runScores(t, newPlugin(t, devicepacking.Args{Policy: devicepacking.Clustering}), []scoreCase{
		{"cpu only", cpu, node(1, 1000, 1000), 0},
		{"free node", share, node(1, 1000, 1000), 43},
		{"only cpu workloads", share, hosting(node(1, 1000, 1000), cpu, fpga), 43},
		{"only the same", share, hosting(node(1, 700, 0), share, cpu, share), 97},
		{"the same and others", share, hosting(node(1, 700, 0), one, share), 72},
		{"only others", share, hosting(node(1, 700, 0), one), 22},
		{"a whole device is not a share", one, hosting(node(1, 700, 1000), share), 19},
		{"two whole devices are not one", two, hosting(node(1, 1000, 1000), one), 18},
		{"two and two", two, hosting(node(1, 1000, 1000), two), 93},
		{"one and one are two", workload(1, ask(1, 1000), ask(1, 1000)), hosting(node(1, 1000, 1000), two), 93},
		{"nothing left", share, hosting(node(1, 0, 0), share), 100},
	})
	small := newPlugin(t, devicepacking.Args{Policy: devicepacking.Clustering, LargestShares: 1000})
	require.EqualValues(t, 0, score(t, small, share, node(1, 1000, 1000, 1000)), "a node beyond the largest")
}

func TestPacking(t *testing.T) {
	runScores(t, newPlugin(t, devicepacking.Args{Policy: devicepacking.Packing}), []scoreCase{
		{"cpu only", workload(1), node(1, 1000), 0},
		{"free node of two", workload(1, ask(1, 300)), node(1, 1000, 1000), 31},
		{"free node of eight", workload(1, ask(8, 1000)), node(1, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000), 25},
		{"a used device", workload(1, ask(1, 300)), node(1, 1000, 500, 1000), 95},
		{"the tightest used device", workload(1, ask(1, 300)), node(1, 999, 309), 97},
		{"almost free", workload(1, ask(1, 300)), node(1, 1000, 999), 91},
		{"almost full", workload(1, ask(1, 10)), node(1, 1000, 10), 100},
		{"a free device", workload(1, ask(1, 600)), node(1, 1000, 500, 1000), 49},
		{"three free devices", workload(1, ask(3, 1000)), node(1, 1000, 0, 1000, 1000, 1000), 47},
		{"twenty free devices", workload(1, ask(20, 1000)), node(1, append(slices.Repeat([]int64{1000}, 20), 0)...), 33},
		// 300 after 700 is in use: 70 and 40 percent left
		{"two shares of one device", workload(1, ask(1, 300), ask(1, 300)), node(1, 1000, 700), 89},
		{"of the model", workload(1, ask(1, 300, "B")), withModel(node(1, 300, 1000, 500), 2, "B"), 95},
	})
}

func withModel(n *extpoints.NodeInfo, device int, name string) *extpoints.NodeInfo {
	n.Node.Devices[device].Model = name
	return n
}

// typical is a mix for which the sums can be done by hand.
var typical = []devicepacking.Typical{
	{CPU: 1000, Share: 500, Count: 1, Weight: 0.4},
	{CPU: 1000, Weight: 0.2},
	{CPU: 1000, Share: 1000, Count: 2, Weight: 0.2},
	{CPU: 1000, Share: 1000, Count: 1, Weight: 0.2},
}

func TestFGD(t *testing.T) {
	p := newPlugin(t, devicepacking.Args{Policy: devicepacking.FGD, Typical: typical})
	runScores(t, p, []scoreCase{
		// F = 0.2*2000 = 400; then 500 1000: 0.2*1500 + 0.2*1500 + 0.2*500 = 700: sigmoid(-0.3) = 0.4256
		{"first share", workload(1000, ask(1, 500)), node(8000, 1000, 1000), 42},
		// F = 700; 500 500: 0.2*1000*3 = 600, or 1000 0: 0.2*1000*2 = 400: sigmoid(0.3) = 0.5744
		{"second share", workload(1000, ask(1, 500)), node(8000, 1000, 500), 57},
		// F = 400; then nothing idle: sigmoid(0.4) = 0.5987
		{"all whole", workload(1000, ask(2, 1000)), node(8000, 1000, 1000), 59},
		// F = 400; then 0 1000: 0.2*1000 + 0.2*1000 = 400
		{"one whole", workload(1000, ask(1, 1000)), node(8000, 1000, 1000), 50},
		// F = 400; then nobody has CPU: 2000: sigmoid(-1.6) = 0.1680
		{"cpu for nobody else", workload(7001), node(8000, 1000, 1000), 16},
		{"cpu to spare", workload(1000), node(8000, 1000, 1000), 50},
		{"no devices", workload(1000), node(8000), 50},
		// as two whole ones in one request
		{"two requests", workload(1000, ask(1, 1000), ask(1, 1000)), node(8000, 1000, 1000), 59},
	})
}

func choose(t *testing.T, p extpoints.ScorePlugin, seed uint64, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo, request int, free []int64) []int {
	t.Helper()
	s := cycle(seed)
	_, status := p.(extpoints.PreFilterPlugin).PreFilter(s, w)
	chooser, ok := helper.DeviceChooserKey.Get(s)
	require.Equal(t, status.Code() != extpoints.Skip, ok)
	if !ok {
		return nil
	}
	return chooser.ChooseDevices(s, w, n, request, free)
}

func TestFGDChoosesTheScoredDevice(t *testing.T) {
	p := newPlugin(t, devicepacking.Args{Policy: devicepacking.FGD, Typical: typical})
	share := workload(1000, ask(1, 500))
	n := node(8000, 1000, 500)
	require.Equal(t, []int{1}, choose(t, p, 1, share, n, 0, n.DeviceFree))
	n = node(8000, 1000, 1000)
	require.Equal(t, []int{0}, choose(t, p, 1, share, n, 0, n.DeviceFree), "the first of equal ones")
	require.Nil(t, choose(t, p, 1, workload(1000, ask(1, 1000)), n, 0, n.DeviceFree), "whole devices need no choice")
	two := workload(1000, ask(1, 1000), ask(1, 500))
	require.Equal(t, []int{1}, choose(t, p, 1, two, n, 1, []int64{0, 1000}))
	fpga := workload(0, model.DeviceRequest{Class: "fpga", Count: 1, Share: 500}, ask(1, 500))
	require.Nil(t, choose(t, p, 1, fpga, n, 0, n.DeviceFree), "other classes are left alone")

	// 490 and 500 less: both 62 points, though the second device is better.
	tie := newPlugin(t, devicepacking.Args{Policy: devicepacking.FGD, Typical: []devicepacking.Typical{
		{Weight: 0.99}, {Share: 1000, Count: 1, Weight: 0.01},
	}})
	n = node(8000, 1000, 500)
	require.EqualValues(t, 62, score(t, tie, share, n))
	require.Equal(t, []int{0}, choose(t, tie, 1, share, n, 0, n.DeviceFree), "the truncated score is compared")
}

func TestRandom(t *testing.T) {
	p := newPlugin(t, devicepacking.Args{Policy: devicepacking.Random})
	const rounds = 9000
	var nodes []*extpoints.NodeInfo
	for _, name := range []string{"a", "b", "c"} {
		n := node(1, 1000, 200, 500, 300)
		n.Node.Name = name
		nodes = append(nodes, n)
	}
	w := workload(1, ask(1, 300))
	type pair struct {
		node   string
		device int
	}
	drawn := map[pair]int{}
	for seed := range uint64(rounds) {
		s := cycle(seed)
		require.Nil(t, p.(extpoints.PreScorePlugin).PreScore(s, w, nodes))
		var best []string
		for _, n := range nodes {
			points, status := p.Score(s, w, n)
			require.Nil(t, status)
			if points > 0 {
				require.EqualValues(t, 100, points)
				best = append(best, n.Node.Name)
			}
		}
		require.Len(t, best, 1)
		drawn[pair{best[0], choose(t, p, seed, w, nodes[0], 0, nodes[0].DeviceFree)[0]}]++
	}
	require.Len(t, drawn, 9, "every node with every device that fits, independently")
	for at, n := range drawn {
		require.NotEqual(t, 1, at.device, "the device does not fit")
		// The seeds are fixed, so this cannot fail by chance: within 5 deviations.
		require.InDelta(t, rounds/9, n, 5*math.Sqrt(rounds*8.0/81), "%v", at)
	}
	require.Nil(t, choose(t, p, 1, workload(1, ask(1, 1000)), nodes[0], 0, nodes[0].DeviceFree))
	require.EqualValues(t, 0, score(t, p, w, nodes[0]), "nothing was drawn")
}

func TestSign(t *testing.T) {
	sign := func(p extpoints.ScorePlugin, w *extpoints.WorkloadInfo) ([]extpoints.SignFragment, *extpoints.Status) {
		return p.(extpoints.SignPlugin).Sign(w.Workload)
	}
	_, status := sign(newPlugin(t, devicepacking.Args{Policy: devicepacking.Random}), workload(1))
	require.False(t, status.IsSuccess())
	p := newPlugin(t, nil)
	base, status := sign(p, workload(1, ask(1, 500)))
	require.Nil(t, status)
	for _, w := range []*extpoints.WorkloadInfo{workload(2, ask(1, 500)), workload(1, ask(1, 501)), workload(1)} {
		other, _ := sign(p, w)
		require.NotEqual(t, base, other)
	}
	same, _ := sign(p, workload(1, ask(1, 500)))
	require.Equal(t, base, same)
}
