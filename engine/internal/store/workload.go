package store

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Submit adds a pending workload. Where there is one of the same ID it fails
// with ErrExists, whatever that one's phase.
func (t *Txn) Submit(w *model.Workload) error {
	return t.create(&Workload{Info: &extpoints.WorkloadInfo{Workload: w}, Phase: model.Pending})
}

// Place adds a workload that was found on the node of the binding, since then, with its
// devices and limit: it is Submit and Confirm in one. The node need not be known yet.
func (t *Txn) Place(w *model.Workload, b model.Binding) error {
	if err := checkName(NodeKind, b.Node); err != nil {
		return err
	}
	return t.create(&Workload{
		Info:  &extpoints.WorkloadInfo{Workload: w, Shares: b.Devices, GrantedLimit: b.Limit, PlacedAt: b.Since},
		Phase: model.Confirmed,
		Node:  t.nodeName(b.Node),
		Found: true,
	})
}

// UpdateWorkload puts a new spec in place of the one of the same ID. Phase and
// place stay.
func (t *Txn) UpdateWorkload(w *model.Workload, expect ...Expect) error {
	old, err := t.existing(w.ID, expect)
	if err != nil {
		return err
	}
	if err := checkGroup(w); err != nil {
		return err
	}
	info := *old.Info
	info.Workload = w
	row := *old
	row.Info = &info
	t.replace(old, &row)
	return nil
}

// DeleteWorkload deletes the workload, whatever its phase.
func (t *Txn) DeleteWorkload(id string, expect ...Expect) error {
	old, err := t.existing(id, expect)
	if err != nil {
		return err
	}
	t.leave(old)
	t.remove(WorkloadKind, id, old)
	return nil
}

// Assume records a decision: the pending workload takes room on the node, which
// must exist. It waits for no node any more. What was decided about objects holds
// from now on. The row is the new one.
func (t *Txn) Assume(b model.Binding, at time.Time, expect ...Expect) (*Workload, error) {
	old, err := t.toPhase(b.Workload, model.Assumed, expect)
	if err != nil {
		return nil, err
	}
	node := t.Node(b.Node)
	if node == nil {
		return nil, notFound(NodeKind, b.Node)
	}
	if err := checkDecided(b.Decided); err != nil {
		return nil, err
	}
	row := *old
	row.Phase = model.Assumed
	row.Node = node.Node.Name
	row.Info = &extpoints.WorkloadInfo{Workload: old.Info.Workload, Shares: b.Devices, GrantedLimit: b.Limit, PlacedAt: at}
	row.Decided = t.decide(b.Decided, b.Workload)
	t.replace(old, &row)
	return &row, nil
}

// Forget takes a decision back: the assumed workload is pending again.
func (t *Txn) Forget(id string, expect ...Expect) error {
	old, err := t.existing(id, expect)
	if err != nil {
		return err
	}
	if old.Phase != model.Assumed {
		return &PhaseError{Workload: id, Node: old.TakesRoomOn(), From: old.Phase, To: model.Pending}
	}
	t.release(old, model.Pending)
	return nil
}

// Bind records that the orchestrator accepted the binding.
func (t *Txn) Bind(id string, expect ...Expect) error {
	old, err := t.toPhase(id, model.Bound, expect)
	if err != nil {
		return err
	}
	row := *old
	row.Phase = model.Bound
	row.Decided = t.settle(old.Decided, id)
	t.replace(old, &row)
	return nil
}

// Confirm records that the orchestrator reported the workload on the node, and
// that node is where it is from now on, even if another was chosen; it need not
// be known. Nil devices and a zero time mean that the orchestrator does not say:
// then those of the decision stay, if it was for this node.
func (t *Txn) Confirm(id, node string, devices []model.DeviceShare, at time.Time, expect ...Expect) error {
	old, err := t.toPhase(id, model.Confirmed, expect)
	if err != nil {
		return err
	}
	if err := checkName(NodeKind, node); err != nil {
		return err
	}
	row := *old
	row.Phase = model.Confirmed
	if old.Node != node {
		t.leave(old)
		row.Decided, row.Asked, row.Found = nil, false, true
		row.Node = t.nodeName(node)
		row.Info = &extpoints.WorkloadInfo{Workload: old.Info.Workload, Shares: devices, PlacedAt: at}
	} else {
		row.Decided = t.settle(old.Decided, id)
	}
	if old.Node == node && (devices != nil || !at.IsZero()) {
		info := *old.Info
		if devices != nil {
			info.Shares = devices
		}
		if !at.IsZero() {
			info.PlacedAt = at
		}
		row.Info = &info
	}
	t.replace(old, &row)
	return nil
}

