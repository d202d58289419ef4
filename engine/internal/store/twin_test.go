package store

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// twin is the store's dumb twin: maps of rows, copied whole to branch, and the
// verbs said once more in the plainest way.
type twin struct {
	rows     map[rowKey]any
	index    uint64
	seq      uint64
	arrivals uint64
}

func newTwin() *twin { return &twin{rows: map[rowKey]any{}} }

func (d *twin) branch() *twin {
	return &twin{rows: maps.Clone(d.rows), index: d.index, seq: d.seq, arrivals: d.arrivals}
}

// The outcomes of a verb.
const (
	ok       = "ok"
	notThere = "not found"
	exists   = "exists"
	phase    = "phase"
	conflict = "conflict"
	badName  = "name"
)

// outcome sorts the errors of the real store.
func outcome(err error) string {
	var p *PhaseError
	var c *ConflictError
	switch {
	case err == nil:
		return ok
	case errors.Is(err, ErrNotFound):
		return notThere
	case errors.Is(err, ErrExists):
		return exists
	case errors.Is(err, ErrName):
		return badName
	case errors.As(err, &p):
		return phase
	case errors.As(err, &c):
		return conflict
	}
	return err.Error()
}

// verb is one call, on the store and on the twin.
type verb struct {
	name string
	real func(*Txn) error
	dumb func(*twin) string
}

func (d *twin) workload(id string) *Workload {
	w, _ := d.rows[rowKey{WorkloadKind, id}].(*Workload)
	return w
}

// move is every verb on a workload that is there: legal if from says so, and
// then change changes a copy.
func (d *twin) move(id string, expect Expect, from func(model.Phase) bool, change func(*Workload)) string {
	old := d.workload(id)
	if old == nil {
		return notThere
	}
	if expect != 0 && uint64(expect) != old.ModifyIndex {
		return conflict
	}
	if !from(old.Phase) {
		return phase
	}
	row, info := *old, *old.Info
	row.Info = &info
	row.ModifyIndex = d.index
	change(&row)
	d.rows[rowKey{WorkloadKind, id}] = &row
	return ok
}

func to(p model.Phase) func(model.Phase) bool {
	return func(from model.Phase) bool { return from.CanMoveTo(p) }
}

func is(p model.Phase) func(model.Phase) bool {
	return func(from model.Phase) bool { return from == p }
}

func anyPhase(model.Phase) bool { return true }

// leave takes the workload off its node, and back what was decided for it.
func (d *twin) leave(w *Workload, p model.Phase) {
	d.letGo(w)
	w.Phase, w.Node, w.Found = p, "", p == model.Confirmed
	w.Info = &extpoints.WorkloadInfo{Workload: w.Info.Workload}
}

// letGo takes back what was decided for the workload, which goes, unless there is an
// answer to come.
func (d *twin) letGo(w *Workload) {
	if !w.Asked {
		d.undecide(w)
	}
	w.Decided, w.Asked = nil, false
}

func (d *twin) add(w *Workload) string {
	id := w.Info.ID
	if d.workload(id) != nil {
		return exists
	}
	d.arrivals++
	w.Seq = d.arrivals
	w.CreateIndex, w.ModifyIndex = d.index, d.index
	d.rows[rowKey{WorkloadKind, id}] = w
	return ok
}

func (d *twin) remove(k Kind, id string, expect Expect) string {
	row := d.rows[rowKey{k, id}]
	if row == nil {
		return notThere
	}
	if _, modified := indexes(row); expect != 0 && uint64(expect) != modified {
		return conflict
	}
	delete(d.rows, rowKey{k, id})
	return ok
}

// upsert puts a row of a kind that has no phases; make makes it.
func (d *twin) upsert(k Kind, id string, expect Expect, make func(old any, created uint64) any) string {
	old := d.rows[rowKey{k, id}]
	created, modified := d.index, uint64(0)
	if old != nil {
		created, modified = indexes(old)
	}
	if expect == Absent && old != nil || expect != Absent && expect != 0 && uint64(expect) != modified {
		return conflict
	}
	d.rows[rowKey{k, id}] = make(old, created)
	return ok
}

