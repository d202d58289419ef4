package tainttoleration_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/tainttoleration"
)

// Avoiding PreferNoSchedule taints counts more than everything else in this
// profile.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, tainttoleration.New, extpoints.NoArgs{}, extpoints.InPlaceOf(tainttoleration.Name), extpoints.Weight(100))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Taints: []model.Taint{{Key: "spot", Effect: model.PreferNoSchedule}}}),
		engine.PutNode(&model.Node{Name: "n2"}),
		engine.Submit(&model.Workload{ID: "w"}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
