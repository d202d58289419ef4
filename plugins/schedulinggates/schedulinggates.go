package schedulinggates

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Name is the plugin's name.
const Name = "SchedulingGates"

// SchedulingGates is the plugin. It has no state.
type SchedulingGates struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*SchedulingGates, error) {
	return &SchedulingGates{}, nil
}

// Name returns the plugin's name.
func (*SchedulingGates) Name() string { return Name }

// PreEnqueue holds back a workload with gates and names them, in their order.
//
// Rule: kube-scheduler plugins/schedulinggates/scheduling_gates.go, 1.37.1.
func (*SchedulingGates) PreEnqueue(w *model.Workload) *extpoints.Status {
	if len(w.Gates) == 0 {
		return nil
	}
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable,
		"waiting for scheduling gates: ["+strings.Join(w.Gates, " ")+"]")
}

// EventsToRegister asks for the removal of the workload's last gate.
func (*SchedulingGates) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadGatesEliminated},
	}}, nil
}

var (
	_ extpoints.PreEnqueuePlugin  = (*SchedulingGates)(nil)
	_ extpoints.EnqueueExtensions = (*SchedulingGates)(nil)
)
