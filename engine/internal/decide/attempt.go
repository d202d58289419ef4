package decide

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Attempt is one attempt to place n >= 1 workloads, all or nothing as their groups
// want it: the members of a tree of groups, or a workload by itself, which is a tree
// of one leaf. Its steps are called in this order; whoever calls them does in between
// what is not the decider's business:
//
//	a.Search()      // filter, score, select, for each member
//	a.PostFilter()  // where they do not fit
//	a.Reserve()     // for real, and recorded in one transaction
//	a.Permit()      // for all members before any of them goes on
//
// On a branch plugins reserve nothing for real, and nobody is asked to permit.
type Attempt struct {
	Now       time.Time
	Framework *framework.Framework
	// Root is the tree of groups; nil for a workload by itself.
	Root *extpoints.GroupInfo
	// Result is what the attempt has come to so far.
	Result *GroupResult
	// Nominations are what GroupPostFilter said, by member.
	Nominations map[string]extpoints.PostFilterResult
	// MakingRoom: GroupPostFilter makes room, or keeps nominations, for the members.
	MakingRoom bool

	d    *Decider
	port Port
	// run is that of the tree's own points, once they were asked; of a workload by
	// itself it is its cycle's.
	run   *extpoints.Cycle
	tried []*Cycle // in the order in which they were
	said  bool     // GroupPostFilter had a result
}

// Port is what an attempt needs of those who make it.
type Port interface {
	Observer
	// Commit commits the transaction and lets all follow that must. It returns the
	// facts about objects, which those that wait are not told of yet.
	Commit(now time.Time, tx *store.Txn) []store.Change
	// TurnedDown is told that the Permit plugins have not let a member through, or
	// that its group does not hold without another: what was recorded of it was
	// taken back.
	TurnedDown(c *Cycle)
}

// Attempt starts an attempt to place a workload by itself.
func (d *Decider) Attempt(now time.Time, info *extpoints.WorkloadInfo, port Port) *Attempt {
	a := &lone{}
	d.startCycle(&a.cycle, now, info, port, extpoints.CycleOptions{})
	a.members[0] = &a.cycle
	a.result.Members = a.members[:]
	a.Attempt = Attempt{
		Now: now, Framework: a.cycle.Framework, run: a.cycle.run, d: d, port: port,
		Result: &a.result, tried: a.members[:],
	}
	return &a.Attempt
}

// lone is an attempt for a workload by itself, with all that belongs to it: one allocation.
type lone struct {
	Attempt
	result  GroupResult
	members [1]*Cycle
	cycle   Cycle
}

// AttemptGroup starts an attempt to place the members of the tree, of which there is
// at least one.
func (d *Decider) AttemptGroup(now time.Time, root *extpoints.GroupInfo, port Port) *Attempt {
	return &Attempt{
		Now: now, Framework: d.Profiles.Of(FirstMember(root).Workload), Root: root, d: d, port: port,
		Result: &GroupResult{Group: root},
	}
}

// Lone returns the cycle of a workload by itself, nil for a tree of groups.
func (a *Attempt) Lone() *Cycle {
	if a.Root != nil {
		return nil
	}
	return a.Result.Members[0]
}

// Search looks for a node for each member: it changes nothing that is recorded.
func (a *Attempt) Search() {
	if c := a.Lone(); c != nil {
		c.Result = c.Decide()
		if c.Result.IsRejected() {
			c = a.shorten(c)
		}
		a.Result.Status = c.Result
		return
	}
	delays := false
	t := &groupTry{d: a.d.forkView(), now: a.Now, fw: a.Framework, tell: a.port}
	t.d.noteRefusals(&delays)
	result := t.try(a.Root)
	a.tried = result.tried(nil)
	if delays {
		// That may have been in another placement than the one that is told of.
		blame(a.tried, Backfill)
	}
	a.Result = result.complete(a.Root, nil)
	a.run = t.run(a.Root)
	a.d.rejoin(t.d)
}

// SearchIn looks for places for a tree of groups once more, for the members that are in
// the map on the nodes that it says, and reports whether that has found places. If not
// the attempt stays as it was. Members that are looked at one by one may take each
// other's places, which those of a plan do not.
func (a *Attempt) SearchIn(nodes map[string]string) bool {
	t := &groupTry{d: a.d.forkView(), now: a.Now, fw: a.Framework, tell: a.port, reserved: nodes}
	result := t.try(a.Root)
	if !result.Status.IsSuccess() {
		return false
	}
	a.tried = result.tried(nil)
	a.Result = result.complete(a.Root, nil)
	a.run = t.run(a.Root)
	a.d.rejoin(t.d)
	return true
}

// Refuse fails the whole attempt before anything was searched for.
func (a *Attempt) Refuse(err error) {
	failed := &GroupResult{Group: a.Root, Status: extpoints.AsStatus(err)}
	a.Result = failed.complete(a.Root, nil)
}

