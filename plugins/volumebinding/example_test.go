package volumebinding_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/queuesort"
	"github.com/berth-project/berth/plugins/volumebinding"
)

// The claim has no volume yet. The free one that is large enough can be used from
// n2 only; PreBind may wait a minute for it.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, volumebinding.New, volumebinding.Args{BindTimeout: time.Minute})
	onN2 := model.NodeTerm{Labels: []model.Requirement{{Key: "host", Operator: model.In, Values: []string{"n2"}}}}
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Labels: map[string]string{"host": "n1"}}),
		engine.PutNode(&model.Node{Name: "n2", Labels: map[string]string{"host": "n2"}}),
		engine.PutObject(&model.StorageClass{Name: "local", Provisioner: model.NoProvisioner, Binding: model.BindWhenConsumed}),
		engine.PutObject(&model.Volume{Name: "v1", Class: "local", Capacity: 10 << 30, AccessModes: []model.AccessMode{model.ReadWriteOnce}, Nodes: &model.NodeTerms{Terms: []model.NodeTerm{onN2}}}),
		engine.PutObject(&model.VolumeClaim{ID: "data", Class: "local", Request: 5 << 30, AccessModes: []model.AccessMode{model.ReadWriteOnce}}),
		engine.Submit(&model.Workload{ID: "w", VolumeClaims: []model.VolumeClaimRef{{ID: "data"}}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
