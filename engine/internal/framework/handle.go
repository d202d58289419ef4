package framework

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/hashicorp/go-hclog"
)

// handle is the [extpoints.Handle] of one profile.
type handle struct {
	f      *Framework
	logger hclog.Logger
}

var _ extpoints.Handle = (*handle)(nil)

func (h *handle) Logger() hclog.Logger                 { return h.logger }
func (h *handle) Profile() string                      { return h.f.name }
func (h *handle) Compat() extpoints.Compat             { return h.f.env.Compat }
func (h *handle) Orchestrator() extpoints.Orchestrator { return h.f.env.Orchestrator }
func (h *handle) Waiting() extpoints.WaitingWorkloads  { return h.f.env.Waiting }
func (h *handle) Activate(ids ...string)               { h.f.env.Activate(ids...) }

func (h *handle) View() extpoints.ClusterView { return h.f.env.View() }

func (h *handle) Preemption() extpoints.Preemption { return preemption{h.f} }

// preemption is the [extpoints.Preemption] of one profile.
type preemption struct{ *Framework }

func (p preemption) RunFilters(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	v := p.FilterWithNominated(s, w, node)
	if tally := p.Tally(s); tally != nil {
		tally.countShared(v)
	}
	return v.Named()
}

func (p preemption) Extenders() []extpoints.Extender { return p.env.Preempters }

func (p preemption) UnderWay(id string) bool { return p.env.UnderWay(id) }
