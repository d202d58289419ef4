package defaultpreemption_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultpreemption"
)

// What was placed less than an hour ago is left alone by all whose priority is below 100.
func ExampleNewPreemptionToleration() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, defaultpreemption.NewPreemptionToleration, defaultpreemption.Args{}, extpoints.InPlaceOf(defaultpreemption.Name))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	cpu := model.Resources{CPU: model.Cores(1)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Allocatable: cpu}),
		engine.Adopt(&model.Workload{
			ID: "low", Requests: cpu,
			PreemptionToleration: model.PreemptionToleration{MinPriority: 100, For: time.Hour},
		}, model.Binding{Node: "n1", Since: now}),
		engine.Submit(&model.Workload{ID: "high", Priority: 10, Requests: cpu}),
		engine.Submit(&model.Workload{ID: "highest", Priority: 100, Requests: cpu}),
	)
	if err != nil {
		fmt.Println(err)
	}
	try := func(id string, after time.Duration) {
		plan, _ := eng.Branch().Schedule(now.Add(after), id)
		fmt.Printf("%s after %v: evicts %d\n", id, after, len(plan.Evictions))
	}
	try("high", 59*time.Minute)
	try("highest", 59*time.Minute)
	try("high", time.Hour)
	// Output:
	// high after 59m0s: evicts 0
	// highest after 59m0s: evicts 1
	// high after 1h0m0s: evicts 1
}
