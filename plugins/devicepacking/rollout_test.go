package devicepacking_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/plugins/devicepacking"
)

// rollout makes the plugin with a mix of equally common shapes.
func rollout(t *testing.T, shapes ...devicepacking.Typical) extpoints.ScorePlugin {
	t.Helper()
	for i := range shapes {
		shapes[i].Weight = 1 / float64(len(shapes))
	}
	return newPlugin(t, devicepacking.Args{Policy: devicepacking.Rollout, Typical: shapes})
}

func named(model string, n *extpoints.NodeInfo) *extpoints.NodeInfo {
	for d := range n.Node.Devices {
		n.Node.Devices[d].Model = model
	}
	return n
}

// bestOf runs a cycle on these nodes as the whole cluster, and returns the nodes
// with the highest score.
func bestOf(t *testing.T, p extpoints.ScorePlugin, w *extpoints.WorkloadInfo, nodes ...*extpoints.NodeInfo) (best []int) {
	t.Helper()
	for i, n := range nodes {
		n.Node.Name = fmt.Sprint(i)
	}
	s := extpoints.NewCycle(extpoints.CycleOptions{View: extpointstest.NewView(nodes...)}).State()
	require.Nil(t, p.(extpoints.PreScorePlugin).PreScore(s, w, nodes))
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		scores[i], _ = p.Score(s, w, n)
	}
	p.(extpoints.ScoreNormalizer).NormalizeScore(s, w, nodes, scores)
	for i := range scores {
		if scores[i] == slices.Max(scores) {
			best = append(best, i)
		}
	}
	return best
}

func TestRolloutPrefers(t *testing.T) {
	share := func(cpu, thousandths int64, models ...string) devicepacking.Typical {
		return devicepacking.Typical{CPU: cpu, Share: thousandths, Count: 1, Models: models}
	}
	whole := func(cpu, count int64, models ...string) devicepacking.Typical {
		return devicepacking.Typical{CPU: cpu, Share: 1000, Count: count, Models: models}
	}
	for _, tt := range []struct {
		name  string
		mix   []devicepacking.Typical
		w     *extpoints.WorkloadInfo
		nodes []*extpoints.NodeInfo
		want  []int
	}{
		{
			"the rest of a device that others can use up together",
			[]devicepacking.Typical{share(0, 300)},
			workload(0, ask(1, 400)),
			[]*extpoints.NodeInfo{node(9000, 900), node(9000, 1000), node(9000, 650)}, // 500, 600 and 250 would be left
			[]int{1},
		},
		{
			"a node whose CPU is not all that keeps devices in use",
			[]devicepacking.Typical{whole(4000, 1)},
			workload(4000),
			[]*extpoints.NodeInfo{node(8000, 1000, 1000), node(12000, 1000, 1000)},
			[]int{1},
		},
		{
			"devices in use, where whole ones are wanted",
			[]devicepacking.Typical{whole(1000, 2), share(1000, 500)},
			workload(1000, ask(1, 500)),
			[]*extpoints.NodeInfo{node(9000, 1000, 1000), node(9000, 500, 1000)},
			[]int{1},
		},
		{
			"the model that nobody needs",
			[]devicepacking.Typical{whole(0, 1, "A"), whole(0, 1)},
			workload(0, ask(1, 1000)),
			[]*extpoints.NodeInfo{node(9000, 1000), named("B", node(9000, 1000))},
			[]int{1},
		},
		{
			"of two models that are named, the one of which more is left",
			[]devicepacking.Typical{whole(0, 1, "A"), whole(0, 1, "B"), whole(0, 1)},
			workload(0, ask(1, 1000)),
			[]*extpoints.NodeInfo{node(9000, 1000), named("B", node(9000, 1000)), named("B", node(9000, 1000))},
			[]int{1, 2},
		},
		{
			"where shares are wanted, of those that gain the same, the one with least left",
			[]devicepacking.Typical{share(0, 500)},
			workload(0),
			[]*extpoints.NodeInfo{node(9000, 1000, 1000), node(9000, 1000), node(9000, 1000, 500)},
			[]int{1},
		},
		{
			"where whole devices are wanted, none of those that gain the same",
			[]devicepacking.Typical{whole(0, 1)},
			workload(0),
			[]*extpoints.NodeInfo{node(9000, 1000, 1000), node(9000, 1000)},
			[]int{0, 1},
		},
		{
			"none of several that are alike",
			[]devicepacking.Typical{whole(0, 1)},
			workload(0, ask(1, 1000)),
			[]*extpoints.NodeInfo{node(9000, 1000), node(9000, 1000)},
			[]int{0, 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, bestOf(t, rollout(t, tt.mix...), tt.w, tt.nodes...))
		})
	}
}

func TestRolloutChoosesTheDeviceThatItScored(t *testing.T) {
	p := rollout(t, devicepacking.Typical{Share: 300, Count: 1})
	// 500, 600 and 250 would be left, of which 200, 0 and 250 nobody can use.
	require.Equal(t, []int{1}, choose(t, p, 1, workload(0, ask(1, 400)), node(9000, 900, 1000, 650), 0, []int64{900, 1000, 650}))
	require.Equal(t, []int{2}, choose(t, p, 1, workload(0, ask(1, 400)), node(9000, 900, 1000, 700), 0, []int64{900, 1000, 700}), "of equally good ones that with least left")
	require.Equal(t, []int{0}, choose(t, p, 1, workload(0, ask(1, 400)), node(9000, 700, 700), 0, []int64{700, 700}), "and of those the first")
	require.Nil(t, choose(t, p, 1, workload(0, ask(1, 1000)), node(9000, 1000), 0, []int64{1000}), "no wish for whole devices")
}

// The best is found even where a score differs by a thousandth of a point.
func TestRolloutNormalizes(t *testing.T) {
	p := rollout(t, devicepacking.Typical{Share: 300, Count: 1}).(extpoints.ScoreNormalizer)
	for _, tt := range []struct{ raw, want []int64 }{
		{nil, nil},
		{[]int64{7}, []int64{0}},
		{[]int64{-5, -5}, []int64{0, 0}},
		{[]int64{-1e15, 1e12, 1e12 - 1}, []int64{0, 100, 99}},
		{[]int64{-1 << 55, 1 << 55, 0}, []int64{0, 100, 50}},
	} {
		p.NormalizeScore(nil, nil, nil, tt.raw)
		require.Equal(t, tt.want, tt.raw)
	}
}

// With prices the score depends on all nodes, so workloads are not signed.
func TestRolloutSigns(t *testing.T) {
	sign := func(models ...string) *extpoints.Status {
		p := rollout(t, devicepacking.Typical{Share: 300, Count: 1, Models: models})
		_, status := p.(extpoints.SignPlugin).Sign(workload(1, ask(1, 300)).Workload)
		return status
	}
	require.Nil(t, sign())
	require.Equal(t, extpoints.Unschedulable, sign("A").Code())
}
