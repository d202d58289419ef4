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
func charge(q *queue.Queue, now time.Time, before, after *store.Workload) {
	if before == nil || after == nil || after.Phase == model.Finished || before.Info.Workload != after.Info.Workload {
		know(q, before, -1)
		know(q, after, 1)
	}
	had, has := before.TakesRoomOn() != "", after.TakesRoomOn() != ""
	if had && has && before.Info.Workload == after.Info.Workload {
		if end := endOf(now, after.Info); !end.Equal(endOf(now, before.Info)) {
			q.Charge(now, now, end, after.Info.Workload)
		}
		return
	}
	if had {
		q.Discharge(now, before.Info.Workload)
	}
	if has {
		since := now
		if before == nil && !after.Info.PlacedAt.IsZero() && after.Info.PlacedAt.Before(now) {
			since = after.Info.PlacedAt // it was adopted
		}
		q.Charge(now, since, endOf(now, after.Info), after.Info.Workload)
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
func know(q *queue.Queue, row *store.Workload, n int) {
	if row != nil && row.Phase != model.Finished {
		q.Know(row.Info.Workload, n)
	}
}

// define tells the order by queues of an object, which may be one of its definitions.
func define(q *queue.Queue, fact *store.Change) {
	q.DefinitionChanged(fact.OldObject.Current(), fact.NewObject.Current())
}

// offer tells the order by queues what a node offers.
func offer(q *queue.Queue, before, after *store.Node) {
	spec := func(row *store.Node) *model.Node {
		if row == nil {
			return nil
		}
		return row.Node
	}
	q.NodeChanged(spec(before), spec(after))
}

// chargeUsages charges what was used before.
func chargeUsages(q *queue.Queue, now time.Time, list []record.Usage) {
	for _, u := range list {
		until := u.Until
		if until.IsZero() {
			until = now
		}
		q.ChargePast(now, until, u.Queue, u.Principal, u.Used)
	}
}

// loadAccounts tells a new order by queues all that the record says: its definitions, and what
// is charged to it.
func loadAccounts(q *queue.Queue, rec *record.Record, now time.Time) {
	loadQueues(q, rec)
	for row := range rec.Store.Workloads() {
		know(q, row, 1)
		if row.TakesRoomOn() != "" {
			q.Charge(now, now, endOf(now, row.Info), row.Info.Workload) // what it has used is in the history
		}
	}
	q.Reorder(now) // what is asked before the next input goes by the definitions, too
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

// emptyQueues makes an order by queues in which nothing is defined, waits or is charged.
func emptyQueues() *queue.Queue {
	of, err := queue.New(queue.Timing{}, extpoints.Improved, queue.Hooks{
		ByQueues: true, Less: func(a, b *extpoints.Queued) bool { return a.Timestamp.Before(b.Timestamp) },
	})
	if err != nil {
		panic(err) // without hints there is nothing that can be wrong
	}
	return of
}
