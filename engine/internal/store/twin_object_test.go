package store

import (
	"slices"

	"github.com/berth-project/berth/engine/internal/decided"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Objects in the twin: the rules of decisions said once more, on copies.

func (d *twin) object(ref model.ObjectRef) *Object {
	o, _ := d.rows[rowKey{ObjectKind, objectKey(ref)}].(*Object)
	return o
}

// setObject writes the row, or where it says nothing any more removes it.
func (d *twin) setObject(ref model.ObjectRef, row Object) {
	key := rowKey{ObjectKind, objectKey(ref)}
	if len(row.Workloads) == 0 {
		row.Decided, row.Workloads = nil, nil
	}
	if row.Reported == nil && row.Written == nil && row.Decided == nil {
		delete(d.rows, key)
		return
	}
	row.ModifyIndex = d.index
	d.rows[key] = &row
}

func (d *twin) putObject(o model.Object, expect Expect) string {
	ref := refOf(o)
	old := d.object(ref)
	return d.upsert(ObjectKind, objectKey(ref), expect, func(_ any, created uint64) any {
		row := &Object{Reported: o, CreateIndex: created, ModifyIndex: d.index}
		if old == nil || old.Decided == nil {
			return row
		}
		if row.Decided = decided.Amend(o, old.Decided, old.Workloads); row.Decided != nil {
			row.Workloads = old.Workloads
			if old.Written != nil { // somebody has it: the report does not say so yet
				row.Written = decided.Amend(o, old.Written, nil)
			}
		}
		return row
	})
}

// decide lays the objects over what is reported, for the workload's sake.
func (d *twin) decide(w *Workload, objects []model.Object) {
	for _, o := range objects {
		row := Object{CreateIndex: d.index}
		if old := d.object(refOf(o)); old != nil {
			row = *old
		}
		row.Decided = o
		if !slices.Contains(row.Workloads, w.Info.ID) {
			row.Workloads = append(slices.Clone(row.Workloads), w.Info.ID)
		}
		d.setObject(refOf(o), row)
		w.Decided = append(w.Decided, refOf(o))
	}
}

// undecide takes the workload's part of the decisions back.
func (d *twin) undecide(w *Workload) {
	for _, ref := range w.Decided {
		old := d.object(ref)
		if old == nil || !slices.Contains(old.Workloads, w.Info.ID) {
			continue
		}
		row := *old
		row.Workloads = nil
		for _, id := range old.Workloads {
			if id != w.Info.ID {
				row.Workloads = append(row.Workloads, id)
			}
		}
		row.Decided = decided.Release(old.Decided, w.Info.ID)
		d.setObject(ref, row)
	}
	w.Decided = nil
}

// ask has the workload keep what was decided for it until there is an answer.
func (d *twin) ask(w *Workload) { w.Asked = len(w.Decided) > 0 }

// answer ends that: what was written of the kinds lies under the decision, and where
// the workload has gone on meanwhile the decision is taken back.
func (d *twin) answer(id string, decisions []model.ObjectRef, kinds []model.ObjectKind) {
	for _, ref := range decisions {
		old := d.object(ref)
		if old == nil || !slices.Contains(old.Workloads, id) || !slices.Contains(kinds, ref.Kind) {
			continue
		}
		row := *old
		row.Written = decided.Written(old.Decided, old.Workloads)
		d.setObject(ref, row)
	}
	if w := d.workload(id); w != nil && w.Asked {
		row := *w
		row.Asked, row.ModifyIndex = false, d.index
		d.rows[rowKey{WorkloadKind, id}] = &row
		return
	}
	d.undecide(&Workload{Info: &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}}, Decided: decisions})
}

// settle makes what was decided about volumes for the workload's sake written,
// and leaves it the claims to devices.
func (d *twin) settle(w *Workload) {
	var held []model.ObjectRef
	for _, ref := range w.Decided {
		old := d.object(ref)
		if old == nil || !slices.Contains(old.Workloads, w.Info.ID) {
			continue
		}
		if ref.Kind == model.DeviceClaimKind {
			held = append(held, ref)
			continue
		}
		row := *old
		row.Written, row.Workloads = old.Decided, nil
		d.setObject(ref, row)
	}
	w.Decided = held
}

// askVerbs are the verbs about what the orchestrator is asked to write, and has.
func askVerbs(id string, decisions []model.ObjectRef, written []model.ObjectKind) []verb {
	return []verb{
		{"Ask", func(t *Txn) error { return t.Ask(id) }, func(d *twin) string {
			if w := d.workload(id); w != nil && (w.Asked || len(w.Decided) == 0) {
				return d.branch().move(id, 0, is(model.Assumed), func(*Workload) {}) // nothing changes
			}
			return d.move(id, 0, is(model.Assumed), d.ask)
		}},
		{"Answer", func(t *Txn) error {
			t.Answer(id, decisions, written)
			return nil
		}, func(d *twin) string {
			d.answer(id, decisions, written)
			return ok
		}},
	}
}

// objectVerbs are the verbs on the object.
func objectVerbs(o model.Object, expect Expect) []verb {
	ref := refOf(o)
	return []verb{
		{"PutObject", func(t *Txn) error { return t.PutObject(o, expect) }, func(d *twin) string { return d.putObject(o, expect) }},
		{"DeleteObject", func(t *Txn) error { return t.DeleteObject(ref, expect) }, func(d *twin) string {
			return d.remove(ObjectKind, objectKey(ref), expect)
		}},
	}
}
