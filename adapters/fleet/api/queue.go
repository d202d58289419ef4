package api

import (
	"math"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// DefaultMaxQueued is Queue.MaxQueued where it is 0.
const DefaultMaxQueued = 50_000

// Queue is a class of jobs: PUT /v1/queues/{name}. The queue "default" is always
// there.
type Queue struct {
	Name string `json:"name"`
	// Priority is added to that of its jobs.
	Priority int32 `json:"priority,omitempty"`
	// MaxPriority is the highest that a user may give a job. Default: 0.
	MaxPriority int32 `json:"maxPriority,omitempty"`
	// Preempts: its jobs may take the place of those of lower priority.
	Preempts bool `json:"preempts,omitempty"`
	// Nodes are constraints that the nodes of its jobs fulfil.
	Nodes []job.Constraint `json:"nodes,omitempty"`
	// DefaultTime and MaxTime are limits of an attempt's time. Zero: none.
	DefaultTime job.Duration `json:"defaultTime,omitzero"`
	MaxTime     job.Duration `json:"maxTime,omitzero"`
	// MaxRunning is how many tasks of one user may run at once. 0: any number.
	MaxRunning int32 `json:"maxRunning,omitempty"`
	// MaxQueued is how many jobs of one user may be there that have not ended. An array
	// is one job, but a gang counts once for each task: all of them are looked at
	// together. 0: DefaultMaxQueued. -1: any number.
	MaxQueued int32 `json:"maxQueued,omitempty"`
	// Users, where not empty, are the only ones who may use it.
	Users []string `json:"users,omitempty"`
	// Stopped: nothing of it starts.
	Stopped bool `json:"stopped,omitempty"`
}

// QueuedLimit is how many jobs of one user may be there.
func (q *Queue) QueuedLimit() int32 {
	switch {
	case q.MaxQueued < 0:
		return math.MaxInt32
	case q.MaxQueued == 0:
		return DefaultMaxQueued
	}
	return q.MaxQueued
}

// QueueStatus is a queue and what is in it: GET /v1/queues.
type QueueStatus struct {
	Queue
	// Pending and Running count elements.
	Pending int32 `json:"pending"`
	Running int32 `json:"running"`
}

// QueueList is the answer to GET /v1/queues.
type QueueList struct {
	Queues []QueueStatus `json:"queues"`
}
