package devicepacking

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

const period = time.Hour

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// placed makes a workload that is on its node since then.
func placed(at time.Time, cpu int64, requests ...model.DeviceRequest) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{Requests: model.Resources{CPU: cpu}, Devices: requests}, PlacedAt: at}
}

func gpu(count, share int64, models ...string) model.DeviceRequest {
	return model.DeviceRequest{Class: "gpu", Count: count, Share: share, Models: models}
}

func holding(list ...*extpoints.WorkloadInfo) *extpoints.NodeInfo {
	n := extpoints.NewNodeInfo(&model.Node{Name: "n"})
	n.Workloads = list
	return n
}

// counted is what a learner that sees these nodes has counted, without the prior.
func counted(l *learner, now time.Time, nodes ...*extpoints.NodeInfo) map[kindOfShape]int64 {
	for i, n := range nodes {
		n.Node.Name = fmt.Sprint(i)
	}
	l.mix(extpointstest.NewView(nodes...), now)
	return l.census.Load().counts
}

func TestLearnedCounts(t *testing.T) {
	half := kindOfShape{cpu: 1, share: 500, count: 1}
	for _, tt := range []struct {
		name string
		w    *extpoints.WorkloadInfo
		want map[kindOfShape]int64
	}{
		{"placed in this period", placed(noon, 1, gpu(1, 500)), map[kindOfShape]int64{}},
		{"placed in the period before", placed(noon.Add(-1), 1, gpu(1, 500)), map[kindOfShape]int64{half: 16}},
		{"almost a half-life ago", placed(noon.Add(-24*period), 1, gpu(1, 500)), map[kindOfShape]int64{half: 16}},
		{"longer ago", placed(noon.Add(-24*period-1), 1, gpu(1, 500)), map[kindOfShape]int64{half: 8}},
		{"ages ago", placed(noon.Add(-1e6*period), 1, gpu(1, 500)), map[kindOfShape]int64{half: 1}},
		{"nobody knows since when", placed(time.Time{}, 1, gpu(1, 500)), map[kindOfShape]int64{half: 1}},
		{"no device", placed(noon.Add(-1), 7), map[kindOfShape]int64{{cpu: 7}: 16}},
		{"a device of another class", placed(noon.Add(-1), 7, model.DeviceRequest{Class: "fpga", Count: 1, Share: 1000}), map[kindOfShape]int64{{cpu: 7}: 16}},
		{"models, in any order", placed(noon.Add(-1), 7, gpu(2, 1000, "B", "A", "B")), map[kindOfShape]int64{{cpu: 7, share: 1000, count: 2, models: "A\nB"}: 16}},
		{
			"several requests", placed(noon.Add(-1), 7, gpu(2, 1000), gpu(1, 100)),
			map[kindOfShape]int64{{cpu: 7, share: 1000, count: 2}: 16, {share: 100, count: 1}: 16},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, counted(newLearner(&supply{class: "gpu"}, period), noon.Add(1), holding(tt.w)))
		})
	}
}

// Where nothing was seen, the mix is the prior; a thousand workloads outweigh it.
func TestLearnedMixBeginsWithThePrior(t *testing.T) {
	l := newLearner(&supply{class: "gpu"}, period)
	empty := l.mix(extpointstest.NewView(), noon)
	require.Positive(t, empty.wholeWeight)
	large := extpoints.NewNodeInfo(&model.Node{Name: "n", Allocatable: model.Resources{CPU: 2 * 16384}, Devices: []model.Device{{Class: "gpu"}, {Class: "gpu"}}})
	require.Equal(t, int64(16384/4), l.mix(extpointstest.NewView(large), noon).leastCPU, "a quarter of a device goes with a quarter of its CPU")
	many := slices.Repeat([]*extpoints.WorkloadInfo{placed(noon.Add(-1), 1, gpu(1, 300))}, 1000)
	seen := l.mix(extpointstest.NewView(holding(many...)), noon)
	require.Less(t, seen.wholeWeight, empty.wholeWeight/10)
}

// A few that end leave the mix as it is, and with it all that is known by it.
func TestLearnedMixIsKept(t *testing.T) {
	l := newLearner(&supply{class: "gpu"}, period)
	many := slices.Repeat([]*extpoints.WorkloadInfo{placed(noon.Add(-1), 1, gpu(1, 300))}, 120)
	at := func(n int, now time.Time) *mix { return l.mix(extpointstest.NewView(holding(many[:n]...)), now) }
	first := at(120, noon)
	require.Same(t, first, at(115, noon), "some have ended")
	fewer := at(80, noon)
	require.NotSame(t, first, fewer, "many have ended")
	require.Same(t, first, at(120, noon), "they are back, as on a branch")
	require.Same(t, fewer, at(80, noon.Add(period)), "a period later")
}

func TestPeriodIsShorterWhileThereAreFew(t *testing.T) {
	l := newLearner(&supply{class: "gpu"}, 16*time.Minute)
	for workloads, want := range map[int]time.Duration{0: 59, 127: 59, 128: 58, 255: 58, 256: 56, 512: 56, 1023: 56, 1024: 48, 1 << 30: 48} {
		now := noon.Add(59*time.Minute + 59*time.Second)
		require.Equal(t, noon.Add(want*time.Minute).UnixNano(), l.boundary(now, workloads), "%d", workloads)
	}
}

func TestWeightsAreRoundedDown(t *testing.T) {
	for n, want := range map[int64]int64{1: 1, 2: 2, 3: 2, 4: 4, 5: 5, 7: 5, 8: 8, 10: 8, 11: 11, 15: 11, 16: 16, 1 << 40: 1 << 40} {
		require.Equal(t, want, roundDown(n), "%d", n)
	}
}

// What a learner remembers makes no difference: the mix is that of one that sees the
// view for the first time, in whatever order views and times come.
func TestLearnedMixIsAFunctionOfTheView(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	used := newLearner(&supply{class: "gpu"}, period)
	var lists [6][]*extpoints.WorkloadInfo
	changes := 0
	for range 400 {
		list := &lists[r.IntN(len(lists))]
		if len(*list) > 0 && r.IntN(3) == 0 {
			last := len(*list) - 1
			i := r.IntN(len(*list))
			(*list)[i] = (*list)[last]
			*list = (*list)[:last]
		} else {
			*list = append(*list, placed(noon.Add(-time.Duration(r.Int64N(100))*period/2), r.Int64N(3), gpu(1, 100*(1+r.Int64N(3)))))
		}
		var nodes []*extpoints.NodeInfo
		for i := range lists {
			if r.IntN(10) > 0 { // nodes come and go
				n := holding(lists[i]...)
				n.Node.Name = fmt.Sprint(i)
				nodes = append(nodes, n)
			}
		}
		now := noon.Add(time.Duration(r.IntN(3)) * period)
		var before *mix
		if recent := used.census.Load().recent; len(recent) > 0 {
			before = recent[0].mix
		}
		got := used.mix(extpointstest.NewView(nodes...), now)
		anew := newLearner(&supply{class: "gpu"}, period)
		anew.mix(extpointstest.NewView(nodes...), now)
		require.Equal(t, anew.census.Load().recent[0].signature, used.census.Load().recent[0].signature)
		require.Equal(t, anew.census.Load().counts, used.census.Load().counts)
		if got != before {
			changes++
		}
	}
	require.Greater(t, changes, 50)
}
