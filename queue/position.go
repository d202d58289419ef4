package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Position says where a workload waits, and why. The fields are
// those of [Item]. A member that waits with its tree of groups has the
// tree's counts, backoff and place; the rest is its own, but it has the tree's
// gate where it is not gated itself.
type Position struct {
	ID string // of the workload
	// Group is the ID of the highest group of the tree of which it is a member;
	// empty for a workload of its own, and while it is not known.
	Group string
	Place Place // where it waits

	Attempts           int // how often it was tried
	UnschedulableCount int // how many of these ended in a rejection
	ConsecutiveErrors  int // how many ended in an error since the last rejection

	UnschedulablePlugins []string          // that rejected it in the last attempt, or gated it since
	PendingPlugins       []string          // that rejected it with Pending
	GatingPlugin         string            // that gates it; empty where none does
	Gate                 *extpoints.Status // what that plugin said

	// Behind is an active workload like it that is before it, and whose rejection would stand for
	// its own; empty for none. See [Item].Class.
	Behind string

	AddedAt           time.Time // when it first came to the queue
	Timestamp         time.Time // when it entered the queue, or its last attempt failed
	BackoffExpiration time.Time // when the backoff ends; zero where there is none
	Flushed           bool      // its last way out of unschedulable was the timeout

	// Standing is where it stands among the active workloads, where these are ordered by
	// queues; nil where it is not active.
	Standing *Standing

	// Refused is why the order by queues gates it, nil where that does not: Gate says it in words.
	Refused *Held

	// Node is that of the binding. This field and the next three are set by the engine, for Permit,
	// Binding and OldBinding. Of Binding and OldBinding there is nothing else but the ID.
	Node string
	// Since is when it began to wait on Permit, to be bound, or not to be wanted there any longer.
	Since time.Time
	// Until is when the first Permit plugin gives up, or when the call of Bind that is under way
	// has taken as long as it may. Zero where that has not begun, has no limit, or was cancelled
	// and has not returned.
	Until time.Time
	// Permit lists the plugins that have not let it go yet, in the order of the profile.
	Permit []string
}

// Position reports where the workload is; false if it is not in the queue.
func (q *Queue) Position(id string) (Position, bool) {
	it := q.waiting[id]
	if it == nil {
		it = q.inFlight.byID[id]
	}
	if it == nil {
		return Position{}, false
	}
	p := Position{
		ID:                   id,
		Place:                it.place,
		Attempts:             it.Attempts,
		UnschedulableCount:   it.UnschedulableCount,
		ConsecutiveErrors:    it.ConsecutiveErrors,
		UnschedulablePlugins: slices.Clone(it.UnschedulablePlugins),
		PendingPlugins:       slices.Clone(it.PendingPlugins),
		GatingPlugin:         it.GatingPlugin,
		Gate:                 it.Gate,
		AddedAt:              it.AddedAt,
		Timestamp:            it.Timestamp,
		BackoffExpiration:    it.BackoffExpiration,
		Flushed:              it.Flushed,
	}
	if leader := q.leader(it); leader != nil {
		p.Behind = leader.ID()
	}
	tree := it.entity
	p.Refused = q.refused(cmp.Or(tree, it))
	if tree == nil {
		p.Standing = q.standing(it)
		return p, true
	}
	p.Standing = q.standing(tree)
	p.Group = tree.ID()
	if it.leaf != nil {
		p.UnschedulableCount, p.ConsecutiveErrors = tree.UnschedulableCount, tree.ConsecutiveErrors
		p.BackoffExpiration = tree.BackoffExpiration
		if p.Gate == nil {
			p.GatingPlugin, p.Gate = tree.GatingPlugin, tree.Gate
		}
	}
	return p, true
}

// standing is where the item stands, nil where it stands nowhere.
func (q *Queue) standing(it *Item) *Standing {
	if it.at == nil {
		return nil
	}
	return q.tree.standing(it)
}

// Held says what holds the active item with the ID back, or the one before it in a part that it is
// in too; nil where nothing does, and where the order is not by queues.
func (q *Queue) Held(id string) *Held {
	it := q.waiting[id]
	if it == nil {
		it = q.byRoot[id]
	}
	if it == nil || it.at == nil {
		return nil
	}
	return q.tree.heldAbove(it.at)
}

// refused says why the order by queues gates the item, which is no member of a tree; nil where it does not.
func (q *Queue) refused(it *Item) *Held {
	if q.tree == nil || q.tree.stale || it.place != Gated || it.GatingPlugin != QueuesGate || q.tree.leaves[keyOf(it.Workload)] == nil {
		return nil
	}
	return q.tree.refusal(it)
}

// HeldBack says of each workload that waits and that a quota or a limit holds back what does, as Held
// and [Position].Refused do, by ID: members of groups by themselves. Nil where the order is not by
// queues. It looks at all that waits.
func (q *Queue) HeldBack() map[string]*Held {
	if q.tree == nil {
		return nil
	}
	all := map[string]*Held{}
	described := map[*hold]*Held{}
	for id, it := range q.waiting {
		root := cmp.Or(it.entity, it)
		h := holdAbove(root.at)
		if h == nil {
			if refused := q.refused(root); refused != nil {
				all[id] = refused
			}
			continue
		}
		if described[h] == nil {
			described[h] = q.tree.describe(h, false)
		}
		all[id] = described[h]
	}
	return all
}

// Counts says how many workloads are in each place, members of groups included.
type Counts struct {
	// The places are explained in the package comment.
	Active, Backoff, ErrorBackoff, Unschedulable, Gated, InFlight, Incomplete, Joining int
	// These are set by the engine.
	Permit, Binding, OldBinding int
	// Events is how many events are remembered for the workloads in flight.
	Events int
}

// Counts counts. It takes no longer with more workloads.
func (q *Queue) Counts() Counts {
	count := func(p Place, items int) int { return items - q.items[p] + q.members[p] }
	return Counts{
		Active:        count(Active, q.active.len()),
		Backoff:       count(Backoff, q.backoff.len()),
		ErrorBackoff:  count(ErrorBackoff, q.errorBackoff.len()),
		Unschedulable: count(Unschedulable, q.unschedulable.timeouts.len()-q.unschedulable.gated),
		Gated:         count(Gated, q.unschedulable.gated),
		InFlight:      len(q.inFlight.byID),
		Incomplete:    q.members[Incomplete],
		Joining:       q.members[Joining],
		Events:        len(q.inFlight.log),
	}
}
