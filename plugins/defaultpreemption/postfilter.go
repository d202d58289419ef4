package defaultpreemption

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
)

// PostFilter makes room for the workload on some node, if that can be done.
func (p *DefaultPreemption) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	result, st := p.preempt(s, w, statuses)
	if st.Code() == extpoints.Error {
		return result, extpoints.AsStatus(fmt.Errorf("preemption: %w", st.AsError()))
	}
	return result, extpoints.NewStatus(st.Code(), "preemption: "+st.Message())
}

func (p *DefaultPreemption) preempt(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	if !w.MayPreempt() {
		return nil, never
	}
	q := p.askQueues(s, w.Priority, w)
	if st := p.eligible(s, w, statuses, q); st != nil {
		return nil, st
	}
	found := p.search(s, w, statuses.WithCode(extpoints.Unschedulable), q)
	if len(found.candidates) == 0 {
		if len(found.errs) > 0 {
			return nil, extpoints.AsStatus(found.errs)
		}
		return nominate(""), found.possible.say(extpoints.NewStatus(extpoints.Unschedulable, found.message(s.View().Nodes().Len())))
	}
	candidates, err := p.askExtenders(s, w, found.candidates, q)
	if err != nil {
		return nil, extpoints.AsStatus(err)
	}
	if len(candidates) == 0 {
		return nil, noCandidate
	}
	if st := p.futile(s, w); st != nil {
		return nominate(""), st
	}
	best := p.pick(s, candidates)
	p.makeRoom(s, w, best, q)
	return nominate(best.name()), found.possible.say(extpoints.NewStatus(extpoints.Success,
		fmt.Sprintf("found a potential placement for workload on node %v, preempting %d victims", best.name(), len(best.victims.Workloads))))
}

// eligible says why the workload should not displace others yet; nil where it may. To the reference, and
// [extpoints.KubeScheduler137], that somebody leaves the nominated node is enough; else it would have to fit then.
func (p *DefaultPreemption) eligible(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses, q *queues) *extpoints.Status {
	if w.Nominated == "" || statuses.Get(w.Nominated).Code() == extpoints.UnschedulableAndUnresolvable {
		return nil
	}
	r := newRoster(s.View(), s.Now(), w.Priority)
	r.anyone = q != nil
	if r.someLeave(w.Nominated) && (p.compat == extpoints.KubeScheduler137 || p.wouldFit(s, w)) {
		return leaving
	}
	return nil
}

// wouldFit reports whether the workload would fit on the node that it is nominated to if all had left who are
// leaving their nodes; true, too, where that cannot be found out.
func (p *DefaultPreemption) wouldFit(s *extpoints.CycleState, w *extpoints.WorkloadInfo) bool {
	t := newTrial(p.handle.Preemption(), s, w, nil)
	nodes := s.View().Nodes()
	s.CopyTo(&t.state)
	nodes.Get(w.Nominated).CopyTo(&t.node)
	for i := range nodes.Len() {
		node := nodes.At(i)
		at := node
		if node.Node.Name == w.Nominated {
			at = &t.node
		}
		for _, other := range node.Workloads {
			if other.Terminating && t.removeOne(other, at) != nil {
				return true
			}
		}
	}
	return t.engine.RunFilters(&t.state, w, &t.node).IsSuccess()
}

// makeRoom asks for what must happen so that the workload fits on the node.
func (p *DefaultPreemption) makeRoom(s *extpoints.CycleState, w *extpoints.WorkloadInfo, best *candidate, q *queues) {
	evicting := p.evict(s, best.victims.Workloads, fmt.Sprintf("preempted by workload %s on node %s", w.ID, best.name()))
	if !evicting && !p.args.Synchronous {
		return // as in the reference, which then leaves nominations alone too
	}
	for _, other := range s.View().Nominated(best.name()) {
		if q.yields(w, other) {
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
	return &extpoints.PostFilterResult{Nominate: node, Clear: node == ""}
}
