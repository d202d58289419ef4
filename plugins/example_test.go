package plugins_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesources"
)

// The default profile with other arguments for one plugin, and without another.
func ExampleDefaultProfile() {
	p := plugins.DefaultProfile()
	extpoints.Use(&p, noderesources.NewFit, noderesources.FitArgs{
		Strategy: noderesources.Strategy{Type: noderesources.MostAllocated},
	}, extpoints.InPlaceOf(plugins.NodeResourcesFit), extpoints.Weight(5))
	p.Remove(plugins.ImageLocality)
	for _, e := range p.Plugins {
		if e.Weight > 0 {
			fmt.Println(e.Name, e.Weight)
		}
	}
	// Output:
	// TaintToleration 3
	// NodeAffinity 2
	// NodeResourcesFit 5
	// PodTopologySpread 2
	// InterPodAffinity 2
	// DynamicResources 2
	// NodeResourcesBalancedAllocation 1
	// PodGroupPodsCount 1
}

// licence lets a workload go on when a licence for it has been found.
type licence struct {
	handle extpoints.Handle
	within time.Duration
}

// licenceArgs are its arguments.
type licenceArgs struct{ Within time.Duration }

func (l *licence) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return extpoints.NewStatus(extpoints.Wait, "no licence yet"), l.within
}

// allow is called from outside.
func (l *licence) allow(id string) { l.handle.Waiting().Get(id).Allow(l.Name()) }

// What a plugin of one's own costs beside its logic and its arguments is six lines.
// line 1 to 4:
func (*licence) Name() string { return "Licence" }
func newLicence(args licenceArgs, h extpoints.Handle) (*licence, error) {
	return &licence{h, args.Within}, nil
}

// A plugin of one's own beside the default ones: it is added to the profile and, once
// the engine is made, can be talked to.
func Example() {
	p := plugins.DefaultProfile()
	licences := extpoints.Use(&p, newLicence, licenceArgs{Within: time.Minute}) // line 5
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{p}, Orchestrator: nobody{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: 1000}}),
		engine.Submit(&model.Workload{ID: "w1", Requests: model.Resources{CPU: 500}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	raw.Schedule(now)
	fmt.Println("to bind:", raw.NextTask() != nil)

	licences.Get().allow("w1") // line 6
	raw.Settle(now)
	task := raw.NextTask()
	fmt.Println("to bind:", task != nil)
	task.Run(context.Background())
	raw.Finish(now, task)
	// Output:
	// to bind: false
	// to bind: true
}
