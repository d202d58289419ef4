package imagelocality_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/imagelocality"
)

// The image is large and on n2, and its locality has weight 10.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, imagelocality.New, extpoints.NoArgs{}, extpoints.InPlaceOf(imagelocality.Name), extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutNode(&model.Node{Name: "n2", Images: []model.NodeImage{{Names: []string{"train:1"}, Size: 900 << 20}}}),
		engine.Submit(&model.Workload{ID: "w", Images: []string{"train:1"}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
