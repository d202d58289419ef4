package devicepacking

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func randomRequests(r *rand.Rand) []model.DeviceRequest {
	models := [][]string{nil, nil, {"A"}, {"B", "A"}}[r.IntN(4)]
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		return []model.DeviceRequest{gpu(1<<r.Int64N(4), 1000, models...)}
	case 2:
		return []model.DeviceRequest{gpu(1, 250, models...), gpu(1, 500)}
	case 3:
		return []model.DeviceRequest{{Class: "fpga", Count: 1, Share: 1000}, gpu(1, 500, models...)}
	default:
		return []model.DeviceRequest{gpu(1, 100*(1+r.Int64N(9)), models...)}
	}
}

// What is remembered of a gain is what it is: while nodes change, prices with them, mixes come and
// go, and workloads do not fit.
func TestGainsAreThoseWorkedOut(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	p := newRollout(base{class: "gpu"}, Args{Class: "gpu", Typical: []Typical{{Weight: 1}}}).(*rollout)
	mixes := []*mix{randomMix(r), randomMix(r)}
	nodes := make([]*extpoints.NodeInfo, 12)
	for i := range nodes {
		nodes[i] = randomGPUs(r)
		nodes[i].Node.Name = fmt.Sprint(i)
	}
	view := extpointstest.NewView(nodes...)
	known := 0
	for range 400 {
		n := nodes[r.IntN(len(nodes))]
		if len(n.DeviceFree) > 0 && r.IntN(2) == 0 {
			n.DeviceFree[r.IntN(len(n.DeviceFree))] = r.Int64N(11) * 100
		} else {
			n.Requested.CPU = r.Int64N(10) * 1000
		}
		if r.IntN(100) == 0 {
			p.given = mixes[r.IntN(2)]
		}
		w := placed(noon, r.Int64N(4)*1000, randomRequests(r)...)
		s := extpoints.NewCycle(extpoints.CycleOptions{View: view}).State()
		o := p.look(s, w)
		for _, n := range nodes {
			if o.number >= 0 {
				if g := o.gains.of(p.supply, n, o.number); g.gains[o.number].Load() != 0 {
					known++
				}
			}
			require.Equal(t, p.gain(o, w, n), p.remembered(o, w, n), "%v on %v with %v", w.Workload.Devices, n.DeviceFree, n.Node.Devices)
		}
	}
	require.Greater(t, known, 100)
}

// With too many kinds all is forgotten, and with it no memory grows for ever.
func TestGainsAreBounded(t *testing.T) {
	p := newRollout(base{class: "gpu"}, Args{Class: "gpu", Typical: []Typical{{Weight: 1}}}).(*rollout)
	for i := range int64(3 * mostKinds) {
		g, number := p.known.of(p.given, demandKind{cpu: i}, 1)
		require.EqualValues(t, i%mostKinds, number)
		require.LessOrEqual(t, len(g.kinds), mostKinds)
	}
	s := extpoints.NewCycle(extpoints.CycleOptions{View: extpointstest.NewView()}).State()
	require.Negative(t, p.look(s, placed(noon, 1, gpu(1, 100), gpu(1, 100))).number, "several requests are worked out")
}
