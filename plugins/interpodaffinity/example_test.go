package interpodaffinity_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/interpodaffinity"
)

// The database on n2 requires web workloads nearby. When one is placed, that counts
// as if it preferred to be near, with HardPodAffinityWeight.
func Example() {
	profile := plugins.DefaultProfile()
	weight := int32(100)
	extpoints.Use(&profile, interpodaffinity.New, interpodaffinity.Args{HardPodAffinityWeight: &weight}, extpoints.InPlaceOf(interpodaffinity.Name))
	nearWeb := &model.WorkloadAffinity{Required: []model.AffinityTerm{
		{TopologyKey: "rack", Selector: model.SelectLabels(map[string]string{"app": "web"})},
	}}
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Labels: map[string]string{"rack": "1"}}),
		engine.PutNode(&model.Node{Name: "n2", Labels: map[string]string{"rack": "2"}}),
		engine.Adopt(&model.Workload{ID: "db", Affinity: nearWeb}, model.Binding{Node: "n2"}),
		engine.Submit(&model.Workload{ID: "w", Labels: map[string]string{"app": "web"}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
