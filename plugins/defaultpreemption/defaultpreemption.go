package defaultpreemption

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// DefaultPreemption is the plugin.
type DefaultPreemption struct {
	args   Args
	handle extpoints.Handle
	compat extpoints.Compat
	// tolerations count; see [PreemptionToleration].
	tolerations bool
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, h extpoints.Handle) (*DefaultPreemption, error) {
	a = a.WithDefaults()
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &DefaultPreemption{args: a, handle: h, compat: h.Compat()}, nil
}

// Name returns the plugin's name.
func (*DefaultPreemption) Name() string { return Name }

// Why a workload may not displace others, or need not.
var (
	never       = extpoints.NewStatus(extpoints.Unschedulable, "not eligible due to preemptionPolicy=Never.")
	leaving     = extpoints.NewStatus(extpoints.Unschedulable, "not eligible due to a terminating workload on the nominated node.")
	noCandidate = extpoints.NewStatus(extpoints.Unschedulable, "no candidate node for preemption")
	underWay    = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "waiting for the preemption for this workload to be finished")
	forGroup    = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "waiting for the preemption for this group to be finished")
)

// PreEnqueue holds the workload back while evictions for it, or for the groups
// above it, are under way, so that it does not ask for them twice. Never where
// the plugin is synchronous: then nothing is scheduled meanwhile.
func (p *DefaultPreemption) PreEnqueue(w *model.Workload) *extpoints.Status {
	switch {
	case p.args.Synchronous || !p.handle.Preemption().UnderWay(w.ID):
		return nil
	case w.Group != "":
		return forGroup
	}
	return underWay
}

// EventsToRegister asks for workloads that leave: only so is a workload that
// PreEnqueue holds back looked at again. Something has made that workload worth
// another attempt before, so it is tried when nothing holds it back any more. To the
// reference ([extpoints.KubeScheduler137]) that is for the plugins to say that
// rejected it, of which Fit always does.
func (p *DefaultPreemption) EventsToRegister() ([]extpoints.EventHint, error) {
	if p.args.Synchronous {
		return nil, nil
	}
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
		Hint: func(w *model.Workload, _ *extpoints.Event) (extpoints.Hint, error) {
			return helper.QueueIf(p.compat == extpoints.Improved && p.PreEnqueue(w).IsSuccess())
		},
	}}, nil
}

// Sign implements [extpoints.SignPlugin]: it has no verdict on nodes of its own.
func (p *DefaultPreemption) Sign(*model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return nil, nil
}

var (
	_ extpoints.PostFilterPlugin      = (*DefaultPreemption)(nil)
	_ extpoints.GroupPostFilterPlugin = (*DefaultPreemption)(nil)
	_ extpoints.PreEnqueuePlugin      = (*DefaultPreemption)(nil)
	_ extpoints.EnqueueExtensions     = (*DefaultPreemption)(nil)
	_ extpoints.SignPlugin            = (*DefaultPreemption)(nil)
)
