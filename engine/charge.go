package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// charge charges the queues for what a workload has got room for, and takes back what they
// were charged for the room that it has left. This is the one place that does: whatever
// gives or takes room is a fact about the workload.
func (f facts) charge(now time.Time, before, after *store.Workload) {
	if f.cfg.Order != OrderByQueues {
		return
	}
	if before == nil || after == nil || after.Phase == model.Finished || before.Info.Workload != after.Info.Workload {
		f.know(before, -1)
		f.know(after, 1)
	}
	had, has := before.TakesRoomOn() != "", after.TakesRoomOn() != ""
	if had && has && before.Info.Workload == after.Info.Workload {
		if end := endOf(now, after.Info); !end.Equal(endOf(now, before.Info)) {
			f.queue.Charge(now, now, end, after.Info.Workload)
		}
		return
	}
	if had {
		f.queue.Discharge(now, before.Info.Workload)
	}
	if has {
		since := now
		if before == nil && !after.Info.PlacedAt.IsZero() && after.Info.PlacedAt.Before(now) {
			since = after.Info.PlacedAt // it was adopted
		}
		f.queue.Charge(now, since, endOf(now, after.Info), after.Info.Workload)
	}
}

// endOf is when the workload must have ended, zero where it has no time limit.
func endOf(now time.Time, w *extpoints.WorkloadInfo) time.Time {
	limit, placed := w.RunLimit(), w.PlacedAt
	if limit <= 0 {
		return time.Time{}
	}
	if placed.IsZero() {
		placed = now // nobody says
	}
	return placed.Add(limit)
}

// know counts the workload, unless it has ended.
func (f facts) know(row *store.Workload, n int) {
	if row != nil && row.Phase != model.Finished {
		f.queue.Know(row.Info.Workload, n)
	}
}

// define tells the order by queues of an object, which may be one of its definitions.
func (f facts) define(fact *store.Change) {
	f.queue.DefinitionChanged(fact.OldObject.Current(), fact.NewObject.Current())
}

// offer tells the order by queues what a node offers.
func (f facts) offer(before, after *store.Node) {
	spec := func(row *store.Node) *model.Node {
		if row == nil {
			return nil
		}
		return row.Node
	}
	f.queue.NodeChanged(spec(before), spec(after))
}

// chargeUsages charges what was used before.
func (f facts) chargeUsages(now time.Time, list []record.Usage) {
	for _, u := range list {
		until := u.Until
		if until.IsZero() {
			until = now
		}
		f.queue.ChargePast(now, until, u.Queue, u.Principal, u.Used)
	}
}

// reload tells a new order by queues all that there is.
func (f facts) reload(now time.Time) {
	if f.cfg.Order != OrderByQueues {
		return
	}
	loadQueues(f.queue, f.rec)
	for row := range f.rec.Store.Workloads() {
		f.know(row, 1)
		if row.TakesRoomOn() != "" {
			f.queue.Charge(now, now, endOf(now, row.Info), row.Info.Workload) // what it has used is in the history
		}
	}
	f.queue.Reorder(now) // what is asked before the next input goes by the definitions, too
}

// loadQueues tells an order by queues what the record says of queues and nodes.
func loadQueues(q *queue.Queue, rec *record.Record) {
	for _, kind := range []model.ObjectKind{model.QueueKind, model.PrincipalKind, model.LimitKind} {
		for row := range rec.Store.Objects(kind) {
			q.DefinitionChanged(nil, row.Current())
		}
	}
	for row := range rec.Store.Nodes() {
		q.NodeChanged(nil, row.Node)
	}
}
