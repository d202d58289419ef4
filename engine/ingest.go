package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Apply makes the changes, in order, in one transaction: all of them or, if
// anything is wrong with any, none. The error then lists every problem of
// every change; see [ChangeError].
func (r *Raw) Apply(now time.Time, changes ...Change) error {
	if len(changes) == 0 {
		return nil
	}
	tx := r.store.Begin()
	if err := r.write(tx, now, changes); err != nil {
		tx.Abort()
		return err
	}
	r.recorder.apply(now, changes)
	defer r.settle(now)
	r.commit(now, tx)
	return nil
}

// write makes the changes in the transaction and collects the problems.
func (c *core) write(tx *store.Txn, now time.Time, changes []Change) error {
	var problems []error
	for i := range changes {
		if err := c.writeOne(tx, now, &changes[i]); err != nil {
			problems = append(problems, &ChangeError{Index: i, Change: changes[i].String(), Err: err})
		}
	}
	return errors.Join(problems...)
}

func (c *core) writeOne(tx *store.Txn, now time.Time, ch *Change) error {
	var err error
	switch {
	case ch.count() > 1:
		err = errors.New("it says more than one thing")
	case ch.PutNode != nil:
		if err = ch.PutNode.Validate(); err == nil {
			err = tx.PutNode(ch.PutNode)
		}
	case ch.RemoveNode != "":
		err = tx.DeleteNode(ch.RemoveNode)
	case ch.Submit != nil:
		if err = c.check(tx, ch.Submit); err == nil {
			err = tx.Submit(ch.Submit)
		}
	case ch.Adopt != nil:
		err = c.adopt(tx, now, ch.Adopt)
	case ch.Update != nil:
		if err = c.checkUpdate(tx, ch.Update); err == nil {
			err = tx.UpdateWorkload(another(tx, ch.Update))
		}
	case ch.Confirm != nil && confirmedAlready(tx, ch.Confirm):
		err = started(tx, ch.Confirm)
	case ch.Confirm != nil:
		err = tx.Confirm(ch.Confirm.Workload, ch.Confirm.Node, ch.Confirm.Devices, since(tx, ch.Confirm, now))
	case ch.Nominate != nil:
		err = nominateFromOutside(tx, ch.Nominate)
	case ch.Terminate != "" && leavesAlready(tx, ch.Terminate), ch.Displace != "" && displacedAlready(tx, ch.Displace):
	case ch.Terminate != "":
		err = tx.Terminate(ch.Terminate)
	case ch.Displace != "":
		err = tx.Displace(ch.Displace)
	case ch.Finish != "":
		err = tx.Finish(ch.Finish)
	case ch.Requeue != "":
		if err = c.checkRequeue(tx, ch.Requeue); err == nil {
			err = tx.Requeue(ch.Requeue)
		}
	case ch.Remove != "":
		err = tx.DeleteWorkload(ch.Remove)
	default:
		err = c.writeOther(tx, ch)
	}
	return err
}

// confirmedAlready reports whether the confirmation says what is recorded
// already: orchestrators may repeat themselves.
func confirmedAlready(tx *store.Txn, b *model.Binding) bool {
	row := tx.Workload(b.Workload)
	return row != nil && (row.Phase == model.Confirmed || row.Phase == model.Terminating) && row.Node == b.Node
}

// leavesAlready reports whether it is recorded that the workload is on its way out:
// the engine may have had that from who evicted it.
func leavesAlready(tx *store.Txn, id string) bool {
	row := tx.Workload(id)
	return row != nil && row.Phase == model.Terminating
}

// displacedAlready is leavesAlready, for room that another workload needs.
func displacedAlready(tx *store.Txn, id string) bool {
	return leavesAlready(tx, id) && tx.Workload(id).Info.Displaced
}

// started records when a workload that is confirmed already has started, where
// that is new.
func started(tx *store.Txn, b *model.Binding) error {
	row := tx.Workload(b.Workload)
	if b.Since.IsZero() || b.Since.Equal(row.Info.PlacedAt) || row.Phase == model.Terminating {
		return nil
	}
	return tx.Started(b.Workload, b.Since)
}

