package faults

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// HoldName is the name of the Permit plugin that holds back every workload
// whose label says so, for a time that the cycle's seed chooses.
const HoldName = "Hold"

type holdPlugin struct{}

var (
	_ extpoints.PermitPlugin      = holdPlugin{}
	_ extpoints.EnqueueExtensions = holdPlugin{}
)

// NewHold makes it.
func NewHold(extpoints.NoArgs, extpoints.Handle) (extpoints.Plugin, error) {
	return holdPlugin{}, nil
}

// Name implements [extpoints.Plugin].
func (holdPlugin) Name() string { return HoldName }

// EventsToRegister implements [extpoints.EnqueueExtensions]: a workload that was
// rejected is tried again when a node comes or its own labels change, also if
// that happened while it was held.
func (holdPlugin) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel}},
	}, nil
}

// Permit implements [extpoints.PermitPlugin].
func (holdPlugin) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	if w.Labels["hold"] == "" {
		return nil, 0
	}
	return extpoints.NewStatus(extpoints.Wait), time.Duration(1+s.Seed()%1200) * time.Second
}
