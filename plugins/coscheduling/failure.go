package coscheduling

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PostFilter hears of a member for which there is no node. It makes no room; it
// says so without a reason of its own.
func (p *Coscheduling) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	if own, _ := turnedDown.Get(s); !own && !s.Trial() {
		p.lost(s.Now(), s.View().Groups(), w.Workload)
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

// Unreserve hears of a member that loses its node again, whoever turned it down.
func (p *Coscheduling) Unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) {
	if w.Group != "" && !s.Trial() && !p.tries.wasDismissed(w.Group, w.ID) {
		p.lost(s.Now(), p.handle.View().Groups(), w.Workload)
	}
}

// lost is for a member that has no node, or not any more. If the gang cannot
// become complete without it, all that wait are turned down. If it is complete
// without it (its MinCount may have been lowered meanwhile) they go on.
func (p *Coscheduling) lost(now time.Time, groups extpoints.Groups, w *model.Workload) {
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
	if !p.tries.fail(now, now.Add(p.args.Backoff), groups, g, w.ID) {
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

func byID(m extpoints.PlacedMember, id string) int { return strings.Compare(m.ID, id) }
