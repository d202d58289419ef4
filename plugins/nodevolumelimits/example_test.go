package nodevolumelimits_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/nodevolumelimits"
	"github.com/berth-project/berth/plugins/queuesort"
)

// The driver can attach no volume to n1.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, nodevolumelimits.New, extpoints.NoArgs{})
	none := int32(0)
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutNode(&model.Node{Name: "n2"}),
		engine.PutObject(&model.NodeStorage{Node: "n1", Drivers: []model.NodeDriver{{Name: "disks", MaxVolumes: &none}}}),
		engine.PutObject(&model.Volume{Name: "v1", Driver: "disks", Handle: "v1"}),
		engine.PutObject(&model.VolumeClaim{ID: "data", Volume: "v1", Bound: true}),
		engine.Submit(&model.Workload{ID: "w", VolumeClaims: []model.VolumeClaimRef{{ID: "data"}}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
