package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// groupAttempt is one attempt to place a tree of groups: all or nothing. The
// members are tried on a copy of the cluster; what is found is written down in
// one transaction, so that no member holds anything while others are looked at.
type groupAttempt struct {
	now   time.Time
	item  *queue.Item
	fw    *framework.Framework
	root  *extpoints.GroupInfo
	items map[string]*queue.Item // by member
	// waits: room is being made, or nominations are kept, for the members.
	waits       bool
	nominations map[string]*extpoints.NominatingInfo
	// state is that of the group's own points.
	state *extpoints.CycleState
	// objects are what recording the decisions has changed of objects.
	objects []store.Change
}

// attemptGroup runs the cycle of a tree of groups to its end. (kube-scheduler
// schedule_one_podgroup.go scheduleOnePodGroup, 1.37.1.)
func (r *Raw) attemptGroup(now time.Time, item *queue.Item) {
	a := &groupAttempt{now: now, item: item, root: item.Tree, items: map[string]*queue.Item{}}
	for _, m := range item.Members {
		a.items[m.ID()] = m
	}
	r.present(a.root)
	first := firstMember(a.root)
	if first == nil {
		r.queue.AddAttempted(now, item, queue.GroupPlaced) // all gone, or placed by somebody else
		return
	}
	a.fw = r.framework(first.Workload)
	a.root.All(func(w *extpoints.WorkloadInfo) bool {
		r.listener.Popped(PoppedEvent{At: now, Workload: w.Workload, Attempt: a.items[w.ID].Attempts})
		return true
	})
	if err := r.checkMembers(a.root); err != nil {
		failed := &groupResult{group: a.root, status: extpoints.AsStatus(err)}
		r.submitGroup(a, failed.complete(a.root, nil))
		return
	}
	t := &groupTry{core: r.fork(), now: now, fw: a.fw, tell: &r.listener}
	result := t.try(a.root).complete(a.root, nil)
	a.state = t.state(a.root, nil)
	r.rejoin(t.core)
	if result.status.Code() == extpoints.Unschedulable {
		r.groupPostFilter(a, result)
	}
	r.submitGroup(a, result)
	if a.state != nil {
		r.activate(now, a.state.Activated())
		r.makeRoom(now, groupKey(a.root.ID), a.state)
		r.releaseClaims(now, first.Workload, a.state)
	}
}

// present leaves those members in the tree that still wait for a node, as they
// are now.
func (r *Raw) present(g *extpoints.GroupInfo) {
	var members []*extpoints.WorkloadInfo
	for _, w := range g.Members {
		row := r.rec.Workload(w.ID)
		if row == nil || row.Phase != model.Pending {
			r.queue.Done(w.ID)
			continue
		}
		members = append(members, row.Info)
	}
	g.Members = members
	for _, child := range g.Children {
		r.present(child)
	}
}

func firstMember(g *extpoints.GroupInfo) (first *extpoints.WorkloadInfo) {
	g.All(func(w *extpoints.WorkloadInfo) bool {
		first = w
		return false
	})
	return first
}

// checkMembers refuses a tree whose members do not agree, among each other and
// with the highest group, on what is decided for all of them. The words are
// kube-scheduler's (schedule_one_podgroup.go validatePodGroup, 1.37.1).
func (c *core) checkMembers(root *extpoints.GroupInfo) error {
	first := firstMember(root)
	fw := c.framework(first.Workload)
	var err error
	check := func(w *extpoints.WorkloadInfo) bool {
		switch {
		case c.framework(w.Workload) != fw:
			err = fmt.Errorf("all pods in a single pod group should have the same .spec.schedulerName set, got: %q and %q", w.Profile, first.Profile)
		case w.Priority != root.Priority:
			err = fmt.Errorf("all pods in a single pod group should have the same priority as the pod group's priority, got %d and %d", w.Priority, root.Priority)
		case root.Preemption == "" && w.MayPreempt() != first.MayPreempt():
			err = fmt.Errorf("all pods in a single pod group should have the same preemption policy, got %v and %v",
				policyName(w.Preemption), policyName(first.Preemption))
		case root.Preemption != "" && w.MayPreempt() != (root.Preemption != model.PreemptNever):
			err = fmt.Errorf("all pods in a single pod group should have the same preemption policy as the pod group's preemption policy, got %v and %v",
				policyName(w.Preemption), root.Preemption)
		}
		return err == nil
	}
	if !root.All(check) {
		return err
	}
	var placed func(g *extpoints.GroupInfo)
	placed = func(g *extpoints.GroupInfo) {
		for _, m := range c.rec.View.Groups().Placed(g.ID) {
			if err == nil {
				check(m.WorkloadInfo)
			}
		}
		for _, child := range g.Children {
			placed(child)
		}
	}
	placed(root)
	return err
}

func policyName(p model.PreemptionPolicy) model.PreemptionPolicy {
	if p == "" {
		return model.PreemptLower
	}
	return p
}

