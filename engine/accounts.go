package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// accounts are an order by queues in which nothing waits, and what its queues are charged. They are loaded
// from the record of a branch when they are asked first, and follow it from then on. Nil: the order
// is another.
type accounts struct {
	queue  *queue.Queue
	loaded bool
}

// newAccounts makes accounts of which nothing is known but what was used before, which the queue knows.
func newAccounts(before *queue.Queue) *accounts {
	a := &accounts{queue: emptyQueues()}
	a.queue.Inherit(before)
	return a
}

// fork returns the accounts for a branch of the branch.
func (a *accounts) fork() *accounts {
	if a == nil {
		return nil
	}
	return newAccounts(a.queue)
}

// load has them know what the record says.
func (a *accounts) load(now time.Time, rec *record.Record) {
	if !a.loaded {
		loadAccounts(a.queue, rec, now)
		a.loaded = true
	}
}

// held is [queue.Queue.WouldHold].
func (a *accounts) held(now time.Time, rec *record.Record, group *model.Group, members []*extpoints.WorkloadInfo) *queue.Held {
	if a == nil {
		return nil
	}
	a.load(now, rec)
	list := make([]*model.Workload, len(members))
	for i, w := range members {
		list[i] = w.Workload
	}
	return a.queue.WouldHold(now, group, list...)
}

// chargeUsages charges what was used before.
func (a *accounts) chargeUsages(now time.Time, rec *record.Record, list []record.Usage) {
	if a != nil && len(list) > 0 {
		a.load(now, rec)
		chargeUsages(a.queue, now, list)
	}
}

// follow lets accounts that are loaded follow what has become part of the record.
func (a *accounts) follow(now time.Time, facts []store.Change) {
	if a == nil || !a.loaded {
		return
	}
	for i := range facts {
		fact := &facts[i]
		switch fact.Kind {
		case store.WorkloadKind:
			charge(a.queue, now, fact.OldWorkload, fact.NewWorkload)
		case store.NodeKind:
			offer(a.queue, fact.OldNode, fact.NewNode)
		case store.ObjectKind:
			define(a.queue, fact)
		}
	}
}
