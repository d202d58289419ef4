package decide

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// GroupUnschedulable begins what is said of a group that does not fit.
// (kube-scheduler schedule_one_podgroup.go errPodGroupUnschedulable, 1.37.1.)
const GroupUnschedulable = "group is unschedulable"

// groupUnschedulable is the status of a group that a plugin has rejected.
func groupUnschedulable(st *extpoints.Status) *extpoints.Status {
	reasons := append([]string{GroupUnschedulable}, st.Reasons()...)
	return extpoints.NewStatus(extpoints.Unschedulable, reasons...).WithPlugin(st.Plugin())
}

// groupTry looks for places for the members of a tree of groups, one after the
// other, on a copy of the cluster: nothing that it finds holds anything until
// all of it is written down at once. To take a step back is to go back to an
// earlier view. The rules are those of kube-scheduler schedule_one_podgroup.go,
// 1.37.1, with topology-aware placement and composite groups on.
type groupTry struct {
	d    *Decider // with a view of its own
	now  time.Time
	fw   *framework.Framework
	tell Observer // nil: nobody is told
	room bool     // it is a GroupTrial's
	// reserving is the state in which a member's Reserve is called.
	reserving extpoints.CycleState
	// reserved are the only nodes where members may go, by member; any for others.
	reserved map[string]string
}

// GroupResult is what a try of one group came to.
type GroupResult struct {
	Group *extpoints.GroupInfo
	// Status is success, Unschedulable, or an error; Before is what it was when
	// GroupPostFilter had not been asked yet.
	Status, Before *extpoints.Status
	// Members were tried, in this order; the rest of the group's was not.
	Members  []*Cycle
	Children []*GroupResult
	// Shared is the state of the try within its placement.
	Shared *extpoints.CycleState

	found     bool // some member has a node that it had not before
	placement *extpoints.Placement
	view      *snapshot.View // with the members on their nodes
}

// try runs the whole tree's cycle on the try's copy.
func (t *groupTry) try(root *extpoints.GroupInfo) *GroupResult {
	t.shareNominations(root)
	nodes := t.d.Record.View.Nodes()
	all := &extpoints.Placement{Nodes: make([]*extpoints.NodeInfo, nodes.Len())}
	for i := range all.Nodes {
		all.Nodes[i] = nodes.At(i)
	}
	r := t.group(root, all)
	if r.Status.IsSuccess() && !r.found {
		r.Status = extpoints.NewStatus(extpoints.Unschedulable, GroupUnschedulable)
	}
	return r
}

// shareNominations lets the members have the room that is kept for them in common:
// what is nominated to a node for one counts as a workload that asks for
// nothing. (In kube-scheduler that is so because a group in flight is in no
// queue, where it looks up what nominated pods ask for: scheduling_queue.go
// nominatedPodToInfo, 1.37.1.)
func (t *groupTry) shareNominations(root *extpoints.GroupInfo) {
	root.All(func(w *extpoints.WorkloadInfo) bool {
		if w.Nominated != "" {
			empty := &model.Workload{ID: w.ID, Namespace: w.Namespace, Name: w.Name}
			t.d.Record.View.Nominate(&extpoints.WorkloadInfo{Workload: empty, Nominated: w.Nominated}, w.Nominated)
		}
		return true
	})
}