// nominateFromOutside records a nomination that is not the engine's. The workload
// may have got a node in the meantime.
func nominateFromOutside(tx *store.Txn, n *Nomination) error {
	if row := tx.Workload(n.Workload); row != nil && row.Phase != model.Pending {
		return nil
	}
	return tx.Nominate(n.Workload, n.Node)
}

// writeOther makes the changes that are not about nodes or workloads.
func (c *core) writeOther(tx *store.Txn, ch *Change) error {
	var err error
	switch {
	case ch.PutGroup != nil:
		if err = errors.Join(ch.PutGroup.Validate(), checkTree(tx, ch.PutGroup)); err == nil {
			err = tx.PutGroup(ch.PutGroup)
		}
	case ch.RemoveGroup != "":
		err = tx.DeleteGroup(ch.RemoveGroup)
	case ch.PutBudget != nil:
		if err = ch.PutBudget.Validate(); err == nil {
			err = tx.PutBudget(ch.PutBudget)
		}
	case ch.RemoveBudget != "":
		err = tx.DeleteBudget(ch.RemoveBudget)
	case ch.PutNamespace != nil:
		if err = ch.PutNamespace.Validate(); err == nil {
			err = tx.PutNamespace(ch.PutNamespace)
		}
	case ch.RemoveNamespace != "":
		err = tx.DeleteNamespace(ch.RemoveNamespace)
	case !isNothing(ch.PutObject):
		if err = checkObject(ch.PutObject); err == nil {
			err = tx.PutObject(anotherObject(tx, ch.PutObject))
		}
	case ch.RemoveObject != nil:
		err = tx.DeleteObject(*ch.RemoveObject)
	default:
		err = errors.New("it says nothing")
	}
	return err
}

// since is when a workload that is confirmed got to its node: as the orchestrator
// says, else the zero time, which keeps what is recorded, if that is where the
// engine put it.
func since(tx *store.Txn, b *model.Binding, now time.Time) time.Time {
	if !b.Since.IsZero() {
		return b.Since
	}
	if row := tx.Workload(b.Workload); row != nil && place(row) == b.Node {
		return time.Time{}
	}
	return now
}

// adopt takes in a workload that already is on a node. Its node and group may
// be unknown as yet: what is there is there.
func (c *core) adopt(tx *store.Txn, now time.Time, p *Placement) error {
	if p.Workload == nil {
		return errors.New("there is no workload")
	}
	if p.Node == "" {
		return fmt.Errorf("workload %q: there is no node", p.Workload.ID)
	}
	if err := p.Workload.Validate(); err != nil {
		return err
	}
	since := p.Since
	if since.IsZero() {
		since = now
	}
	return tx.Place(p.Workload, p.Node, p.Devices, since)
}

// commit makes the transaction part of the record and lets the view and the
// queue follow: first the whole view, then the queue, so that whoever is woken
// sees everything.
func (r *Raw) commit(now time.Time, tx *store.Txn) {
	changes := r.follow(tx)
	for i := range changes {
		r.react(now, &changes[i])
	}
}

// commitOwn is commit for a decision of the engine's own. What it changes of
// objects is returned and not told: to the workload in flight it would be an event
// like any other, so that a decision that is taken back would wake the very
// workload it was about.
func (r *Raw) commitOwn(now time.Time, tx *store.Txn) (objects []store.Change) {
	changes := r.follow(tx)
	for i := range changes {
		if changes[i].Kind == store.ObjectKind {
			objects = append(objects, changes[i])
		} else {
			r.react(now, &changes[i])
		}
	}
	return objects
}

// shareClaims tells of the claims to devices that a decision gave something, as far
// as it still holds, when the workload is not in flight any more: others that use
// them can go where the devices are. That a volume is taken helps nobody.
func (r *Raw) shareClaims(now time.Time, objects []store.Change) {
	for i := range objects {
		after := objects[i].NewObject
		if claim, ok := current(after).(*model.DeviceClaim); ok && current(r.store.Object(after.Ref())) == model.Object(claim) {
			r.reactObject(now, objects[i].OldObject, after, "")
		}
	}
}

