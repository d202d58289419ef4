package nodename_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/nodename"
	"github.com/berth-project/berth/plugins/queuesort"
)

// A workload that names its node goes there.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, nodename.New, extpoints.NoArgs{})
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutNode(&model.Node{Name: "n2"}),
		engine.Submit(&model.Workload{ID: "w", NodeName: "n2"}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
