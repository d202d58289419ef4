package dynamicresources

import (
	"iter"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var (
	nothingToDo       = extpoints.NewStatus(extpoints.Unschedulable)
	deallocation      = extpoints.NewStatus(extpoints.Unschedulable, "deallocation of device claim completed")
	groupDone         = extpoints.NewStatus(extpoints.Unschedulable, "deallocation and deletion of device claims completed")
	groupDeallocation = extpoints.NewStatus(extpoints.Unschedulable, "deallocation of group device claim completed")
	groupUnreserved   = rejection("device claim unreserved for group")
)

// PostFilter asks that one claim be given up whose devices were in the way: that
// cannot be used on some node, and that nobody else has reserved. Given other
// devices, it may let the workload in.
func (p *DynamicResources) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	st, ok := stateKey.Get(s)
	if !ok {
		return nil, nothingToDo
	}
	rejected := func(yield func(*model.Node) bool) {
		for _, n := range statuses.WithCode(extpoints.UnschedulableAndUnresolvable) {
			if slices.Contains(statuses.Get(n.Node.Name).Reasons(), notAvailable) && !yield(n.Node) {
				return
			}
		}
	}
	consumer := model.Consumer{Workload: w.ID}
	if status := st.giveUp(s, rejected, consumer); status != nil {
		return nil, status
	}
	return nil, nothingToDo
}

// giveUp asks that a claim be given up that cannot be used on one of the nodes
// and that at most the consumer has reserved, or that was made for scalars in an
// earlier attempt. The result is nil where there is none.
// (deallocateOrDeletePodClaims.)
func (st *state) giveUp(s *extpoints.CycleState, nodes func(func(*model.Node) bool), by model.Consumer) *extpoints.Status {
	for i := range st.claims {
		if c := &st.claims[i]; c.Allocation != nil && onlyFor(c.DeviceClaim, by) && c.unavailableOnOne(nodes) {
			s.Deallocate(c.ID)
			c.givenUp = true
			return deallocation
		}
	}
	if st.resources != nil && st.resources.stale {
		s.Deallocate(model.ResourceClaimID(st.resources.workload.ID))
		return claimDeletion
	}
	return nil
}

func (c *claim) unavailableOnOne(nodes func(func(*model.Node) bool)) bool {
	for n := range nodes {
		if c.unavailable(n) {
			return true
		}
	}
	return false
}

// onlyFor reports whether nobody else has the claim reserved.
func onlyFor(c *model.DeviceClaim, by model.Consumer) bool {
	return len(c.ReservedFor) == 0 || len(c.ReservedFor) == 1 && c.ReservedFor[0] == by
}

// GroupPostFilter does for each member of the group what PostFilter does for a
// workload. Where that leaves a member out, and no member is on a node, one
// claim of the group is given up, or its reservation. Groups of groups, and those bound to a
// topology, are left alone.
func (p *DynamicResources) GroupPostFilter(s *extpoints.CycleState, g *extpoints.GroupInfo, t extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	if g.Composite || g.TopologyKey != "" {
		return nil, nothingToDo
	}
	leftOut := false
	var states []*memberState
	for _, w := range g.Members {
		m := p.member(s, w, t)
		if m == nil {
			continue
		}
		states = append(states, m)
		if m.state.giveUp(s, m.rejected, model.Consumer{Workload: w.ID}) == nil {
			leftOut = true
		}
	}
	if leftOut {
		if status := giveUpOfGroup(s, g, states); status != nil {
			return nil, status
		}
	}
	return nil, groupDone
}

// memberState is a member of a group in a cycle of its own.
type memberState struct {
	state *state
	// rejected goes through the nodes on which devices of its claims cannot be
	// used. (Where others cannot be found, Filter ends before it notes that.)
	rejected iter.Seq[*model.Node]
}

// member runs PreFilter for the member again; nil where it was not tried. A member
// without claims has a state too: kube-scheduler takes it for one that is left out
// (dynamicresources.go, PreFilter and PodGroupPostFilter, 1.37.1).
func (p *DynamicResources) member(s *extpoints.CycleState, w *extpoints.WorkloadInfo, t extpoints.GroupTrial) *memberState {
	refused, tried := t.Refused(w.ID, Name)
	if !tried {
		return nil
	}
	own := extpoints.NewCycle(extpoints.CycleOptions{Context: s.Context(), View: s.View(), Now: s.Now(), Seed: s.Seed()}).State()
	_, status := p.PreFilter(own, w)
	if status.Code() == extpoints.Skip {
		return &memberState{state: &state{}, rejected: func(func(*model.Node) bool) {}}
	}
	if !status.IsSuccess() {
		return nil
	}
	m := &memberState{rejected: func(yield func(*model.Node) bool) {
		for _, r := range refused {
			if slices.Contains(r.Status.Reasons(), notAvailable) && !yield(r.Node) {
				return
			}
		}
	}}
	m.state, _ = stateKey.Get(own)
	return m
}

// giveUpOfGroup asks that a claim be given up that cannot be used on some node and
// that only the group has reserved, or else that the reservation of one of the
// group's claims end. (deallocatePodGroupClaims.)
func giveUpOfGroup(s *extpoints.CycleState, g *extpoints.GroupInfo, members []*memberState) *extpoints.Status {
	if _, placed := s.View().Groups().Members(g.ID); placed > 0 {
		return nil
	}
	by := model.Consumer{Group: g.ID}
	for _, m := range members {
		for i := range m.state.claims {
			if c := &m.state.claims[i]; c.Allocation != nil && !c.givenUp && onlyFor(c.DeviceClaim, by) && c.unavailableOnOne(m.rejected) {
				s.Deallocate(c.ID)
				return groupDeallocation
			}
		}
	}
	for i := range g.DeviceClaims {
		c := s.View().Devices().Claim(g.DeviceClaims[i].ID)
		if c != nil && c.Allocation != nil && c.Reserved(by) && (!g.DeviceClaims[i].Generated || c.OwnerGroup == g.ID) {
			s.Withdraw(extpoints.Reservation{Claim: c.ID, By: by})
			return groupUnreserved
		}
	}
	return nil
}