func indexes(row any) (created, modified uint64) {
	v := reflect.ValueOf(row).Elem()
	return v.FieldByName("CreateIndex").Uint(), v.FieldByName("ModifyIndex").Uint()
}

// workloadVerbs are all verbs on a workload, with the given arguments. It is
// long because it is a table.
func workloadVerbs(spec *model.Workload, b model.Binding, at time.Time, expect Expect) []verb {
	id, node, devices := spec.ID, b.Node, b.Devices
	b.Workload, b.Since = id, at
	return []verb{
		{"Submit", func(t *Txn) error { return t.Submit(spec) }, func(d *twin) string {
			return d.add(&Workload{Info: &extpoints.WorkloadInfo{Workload: spec}})
		}},
		{"Place", func(t *Txn) error { return t.Place(spec, b) }, func(d *twin) string {
			info := &extpoints.WorkloadInfo{Workload: spec, Shares: devices, GrantedLimit: b.Limit, PlacedAt: at}
			return d.add(&Workload{Info: info, Phase: model.Confirmed, Node: node, Found: true})
		}},
		{"Update", func(t *Txn) error { return t.UpdateWorkload(spec, expect) }, func(d *twin) string {
			return d.move(id, expect, anyPhase, func(w *Workload) { w.Info.Workload = spec })
		}},
		{"Nominate", func(t *Txn) error { return t.Nominate(id, node, expect) }, func(d *twin) string {
			if w := d.workload(id); w != nil && w.Info.Nominated == node {
				return d.branch().move(id, expect, is(model.Pending), func(*Workload) {}) // nothing changes
			}
			return d.move(id, expect, is(model.Pending), func(w *Workload) { w.Info.Nominated = node })
		}},
		{"Assume", func(t *Txn) error {
			_, err := t.Assume(b, at, expect)
			return err
		}, func(d *twin) string {
			if d.rows[rowKey{NodeKind, node}] == nil {
				if o := d.branch().move(id, expect, to(model.Assumed), func(*Workload) {}); o != ok {
					return o
				}
				return notThere
			}
			return d.move(id, expect, to(model.Assumed), func(w *Workload) {
				d.leave(w, model.Assumed)
				w.Node, w.Info.Shares, w.Info.GrantedLimit, w.Info.PlacedAt = node, devices, b.Limit, at
				d.decide(w, b.Decided)
			})
		}},
		{"Forget", func(t *Txn) error { return t.Forget(id, expect) }, func(d *twin) string {
			return d.move(id, expect, is(model.Assumed), func(w *Workload) { d.leave(w, model.Pending) })
		}},
		{"Bind", func(t *Txn) error { return t.Bind(id, expect) }, func(d *twin) string {
			return d.move(id, expect, to(model.Bound), func(w *Workload) {
				w.Phase = model.Bound
				d.settle(w)
			})
		}},
		{"Confirm", func(t *Txn) error { return t.Confirm(id, node, devices, at, expect) }, func(d *twin) string {
			return d.move(id, expect, to(model.Confirmed), func(w *Workload) {
				if w.Node != node {
					d.leave(w, model.Confirmed)
				}
				d.settle(w)
				w.Phase, w.Node = model.Confirmed, node
				if devices != nil {
					w.Info.Shares = devices
				}
				if !at.IsZero() {
					w.Info.PlacedAt = at
				}
			})
		}},
		{"Started", func(t *Txn) error { return t.Started(id, at, expect) }, func(d *twin) string {
			return d.move(id, expect, is(model.Confirmed), func(w *Workload) { w.Info.PlacedAt = at })
		}},
		{"Terminate", func(t *Txn) error { return t.Terminate(id, expect) }, func(d *twin) string {
			return d.move(id, expect, to(model.Terminating), func(w *Workload) {
				w.Phase, w.Info.Terminating, w.Info.Nominated = model.Terminating, true, ""
			})
		}},
		{"Finish", func(t *Txn) error { return t.Finish(id, expect) }, func(d *twin) string {
			return d.move(id, expect, to(model.Finished), func(w *Workload) { d.leave(w, model.Finished) })
		}},
		{"Requeue", func(t *Txn) error { return t.Requeue(id, expect) }, func(d *twin) string {
			return d.move(id, expect, to(model.Pending), func(w *Workload) { d.leave(w, model.Pending) })
		}},
		{"Delete", func(t *Txn) error { return t.DeleteWorkload(id, expect) }, func(d *twin) string {
			w := d.workload(id)
			o := d.remove(WorkloadKind, id, expect)
			if o == ok {
				gone := *w
				d.letGo(&gone)
			}
			return o
		}},
	}
}

