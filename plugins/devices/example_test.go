package devices_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/devices"
	"github.com/berth-project/berth/plugins/queuesort"
)

// Device 0 of n1 is taken. Reserve writes the other into the binding.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, devices.New, extpoints.NoArgs{})
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Devices: []model.Device{{Class: "gpu"}, {Class: "gpu"}}}),
		engine.Adopt(&model.Workload{ID: "other", Devices: []model.DeviceRequest{{Class: "gpu", Count: 1, Share: model.WholeDevice}}},
			model.Binding{Node: "n1", Devices: []model.DeviceShare{{Device: 0, Share: model.WholeDevice}}}),
		engine.Submit(&model.Workload{ID: "w", Devices: []model.DeviceRequest{{Class: "gpu", Count: 1, Share: model.WholeDevice}}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, plan.Binding.Devices, err, failed)
	// Output:
	// n1 [{1 1000}] <nil> <nil>
}
