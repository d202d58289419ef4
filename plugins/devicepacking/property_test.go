package devicepacking_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/devicepacking"
)

func seeded(t *testing.T) *rand.Rand {
	seed := modeltest.Seed(t)
	return rand.New(rand.NewPCG(seed, 0))
}

var policies = []devicepacking.Policy{
	devicepacking.Random, devicepacking.DotProd, devicepacking.Clustering,
	devicepacking.Packing, devicepacking.BestFit, devicepacking.FGD, devicepacking.Rollout,
}

func argsOf(policy devicepacking.Policy, list []devicepacking.Typical) devicepacking.Args {
	a := devicepacking.Args{Policy: policy}
	if policy == devicepacking.FGD || policy == devicepacking.Rollout {
		a.Typical = list
	}
	return a
}

func randomShare(r *rand.Rand) int64 {
	return []int64{100, 250, 500, 750, 1000, 1000, 1 + r.Int64N(1000)}[r.IntN(7)]
}

func randomModels(r *rand.Rand) []string {
	return [][]string{nil, nil, nil, {"A"}, {"B"}, {"C"}, {"B", "A"}}[r.IntN(7)]
}

func randomTypical(r *rand.Rand) []devicepacking.Typical {
	list := make([]devicepacking.Typical, 1+r.IntN(60))
	sum := 0.0
	for i := range list {
		t := &list[i]
		t.CPU, t.Models, t.Weight = r.Int64N(33)*1000, randomModels(r), r.Float64()+0.01
		if r.IntN(5) > 0 {
			t.Share, t.Count = randomShare(r), 1
			if t.Share == model.WholeDevice {
				t.Count = 1 << r.IntN(4)
			}
		}
		sum += t.Weight
	}
	for i := range list {
		list[i].Weight /= sum
	}
	return list
}

// randomNode makes a node of up to 20 gpus, and with mixed true now and then of
// several models and with devices of other classes.
func randomNode(r *rand.Rand, mixed bool) *extpoints.NodeInfo {
	free := make([]int64, []int{0, 1, 2, 4, 8, 8, 8, 20}[r.IntN(8)])
	for i := range free {
		free[i] = []int64{0, 250, 500, 750, 1000, 1000, 1000, r.Int64N(1001)}[r.IntN(8)]
	}
	n := node(r.Int64N(200000), free...)
	name := []string{"A", "B"}[r.IntN(2)]
	for d := range n.Node.Devices {
		n.Node.Devices[d].Model = name
		if mixed {
			n.Node.Devices[d] = model.Device{Class: []string{"gpu", "gpu", "gpu", "fpga"}[r.IntN(4)], Model: []string{"A", "B"}[r.IntN(2)]}
		}
	}
	return n
}

func randomWorkload(r *rand.Rand, most int) *extpoints.WorkloadInfo {
	var requests []model.DeviceRequest
	for range r.IntN(most + 1) {
		a := ask(1, randomShare(r), randomModels(r)...)
		if a.IsWhole() {
			a.Count = 1 << r.IntN(4)
		}
		if most > 1 && r.IntN(4) == 0 {
			a.Class = "fpga"
		}
		requests = append(requests, a)
	}
	return workload(r.Int64N(40)*1000, requests...)
}

func TestScoresAreInRangeAndRepeatable(t *testing.T) {
	r := seeded(t)
	for range 100 {
		list := randomTypical(r)
		nodes := make([]*extpoints.NodeInfo, 20)
		for i := range nodes {
			nodes[i] = randomNode(r, i%2 == 0)
			nodes[i].Node.Name = fmt.Sprint(i)
			for range r.IntN(4) {
				hosting(nodes[i], randomWorkload(r, 2))
			}
		}
		w, seed := randomWorkload(r, 3), r.Uint64()
		for _, policy := range policies {
			first := scoreAll(t, newPlugin(t, argsOf(policy, list)), seed, w, nodes)
			require.GreaterOrEqual(t, slices.Min(first), extpoints.MinScore, policy)
			require.LessOrEqual(t, slices.Max(first), extpoints.MaxScore, policy)
			require.Equal(t, first, scoreAll(t, newPlugin(t, argsOf(policy, list)), seed, w, nodes), policy)
		}
	}
}

// scoreAll is what a cycle does with a score plugin.
func scoreAll(t *testing.T, p extpoints.ScorePlugin, seed uint64, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) []int64 {
	t.Helper()
	s := cycle(seed)
	if pre, ok := p.(extpoints.PreFilterPlugin); ok {
		pre.PreFilter(s, w)
	}
	if pre, ok := p.(extpoints.PreScorePlugin); ok {
		require.Nil(t, pre.PreScore(s, w, nodes))
	}
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		var status *extpoints.Status
		scores[i], status = p.Score(s, w, n)
		require.Nil(t, status)
	}
	if normalizer, ok := p.(extpoints.ScoreNormalizer); ok {
		require.Nil(t, normalizer.NormalizeScore(s, w, nodes, scores))
	}
	return scores
}

// TestChosenDevicesServe asks the choosers for every request of random
// workloads.
func TestChosenDevicesServe(t *testing.T) {
	r := seeded(t)
	chosen := 0
	for range 3000 {
		p := newPlugin(t, argsOf([]devicepacking.Policy{devicepacking.Random, devicepacking.FGD, devicepacking.Rollout}[r.IntN(3)], typical))
		n, w := randomNode(r, true), randomWorkload(r, 3)
		free := slices.Clone(n.DeviceFree)
		for i := range w.Workload.Devices {
			request := &w.Workload.Devices[i]
			devices := choose(t, p, r.Uint64(), w, n, i, free)
			require.Equal(t, n.DeviceFree, free, "free was changed")
			if devices == nil {
				continue
			}
			chosen++
			require.Len(t, devices, int(request.Count))
			for _, d := range devices {
				require.True(t, request.Admits(&n.Node.Devices[d]) && free[d] >= request.Share)
			}
		}
	}
	require.Greater(t, chosen, 500)
}

func BenchmarkScore(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	list := randomTypical(r)
	for len(list) < 50 {
		list = randomTypical(r)
	}
	share, whole := workload(4000, ask(1, 250)), workload(4000, ask(2, 1000))
	used := hosting(node(64000, 250, 500, 500, 750, 1000, 1000, 900, 300), share, whole, share, share, whole, workload(1000), workload(2000))
	fresh := node(64000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000)
	cases := []struct {
		name string
		w    *extpoints.WorkloadInfo
		n    *extpoints.NodeInfo
	}{
		{"share/used", share, used}, {"share/fresh", share, fresh}, {"whole/used", whole, used}, {"cpu/used", workload(4000), used},
	}
	for _, policy := range policies {
		for _, c := range cases {
			b.Run(string(policy)+"/"+c.name, func(b *testing.B) {
				p, s := newPlugin(b, argsOf(policy, list)), cycle(1)
				b.ReportAllocs()
				for b.Loop() {
					p.Score(s, c.w, c.n)
				}
			})
		}
	}
}
