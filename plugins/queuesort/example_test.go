package queuesort_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/queuesort"
)

// The workload with the higher priority is tried first, although it came later.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
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
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.Submit(&model.Workload{ID: "low"}),
		engine.Submit(&model.Workload{ID: "high", Priority: 10}),
	)
	for raw.Schedule(now) {
	}
	fmt.Println(err)
	// Output:
	// high
	// low
	// <nil>
}