// react lets queue and listeners follow one change.
func (r *Raw) react(now time.Time, ch *store.Change) {
	switch ch.Kind {
	case store.NodeKind:
		r.reactNode(now, ch.OldNode, ch.NewNode)
	case store.WorkloadKind:
		r.followRoom(ch.OldWorkload, ch.NewWorkload)
		r.reactWorkload(now, ch.OldWorkload, ch.NewWorkload)
	case store.GroupKind:
		change := extpoints.Change{Event: event(extpoints.GroupResource, ch.OldGroup != nil, ch.NewGroup != nil)}
		if ch.OldGroup != nil {
			change.OldGroup = ch.OldGroup.Group
		}
		if ch.NewGroup != nil {
			change.NewGroup = ch.NewGroup.Group
		}
		r.queue.GroupChanged(now, ch.ID())
		if r.room.forGroups > 0 {
			r.checkGroupRoom(ch.ID())
		}
		r.offer(now, &change, nil)
	case store.BudgetKind:
		r.offer(now, &extpoints.Change{Event: event(extpoints.BudgetResource, ch.OldBudget != nil, ch.NewBudget != nil)}, nil)
	case store.NamespaceKind:
		change := extpoints.Change{Event: event(extpoints.NamespaceResource, ch.OldNamespace != nil, ch.NewNamespace != nil)}
		if ch.OldNamespace != nil {
			change.OldNamespace = ch.OldNamespace.Namespace
		}
		if ch.NewNamespace != nil {
			change.NewNamespace = ch.NewNamespace.Namespace
		}
		r.offer(now, &change, nil)
	case store.ObjectKind:
		r.reactObject(now, ch.OldObject, ch.NewObject, "")
	}
}

// reactObject tells of an object that was reported, or about which something
// was decided or taken back: to those who wait it is the same. The workload of
// the ID is not woken, empty for none.
func (r *Raw) reactObject(now time.Time, before, after *store.Object, but string) {
	change := extpoints.Change{OldObject: current(before), NewObject: current(after)}
	if change.OldObject == change.NewObject {
		return
	}
	kind := cmp.Or(change.NewObject, change.OldObject).ObjectKind()
	if kind == model.DeviceTaintRuleKind {
		r.reactTaintRule(now, &change)
		return
	}
	change.Event = event(extpoints.Resource(kind), before != nil, after != nil)
	var others func(*model.Workload) bool
	if but != "" {
		others = func(w *model.Workload) bool { return w.ID != but }
	}
	r.offer(now, &change, others)
}

// reactTaintRule tells of the slices whose devices have other taints because of a
// rule. What the rule itself says is of no interest to anybody. (kube-scheduler:
// k8s.io/dynamic-resource-allocation resourceslice/tracker, 0.37.1.)
func (r *Raw) reactTaintRule(now time.Time, rule *extpoints.Change) {
	before, after := extpoints.ObjectsOf[*model.DeviceTaintRule](rule)
	for _, s := range r.view.Devices().Slices().List {
		if retaints(s, before, after) {
			r.offer(now, &extpoints.Change{
				Event:     extpoints.ClusterEvent{Resource: extpoints.DeviceSliceResource, Action: extpoints.Update},
				OldObject: s, NewObject: s,
			}, nil)
		}
	}
}

// retaints reports whether the change of a rule gives some device of the slice
// other taints; nil is no rule.
func retaints(s *model.DeviceSlice, before, after *model.DeviceTaintRule) bool {
	for i := range s.Devices {
		was, is := before.AppliesTo(s, i), after.AppliesTo(s, i)
		if was != is || was && before.Taint != after.Taint {
			return true
		}
	}
	return false
}

// current is the object as decisions have to take it, nil where there is none.
func current(row *store.Object) model.Object {
	if row == nil {
		return nil
	}
	return row.Current()
}

