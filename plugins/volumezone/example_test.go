package volumezone_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/queuesort"
	"github.com/berth-project/berth/plugins/volumezone"
)

// The volume of the claim is in zone b.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, volumezone.New, extpoints.NoArgs{})
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Labels: map[string]string{"topology.kubernetes.io/zone": "a"}}),
		engine.PutNode(&model.Node{Name: "n2", Labels: map[string]string{"topology.kubernetes.io/zone": "b"}}),
		engine.PutObject(&model.Volume{Name: "v1", Labels: map[string]string{"topology.kubernetes.io/zone": "b"}}),
		engine.PutObject(&model.VolumeClaim{ID: "data", Volume: "v1", Bound: true}),
		engine.Submit(&model.Workload{ID: "w", VolumeClaims: []model.VolumeClaimRef{{ID: "data"}}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
