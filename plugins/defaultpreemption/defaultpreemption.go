package defaultpreemption

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Name is the plugin's name.
const Name = "DefaultPreemption"

// DefaultPreemption is the plugin.
type DefaultPreemption struct {
	args   Args
	handle extpoints.Handle
}

// New is the plugin's [extpoints.Factory]. Its arguments are [Args].
func New(args any, h extpoints.Handle) (extpoints.Plugin, error) {
	a, err := extpoints.ArgsAs(Name, args, Args{})
	if err != nil {
		return nil, err
	}
	a = a.WithDefaults()
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &DefaultPreemption{args: a, handle: h}, nil
}

// Name returns the plugin's name.
func (*DefaultPreemption) Name() string { return Name }

// Why a workload may not displace others, or need not.
var (
	never       = extpoints.NewStatus(extpoints.Unschedulable, "not eligible due to preemptionPolicy=Never.")
	leaving     = extpoints.NewStatus(extpoints.Unschedulable, "not eligible due to a terminating pod on the nominated node.")
	noCandidate = extpoints.NewStatus(extpoints.Unschedulable, "no candidate node for preemption")
	underWay    = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "waiting for the preemption for this pod to be finished")
	forGroup    = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "waiting for the preemption for this pod group to be finished")
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
// PreEnqueue holds back looked at again. That it is worth trying is for the
// plugins to say that rejected it, so the hint never says so.
func (p *DefaultPreemption) EventsToRegister() ([]extpoints.EventHint, error) {
	if p.args.Synchronous {
		return nil, nil
	}
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
		Hint: func(*model.Workload, *extpoints.Change) (extpoints.Hint, error) {
			return extpoints.HintSkip, nil
		},
	}}, nil
}

// PostFilter makes room for the workload on some node, if that can be done.
func (p *DefaultPreemption) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	result, st := p.preempt(s, w, statuses)
	if st.Code() == extpoints.Error {
		return result, extpoints.AsStatus(fmt.Errorf("preemption: %w", st.AsError()))
	}
	return result, extpoints.NewStatus(st.Code(), "preemption: "+st.Message())
}

func (p *DefaultPreemption) preempt(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	if st := eligible(s, w, statuses); st != nil {
		return nil, st
	}
	found := p.search(s, w, statuses.WithCode(extpoints.Unschedulable))
	if len(found.candidates) == 0 {
		if len(found.errs) > 0 {
			return nil, extpoints.AsStatus(found.errs)
		}
		return nominate(""), extpoints.NewStatus(extpoints.Unschedulable, found.message(s.View().Nodes().Len()))
	}
	candidates, err := p.askExtenders(s, w, found.candidates)
	if err != nil {
		return nil, extpoints.AsStatus(err)
	}
	if len(candidates) == 0 {
		return nil, noCandidate
	}
	best := p.pick(s, candidates)
	p.makeRoom(s, w, best)
	return nominate(best.name()), extpoints.NewStatus(extpoints.Success,
		fmt.Sprintf("found a potential placement for pod on node %v, preempting %d victims", best.name(), len(best.victims.Workloads)))
}

// eligible says why the workload may not displace others, or should not yet;
// nil where it may.
func eligible(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) *extpoints.Status {
	if !w.MayPreempt() {
		return never
	}
	if w.Nominated == "" || statuses.Get(w.Nominated).Code() == extpoints.UnschedulableAndUnresolvable {
		return nil
	}
	r := newRoster(s.View(), s.Now(), w.Priority)
	if r.someLeave(w.Nominated) {
		return leaving
	}
	return nil
}

// makeRoom asks for what must happen so that the workload fits on the node.
func (p *DefaultPreemption) makeRoom(s *extpoints.CycleState, w *extpoints.WorkloadInfo, best *candidate) {
	evicting := p.evict(s, best.victims.Workloads, fmt.Sprintf("preempted by workload %s on node %s", w.ID, best.name()))
	if !evicting && !p.args.Synchronous {
		return // as in the reference, which then leaves nominations alone too
	}
	for _, other := range s.View().Nominated(best.name()) {
		if other.Priority < w.Priority {
			s.Unnominate(other.ID)
		}
	}
}

// evict asks that the victims leave, and reports whether any does not already.
func (p *DefaultPreemption) evict(s *extpoints.CycleState, victims []*extpoints.WorkloadInfo, reason string) (evicting bool) {
	for _, v := range victims {
		if !v.Terminating {
			s.Evict(v.ID, reason)
			evicting = true
		}
	}
	if p.args.Synchronous {
		s.AwaitEvictions()
	}
	return evicting
}

func nominate(node string) *extpoints.PostFilterResult {
	return &extpoints.PostFilterResult{NominatingInfo: &extpoints.NominatingInfo{Node: node, Mode: extpoints.NominatingOverride}}
}

var (
	_ extpoints.PostFilterPlugin      = (*DefaultPreemption)(nil)
	_ extpoints.GroupPostFilterPlugin = (*DefaultPreemption)(nil)
	_ extpoints.PreEnqueuePlugin      = (*DefaultPreemption)(nil)
	_ extpoints.EnqueueExtensions     = (*DefaultPreemption)(nil)
)