func event(resource extpoints.Resource, before, after bool) extpoints.ClusterEvent {
	e := extpoints.ClusterEvent{Resource: resource, Action: extpoints.Update}
	switch {
	case !before:
		e.Action = extpoints.Add
	case !after:
		e.Action = extpoints.Delete
	}
	return e
}

func (r *Raw) reactNode(now time.Time, before, after *store.Node) {
	change := extpoints.Change{}
	if before != nil {
		change.OldNode = before.Node
	}
	if after != nil {
		change.NewNode = after.Node
	}
	if before != nil && after != nil && before.Seq != after.Seq { // removed and put again
		r.reactNode(now, before, nil)
		r.reactNode(now, nil, after)
		return
	}
	if before == nil || after == nil {
		change.Event = event(extpoints.NodeResource, before != nil, after != nil)
		r.offer(now, &change, nil)
		return
	}
	for _, e := range queue.EventsForNodeUpdate(before.Node, after.Node) {
		change.Event = e
		r.offer(now, &change, nil)
	}
}

// reactWorkload follows a workload's move from one phase to another. What the
// scheduling cycle itself does (assume, forget, bind, nominate) is followed
// where it happens.
func (r *Raw) reactWorkload(now time.Time, before, after *store.Workload) {
	if before != nil && after != nil && before.CreateIndex != after.CreateIndex {
		// Removed and handed in again in one transaction: another workload.
		r.removed(now, before, nil)
		before = nil
	}
	switch {
	case before == nil && after.Phase == model.Pending:
		r.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
		r.enqueue(now, after.Info)
	case before == nil && place(after) == "": // ended before it began
		r.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
	case before == nil:
		r.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
		r.confirmed(now, nil, after)
	case after == nil || after.Phase == model.Finished:
		r.removed(now, before, after)
	case after.Phase == model.Pending && before.Phase == model.Pending:
		if before.Info.Workload != after.Info.Workload && r.tasks[after.Info.ID] == nil {
			r.offering(workloadUpdated, func() {
				r.queue.Update(now, before.Info, after.Info)
				if after.Info.Group != "" && before.Info.Group != after.Info.Group {
					r.awaited(now, after.Info)
				}
			})
			if nomination(after) != "" && after.Info.Priority < before.Info.Priority && !r.cfg.ReferenceWakeUps {
				r.roomGiven(now, before, queue.RoomGivenUp) // others need not leave it that room any more
			}
		}
		if nomination(before) != nomination(after) {
			r.freed(now, before)
		}
	case after.Phase == model.Pending:
		// Where the engine itself takes a decision back there is no task.
		if before.Phase != model.Assumed || r.tasks[before.Info.ID] != nil {
			r.requeued(now, before, after)
		}
	case after.Phase == model.Terminating && before.Phase == model.Pending:
		r.queue.Delete(before.Info.ID)
		r.freed(now, before)
	case after.Phase == model.Terminating && before.Phase == model.Assumed:
		r.interrupt(now, before.Info.ID, ErrRemoved)
		r.freed(now, before) // not the room, but what was reserved besides
	case after.Phase == model.Confirmed && before.Phase != model.Confirmed:
		r.confirmed(now, before, after)
	case after.Phase == model.Assumed || after.Phase == model.Bound:
		if before.Phase == after.Phase {
			r.updated(now, before, after)
		}
		if kept := nomination(before); kept != "" && kept != after.Node && !r.cfg.ReferenceWakeUps {
			r.roomGiven(now, before, queue.RoomGivenUp)
		}
		if r.waiting.get(after.Info.ID) != nil {
			r.queue.Update(now, before.Info, after.Info) // for when it is turned down
		}
	default:
		r.updated(now, before, after)
	}
}

