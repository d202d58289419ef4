package dynamicresources_test

import (
	"fmt"

	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources"
)

// Each of two nodes has two cards. A job wants two cards with at least 40 GB on
// the same PCI root; one card of the first node is somebody else's.
func Example() {
	card := func(root string, memory int64) func(*model.SliceDevice) {
		return func(d *model.SliceDevice) {
			modeltest.Attribute("root", root)(d)
			modeltest.Capacity("memory", memory, nil)(d)
		}
	}
	large := model.DeviceRequirement{Capacity: "memory", Operator: model.CompareAtLeast, Values: []model.AttributeValue{modeltest.Value(40)}}
	s := extpointstest.NewSituation(
		&model.Workload{ID: "job", DeviceClaims: []model.DeviceClaimRef{{Name: "cards", ID: "cards"}}},
		extpointstest.NodeWith(modeltest.Node("n1").Build()),
		extpointstest.NodeWith(modeltest.Node("n2").Build()),
	)
	s.View.Put(
		modeltest.DeviceClass("gpu"),
		modeltest.DeviceSlice("gpu.example.com", "n1").Node("n1").Device("a", card("r0", 80)).Device("b", card("r0", 80)).Build(),
		modeltest.DeviceSlice("gpu.example.com", "n2").Node("n2").Device("a", card("r0", 80)).Device("b", card("r0", 40)).Build(),
		modeltest.DeviceClaim("taken").Given(nil, model.AllocatedDevice{DeviceID: model.DeviceID{Driver: "gpu.example.com", Pool: "n1", Device: "a"}}).Build(),
		modeltest.DeviceClaim("cards").Request("pair", "gpu", 2, modeltest.Selecting(large)).Match("gpu.example.com/root").Build(),
	)
	p, err := dynamicresources.New(dynamicresources.Args{}, extpointstest.NewHandle())
	if err != nil {
		fmt.Println(err)
		return
	}
	state := s.State()
	p.PreFilter(state, s.Workload)
	for _, n := range s.View.NodeInfos {
		fmt.Println(n.Node.Name, p.Filter(state, s.Workload, n))
	}
	b := &model.Binding{Workload: "job", Node: "n2"}
	p.Reserve(state, s.Workload, b)
	claim := b.Decided[0].(*model.DeviceClaim)
	for _, d := range claim.Allocation.Devices {
		fmt.Println(claim.ID, "gets", d.Pool, d.Device)
	}
	fmt.Println("reserved for", claim.ReservedFor[0].Workload)
	// Output:
	// n1 UnschedulableAndUnresolvable: cannot allocate all claims
	// n2 Success
	// cards gets n2 a
	// cards gets n2 b
	// reserved for job
}
