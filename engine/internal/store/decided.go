package store

import (
	"slices"

	"github.com/berth-project/berth/engine/internal/decided"
	"github.com/berth-project/berth/model"
)

// PutObject records an object as it was reported, in place of the one of the
// same kind and ID. What was decided about it is laid over it again, as far as the
// report does not say it; see package decided. Where nobody has it by a decision, the
// report is in place of what was written, too.
func (t *Txn) PutObject(o model.Object, expect ...Expect) error {
	ref := refOf(o)
	old := t.Object(ref)
	row := &Object{Reported: o, CreateIndex: t.index, ModifyIndex: t.index}
	var found uint64
	if old != nil {
		row.CreateIndex, found = old.CreateIndex, old.ModifyIndex
	}
	if err := checkObject(ref); err != nil {
		return err
	}
	if err := met(expect, ObjectKind, objectKey(ref), found); err != nil {
		return err
	}
	if old != nil && old.Decided != nil {
		if amended := decided.Amend(o, old.Decided, old.Workloads); amended != nil {
			row.Decided, row.Workloads = amended, old.Workloads
			// As long as somebody has it, a report that does not say so is an old one.
			row.Written = decided.Amend(o, old.Written, nil)
		}
	}
	putRow(t, ObjectKind, objectKey(ref), old, row)
	return nil
}

// DeleteObject deletes the object, with what was decided about it.
func (t *Txn) DeleteObject(ref model.ObjectRef, expect ...Expect) error {
	old := t.Object(ref)
	if old == nil {
		return notFound(ObjectKind, objectKey(ref))
	}
	if err := met(expect, ObjectKind, objectKey(ref), old.ModifyIndex); err != nil {
		return err
	}
	t.remove(ObjectKind, objectKey(ref), old)
	return nil
}

// checkDecided refuses a decision about what cannot be taken back or amended.
func checkDecided(objects []model.Object) error {
	for _, o := range objects {
		ref := refOf(o)
		if !decided.Can(o) {
			return &RowError{Kind: ObjectKind, ID: objectKey(ref), Err: ErrUndecidable}
		}
		if err := checkObject(ref); err != nil {
			return err
		}
	}
	return nil
}

// checkObject is checkName for an object.
func checkObject(ref model.ObjectRef) error {
	if checkName(ObjectKind, ref.ID) != nil {
		return &RowError{Kind: ObjectKind, ID: objectKey(ref), Err: ErrName}
	}
	return nil
}

// decide records the objects as a decision for the workload leaves them, and
// returns their names.
func (t *Txn) decide(objects []model.Object, workload string) []model.ObjectRef {
	if len(objects) == 0 {
		return nil
	}
	refs := make([]model.ObjectRef, len(objects))
	for i, o := range objects {
		refs[i] = refOf(o)
		old := t.Object(refs[i])
		row := &Object{Decided: o, CreateIndex: t.index, ModifyIndex: t.index}
		if old != nil {
			row.Reported, row.Written = old.Reported, old.Written
			row.CreateIndex, row.Workloads = old.CreateIndex, old.Workloads
		}
		if !slices.Contains(row.Workloads, workload) {
			row.Workloads = append(slices.Clip(row.Workloads), workload)
		}
		putRow(t, ObjectKind, objectKey(refs[i]), old, row)
	}
	return refs
}

// write records that what was decided about the object for the workload's sake may be
// so outside. An object that was reported to be so, or deleted, since is left alone.
func (t *Txn) write(ref model.ObjectRef, workload string) {
	old := t.Object(ref)
	if old == nil || !slices.Contains(old.Workloads, workload) {
		return
	}
	row := *old
	row.Decided, row.ModifyIndex = decided.Asked(old.Decided, workload), t.index
	row.Written = decided.Written(row.Decided, old.Workloads)
	t.put(ObjectKind, objectKey(ref), old, &row)
}

// leave takes back what was decided for the workload, which leaves its node. Where the
// orchestrator was asked and has not answered that is left to [Txn.Answer].
func (t *Txn) leave(w *Workload) {
	if !w.Asked {
		t.undecide(w.Decided, w.Info.ID)
	}
}

// undecide takes back what was decided for the workload's sake: when it was for
// nobody else's the object is again what was written, or else reported. An object that
// was reported to be so, or deleted, since is left alone.
func (t *Txn) undecide(refs []model.ObjectRef, workload string) {
	for _, ref := range refs {
		old := t.Object(ref)
		if old == nil || !slices.Contains(old.Workloads, workload) {
			continue
		}
		row := *old
		row.ModifyIndex = t.index
		row.Workloads = slices.DeleteFunc(slices.Clone(old.Workloads), func(id string) bool { return id == workload })
		switch {
		case len(row.Workloads) > 0:
			row.Decided = decided.Release(old.Decided, workload)
		case old.Reported == nil && old.Written == nil:
			t.remove(ObjectKind, objectKey(ref), old)
			continue
		default:
			row.Decided, row.Workloads = nil, nil
		}
		t.put(ObjectKind, objectKey(ref), old, &row)
	}
}

// settle makes true what was decided for the workload's sake and outlasts it:
// which volume belongs to which claim is written. It returns the names of the objects that
// go on being held for it: claims to devices are its own only as long as it is
// there.
func (t *Txn) settle(refs []model.ObjectRef, workload string) []model.ObjectRef {
	var held []model.ObjectRef
	for _, ref := range refs {
		old := t.Object(ref)
		switch {
		case old == nil || !slices.Contains(old.Workloads, workload):
		case ref.Kind == model.DeviceClaimKind:
			held = append(held, ref)
		case ref.Kind == model.StorageCapacityKind: // others take room there, too
			t.write(ref, workload)
			t.undecide([]model.ObjectRef{ref}, workload)
		default:
			row := *old
			row.Written, row.Decided, row.Workloads, row.ModifyIndex = old.Decided, nil, nil, t.index
			t.put(ObjectKind, objectKey(ref), old, &row)
		}
	}
	return held
}