// Forgo rejects all of it before anything was searched for: whatever there is on nodes, it must
// not start now.
func (a *Attempt) Forgo(st *extpoints.Status) {
	if c := a.Lone(); c != nil {
		c.forgo(st)
		a.Result.Status = st
		return
	}
	refused := &GroupResult{Group: a.Root, Status: st}
	a.Result = refused.complete(a.Root, nil)
	a.forgoMembers(a.Result, st)
}

// forgoMembers rejects the members of the group, none of which was tried.
func (a *Attempt) forgoMembers(r *GroupResult, st *extpoints.Status) {
	for _, child := range r.Children {
		a.forgoMembers(child, st)
	}
	for _, w := range r.Group.Members {
		c := a.Untried(w)
		c.View = c.View.Branch()
		c.forgo(st)
		r.Members = append(r.Members, c)
	}
}

// TurnDown rejects all of it although it fits: each member that has found a node was rejected there. For a
// workload by itself the next search begins where this one did, since the rejection stands for those like
// it, which would find the same node.
func (a *Attempt) TurnDown(st *extpoints.Status) {
	for _, c := range a.Chosen() {
		c.Refuse(st)
		c.Result = st
	}
	if c := a.Lone(); c != nil {
		a.d.start = c.start
	}
	a.Result.fail(st)
}

// Untried makes a cycle in which nothing was tried, for a member of the tree.
func (a *Attempt) Untried(w *extpoints.WorkloadInfo) *Cycle {
	c := &Cycle{
		d: a.d, tell: a.port, run: a.run, Now: a.Now, Info: w, Framework: a.Framework, View: a.d.Record.View,
		Binding: model.Binding{Workload: w.ID},
	}
	if a.run != nil {
		c.State = a.run.State()
	}
	return c
}

// Searched reports whether plugins were asked.
func (a *Attempt) Searched() bool { return a.run != nil }

// Requests are what plugins have asked for, at the points of the tree or in the cycle
// of the workload by itself.
func (a *Attempt) Requests() extpoints.Requests { return a.run.Requests() }

// Tried are the members that were tried, in that order.
func (a *Attempt) Tried() []*Cycle { return a.tried }

// PostFilter gives the PostFilter plugins a chance to make room for what does not fit.
// It stays unschedulable in this attempt. asked: there was somebody to ask; the error
// is that of a plugin.
func (a *Attempt) PostFilter() (asked bool, err error) {
	if c := a.Lone(); c != nil {
		return c.postFilter()
	}
	if a.Result.Status.Code() != extpoints.Unschedulable || !a.Framework.HasGroupPostFilter() {
		return false, nil
	}
	fork := a.d.forkView()
	trial := &groupTrial{d: fork, now: a.Now, fw: a.Framework, root: a.Root, last: a.Result.tried(nil)}
	found, st := a.Framework.GroupPostFilter(a.run.State(), a.Root, trial)
	a.d.rejoin(fork)
	trial.tellFilters()
	if a.said = found != nil; a.said {
		a.Nominations = found.Nominations
	}
	switch {
	case st.IsSuccess():
		a.MakingRoom = true
		a.Result.append(st.Message())
	case st.IsRejected():
		a.Result.append(st.Message())
	default:
		a.Result.fail(st)
		return true, st.AsError()
	}
	return true, nil
}

// Nominating is what GroupPostFilter has said of a member's nomination. strictly: of a
// member that is missing from a result that it has said to drop it.
func (a *Attempt) Nominating(id string, strictly bool) extpoints.PostFilterResult {
	n, listed := a.Nominations[id]
	n.Clear = n.Clear || strictly && a.said && !listed
	return n
}

// postFilter is PostFilter for a workload by itself. Where there is no node nobody can make room.
func (c *Cycle) postFilter() (asked bool, err error) {
	if c.Diagnosis == nil || c.nodes().Len() == 0 || !c.Framework.HasPostFilter() {
		c.Unasked = true
		return false, nil
	}
	if c.Framework.HasCompanions() {
		framework.UseCompany(c.State, company{c})
	}
	result, after := c.Framework.PostFilter(c.State, c.Info, c.Diagnosis)
	c.Diagnosis.PostFilterMessage = framework.PostFilterMessage(after)
	if after.Code() == extpoints.Error {
		return true, after.AsError()
	}
	if result != nil {
		c.Nominating = *result
	}
	return true, nil
}

// Chosen lists the members that have a node, in groups all of which fit.
func (a *Attempt) Chosen() []*Cycle { return a.Result.chosen(nil) }

