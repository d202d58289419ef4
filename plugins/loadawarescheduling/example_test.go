package loadawarescheduling_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
)

// Nothing was requested on either node, but one is busier than it may be.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, loadawarescheduling.New, loadawarescheduling.Args{Thresholds: map[string]int64{model.CPU: 70}}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	measured := func(node string, percent float64) engine.Change {
		return engine.PutObject(&model.NodeLoad{Node: node, At: now, Resources: []model.ResourceLoad{{Name: model.CPU, Average: percent}}})
	}
	room := model.Resources{CPU: model.Cores(10)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "hot", MaxWorkloads: 10, Allocatable: room}), measured("hot", 80),
		engine.PutNode(&model.Node{Name: "cool", MaxWorkloads: 10, Allocatable: room}), measured("cool", 50),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	plan, failed := eng.Branch().Schedule(now, "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// cool <nil> <nil>
}