// Started records when a confirmed workload started on its node.
func (t *Txn) Started(id string, at time.Time, expect ...Expect) error {
	old, err := t.existing(id, expect)
	if err != nil {
		return err
	}
	if old.Phase != model.Confirmed {
		return &PhaseError{Workload: id, Node: old.TakesRoomOn(), From: old.Phase, To: model.Confirmed}
	}
	info := *old.Info
	info.PlacedAt = at
	row := *old
	row.Info = &info
	t.replace(old, &row)
	return nil
}

// Nominate records the node that the pending workload waits for; empty for
// none. The node need not exist.
func (t *Txn) Nominate(id, node string, expect ...Expect) error {
	old, err := t.existing(id, expect)
	if err != nil {
		return err
	}
	if old.Phase != model.Pending {
		return &PhaseError{Workload: id, Node: old.TakesRoomOn(), From: old.Phase, To: model.Pending}
	}
	if old.Info.Nominated == node {
		return nil
	}
	info := *old.Info
	info.Nominated = node
	row := *old
	row.Info = &info
	t.replace(old, &row)
	return nil
}

// Terminate records that the workload is terminating. It keeps its room.
func (t *Txn) Terminate(id string, expect ...Expect) error {
	old, err := t.toPhase(id, model.Terminating, expect)
	if err != nil {
		return err
	}
	t.replace(old, terminating(old))
	return nil
}

// terminating returns the row of a workload that is terminating.
func terminating(old *Workload) *Workload {
	info := *old.Info
	info.Terminating = true
	info.Nominated = ""
	row := *old
	row.Phase = model.Terminating
	row.Info = &info
	return &row
}

// Displace is Terminate of a workload that has to make room for another. One that
// is terminating already may be told so later, once.
func (t *Txn) Displace(id string, expect ...Expect) error {
	old, err := t.existing(id, expect)
	if err != nil {
		return err
	}
	later := old.Phase == model.Terminating && !old.Info.Displaced
	if !later && !old.Phase.CanMoveTo(model.Terminating) {
		return &PhaseError{Workload: id, Node: old.TakesRoomOn(), From: old.Phase, To: model.Terminating}
	}
	row := terminating(old)
	row.Info.Displaced = true
	t.replace(old, row)
	return nil
}

// Finish records that the workload has ended; its room is free.
func (t *Txn) Finish(id string, expect ...Expect) error {
	old, err := t.toPhase(id, model.Finished, expect)
	if err != nil {
		return err
	}
	t.release(old, model.Finished)
	return nil
}

// Requeue makes a workload that was on its way to a node, on one, or on its way
// out, pending again; its room is free. Forget is the stricter verb for taking
// back a decision.
func (t *Txn) Requeue(id string, expect ...Expect) error {
	old, err := t.toPhase(id, model.Pending, expect)
	if err != nil {
		return err
	}
	t.release(old, model.Pending)
	return nil
}

func (t *Txn) create(row *Workload) error {
	w := row.Info.Workload
	if err := checkName(WorkloadKind, w.ID); err != nil {
		return err
	}
	if err := checkGroup(w); err != nil {
		return err
	}
	if t.Workload(w.ID) != nil {
		return &RowError{Kind: WorkloadKind, ID: w.ID, Err: ErrExists}
	}
	t.arrivals++
	row.Seq = t.arrivals
	row.CreateIndex, row.ModifyIndex = t.index, t.index
	t.put(WorkloadKind, w.ID, nil, row)
	return nil
}

func (t *Txn) existing(id string, expect []Expect) (*Workload, error) {
	old := t.Workload(id)
	if old == nil {
		return nil, notFound(WorkloadKind, id)
	}
	return old, met(expect, WorkloadKind, id, old.ModifyIndex)
}

// toPhase is existing, for a verb that moves the workload to the phase.
func (t *Txn) toPhase(id string, to model.Phase, expect []Expect) (*Workload, error) {
	old, err := t.existing(id, expect)
	if err == nil && !old.Phase.CanMoveTo(to) {
		err = &PhaseError{Workload: id, Node: old.TakesRoomOn(), From: old.Phase, To: to}
	}
	return old, err
}

// replace puts row in place of old.
func (t *Txn) replace(old, row *Workload) {
	row.ModifyIndex = t.index
	t.put(WorkloadKind, old.Info.ID, old, row)
}

// release puts the workload on no node, with nothing set aside.
func (t *Txn) release(old *Workload, to model.Phase) {
	t.leave(old)
	row := *old
	row.Decided, row.Asked, row.Found = nil, false, false
	row.Phase = to
	row.Node = ""
	row.Info = &extpoints.WorkloadInfo{Workload: old.Info.Workload}
	t.replace(old, &row)
}

func checkGroup(w *model.Workload) error {
	if w.Group == "" {
		return nil
	}
	return checkName(GroupKind, w.Group)
}

// nodeName returns the name as the node's row has it, so that the rows of a
// node's workloads share one string.
func (t *Txn) nodeName(name string) string {
	if n := t.Node(name); n != nil {
		return n.Node.Name
	}
	return name
}
