package volumerestrictions_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/queuesort"
	"github.com/berth-project/berth/plugins/volumerestrictions"
)

// Another workload uses the disk on n1.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, volumerestrictions.New, extpoints.NoArgs{})
	disk := []model.Disk{{Keys: []string{"disk-7"}}}
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutNode(&model.Node{Name: "n2"}),
		engine.Adopt(&model.Workload{ID: "other", Disks: disk}, model.Binding{Node: "n1"}),
		engine.Submit(&model.Workload{ID: "w", Disks: disk}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
