package coscheduling

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Coscheduling is the plugin. Its books are about the cluster as it is: a cycle
// that only tries something out neither reads nor writes them.
type Coscheduling struct {
	handle extpoints.Handle
	args   Args
	tries  tries
	since  arrivals
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, h extpoints.Handle) (*Coscheduling, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &Coscheduling{handle: h, args: a.WithDefaults()}, nil
}

// Name returns the plugin's name.
func (*Coscheduling) Name() string { return Name }

// Less puts the higher priority first. Of equal ones the members of a group stay
// together, in the place that the group has by the time of its creation and then
// by its ID, and among themselves by timestamp; a workload without a group has
// its place by its own timestamp.
func (p *Coscheduling) Less(a, b *extpoints.Queued) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	one, other := a.Workload.Group, b.Workload.Group
	if one != other {
		if c := p.place(a).Compare(p.place(b)); c != 0 {
			return c < 0
		}
		return strings.Compare(one, other) < 0
	}
	return a.Timestamp.Before(b.Timestamp)
}

// place is the time that stands for the workload in the order.
func (p *Coscheduling) place(q *extpoints.Queued) time.Time {
	if q.Workload.Group == "" {
		return q.Timestamp
	}
	return p.since.of(q, p.handle.View)
}

// turnedDown is set in the cycle of a workload that PreFilter rejected: it says
// nothing about whether there is a node for it.
var turnedDown = extpoints.NewStateKey[bool](Name + "/turnedDown")

// gangOf returns the group of the workload if that is a gang, else nil.
func gangOf(groups extpoints.Groups, w *model.Workload) *model.Group {
	if w.Group == "" {
		return nil
	}
	g := groups.Get(w.Group)
	if g == nil || g.Policy != model.Gang || g.Composite {
		return nil
	}
	return g
}

// PreFilter rejects a member while its group is not there or has not enough
// members, and while the group stands back after a try that failed. One that
// makes the gang complete is never held back.
//
// A member that found no node in that try has been woken by what may have made
// room for it. To reject it would be to forget that, and to let it through would
// be to try the gang at once in the room that it has just given back, over and
// over. So to it, and only to it, PreFilter says Error: that makes the engine
// try it again by time, whatever happens in the cluster.
func (p *Coscheduling) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if w.Group == "" {
		return nil, nil
	}
	groups := s.View().Groups()
	g := gangOf(groups, w.Workload)
	if g == nil {
		if groups.Get(w.Group) == nil {
			return nil, turnDown(s, fmt.Sprintf("waiting for group %q to appear", w.Group))
		}
		return nil, nil
	}
	all, placed := groups.Members(g.ID)
	switch need := int(g.MinCount); {
	case placed+1 >= need:
	case all < need:
		return nil, turnDown(s, fmt.Sprintf("group %q has %d members of the %d that it needs", g.ID, all, need))
	case s.Trial():
	default:
		switch p.tries.standing(s.Now(), groups, g, w.ID) {
		case backForAnother:
			return nil, turnDown(s, standsBack(g))
		case backForItself:
			return nil, extpoints.AsStatus(errors.New(standsBack(g)))
		}
	}
	if reason := lacks(s.View(), g, placed); reason != "" {
		return nil, turnDown(s, reason)
	}
	return nil, nil
}

func standsBack(g *model.Group) string {
	return fmt.Sprintf("group %q could not be placed and stands back for a while", g.ID)
}

func turnDown(s *extpoints.CycleState, reason string) *extpoints.Status {
	turnedDown.Set(s, true)
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, reason)
}

// Permit holds a member until MinCount of the gang have a node, and asks that
// the others be tried, apart from those that were lost in this try: they come
// back when something has changed for them. The member that makes them enough
// lets all that wait through, and asks the same for those that the gang has
// besides.
func (p *Coscheduling) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	if w.Group == "" {
		return nil, 0
	}
	// As it is now: the member itself has its node by now.
	groups := p.handle.View().Groups()
	g := gangOf(groups, w.Workload)
	if g == nil {
		return nil, 0
	}
	_, placed := groups.Members(g.ID)
	need := int(g.MinCount)
	if placed < need {
		s.Activate(p.tries.untried(s.Now(), groups, g.ID)...)
		return extpoints.NewStatus(extpoints.Wait, fmt.Sprintf("waiting until group %q has %d members with a node", g.ID, need)), p.timeout(g)
	}
	if let := p.letThrough(groups, g.ID, w.ID); let || placed == need {
		s.Activate(p.tries.untried(s.Now(), groups, g.ID)...)
	}
	p.tries.end(g.ID)
	return nil, 0
}

// timeout is how long members of the gang wait on Permit, at most as long as the engine lets them.
func (p *Coscheduling) timeout(g *model.Group) time.Duration {
	if g.PermitTimeout > 0 {
		return min(g.PermitTimeout, extpoints.MaxPermitTimeout)
	}
	return p.args.PermitTimeout
}

// Companions implements [extpoints.CompanionsPlugin]: a member is worth nothing before MinCount
// have a node.
func (p *Coscheduling) Companions(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (others []string, need int) {
	groups := s.View().Groups()
	g := gangOf(groups, w.Workload)
	if g == nil {
		return nil, 0
	}
	_, placed := groups.Members(g.ID)
	return groups.Pending(g.ID), int(g.MinCount) - placed
}

// letThrough allows all members of the gang that wait, except one; it reports
// whether there are any.
func (p *Coscheduling) letThrough(groups extpoints.Groups, gang, except string) (any bool) {
	waiting := p.handle.Waiting()
	for _, m := range groups.Placed(gang) {
		if m.ID == except {
			continue
		}
		if other := waiting.Get(m.ID); other != nil {
			other.Allow(Name)
			any = true
		}
	}
	return any
}

var (
	_ extpoints.QueueSortPlugin   = (*Coscheduling)(nil)
	_ extpoints.PreFilterPlugin   = (*Coscheduling)(nil)
	_ extpoints.PostFilterPlugin  = (*Coscheduling)(nil)
	_ extpoints.ReservePlugin     = (*Coscheduling)(nil)
	_ extpoints.PermitPlugin      = (*Coscheduling)(nil)
	_ extpoints.CompanionsPlugin  = (*Coscheduling)(nil)
	_ extpoints.EnqueueExtensions = (*Coscheduling)(nil)
)
