package holds_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/holds"
	"github.com/berth-project/berth/plugins/queuesort"
)

// At noon there is maintenance on n1: what may run for two hours goes elsewhere, what ends
// before does not mind.
func Example() {
	profile := extpoints.Profile{Name: "batch"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, holds.New, extpoints.NoArgs{})
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	eleven := time.Date(2030, 1, 1, 11, 0, 0, 0, time.UTC)
	err = raw.Apply(eleven,
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutObject(&model.Hold{Name: "firmware", From: eleven.Add(time.Hour), Until: eleven.Add(3 * time.Hour), Nodes: []string{"n1"}}),
		engine.Submit(&model.Workload{ID: "long", Limit: 2 * time.Hour}),
		engine.Submit(&model.Workload{ID: "short", Limit: time.Hour}),
	)
	b := raw.Branch()
	long, failed := b.Schedule(eleven, "long")
	fmt.Println(long.Message, err, failed)
	short, failed := b.Schedule(eleven, "short")
	fmt.Println(short.Binding.Node, failed)
	// Output:
	// 0/1 nodes are available: 1 node(s) are held by "firmware" from 2030-01-01T12:00:00Z until 2030-01-01T14:00:00Z. <nil> <nil>
	// n1 <nil>
}
