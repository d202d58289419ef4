package api

import (
	"math"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// DefaultMaxQueued is Queue.MaxQueued where it is 0.
const DefaultMaxQueued = 50_000

// DefaultMaxStored is Queue.MaxStored where it is 0.
const DefaultMaxStored = job.Bytes(64 << 20)

// DefaultHalfLife is the half-life of a queue or limit where it is 0, MaxHalfLife the longest.
const (
	DefaultHalfLife = job.Duration(7 * 24 * time.Hour)
	MaxHalfLife     = job.Duration(10_000 * 24 * time.Hour)
)

// MaxMinRuntime is the most that Queue.MinRuntime may be.
const MaxMinRuntime = job.Duration(10_000 * 24 * time.Hour)

// MaxDefaultMemory is the most that Queue.DefaultMemoryPerCPU may be.
const MaxDefaultMemory = job.Bytes(1 << 40)

// Queue is a class of jobs: PUT /v1/queues/{name}. The queue "default" is always
// there.
type Queue struct {
	Name string `json:"name"` // unique in the fleet
	// Priority is added to that of its jobs.
	Priority int32 `json:"priority,omitempty"`
	// MaxPriority is the highest that a user may give a job. Default: 0.
	MaxPriority int32 `json:"maxPriority,omitempty"`
	// Preempts: its jobs may take the place of those of lower priority; in a tree of queues, of
	// those in the same queue. See Reclaim for those in others.
	Preempts bool `json:"preempts,omitempty"`
	// Nodes are constraints that the nodes of its jobs fulfil.
	Nodes []job.Constraint `json:"nodes,omitempty"`
	// DefaultTime and MaxTime are limits of an attempt's time. Zero: none.
	DefaultTime job.Duration `json:"defaultTime,omitzero"`
	MaxTime     job.Duration `json:"maxTime,omitzero"` // see DefaultTime
	// DefaultMemoryPerCPU is the memory of a job that names none, for each core that it
	// asks for. Default: 0, and such a job counts as one that needs no memory.
	DefaultMemoryPerCPU job.Bytes `json:"defaultMemoryPerCPU,omitzero"`
	// MaxRunning is how many tasks of one user may run at once. 0: any number.
	MaxRunning int32 `json:"maxRunning,omitempty"`
	// MaxQueued is how many jobs of one user may be there that have not ended. An array
	// is one job, but a gang counts once for each task: all of them are looked at
	// together. 0: DefaultMaxQueued. -1: any number.
	MaxQueued int32 `json:"maxQueued,omitempty"`
	// MaxStored is how much the servers store of the jobs of one user in all queues, with
	// those that have ended: scripts, variables, arguments, and what arrays take. Of the
	// queues that a user may use the largest counts. 0: DefaultMaxStored.
	MaxStored job.Bytes `json:"maxStored,omitzero"`
	// Users, where not empty, are the only ones who may use it.
	Users []string `json:"users,omitempty"`
	// Stopped: nothing of it starts.
	Stopped bool `json:"stopped,omitempty"`

	// Parent is the queue that it is part of. Default: none.
	Parent string `json:"parent,omitempty"`
	// Weight is its part of what is shared, in relation to the other queues of the same
	// parent. Default: 1.
	Weight int32 `json:"weight,omitempty"`
	// Policy orders the queues below it and the users with jobs in it. Default: share.
	Policy Policy `json:"policy,omitempty"`
	// HalfLife is for the policy usage: after it, what has been used counts half. From a second
	// to MaxHalfLife. Default: DefaultHalfLife.
	HalfLife job.Duration `json:"halfLife,omitzero"`
	// Prices, for the policy usage, make one number of all that is used: the price of a core, a GiB of
	// memory or disk, a GPU, and one of another resource, by the names cpu, memory, disk, gpus and
	// those of others. What has no price costs nothing. Default: what counts is the resource of which
	// most was used in relation to the fleet.
	Prices map[string]int64 `json:"prices,omitempty"`
	// Guaranteed is what it can count on, as long as there is room: what it does not lend
	// others cannot use. Max is the most that it may use.
	Guaranteed *Amounts `json:"guaranteed,omitempty"`
	Max        *Amounts `json:"max,omitempty"` // see Guaranteed
	// Lend is how much of what it does not use of Guaranteed others may use. Default: all.
	// Borrow is how much it may use beyond Guaranteed. Default: no limit.
	Lend   *Amounts `json:"lend,omitempty"`
	Borrow *Amounts `json:"borrow,omitempty"` // see Lend
	// Reclaim says whose tasks in other queues its own jobs, not those of queues below it, may
	// displace to get what the queue is entitled to. One that may preempts in itself, too: see
	// Preempts. Default: never.
	Reclaim Reclaim `json:"reclaim,omitempty" since:"2"`
	// MinRuntime is for how long a task of it, or of a queue below it, has its node at least
	// before other queues may reclaim it. Default: 0.
	MinRuntime job.Duration `json:"minRuntime,omitzero" since:"2"`
	// Protected is the part of its fair share that nobody may reclaim, in percent. The fair share
	// is what its weight gives it among the queues beside it that have jobs. Default: 0.
	Protected int32 `json:"protected,omitempty" since:"2"`
}

// InTree reports whether it says anything about its place among queues. Where no queue
// does, and there are no accounts, users and limits, jobs go by priority and number alone.
func (q *Queue) InTree() bool {
	return q.Parent != "" || q.Weight != 0 || q.Policy != "" || q.HalfLife != 0 || len(q.Prices) > 0 ||
		!q.Guaranteed.IsZero() || !q.Max.IsZero() || !q.Lend.IsZero() || !q.Borrow.IsZero() ||
		q.Reclaim != "" || q.MinRuntime != 0 || q.Protected != 0
}

// Reclaims reports whether its jobs may displace tasks of other queues.
func (q *Queue) Reclaims() bool { return q.Reclaim != "" && q.Reclaim != ReclaimNever }

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

// StoredLimit is how much is stored of the jobs of one user.
func (q *Queue) StoredLimit() job.Bytes {
	if q.MaxStored == 0 {
		return DefaultMaxStored
	}
	return q.MaxStored
}

// Open reports whether a user may use the queue.
func (q *Queue) Open(user string) bool { return len(q.Users) == 0 || slices.Contains(q.Users, user) }

// DefaultMemory is the memory of a job that names none and asks for so much cpu.
func (q *Queue) DefaultMemory(cpu job.MilliCPU) job.Bytes {
	each := q.DefaultMemoryPerCPU
	return each*job.Bytes(cpu/1000) + (each*job.Bytes(cpu%1000)+999)/1000
}

// QueueStatus is a queue and what is in it: GET /v1/queues.
type QueueStatus struct {
	Queue
	// Pending and Running count elements.
	Pending int32 `json:"pending"`
	Running int32 `json:"running"` // see Pending
}

// QueueList is the answer to GET /v1/queues.
type QueueList struct {
	Queues []QueueStatus `json:"queues"` // by name
}
