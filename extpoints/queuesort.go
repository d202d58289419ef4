package extpoints

import (
	"time"

	"github.com/berth-project/berth/model"
)

// Queued is something that waits to be scheduled, as the queue orders it: a
// workload, or a tree of groups with the members that wait.
type Queued struct {
	// Workload is the workload; of a tree of groups the member of which the
	// order of members is first.
	Workload *model.Workload
	// Group is the highest group of the tree; nil for a workload of its own.
	Group *model.Group
	// Priority is the workload's, or that of the highest group.
	Priority int32
	// Timestamp is when it entered the queue, or when its last attempt failed. A
	// tree of groups has that of its first member until it is tried.
	Timestamp time.Time
	// AddedAt is when it first entered the queue.
	AddedAt time.Time
	// Attempts is how many times it was taken out to be scheduled.
	Attempts int
}

// QueueSortPlugin orders the active queue. Exactly one is enabled, and the
// same one in all profiles of an engine. Called on the engine's goroutine,
// very often; must not block, and must be a strict weak order. Those that
// it calls equal go in the order in which they came to the queue, or last came
// back to it. Where it panics the older one goes first.
// Conformance: extpointstest.TestPlugin.
type QueueSortPlugin interface {
	Plugin
	// Less reports whether a goes before b.
	Less(a, b *Queued) bool
}