// confirmed follows a workload that has been seen on a node.
func (r *Raw) confirmed(now time.Time, before, after *store.Workload) {
	id := after.Info.ID
	binding := model.Binding{Workload: id, Node: after.Node, Devices: after.Info.Shares}
	delete(r.lastWhy, id)
	if before != nil && before.Phase == model.Pending {
		r.dequeue(id)
	}
	if before != nil && before.Phase == model.Assumed && before.Node != after.Node {
		r.interrupt(now, id, ErrRemoved) // it went elsewhere
	}
	if before != nil && place(before) != after.Node {
		r.left(id)
		switch kept := nomination(before); {
		case kept == after.Node:
		case kept != "" && r.cfg.ReferenceWakeUps:
		default:
			r.freed(now, before) // what it had there
		}
	}
	if before != nil && place(before) == after.Node && holdsOther(before, after) {
		r.updated(now, before, after) // it may hold less there than it was given
	}
	r.listener.Confirmed(PlacedEvent{At: now, Workload: after.Info.Workload, Binding: binding})
	if before == nil || before.Phase != model.Bound || before.Node != after.Node {
		r.arrived(now, after.Info)
	}
}

// holdsOther reports whether a workload asks for, or holds, something else than
// before.
func holdsOther(before, after *store.Workload) bool {
	return before.Info.Workload != after.Info.Workload || !slices.Equal(before.Info.Shares, after.Info.Shares)
}

// arrived wakes those who wait for a workload to be on a node: when it is
// bound, or confirmed if that comes first.
func (r *Raw) arrived(now time.Time, w *extpoints.WorkloadInfo) {
	r.offer(now, &extpoints.Change{
		Event:       extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Add},
		NewWorkload: w,
	}, nil)
}

// updated follows a change of a workload that is on a node. To those of the group
// that it joins it has arrived.
func (r *Raw) updated(now time.Time, before, after *store.Workload) {
	if before.Info.Group != after.Info.Group {
		r.arrived(now, after.Info)
	}
	for _, e := range queue.EventsForWorkloadUpdate(before.Info.Workload, after.Info.Workload, extpoints.AssignedWorkload) {
		r.offer(now, &extpoints.Change{Event: e, OldWorkload: before.Info, NewWorkload: after.Info}, nil)
	}
}

// requeued follows a workload that lost its node and waits again.
func (r *Raw) requeued(now time.Time, before, after *store.Workload) {
	r.left(before.Info.ID)
	r.interrupt(now, before.Info.ID, ErrRemoved)
	r.freed(now, before)
	r.enqueue(now, after.Info)
}

// removed follows a workload that has ended or was forgotten.
func (r *Raw) removed(now time.Time, before, after *store.Workload) {
	id := before.Info.ID
	delete(r.lastWhy, id)
	r.left(id)
	if before.Phase != model.Finished {
		if place(before) == "" {
			r.dequeue(id)
		} else {
			r.queue.Delete(id) // an attempt that is under way
		}
		r.interrupt(now, id, ErrRemoved)
		r.freed(now, before)
	}
	if after == nil {
		r.listener.Removed(RemovedEvent{At: now, Workload: before.Info.Workload, Phase: before.Phase, Node: before.Node})
	}
}

// freed wakes those who may use the room that a workload leaves, or that was
// kept for it by a nomination: in the second case only those that had to leave
// it that room (kube-scheduler eventhandlers.go, 1.37.1).
func (r *Raw) freed(now time.Time, before *store.Workload) {
	switch {
	case place(before) != "":
		r.offer(now, freedBy(before.Info), nil)
	case nomination(before) != "":
		r.roomGiven(now, before, "")
	}
}

// roomGiven wakes those who had to leave the workload the room that was kept for
// it. The label is that of the event, empty for none.
func (r *Raw) roomGiven(now time.Time, before *store.Workload, label string) {
	change, priority := freedBy(before.Info), before.Info.Priority
	change.Event.Label = label
	r.offer(now, change, func(w *model.Workload) bool { return w.Priority <= priority })
}

// freedBy is the event of a workload that leaves what it had.
func freedBy(w *extpoints.WorkloadInfo) *extpoints.Change {
	return &extpoints.Change{
		Event:       extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
		OldWorkload: w,
	}
}
