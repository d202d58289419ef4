package engine

import (
	"fmt"
	"maps"
	"time"

	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/queue"
)

// Promise is when something that waits is to start, where [Config].Backfill plans ahead: a
// workload by itself, or a tree of groups with all of its members. It goes by limits, so it
// may start earlier; it starts later only for one of the causes.
type Promise struct {
	// First is the start that it was promised first, Current the present one. Current is
	// zero while there is no reservation for it: others are before it now, or it no
	// longer fits at any time.
	First, Current time.Time
	// Nodes are where it is to start, by the workload's ID. Unless Backfill.Pinned they
	// may change while the time stays.
	Nodes map[string]string
	// Causes are why it was last moved to a later time, or lost its reservation. None where
	// that never was so.
	Causes []PromiseCause
	// MovedAt is when that was; zero where it never was.
	MovedAt time.Time
	// Held, with OrderByQueues, is the quota or limit because of which it has no reservation:
	// it, or something before it in the same part of the order, would be too much, with what is
	// used now and what those before it will use. Current is zero then. Nil where it is not that.
	Held *queue.Held
}

// PromiseCause is something that has happened and may have moved a promise.
type PromiseCause struct {
	Reason PromiseReason // what happened
	// Name is the ID of the workload or group, or the name of the node or object.
	Name string
}

// String says what happened, in one line.
func (c PromiseCause) String() string {
	return fmt.Sprintf(promiseReasons[min(c.Reason, moved)], c.Name)
}

// PromiseReason is a kind of [PromiseCause].
type PromiseReason uint8

// The reasons for which a promise is moved to a later time.
const (
	// SomethingAhead: the workload or group goes before it, and came, came back, was changed or
	// was placed meanwhile.
	SomethingAhead = PromiseReason(timeline.Ahead)
	// ItselfChanged: it asks for something else than before.
	ItselfChanged = PromiseReason(timeline.Changed)
	// LimitPassed: the workload runs on although its limit has passed.
	LimitPassed = PromiseReason(timeline.Overran)
	// LimitMoved: the workload must end later than was known, since it began later or its
	// limit was raised.
	LimitMoved = PromiseReason(timeline.Prolonged)
	// PlacedOutside: the workload is on a node, and it was not the engine that put it there.
	PlacedOutside = PromiseReason(timeline.Arrived)
	// NodeChanged: the node is gone, or is another than before.
	NodeChanged = PromiseReason(timeline.Lost)
	// ObjectChanged: the object on which decisions depend is another than before.
	ObjectChanged = PromiseReason(timeline.Altered)
	// HeldBack: a quota of the queue, or the limit, keeps it from its turn, as Held said then, or
	// would keep something from its turn that has a reservation, too, if it started before.
	HeldBack = PromiseReason(timeline.Withheld)

	moved = HeldBack + 1
)

var promiseReasons = [...]string{
	SomethingAhead: "%q goes before it",
	ItselfChanged:  "it was changed itself (%q)",
	LimitPassed:    "%q runs on although its limit has passed",
	LimitMoved:     "%q must end later than was known",
	PlacedOutside:  "%q was placed by somebody else",
	NodeChanged:    "node %q is gone or has changed",
	ObjectChanged:  "%q has changed",
	HeldBack:       "the queue or limit %q holds it back",
	moved:          "unknown cause (%q)",
}

// promiseOf is a promise as the plan has it.
func promiseOf(p *timeline.Promise) Promise {
	out := Promise{First: p.First, Current: p.Current, Nodes: maps.Clone(p.Nodes), MovedAt: p.MovedAt, Held: p.Held}
	for _, c := range p.Causes {
		out.Causes = append(out.Causes, PromiseCause{PromiseReason(c.Reason), c.Name})
	}
	return out
}

// Fit is when something that waits would first fit.
type Fit struct {
	// ID is the workload's, or the group's.
	ID string
	// At is when, zero for never: as far as limits tell, and whatever has none stays.
	At time.Time
	// Nodes are where, by the workload's ID.
	Nodes map[string]string
}
