package engine

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

// groupUnschedulable begins what is said of a group that does not fit.
// (kube-scheduler schedule_one_podgroup.go errPodGroupUnschedulable, 1.37.1.)
const groupUnschedulable = "pod group is unschedulable"

// groupTry looks for places for the members of a tree of groups, one after the
// other, on a copy of the cluster: nothing that it finds holds anything until
// all of it is written down at once. To take a step back is to go back to an
// earlier view. The rules are those of kube-scheduler schedule_one_podgroup.go,
// 1.37.1, with topology-aware placement and composite groups on.
type groupTry struct {
	core *core // with a view of its own
	now  time.Time
	fw   *framework.Framework
	tell *Listener // nil: nobody is told
	room bool      // it is a GroupTrial's
}

// groupResult is what a try of one group came to.
type groupResult struct {
	group *extpoints.GroupInfo
	// status is success, Unschedulable, or an error; before is what it was when
	// GroupPostFilter had not been asked yet.
	status, before *extpoints.Status
	// members were tried, in this order; the rest of the group's was not.
	members  []*cycle
	children []*groupResult
	// found: some member has a node that it had not before.
	found bool
	// shared is the state of the try within its placement.
	shared    *extpoints.CycleState
	placement *extpoints.Placement
	view      *snapshot.View // with the members on their nodes
}

// try runs the whole tree's cycle on the try's copy.
func (t *groupTry) try(root *extpoints.GroupInfo) *groupResult {
	t.shareNominations(root)
	nodes := t.core.rec.View.Nodes()
	all := &extpoints.Placement{Nodes: make([]*extpoints.NodeInfo, nodes.Len())}
	for i := range all.Nodes {
		all.Nodes[i] = nodes.At(i)
	}
	r := t.group(root, all)
	if r.status.IsSuccess() && !r.found {
		r.status = extpoints.NewStatus(extpoints.Unschedulable, groupUnschedulable)
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
			t.core.rec.View.Nominate(&extpoints.WorkloadInfo{Workload: empty, Nominated: w.Nominated}, w.Nominated)
		}
		return true
	})
}

// group tries the group in every placement that its parent's allows, and takes
// the best of those that will do.
func (t *groupTry) group(g *extpoints.GroupInfo, parent *extpoints.Placement) *groupResult {
	base := t.core.rec.View
	s := t.state(g, nil)
	placements, st := t.fw.GeneratePlacements(s, g, parent)
	if st != nil {
		return &groupResult{group: g, status: st}
	}
	t.generated(g, len(placements))
	var first *groupResult
	var feasible []*groupResult
	for i := range placements {
		t.core.rec.View = base.Branch()
		r := t.measured(g, &placements[i])
		r.view, t.core.rec.View = t.core.rec.View, base
		switch {
		case r.status.Code() == extpoints.Error:
			r.children = nil // who fails takes those below along
			return r
		case r.status.IsSuccess():
			feasible = append(feasible, r)
		case first == nil:
			first = r
		}
	}
	if len(feasible) == 0 {
		first.status = extpoints.NewStatus(extpoints.Unschedulable, groupUnschedulable,
			fmt.Sprintf("0/%d placements are available, first placement status: %v", len(placements), shortest(first.status)))
		return first
	}
	best, st := t.best(g, feasible)
	if st != nil {
		return &groupResult{group: g, status: st}
	}
	t.core.rec.View = best.view
	return best
}

// shortest is what is said of a try in the message about all of them: as in
// kube-scheduler no more than that it failed, where there is more to say.
func shortest(st *extpoints.Status) string {
	if reasons := st.Reasons(); len(reasons) > 0 && reasons[0] == groupUnschedulable {
		return groupUnschedulable
	}
	return st.Message()
}