// Reserve sets aside what the chosen members need on their nodes, and records the
// decisions in one transaction, or none. A member that is refused is left out; where
// its group does not hold without it, the others give back what they have. It returns
// what recording has changed of objects. (kube-scheduler assumes first and reserves
// then; since nobody sees the state in between the order makes no difference, and a
// Reserve that fails leaves nothing to take back.)
func (a *Attempt) Reserve() []store.Change {
	chosen := a.Chosen()
	refused := false
	for _, c := range chosen {
		if st := a.reserve(c); st != nil {
			a.refuse(c, st)
			refused = true
		}
	}
	if refused {
		for _, c := range a.dropped(chosen, true) {
			a.Unreserve(c)
		}
		chosen = a.Chosen()
	}
	if len(chosen) == 0 {
		return nil
	}
	tx := a.d.Record.Begin()
	defer tx.Abort()
	for _, c := range chosen {
		if _, err := tx.Assume(c.Binding, a.Now); err != nil {
			tx.Abort() // before plugins are called
			a.failRecording(chosen, extpoints.AsStatus(err))
			return nil
		}
	}
	return a.port.Commit(a.Now, tx)
}

// reserve asks the Reserve plugins for one member. Those of a group were asked in
// the search, on copies of their states: on a branch that will do, else they are asked
// again, for real.
func (a *Attempt) reserve(c *Cycle) *extpoints.Status {
	if a.Root != nil {
		if a.d.trial {
			return nil
		}
		c.d = a.d
		c.run.EndTrial()
		c.Binding = model.Binding{Workload: c.Info.ID, Node: c.Binding.Node}
	}
	return c.Framework.Reserve(c.State, c.Info, &c.Binding)
}

// refuse takes back what was reserved for a member that is refused.
func (a *Attempt) refuse(c *Cycle, st *extpoints.Status) {
	a.Unreserve(c)
	c.Refuse(st)
	c.Result = st
	if a.Root == nil {
		a.Result.Status = st
	}
}

// failRecording ends an attempt whose decisions could not be recorded.
func (a *Attempt) failRecording(chosen []*Cycle, st *extpoints.Status) {
	for _, c := range chosen {
		if a.Root == nil {
			a.refuse(c, st)
		} else {
			a.Unreserve(c)
		}
	}
	if a.Root != nil {
		a.Result.fail(st)
	}
}

// Unreserve calls Unreserve of all Reserve plugins, where they were asked for real.
func (a *Attempt) Unreserve(c *Cycle) {
	if a.Root != nil && a.d.trial {
		return
	}
	for _, err := range c.Framework.Unreserve(c.State, c.Info, &c.Binding) {
		a.port.Failed(c, err)
	}
}

// Permit asks the Permit plugins about all chosen members before any of them goes on:
// where some are rejected and their group does not hold without them, the others
// are rejected too, so that nobody is bound in vain. (kube-scheduler lets the
// others wait on Permit then, with their nodes, until they time out.)
func (a *Attempt) Permit() {
	chosen := a.Chosen()
	for _, c := range chosen {
		c.Waits, c.Permit = c.Framework.Permit(c.State, c.Info, &c.Binding, a.d.Answers.permit(c))
	}
	refused := false
	for _, c := range chosen { // now: no plugin is to count some of them and not others
		if !c.Permit.IsSuccess() && c.Permit.Code() != extpoints.Wait {
			a.port.TurnedDown(c)
			c.Refuse(c.Permit)
			c.Result, refused = c.Permit, true
		}
	}
	if !refused {
		return
	}
	for _, c := range a.dropped(chosen, false) {
		a.port.TurnedDown(c)
	}
}

// dropped asks once more whether the groups hold, and lists those of the chosen
// members whose groups do not, although they themselves were not rejected.
// reserving: see holds.
func (a *Attempt) dropped(chosen []*Cycle, reserving bool) []*Cycle {
	if c := a.Lone(); c != nil {
		a.Result.Status = c.Result
		return nil
	}
	a.holds(a.Result, reserving)
	still := map[*Cycle]bool{}
	for _, c := range a.Chosen() {
		still[c] = true
	}
	return slices.DeleteFunc(slices.Clone(chosen), func(c *Cycle) bool { return still[c] || !c.Result.IsSuccess() })
}

// holds asks once more, from below, whether the groups of the tree hold with the
// members that are left, and notes for those that do not that they have failed.
// reserving: the members that are left are not recorded yet.
func (a *Attempt) holds(r *GroupResult, reserving bool) bool {
	if !r.Status.IsSuccess() {
		return false
	}
	var progress extpoints.PlacementProgress
	if r.Group.Composite {
		for _, child := range r.Children {
			if a.holds(child, reserving) {
				progress.Scheduled++
			}
		}
	} else {
		_, progress.Scheduled = a.d.Record.View.Groups().Members(r.Group.ID)
		for _, c := range r.Members {
			if reserving && c.Result.IsSuccess() {
				progress.Scheduled++
			}
		}
	}
	st := a.Framework.PlacementFeasible(r.Shared, r.Group, progress)
	if st.IsSuccess() {
		return true
	}
	if st.Code() != extpoints.Error {
		st = groupUnschedulable(st)
	}
	r.fail(st)
	return false
}