// fork returns a core for a try of the engine's own: its view is a copy, what
// extenders answer is recorded with the engine's.
func (c *core) fork() *core {
	return &core{
		cfg: c.cfg, frameworks: c.frameworks, rec: c.rec.ForkView(),
		start: c.start, decisions: c.decisions, answers: c.answers, meter: c.meter, scratch: c.scratch,
	}
}

// rejoin takes over what a fork has used up: the next decision depends on how
// many there were, and where the last search ended.
func (c *core) rejoin(fork *core) {
	c.start, c.decisions, c.scratch = fork.start, fork.decisions, fork.scratch
}

// groupPostFilter gives the GroupPostFilter plugins a chance to make room.
func (r *Raw) groupPostFilter(a *groupAttempt, result *groupResult) {
	if !a.fw.HasGroupPostFilter() {
		return
	}
	fork := r.fork()
	trial := &groupTrial{core: fork, now: a.now, fw: a.fw, root: a.root, last: result}
	found, st := a.fw.GroupPostFilter(a.state, a.root, trial)
	r.rejoin(fork)
	trial.tellFilters()
	switch {
	case st.IsSuccess():
		a.waits = true
		if found != nil {
			a.nominations = found.Nominations
		}
		result.append(st.Message())
	case st.IsRejected():
		result.append(st.Message())
	default:
		r.listener.Failed(FailedEvent{At: a.now, Err: fmt.Errorf("group %q: %w", a.root.ID, st.AsError())})
		result.fail(st)
	}
	r.planRoom(groupKey(a.root.ID), a.state)
}

// append adds a reason to the status of every group of the tree.
func (r *groupResult) append(reason string) {
	r.status = extpoints.NewStatus(r.status.Code(), append(append([]string{}, r.status.Reasons()...), reason)...)
	for _, child := range r.children {
		child.append(reason)
	}
}

// fail makes the whole tree's attempt a failure.
func (r *groupResult) fail(st *extpoints.Status) {
	r.status = st
	for _, child := range r.children {
		child.fail(st)
	}
}

// submitGroup carries out what the attempt came to: the members that have a
// node, in groups all of which fit, go on to be bound; the others go back to
// the queue.
func (r *Raw) submitGroup(a *groupAttempt, result *groupResult) {
	if result.status.IsSuccess() {
		r.reserveGroup(a, result)
		r.commitGroup(a, result)
		r.permitGroup(a, result)
	}
	placed := r.endGroup(a, result)
	r.shareClaims(a.now, a.objects)
	outcome := queue.GroupFailed
	switch {
	case result.status.IsSuccess() && placed > 0:
		outcome = queue.GroupPlaced
	case result.status.IsSuccess(), result.status.IsRejected(), result.before.IsRejected():
		// Also where Permit has turned all of them down, and where it was
		// GroupPostFilter that failed.
		outcome = queue.GroupRejected
	}
	r.queue.AddAttempted(a.now, a.item, outcome)
}

// chosen lists the members that have a node, in groups all of which fit.
func (r *groupResult) chosen(list []*cycle) []*cycle {
	if !r.status.IsSuccess() {
		return list
	}
	for _, child := range r.children {
		list = child.chosen(list)
	}
	for _, c := range r.members {
		if c.result.IsSuccess() {
			list = append(list, c)
		}
	}
	return list
}

// reserveGroup reserves again for the members that have a node, this time for
// real. A member that is refused is left out; where its group does not hold
// without it, the others give back what they have.
func (r *Raw) reserveGroup(a *groupAttempt, result *groupResult) {
	chosen := result.chosen(nil)
	refused := false
	for _, c := range chosen {
		c.core, c.item, c.created = r.core, a.items[c.info.ID], r.rec.Workload(c.info.ID).CreateIndex
		c.state.SetTrial(false)
		c.state.SetGroup(nil, nil)
		c.binding = model.Binding{Workload: c.info.ID, Node: c.binding.Node}
		if st := c.fw.Reserve(c.state, c.info, &c.binding); st != nil {
			r.unreserve(c)
			c.refuse(st)
			c.result, refused = st, true
		}
	}
	if !refused {
		return
	}
	for _, c := range r.dropped(a, result, chosen, true) {
		r.unreserve(c)
	}
}

// commitGroup records all the decisions in one transaction, or none.
func (r *Raw) commitGroup(a *groupAttempt, result *groupResult) {
	chosen := result.chosen(nil)
	tx := r.rec.Begin()
	for _, c := range chosen {
		if _, err := tx.Assume(c.binding, a.now); err != nil {
			tx.Abort()
			for _, c := range chosen {
				r.unreserve(c)
			}
			result.fail(extpoints.AsStatus(err))
			return
		}
	}
	a.objects = r.commitOwn(a.now, tx)
}

