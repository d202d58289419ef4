package nodemetadata_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/nodemetadata"
)

// The cheapest node first.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, nodemetadata.New, nodemetadata.Args{Label: "price", Strategy: nodemetadata.Lowest}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Labels: map[string]string{"price": "12"}, MaxWorkloads: 10}),
		engine.PutNode(&model.Node{Name: "n2", Labels: map[string]string{"price": "7"}, MaxWorkloads: 10}),
		engine.Submit(&model.Workload{ID: "w"}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
