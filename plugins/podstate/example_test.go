package podstate_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/podstate"
)

// What runs on n2 is terminating, so a new workload goes there.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, podstate.New, extpoints.NoArgs{}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", MaxWorkloads: 10}),
		engine.PutNode(&model.Node{Name: "n2", MaxWorkloads: 10}),
		engine.Adopt(&model.Workload{ID: "old"}, model.Binding{Node: "n2"}),
		engine.Terminate("old"),
		engine.Submit(&model.Workload{ID: "new"}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "new")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
