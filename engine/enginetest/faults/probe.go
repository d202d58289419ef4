package faults

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// ProbeName is the name of the plugin that catches the view of its cycle. Trying
// its workload on a branch shows the nodes as the next cycle will see them.
const ProbeName = "Probe"

// Probe is that plugin.
type Probe struct {
	// Workload is the one to try.
	Workload *model.Workload
	// View is what its last cycle saw.
	View extpoints.ClusterView
}

var (
	_      extpoints.PreFilterPlugin   = (*Probe)(nil)
	_      extpoints.EnqueueExtensions = (*Probe)(nil)
	probed                             = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "seen enough")
)

// Name implements [extpoints.Plugin].
func (p *Probe) Name() string { return ProbeName }

// EventsToRegister implements [extpoints.EnqueueExtensions].
func (p *Probe) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

// PreFilter implements [extpoints.PreFilterPlugin].
func (p *Probe) PreFilter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	p.View = s.View()
	return nil, probed
}
