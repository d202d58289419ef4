package schedulinggates_test

import (
	"fmt"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/queuesort"
	"github.com/berth-project/berth/plugins/schedulinggates"
)

// A gated workload is not tried until its gate is removed.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, schedulinggates.New, extpoints.NoArgs{})
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.Submit(&model.Workload{ID: "w", Gates: []string{"quota"}}),
	)
	position, _ := eng.Queue("w")
	fmt.Println(position.Place, position.Gate.Message(), err)
	err = eng.Apply(engine.Update(&model.Workload{ID: "w"}))
	position, _ = eng.Queue("w")
	fmt.Println(position.Place, err)
	// Output:
	// Gated waiting for scheduling gates: [quota] <nil>
	// Active <nil>
}