// permitGroup asks the Permit plugins about all members before any of them goes
// on: where some are turned down and their group does not hold without them, the
// others are turned down too, so that nobody is bound in vain. (kube-scheduler
// lets the others wait on Permit then, with their nodes, until they time out.)
func (r *Raw) permitGroup(a *groupAttempt, result *groupResult) {
	chosen := result.chosen(nil)
	for _, c := range chosen {
		c.waits, c.permit = c.fw.Permit(c.state, c.info, &c.binding)
	}
	refused := false
	for _, c := range chosen { // now: no plugin is to count some of them and not others
		if !c.permit.IsSuccess() && !c.permit.IsWait() {
			r.turnDown(c, c.permit)
			c.result, refused = c.permit, true
		}
	}
	if !refused {
		return
	}
	for _, c := range r.dropped(a, result, chosen, false) {
		r.giveBack(c)
	}
}

// dropped asks once more whether the groups hold, and lists those of the chosen
// members whose groups do not, although they themselves were not turned down.
// reserving: see holds.
func (r *Raw) dropped(a *groupAttempt, result *groupResult, chosen []*cycle, reserving bool) []*cycle {
	r.holds(a, result, reserving)
	still := map[*cycle]bool{}
	for _, c := range result.chosen(nil) {
		still[c] = true
	}
	return slices.DeleteFunc(slices.Clone(chosen), func(c *cycle) bool { return still[c] || !c.result.IsSuccess() })
}

// holds asks once more, from below, whether the groups of the tree hold with the
// members that are left, and notes for those that do not that they have failed.
// reserving: the members that are left are not recorded yet.
func (r *Raw) holds(a *groupAttempt, result *groupResult, reserving bool) bool {
	if !result.status.IsSuccess() {
		return false
	}
	var progress extpoints.PlacementProgress
	if result.group.Composite {
		for _, child := range result.children {
			if r.holds(a, child, reserving) {
				progress.Scheduled++
			}
		}
	} else {
		_, progress.Scheduled = r.rec.View.Groups().Members(result.group.ID)
		for _, c := range result.members {
			if reserving && c.result.IsSuccess() {
				progress.Scheduled++
			}
		}
	}
	st := a.fw.PlacementFeasible(result.shared, result.group, progress)
	if st.IsSuccess() {
		return true
	}
	if st.Code() != extpoints.Error {
		st = extpoints.NewStatus(extpoints.Unschedulable, append([]string{groupUnschedulable}, st.Reasons()...)...)
	}
	result.fail(st)
	return false
}

// endGroup ends the attempt for every member of the group, and returns how many
// have a node.
func (r *Raw) endGroup(a *groupAttempt, result *groupResult) int {
	g := result.group
	event := GroupEvent{At: a.now, Group: g.Group, Code: result.status.Code(), Message: result.status.Message(), MakingRoom: a.waits}
	placed := 0
	for _, child := range result.children {
		placed += r.endGroup(a, child)
	}
	for i, w := range g.Members {
		var c *cycle
		if i < len(result.members) {
			c = result.members[i]
		}
		if r.endMember(a, result, w, c) {
			event.Placed++
		} else {
			event.Unplaced++
		}
	}
	r.listener.Decided(event)
	return placed + event.Placed
}

// endMember ends the attempt for one member; c is its own cycle, nil where it
// was not tried. It reports whether the member has a node.
func (r *Raw) endMember(a *groupAttempt, result *groupResult, w *extpoints.WorkloadInfo, c *cycle) bool {
	fits := c != nil && c.result.IsSuccess()
	if fits && result.status.IsSuccess() {
		return r.memberPlaced(c)
	}
	own := c
	if own == nil || fits {
		own = &cycle{core: r.core, now: a.now, info: w, fw: a.fw, view: r.rec.View, state: a.state, binding: model.Binding{Workload: w.ID}}
	}
	own.core, own.item = r.core, a.items[w.ID]
	clear := &extpoints.NominatingInfo{Mode: extpoints.NominatingOverride}
	st := result.status
	switch {
	case st.Code() == extpoints.Error:
		if c != nil && c.result.Code() == extpoints.Error {
			st = c.result
		}
		own.diagnosis, own.nominating = nil, clear
		r.fail(own, st)
		return false
	case c == nil:
		st = result.before
	case !fits:
		st = c.result
	case !a.waits:
		st = extpoints.NewStatus(extpoints.Unschedulable, groupUnschedulable, st.Message())
		own.nominating = clear
	}
	if n := a.nominations[w.ID]; n != nil {
		own.nominating = n
	}
	r.fail(own, st)
	return false
}

// memberPlaced goes on with a member whose node is recorded, and which Permit
// lets go on or wait.
func (r *Raw) memberPlaced(c *cycle) bool {
	r.listener.Reserved(PlacedEvent{At: c.now, Workload: c.info.Workload, Binding: c.binding})
	r.goOn(c, c.waits, c.permit)
	r.memory.remember(c)
	return true
}

// groupKey stands for a tree of groups where other keys are workloads' IDs: no
// ID has a NUL in it.
func groupKey(root string) string { return "\x00" + root }
