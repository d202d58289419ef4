package coscheduling_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/coscheduling"
)

// Members come one by one. The first has a node and waits on Permit, for at most a
// minute; with the second the gang is complete, and both are bound.
func Example() {
	profile := plugins.DefaultProfile()
	profile.Remove(plugins.GangScheduling)
	extpoints.Use(&profile, coscheduling.New, coscheduling.Args{PermitTimeout: time.Minute}, extpoints.InPlaceOf(plugins.PrioritySort))
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: inproc.New(inproc.Options{}),
		Listener: engine.Listener{
			Waiting:   func(e engine.WaitingEvent) { fmt.Println(e.Workload.ID, "waits with", e.Binding.Node) },
			Permitted: func(e engine.PlacedEvent) { fmt.Println(e.Workload.ID, "is let through") },
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	member := func(id string) engine.Change {
		return engine.Submit(&model.Workload{ID: id, Group: "gang"})
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutGroup(&model.Group{ID: "gang", Policy: model.Gang, MinCount: 2}),
		member("w1"), member("w2"),
	)
	for raw.Schedule(now) {
	}
	raw.Settle(now)
	fmt.Println(err)
	// Output:
	// w1 waits with n1
	// w2 is let through
	// w1 is let through
	// <nil>
}
