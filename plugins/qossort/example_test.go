package qossort_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/qossort"
)

// Of the same priority the more guaranteed goes first. What requests something and says
// no class is Burstable.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, qossort.New, extpoints.NoArgs{}, extpoints.InPlaceOf(plugins.PrioritySort))
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: inproc.New(inproc.Options{}),
		Listener:     engine.Listener{Popped: func(e engine.PoppedEvent) { fmt.Println(e.Workload.ID) }},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	some := model.Resources{CPU: 100}
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: 1000}}),
		engine.Submit(&model.Workload{ID: "best effort"}),
		engine.Submit(&model.Workload{ID: "burstable", Requests: some}),
		engine.Submit(&model.Workload{ID: "guaranteed", Requests: some, QoS: model.Guaranteed}),
		engine.Submit(&model.Workload{ID: "urgent", Priority: 1}),
	)
	for raw.Schedule(now) {
	}
	fmt.Println(err)
	// Output:
	// urgent
	// guaranteed
	// burstable
	// best effort
	// <nil>
}
