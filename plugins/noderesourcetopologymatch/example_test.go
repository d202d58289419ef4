package noderesourcetopologymatch_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
)

// Both nodes have eight cores left, but only one has six of them in one zone.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, noderesourcetopologymatch.New, noderesourcetopologymatch.Args{})
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	report := func(node string, first, second float64) engine.Change {
		zone := func(id int, cores float64) model.NodeZone {
			return model.NodeZone{ID: id, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: model.Cores(8), Available: model.Cores(cores)}}}
		}
		return engine.PutObject(&model.NodeTopology{Node: node, At: now, Policy: model.AlignSingleZone, Zones: []model.NodeZone{zone(0, first), zone(1, second)}})
	}
	room := model.Resources{CPU: model.Cores(16)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "split", MaxWorkloads: 10, Allocatable: room}), report("split", 4, 4),
		engine.PutNode(&model.Node{Name: "whole", MaxWorkloads: 10, Allocatable: room}), report("whole", 1, 7),
		engine.Submit(&model.Workload{ID: "w", QoS: model.Guaranteed, Requests: model.Resources{CPU: model.Cores(6)}}),
	)
	plan, failed := eng.Branch().Schedule(now, "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// whole <nil> <nil>
}
