package faults_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// A workload with the label "hold" waits on Permit, for a test of what happens then.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, faults.NewHold, extpoints.NoArgs{})
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.Submit(&model.Workload{ID: "w", Labels: map[string]string{"hold": "yes"}}))
	raw.Schedule(now)
	why, failed := raw.Explain(now, "w", engine.ExplainOptions{})
	fmt.Println(why.Node, why.Permit[0].Plugin, err, failed)
	// Output: n1 Hold <nil> <nil>
}
