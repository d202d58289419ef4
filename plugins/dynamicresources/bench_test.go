package dynamicresources

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// The benchmarks are of 500 nodes with a pool of 10 devices each, of which
// nothing, half or all but those of the last node is given away. Aims: Filter
// well below 1 us a node without allocation, a cycle well below 1 ms.

// benchView is a view that answers about devices as fast as that of an engine.
type benchView struct {
	*extpointstest.View
	devices *benchDevices
}

func (v benchView) Devices() extpoints.Devices { return v.devices }

type benchDevices struct {
	slices  extpoints.DeviceSlices
	claims  map[string]*model.DeviceClaim
	classes map[string]*model.DeviceClass
	use     map[model.PoolID]*extpoints.PoolUse
}

func (d *benchDevices) Claim(id string) *model.DeviceClaim       { return d.claims[id] }
func (d *benchDevices) Class(name string) *model.DeviceClass     { return d.classes[name] }
func (d *benchDevices) ClassFor(string) *model.DeviceClass       { return nil }
func (d *benchDevices) Slices() *extpoints.DeviceSlices          { return &d.slices }
func (d *benchDevices) Use(pool model.PoolID) *extpoints.PoolUse { return d.use[pool] }
func (d *benchDevices) give(claim string, a *model.Allocation, by int) {
	for _, p := range a.Pools() {
		d.use[p] = d.use[p].With(p, a)
	}
}

const benchNodes = 500

// bench makes the view; of the devices of each node, given are given away.
func bench(given func(node int) int, claim *model.DeviceClaim) (*DynamicResources, *extpoints.WorkloadInfo, benchView) {
	d := &benchDevices{claims: map[string]*model.DeviceClaim{claim.ID: claim}, classes: map[string]*model.DeviceClass{}, use: map[model.PoolID]*extpoints.PoolUse{}}
	class := modeltest.DeviceClass("gpu", modeltest.Require("gpu.example.com/kind", model.CompareEqual, "gpu"))
	d.classes[class.Name] = class
	var nodes []*extpoints.NodeInfo
	for i := range benchNodes {
		name := fmt.Sprintf("node-%03d", i)
		nodes = append(nodes, extpoints.NewNodeInfo(modeltest.Node(name).Build()))
		b := modeltest.DeviceSlice("gpu.example.com", name).Node(name)
		for j := range 10 {
			b.Device(fmt.Sprintf("d%d", j), modeltest.Attribute("kind", "gpu"), modeltest.Attribute("root", j/2), modeltest.Capacity("memory", 80, nil))
		}
		d.slices.List = append(d.slices.List, b.Build())
		a := &model.Allocation{}
		for j := range given(i) {
			a.Devices = append(a.Devices, model.AllocatedDevice{DeviceID: model.DeviceID{Driver: "gpu.example.com", Pool: name, Device: fmt.Sprintf("d%d", j)}})
		}
		d.give("", a, 1)
	}
	p, _ := New(Args{}, extpointstest.NewHandle())
	w := &model.Workload{ID: "w", DeviceClaims: []model.DeviceClaimRef{{Name: "c", ID: claim.ID}}}
	return p, &extpoints.WorkloadInfo{Workload: w}, benchView{extpointstest.NewView(nodes...), d}
}

func (v benchView) state() *extpoints.CycleState {
	return extpoints.NewCycle(extpoints.CycleOptions{View: v, Now: extpointstest.Now, Seed: 1}).State()
}

var benchFill = map[string]func(int) int{
	"empty": func(int) int { return 0 },
	"half":  func(int) int { return 5 },
	"full": func(node int) int {
		if node == benchNodes-1 {
			return 9
		}
		return 10
	},
}

var benchClaims = map[string]*model.DeviceClaim{
	"one":      modeltest.DeviceClaim("c").Request("gpu", "gpu", 1).Build(),
	"selector": modeltest.DeviceClaim("c").Request("gpu", "gpu", 1, modeltest.Selecting(modeltest.Require("gpu.example.com/root", model.CompareAtLeast, 1))).Build(),
	"match":    modeltest.DeviceClaim("c").Request("a", "gpu", 1).Request("b", "gpu", 1).Match("gpu.example.com/root").Build(),
	"first":    modeltest.DeviceClaim("c").FirstOf("gpu", modeltest.Demand("many", "gpu", 8), modeltest.Demand("one", "gpu", 1)).Build(),
}

// A whole cycle: PreFilter, Filter for all nodes, Score for those that pass, and
// Reserve.
func BenchmarkCycle(b *testing.B) {
	for claim, c := range benchClaims {
		for fill, given := range benchFill {
			p, w, view := bench(given, c)
			b.Run(claim+"/"+fill, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s, node := view.state(), ""
					p.PreFilter(s, w)
					for _, n := range view.NodeInfos {
						if p.Filter(s, w, n).IsSuccess() {
							p.Score(s, w, n)
							node = n.Node.Name
						}
					}
					if node != "" {
						p.Reserve(s, w, &model.Binding{Workload: "w", Node: node})
					}
				}
			})
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	for claim, c := range benchClaims {
		for fill, given := range benchFill {
			p, w, view := bench(given, c)
			s := view.state()
			p.PreFilter(s, w)
			b.Run(claim+"/"+fill, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					p.Filter(s, w, view.NodeInfos[i%benchNodes])
				}
			})
		}
	}
}
