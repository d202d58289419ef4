package faults

import (
	"github.com/berth-project/berth/extpoints"
)

// NominateName is the name of the PostFilter plugin that nominates those
// workloads whose label says so, to a node that the cycle's seed chooses. It
// makes no room there; the nomination alone keeps others away.
const NominateName = "Nominate"

type nominatePlugin struct{}

var _ extpoints.PostFilterPlugin = nominatePlugin{}

// NewNominate makes it.
func NewNominate(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
	return nominatePlugin{}, extpoints.NoArgs(NominateName, args)
}

// Name implements [extpoints.Plugin].
func (nominatePlugin) Name() string { return NominateName }

// PostFilter implements [extpoints.PostFilterPlugin].
func (nominatePlugin) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	nodes := s.View().Nodes()
	if w.Labels["nominate"] == "" || nodes.Len() == 0 {
		return nil, extpoints.NewStatus(extpoints.Unschedulable)
	}
	// Sometimes it takes the nomination back.
	to := &extpoints.NominatingInfo{Mode: extpoints.NominatingOverride}
	if n := s.Seed() % uint64(nodes.Len()+1); n > 0 {
		to.Node = nodes.At(int(n - 1)).Node.Name
	}
	return &extpoints.PostFilterResult{NominatingInfo: to}, nil
}