// group tries the group in every placement that its parent's allows, and takes
// the best of those that will do. Where no plugin generates placements there is one, and
// the message does not speak of placements. (kube-scheduler schedule_one_podgroup.go
// podGroupSchedulingAlgorithm, 1.37.1, without TopologyAwareWorkloadScheduling.)
func (t *groupTry) group(g *extpoints.GroupInfo, parent *extpoints.Placement) *GroupResult {
	base := t.d.Record.View
	s := t.run(g).State()
	placements, st := t.fw.GeneratePlacements(s, g, parent)
	if st != nil {
		return &GroupResult{Group: g, Status: st}
	}
	if t.d.Meter != nil && !g.Composite {
		t.d.Meter.PlacementsGenerated(t.fw.Name(), len(placements))
	}
	var first *GroupResult
	var feasible []*GroupResult
	for i := range placements {
		t.d.Record.View = base.Branch()
		r := t.measured(g, &placements[i])
		r.view, t.d.Record.View = t.d.Record.View, base
		switch {
		case r.Status.Code() == extpoints.Error:
			r.Children = nil // who fails takes those below along
			return r
		case r.Status.IsSuccess():
			feasible = append(feasible, r)
		case first == nil:
			first = r
		}
	}
	if len(feasible) == 0 {
		if !g.Composite && !t.fw.GeneratesPlacements() {
			return first
		}
		first.Status = extpoints.NewStatus(extpoints.Unschedulable, GroupUnschedulable,
			fmt.Sprintf("0/%d placements are available, first placement status: %v", len(placements), shortest(first.Status))).
			WithPlugin(first.Status.Plugin())
		return first
	}
	best, st := t.best(g, feasible)
	if st != nil {
		return &GroupResult{Group: g, Status: st}
	}
	t.d.Record.View = best.view
	return best
}

// shortest is what is said of a try in the message about all of them: as in
// kube-scheduler no more than that it failed, where there is more to say.
func shortest(st *extpoints.Status) string {
	if reasons := st.Reasons(); len(reasons) > 0 && reasons[0] == GroupUnschedulable {
		return GroupUnschedulable
	}
	return st.Message()
}

// best is the result whose placement has the highest score, the first of those
// that share it. (kube-scheduler takes any of them.)
func (t *groupTry) best(g *extpoints.GroupInfo, feasible []*GroupResult) (*GroupResult, *extpoints.Status) {
	if len(feasible) == 1 {
		return feasible[0], nil
	}
	states := make([]*extpoints.CycleState, len(feasible))
	tries := make([]*extpoints.Assignments, len(feasible))
	for i, r := range feasible {
		states[i] = r.Shared
		tries[i] = r.assignments()
	}
	totals, st := t.fw.ScorePlacements(states, g, tries)
	if st != nil {
		return nil, st
	}
	highest := 0
	for i, total := range totals {
		if total > totals[highest] {
			highest = i
		}
	}
	return feasible[highest], nil
}

// within tries the group in one placement.
func (t *groupTry) within(g *extpoints.GroupInfo, p *extpoints.Placement) *GroupResult {
	r := &GroupResult{Group: g, placement: p, Shared: t.run(g).State()}
	if g.Composite {
		t.children(r)
	} else {
		t.members(r)
	}
	if !r.Status.IsSuccess() {
		r.found = false
	}
	return r
}

// measured is within, and tells the meter.
func (t *groupTry) measured(g *extpoints.GroupInfo, p *extpoints.Placement) *GroupResult {
	m := t.d.Meter
	if m == nil || g.Composite {
		return t.within(g, p)
	}
	start := m.Clock()
	r := t.within(g, p)
	if r.Status.Code() != extpoints.Error {
		m.PlacementTried(t.fw.Name(), r.Status.IsSuccess(), m.Clock()-start)
	}
	return r
}

// run makes the cycle of a group's points on the present view.
func (t *groupTry) run(g *extpoints.GroupInfo) *extpoints.Cycle {
	c := t.d.newRun(extpoints.CycleOptions{View: t.d.Record.View.Branch(), Now: t.now, Group: g})
	if t.d.Meter != nil {
		t.fw.Measure(c.State(), true)
	}
	return c
}

