package extpoints_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// quiet is a plugin: it keeps workloads away from nodes that are too busy.
type quiet struct{ most int }

// How many a workload tolerates is found out once, in PreFilter, and used for
// every node, in Filter.
var tolerated = extpoints.NewStateKey[int]("Quiet/tolerated")

// A status never changes, so one value does for all nodes.
var tooBusy = extpoints.NewStatus(extpoints.Unschedulable, "node(s) were too busy")

func (*quiet) Name() string { return "Quiet" }

func (q *quiet) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	tolerated.Set(s, q.most+int(w.Priority))
	return nil, nil
}

func (*quiet) Filter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if most, _ := tolerated.Get(s); len(node.Workloads) > most {
		return tooBusy
	}
	return nil
}

// Workloads that leave a node make it quieter.
func (*quiet) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
	}}, nil
}

// A plugin with a factory, state from one stage to the next, and the events
// that may make it change its mind.
func Example() {
	registry := extpoints.Registry{}
	err := registry.Register("Quiet", func(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
		most, err := extpoints.ArgsAs("Quiet", args, 1)
		return &quiet{most}, err
	})
	if err != nil {
		fmt.Println(err)
	}
	plugin, err := registry["Quiet"](nil, nil)
	if err != nil {
		fmt.Println(err)
	}
	node := extpoints.NewNodeInfo(&model.Node{Name: "n1"})
	node.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "a"}})
	node.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "b"}})

	for _, priority := range []int32{0, 1} {
		w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Priority: priority}}
		state := extpoints.NewCycleState(context.Background(), nil, time.Time{}, 0)
		plugin.(extpoints.PreFilterPlugin).PreFilter(state, w)
		fmt.Println(priority, plugin.(extpoints.FilterPlugin).Filter(state, w, node))
	}
	// Output:
	// 0 Unschedulable: node(s) were too busy
	// 1 Success
}

func ExampleStatus() {
	var ok *extpoints.Status // nil is Success
	fmt.Println(ok.IsSuccess(), ok)

	rejected := extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "Too many pods", "Insufficient cpu")
	fmt.Println(rejected.IsRejected(), rejected.WithPlugin("NodeResourcesFit"))
	// Output:
	// true Success
	// true UnschedulableAndUnresolvable(NodeResourcesFit): Too many pods, Insufficient cpu
}

func ExamplePlugins_Merge() {
	defaults := extpoints.Plugins{MultiPoint: extpoints.PluginSet{Enabled: []extpoints.PluginRef{
		{Name: "NodeName"}, {Name: "NodeAffinity", Weight: 2}, {Name: "ImageLocality", Weight: 1},
	}}}
	merged := defaults.Merge(extpoints.Plugins{MultiPoint: extpoints.PluginSet{
		Enabled:  []extpoints.PluginRef{{Name: "NodeAffinity", Weight: 5}, {Name: "Mine"}},
		Disabled: []string{"ImageLocality"},
	}})
	fmt.Println(merged.MultiPoint.Enabled)
	// Output:
	// [{NodeName 0} {NodeAffinity 5} {Mine 0}]
}

func ExampleClusterEvent_Matches() {
	registered := extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeTaint}
	for _, action := range []extpoints.Action{extpoints.Add, extpoints.UpdateNodeTaint, extpoints.UpdateNodeLabel} {
		incoming := extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: action}
		fmt.Println(incoming, registered.Matches(incoming))
	}
	// Output:
	// Node/Add true
	// Node/UpdateNodeTaint true
	// Node/UpdateNodeLabel false
}
