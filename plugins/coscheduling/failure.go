package coscheduling

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PostFilter hears of a member for which there is no node. It makes no room; it
// says so without a reason of its own.
func (p *Coscheduling) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	if own, _ := turnedDown.Get(s); !own && !s.Trial() {
		p.lost(s.Now(), s.View().Groups(), w.Workload, int64(p.args.RejectPercentage))
	}
	return nil, extpoints.NewStatus(extpoints.Unschedulable)
}

// Reserve notes that a member has found a node.
func (p *Coscheduling) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	if w.Group != "" && !s.Trial() {
		p.tries.found(w.Group, w.ID)
	}
	return nil
}

// Unreserve is called for a member that loses its node again, whatever rejected it.
func (p *Coscheduling) Unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) {
	if w.Group != "" && !s.Trial() && !p.tries.wasDismissed(w.Group, w.ID) {
		p.lost(s.Now(), p.handle.View().Groups(), w.Workload, 0)
	}
}

// lost is for a member that has no node, or not any more. If the gang cannot
// become complete without it, all that wait are rejected. If it is complete
// without it (its MinCount may have been lowered meanwhile) they go on, and where no more of
// MinCount lack a node than so many percent they keep what they have, for as long as they wait.
func (p *Coscheduling) lost(now time.Time, groups extpoints.Groups, w *model.Workload, lacking int64) {
	g := gangOf(groups, w)
	if g == nil {
		return
	}
	placed := groups.Placed(g.ID)
	with := len(placed)
	if _, onNode := slices.BinarySearchFunc(placed, w.ID, byID); onNode {
		with--
	}
	if with >= int(g.MinCount) {
		p.letThrough(groups, g.ID, w.ID)
		return
	}
	if need := int64(g.MinCount); lacking > 0 && 100*(need-int64(with)) <= lacking*need {
		p.tries.miss(now, groups, g, w.ID)
		return
	}
	backoff := min(p.args.Backoff, p.timeout(g))
	if !p.tries.fail(now, now.Add(backoff), groups, g, w.ID) {
		return
	}
	reason := fmt.Sprintf("group %q cannot have %d members with a node: there is none for workload %s", g.ID, g.MinCount, w.DisplayName())
	waiting := p.handle.Waiting()
	for _, m := range placed {
		if m.ID == w.ID {
			continue
		}
		if other := waiting.Get(m.ID); other != nil {
			p.tries.dismiss(g.ID, m.ID)
			other.Reject(Name, reason)
		}
	}
}