// members tries the members of a group of workloads in their order.
func (t *groupTry) members(r *GroupResult) {
	g := r.Group
	_, placed := t.d.Record.View.Groups().Members(g.ID)
	progress := extpoints.PlacementProgress{Scheduled: placed, Remaining: len(g.Members)}
	if r.Status = t.feasible(r, progress); r.Status.IsRejected() {
		r.Status = groupUnschedulable(r.Status)
	}
	if r.Status.Code() == extpoints.Error || r.Status.IsRejected() {
		return
	}
	part := narrow(t.d.Record.View, r.placement)
	for _, w := range g.Members {
		c, st := t.member(r, w, part)
		r.Members = append(r.Members, c)
		if !st.IsSuccess() && !st.IsRejected() {
			r.Status = extpoints.AsStatus(fmt.Errorf("failed to schedule other workload from a group: %w", st.AsError()))
			return
		}
		progress.Remaining--
		if st.IsSuccess() {
			progress.Scheduled++
		}
		r.Status = t.feasible(r, progress)
		if r.Status.Code() == extpoints.Error || r.Status.IsRejected() {
			return
		}
		r.found = r.found || st.IsSuccess()
	}
	r.endWait()
}

// member tries one member in the part of the nodes and, where it gets a node, puts it there on the copy.
func (t *groupTry) member(r *GroupResult, w *extpoints.WorkloadInfo, part *within) (*Cycle, *extpoints.Status) {
	c := t.d.newCycle(t.now, w, t.tell, extpoints.CycleOptions{MakingRoom: t.room, Group: r.Group, Shared: r.Shared})
	c.part = part
	if node, ok := t.reserved[w.ID]; ok {
		c.part = only(t.d.Record.View, part, node)
	}
	st := c.Decide()
	if errors.Is(st.AsError(), ErrNoNodes) {
		st = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, st.Message())
		c.Unasked = true
	}
	if st == nil {
		// On a copy of the state: it is reserved again when the group is placed.
		copied := func() *extpoints.CycleState {
			c.State.CopyTo(&t.reserving)
			return &t.reserving
		}
		if st = c.Framework.ReserveOnCopy(copied, c.Info, &c.Binding); st != nil {
			c.Refuse(st)
		} else {
			t.d.Record.Occupy(c.Info, &c.Binding, t.now)
		}
	}
	c.Result = st
	// What it looked at is in memory that the next one uses.
	c.found, c.refused = max(len(c.feasible), c.found), refusals(c.d.scratch.rejected)
	c.feasible, c.scores = nil, nil
	return c, st
}

// refusals are those that GroupPostFilter plugins will want to know of.
func refusals(rejected []rejection) (list []refusal) {
	for _, r := range rejected {
		if plugin, ok := r.verdict.ForGroupPostFilter(); ok {
			list = append(list, refusal{plugin, extpoints.Refusal{Node: r.node.Node, Status: r.verdict.Status}})
		}
	}
	return list
}

// children tries the groups of a group of groups.
func (t *groupTry) children(r *GroupResult) {
	g := r.Group
	progress := extpoints.PlacementProgress{Remaining: len(g.Children)}
	r.Status = t.fw.PlacementFeasible(r.Shared, g, progress)
	if r.Status.Code() == extpoints.Error || r.Status.IsRejected() {
		return
	}
	for _, child := range g.Children {
		below := t.group(child, t.present(r.placement))
		r.Children = append(r.Children, below)
		if below.Status.Code() == extpoints.Error {
			r.Status = extpoints.AsStatus(fmt.Errorf("composite group evaluation failed due to child error: %w", below.Status.AsError()))
			return
		}
		r.found = r.found || below.found
		progress.Remaining--
		if below.Status.IsSuccess() {
			progress.Scheduled++
		}
		r.Status = t.fw.PlacementFeasible(r.Shared, g, progress)
		if r.Status.Code() == extpoints.Error || r.Status.IsRejected() {
			return
		}
	}
	r.endWait()
}

// present is the placement with its nodes as they are now.
func (t *groupTry) present(p *extpoints.Placement) *extpoints.Placement {
	now := &extpoints.Placement{Name: p.Name, Nodes: slices.Clone(p.Nodes)}
	nodes := t.d.Record.View.Nodes()
	for i, n := range now.Nodes {
		now.Nodes[i] = nodes.Get(n.Node.Name)
	}
	return now
}

