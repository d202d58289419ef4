package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Budgets are reported late: until then what the engine does itself counts against them. A
// workload that it means to evict is noted in the budgets that protect it, from the end of the
// attempt that wants it gone, until they are reported again or it turns out to stay. One
// that is not on its node yet is no budget's, and one that leaves already was counted before.
// In kube-scheduler a budget allows what was reported last.

// displacing notes that the workloads are to leave.
func (o outside) displacing(now time.Time, ids ...string) {
	o.note(now, func(tx *store.Txn) (noted bool) {
		for _, id := range ids {
			row := o.rec.Workload(id)
			if row != nil && (row.Phase == model.Bound || row.Phase == model.Confirmed) {
				noted = tx.Displaced(row.Info.Workload) || noted
			}
		}
		return noted
	})
}

// stays takes that back for a workload that is not to leave after all. One that is on its way
// has used the budget up.
func (o outside) stays(now time.Time, id string) {
	if row := o.rec.Workload(id); row == nil || row.Phase == model.Terminating || o.room.Victims()[id] || o.tasks.Eviction(id) != nil {
		return
	}
	o.note(now, func(tx *store.Txn) bool { return tx.Stays(id) })
}

// note commits what is noted in budgets, if there are any.
func (o outside) note(now time.Time, do func(*store.Txn) bool) {
	if o.cfg.Compat == extpoints.KubeScheduler137 || len(o.rec.View.Budgets()) == 0 {
		return
	}
	tx := o.rec.Begin()
	defer tx.Abort()
	if do(tx) {
		o.commit(now, tx)
	}
}