// best is the result whose placement has the highest score, the first of those
// that share it. (kube-scheduler takes any of them.)
func (t *groupTry) best(g *extpoints.GroupInfo, feasible []*groupResult) (*groupResult, *extpoints.Status) {
	if len(feasible) == 1 {
		return feasible[0], nil
	}
	states := make([]*extpoints.CycleState, len(feasible))
	tries := make([]*extpoints.Assignments, len(feasible))
	for i, r := range feasible {
		states[i] = r.shared
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
func (t *groupTry) within(g *extpoints.GroupInfo, p *extpoints.Placement) *groupResult {
	r := &groupResult{group: g, placement: p, shared: t.state(g, nil)}
	if g.Composite {
		t.children(r)
	} else {
		t.members(r)
	}
	if !r.status.IsSuccess() {
		r.found = false
	}
	return r
}

// state makes the state of a group's points on the present view.
func (t *groupTry) state(g *extpoints.GroupInfo, shared *extpoints.CycleState) *extpoints.CycleState {
	c := t.core
	c.decisions++
	s := extpoints.NewCycleState(c.context(), c.rec.View.Branch(), t.now, mix(c.cfg.Seed^mix(c.decisions)))
	s.SetTrial(true)
	s.SetGroup(g, shared)
	if c.meter != nil {
		t.fw.Measure(s, true)
	}
	return s
}

// members tries the members of a group of workloads in their order.
func (t *groupTry) members(r *groupResult) {
	g := r.group
	_, placed := t.core.rec.View.Groups().Members(g.ID)
	progress := extpoints.PlacementProgress{Scheduled: placed, Remaining: len(g.Members)}
	if r.status = t.feasible(r, progress); r.status.IsRejected() {
		r.status = extpoints.NewStatus(extpoints.Unschedulable, append([]string{groupUnschedulable}, r.status.Reasons()...)...)
	}
	if r.status.Code() == extpoints.Error || r.status.IsRejected() {
		return
	}
	nodes := narrow(t.core.rec.View.Nodes(), r.placement, t.core.rec.View.Index().Slots())
	for _, w := range g.Members {
		c, st := t.member(r, w, nodes)
		r.members = append(r.members, c)
		if !st.IsSuccess() && !st.IsRejected() {
			r.status = extpoints.AsStatus(fmt.Errorf("failed to schedule other pod from a pod group: %w", st.AsError()))
			return
		}
		progress.Remaining--
		if st.IsSuccess() {
			progress.Scheduled++
		}
		r.status = t.feasible(r, progress)
		if r.status.Code() == extpoints.Error || r.status.IsRejected() {
			return
		}
		r.found = r.found || st.IsSuccess()
	}
	r.endWait()
}

// member tries one member and, where it gets a node, puts it there on the copy.
func (t *groupTry) member(r *groupResult, w *extpoints.WorkloadInfo, nodes extpoints.Nodes) (*cycle, *extpoints.Status) {
	c := t.core.newCycle(t.now, w)
	c.tell = t.tell
	if part, ok := nodes.(*within); ok {
		c.part = part
	}
	c.state.SetTrial(true)
	if t.room {
		c.state.SetMakingRoom()
	}
	c.state.SetGroup(r.group, r.shared)
	st := c.decide()
	if errors.Is(st.AsError(), ErrNoNodes) {
		st = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, st.Message())
		c.nominating = &extpoints.NominatingInfo{Mode: extpoints.NominatingOverride}
	}
	if st == nil {
		// On a copy of the state: it is reserved again when the group is placed.
		if st = c.fw.Reserve(c.state.Clone(), c.info, &c.binding); st != nil {
			c.refuse(st)
		} else {
			t.core.rec.Occupy(c.info, &c.binding, t.now)
		}
	}
	c.result = st
	// What it looked at is in memory that the next one uses.
	c.found, c.refused = len(c.feasible), refusals(c.core.scratch.rejected)
	c.feasible, c.scores = nil, nil
	return c, st
}

// refusal is that the filter of a plugin has turned down a node.
type refusal struct {
	plugin string
	node   *model.Node
}

// refusals are those that GroupPostFilter plugins will want to know of.
func refusals(rejected []rejection) (list []refusal) {
	for _, r := range rejected {
		if plugin, ok := r.verdict.ForGroupPostFilter(); ok {
			list = append(list, refusal{plugin, r.node.Node})
		}
	}
	return list
}

// children tries the groups of a group of groups.
func (t *groupTry) children(r *groupResult) {
	g := r.group
	progress := extpoints.PlacementProgress{Remaining: len(g.Children)}
	r.status = t.fw.PlacementFeasible(r.shared, g, progress)
	if r.status.Code() == extpoints.Error || r.status.IsRejected() {
		return
	}
	for _, child := range g.Children {
		below := t.group(child, t.present(r.placement))
		r.children = append(r.children, below)
		if below.status.Code() == extpoints.Error {
			r.status = extpoints.AsStatus(fmt.Errorf("composite pod group evaluation failed due to child error: %w", below.status.AsError()))
			return
		}
		r.found = r.found || below.found
		progress.Remaining--
		if below.status.IsSuccess() {
			progress.Scheduled++
		}
		r.status = t.fw.PlacementFeasible(r.shared, g, progress)
		if r.status.Code() == extpoints.Error || r.status.IsRejected() {
			return
		}
	}
	r.endWait()
}

// present is the placement with its nodes as they are now.
func (t *groupTry) present(p *extpoints.Placement) *extpoints.Placement {
	now := &extpoints.Placement{Name: p.Name, Nodes: slices.Clone(p.Nodes)}
	nodes := t.core.rec.View.Nodes()
	for i, n := range now.Nodes {
		now.Nodes[i] = nodes.Get(n.Node.Name)
	}
	return now
}

func (t *groupTry) feasible(r *groupResult, p extpoints.PlacementProgress) *extpoints.Status {
	st := t.fw.PlacementFeasible(r.shared, r.group, p)
	if st.Code() == extpoints.Error {
		st = extpoints.AsStatus(fmt.Errorf("failed to evaluate placement feasibility: %w", st.AsError()))
	}
	return st
}

// endWait turns a group down that is still waiting when everybody was tried.
func (r *groupResult) endWait() {
	if r.status.IsWait() {
		r.status = extpoints.NewStatus(extpoints.Unschedulable, append([]string{groupUnschedulable}, r.status.Reasons()...)...)
	}
}

// complete gives every group of the tree a result, those too that were not tried;
// a group below one that has failed has failed with it. above is why the group
// above has failed, nil where it has not. (kube-scheduler
// completeCompositePodGroupAlgorithmResultMap, 1.37.1.)
func (r *groupResult) complete(g *extpoints.GroupInfo, above *extpoints.Status) *groupResult {
	var tried []*groupResult
	if r != nil {
		tried = r.children
	}
	if r == nil || !above.IsSuccess() && r.status.IsSuccess() {
		r = &groupResult{group: g, status: above}
	}
	r.before = r.status
	r.children = make([]*groupResult, len(g.Children))
	for i, child := range g.Children {
		if i < len(tried) {
			r.children[i] = tried[i]
		}
		r.children[i] = r.children[i].complete(child, r.status)
	}
	return r
}

// assignments are the members with a node, those of the groups below that have
// failed left out.
func (r *groupResult) assignments() *extpoints.Assignments {
	a := &extpoints.Assignments{Placement: r.placement}
	r.propose(a)
	return a
}

// proposeAll also has the members that were found a node in groups that have
// failed: for preemption kube-scheduler takes them all, and nominates them
// (schedule_one_podgroup.go podGroupCycle, 1.37.1).
func (r *groupResult) proposeAll(a *extpoints.Assignments) {
	for _, child := range r.children {
		child.proposeAll(a)
	}
	r.proposeMembers(a)
}

func (r *groupResult) propose(a *extpoints.Assignments) {
	if !r.status.IsSuccess() {
		return
	}
	for _, child := range r.children {
		child.propose(a)
	}
	r.proposeMembers(a)
}

func (r *groupResult) proposeMembers(a *extpoints.Assignments) {
	for _, c := range r.members {
		if c.result.IsSuccess() {
			a.Proposals = append(a.Proposals, extpoints.Proposal{Workload: c.info, Binding: c.binding, State: c.state})
		}
	}
}