func (t *groupTry) feasible(r *GroupResult, p extpoints.PlacementProgress) *extpoints.Status {
	st := t.fw.PlacementFeasible(r.Shared, r.Group, p)
	if st.Code() == extpoints.Error {
		st = extpoints.AsStatus(fmt.Errorf("failed to evaluate placement feasibility: %w", st.AsError()))
	}
	return st
}

// endWait turns a group down that is still waiting when everybody was tried.
func (r *GroupResult) endWait() {
	if r.Status.Code() == extpoints.Wait {
		r.Status = groupUnschedulable(r.Status)
	}
}

// complete gives every group of the tree a result, those too that were not tried;
// a group below one that has failed has failed with it. above is why the group
// above has failed, nil where it has not. (kube-scheduler
// completeCompositePodGroupAlgorithmResultMap, 1.37.1.)
func (r *GroupResult) complete(g *extpoints.GroupInfo, above *extpoints.Status) *GroupResult {
	var tried []*GroupResult
	if r != nil {
		tried = r.Children
	}
	if r == nil || !above.IsSuccess() && r.Status.IsSuccess() {
		r = &GroupResult{Group: g, Status: above}
	}
	r.Before = r.Status
	r.Children = make([]*GroupResult, len(g.Children))
	for i, child := range g.Children {
		if i < len(tried) {
			r.Children[i] = tried[i]
		}
		r.Children[i] = r.Children[i].complete(child, r.Status)
	}
	return r
}

// assignments are the members with a node, those of the groups below that have
// failed left out.
func (r *GroupResult) assignments() *extpoints.Assignments {
	a := &extpoints.Assignments{Placement: r.placement}
	r.propose(a)
	return a
}

// proposeAll also has the members that were found a node in groups that have
// failed: for preemption kube-scheduler takes them all, and nominates them
// (schedule_one_podgroup.go podGroupCycle, 1.37.1).
func (r *GroupResult) proposeAll(a *extpoints.Assignments) {
	for _, child := range r.Children {
		child.proposeAll(a)
	}
	r.proposeMembers(a)
}

func (r *GroupResult) propose(a *extpoints.Assignments) {
	if !r.Status.IsSuccess() {
		return
	}
	for _, child := range r.Children {
		child.propose(a)
	}
	r.proposeMembers(a)
}

func (r *GroupResult) proposeMembers(a *extpoints.Assignments) {
	a.Proposals = slices.Grow(a.Proposals, len(r.Members))
	for _, c := range r.Members {
		if c.Result.IsSuccess() {
			a.Proposals = append(a.Proposals, extpoints.Proposal{Workload: c.Info, Binding: c.Binding, State: c.State})
		}
	}
}

// append adds a reason to the status of every group of the tree.
func (r *GroupResult) append(reason string) {
	r.Status = extpoints.NewStatus(r.Status.Code(), append(r.Status.Reasons(), reason)...).WithPlugin(r.Status.Plugin())
	for _, child := range r.Children {
		child.append(reason)
	}
}

// fail makes the whole tree's attempt a failure.
func (r *GroupResult) fail(st *extpoints.Status) {
	r.Status = st
	for _, child := range r.Children {
		child.fail(st)
	}
}

// chosen adds the members that have a node, in groups all of which fit.
func (r *GroupResult) chosen(list []*Cycle) []*Cycle {
	if !r.Status.IsSuccess() {
		return list
	}
	for _, child := range r.Children {
		list = child.chosen(list)
	}
	if list == nil && !slices.ContainsFunc(r.Members, func(c *Cycle) bool { return !c.Result.IsSuccess() }) {
		return slices.Clip(r.Members)
	}
	for _, c := range r.Members {
		if c.Result.IsSuccess() {
			list = append(list, c)
		}
	}
	return list
}

// tried adds the members that were tried.
func (r *GroupResult) tried(list []*Cycle) []*Cycle {
	for _, child := range r.Children {
		list = child.tried(list)
	}
	return append(list, r.Members...)
}
