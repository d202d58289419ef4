package api

import "github.com/berth-project/berth/adapters/fleet/job"

// Amounts are amounts of resources. What is left out is not said.
type Amounts struct {
	CPU    *job.MilliCPU `json:"cpu,omitempty"`    // in thousandths of a core
	Memory *job.Bytes    `json:"memory,omitempty"` // in bytes
	Disk   *job.Bytes    `json:"disk,omitempty"`   // in bytes
	// GPUs counts whole devices.
	GPUs *int64 `json:"gpus,omitempty"`
	// Other are amounts of resources that operators give names to.
	Other map[string]int64 `json:"other,omitempty"`
}

// IsZero reports whether no amount is said.
func (a *Amounts) IsZero() bool {
	return a == nil || a.CPU == nil && a.Memory == nil && a.Disk == nil && a.GPUs == nil && len(a.Other) == 0
}

// Policy says in what order the parts of a queue have their turn: the queues below it,
// and the users with jobs in it. The jobs of one user in a queue go by priority, then by number.
type Policy string

// The policies. The empty value is PolicyShare.
const (
	PolicyFIFO     Policy = "fifo"     // whose first job came first
	PolicyPriority Policy = "priority" // whose first job has the highest priority, then as fifo
	PolicyShare    Policy = "share"    // who uses least, in relation to the weight
	PolicyUsage    Policy = "usage"    // who has used least over time, in relation to the weight; see Queue.HalfLife
)

// Reclaim says whose tasks in other queues are ended for a job that waits, so that its queue gets what
// it is entitled to. The job of such a task waits again, unless it is not to be requeued.
//
// They are of queues that have more than they are guaranteed. It is enough that the queue of the
// job stays within its own guarantee; beyond it, the order of the queues decides: by the policy
// share a queue may not end up with more than the other has left, for the weight.
type Reclaim string

// Whose tasks are ended. The empty value is ReclaimNever.
const (
	ReclaimNever Reclaim = "never" // nobody's
	ReclaimLower Reclaim = "lower" // those of a lower priority than the job's
	ReclaimAny   Reclaim = "any"   // those of any priority
)

// MaxWeight is the largest weight, and the highest price.
const MaxWeight = 1_000_000

// Account is what users belong to: PUT /v1/accounts/{name}. It may have limits, which
// are for all its users and the accounts below it together.
type Account struct {
	Name string `json:"name"` // unique in the fleet
	// Parent is the account that it is part of. Default: none.
	Parent string `json:"parent,omitempty"`
	// Queue is the queue for jobs of its users that name none. Default: that of the
	// accounts above it, or else the queue default.
	Queue string `json:"queue,omitempty"`
}

// AccountList is the answer to GET /v1/accounts, by name.
type AccountList struct {
	Accounts []Account `json:"accounts"` // all there are
}

// User is what operators say of a user: PUT /v1/users/{name}. Those of whom nothing is
// said have the defaults.
type User struct {
	Name string `json:"name"` // unique in the fleet
	// Account is the account that the user belongs to. Default: none.
	Account string `json:"account,omitempty"`
	// Queue is as Account.Queue, for the user alone.
	Queue string `json:"queue,omitempty"`
	// Weight is the user's part of a queue of the policy share, in relation to others with
	// jobs in it. Default: 1.
	Weight int32 `json:"weight,omitempty"`
}

// UserList is the answer to GET /v1/users, by name.
type UserList struct {
	Users []User `json:"users"` // all there are
}

// Each says for whom a limit counts.
type Each string

// What a limit is for. The empty value is all together.
const (
	EachUser Each = "user" // each user of the queue by himself
	EachTask Each = "task" // each task by itself
)

// Limit is the most that jobs may use at once, or over time: PUT /v1/limits/{name}. What would
// be more waits. A limit ends no tasks.
type Limit struct {
	Name string `json:"name"` // unique in the fleet
	// Queue, Account or User says whose it is; exactly one is set. Queues and accounts
	// below it count, too.
	Queue   string `json:"queue,omitempty"`
	Account string `json:"account,omitempty"` // see Queue
	User    string `json:"user,omitempty"`    // see Queue
	// Each is for whom it counts. "user" is for the limit of a queue.
	Each Each `json:"each,omitempty"`
	// Running is how many tasks may run, Use what they may request together, and Hours that times
	// the hours for which they have it. At least one of them is set.
	Running *int64   `json:"running,omitempty"`
	Use     *Amounts `json:"use,omitempty"` // see Running
	// Of Hours counts what was used, and what tasks under way will have used at the end of their time
	// limits: a job without a time limit waits for ever.
	Hours *Amounts `json:"hours,omitempty"`
	// HalfLife is for Hours that are not of each task: after it, what has been used counts half.
	// From a second to MaxHalfLife. Default: DefaultHalfLife.
	HalfLife job.Duration `json:"halfLife,omitzero"`
}

// LimitList is the answer to GET /v1/limits, by name.
type LimitList struct {
	Limits []Limit `json:"limits"` // all there are
}
