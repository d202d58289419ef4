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
func NewNominate(extpoints.NoArgs, extpoints.Handle) (extpoints.Plugin, error) {
	return nominatePlugin{}, nil
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
	if n := s.Seed() % uint64(nodes.Len()+1); n > 0 {
		return &extpoints.PostFilterResult{Nominate: nodes.At(int(n - 1)).Node.Name}, nil
	}
	return &extpoints.PostFilterResult{Clear: true}, nil
}