// otherVerbs are the verbs on the other kinds, for the name.
func otherVerbs(name string, expect Expect) []verb {
	node, group := &model.Node{Name: name}, &model.Group{ID: name}
	budget, namespace := &model.Budget{ID: name}, &model.Namespace{Name: name}
	put := func(k Kind, row func(*twin, uint64) any) func(*twin) string {
		return func(d *twin) string {
			return d.upsert(k, name, expect, func(_ any, created uint64) any { return row(d, created) })
		}
	}
	del := func(k Kind) func(*twin) string {
		return func(d *twin) string { return d.remove(k, name, expect) }
	}
	return []verb{
		{"PutNode", func(t *Txn) error { return t.PutNode(node, expect) }, func(d *twin) string {
			return d.upsert(NodeKind, name, expect, func(old any, created uint64) any {
				row := &Node{Node: node, CreateIndex: created, ModifyIndex: d.index}
				if n, _ := old.(*Node); n != nil {
					row.Seq = n.Seq
				} else {
					d.seq++
					row.Seq = d.seq
				}
				return row
			})
		}},
		{"DeleteNode", func(t *Txn) error { return t.DeleteNode(name, expect) }, del(NodeKind)},
		{"PutGroup", func(t *Txn) error { return t.PutGroup(group, expect) }, put(GroupKind, func(d *twin, created uint64) any {
			return &Group{Group: group, CreateIndex: created, ModifyIndex: d.index}
		})},
		{"DeleteGroup", func(t *Txn) error { return t.DeleteGroup(name, expect) }, del(GroupKind)},
		{"PutBudget", func(t *Txn) error { return t.PutBudget(budget, expect) }, put(BudgetKind, func(d *twin, created uint64) any {
			return &Budget{Budget: budget, CreateIndex: created, ModifyIndex: d.index}
		})},
		{"DeleteBudget", func(t *Txn) error { return t.DeleteBudget(name, expect) }, del(BudgetKind)},
		{"PutNamespace", func(t *Txn) error { return t.PutNamespace(namespace, expect) }, put(NamespaceKind, func(d *twin, created uint64) any {
			return &Namespace{Namespace: namespace, CreateIndex: created, ModifyIndex: d.index}
		})},
		{"DeleteNamespace", func(t *Txn) error { return t.DeleteNamespace(name, expect) }, del(NamespaceKind)},
	}
}

// list is what a scan of the store must give: the rows of the kind that keep
// keeps, ordered by the strings that key gives.
func list[R any](d *twin, k Kind, keep func(*R) bool, key func(*R) []string) []*R {
	out := []*R{}
	for rk, raw := range d.rows {
		if row, isR := raw.(*R); isR && rk.kind == k && keep(row) {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b *R) int { return slices.Compare(key(a), key(b)) })
	return out
}

// feed is the difference between two twins, in no order that matters.
func feed(before, after *twin) map[rowKey]Change {
	out := map[rowKey]Change{}
	for key := range merged(before.rows, after.rows) {
		e := entry{key, before.rows[key], after.rows[key]}
		if e.old != e.new {
			out[key] = e.change()
		}
	}
	return out
}

func merged(a, b map[rowKey]any) map[rowKey]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
