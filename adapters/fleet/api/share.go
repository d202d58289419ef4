package api

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Share is a queue, or a user in the queue before it, with what it is entitled to and what
// it uses: GET /v1/shares. Shares are parts of the fleet.
type Share struct {
	// Queue is the queue. User is set where it is about a user with jobs there.
	Queue string `json:"queue"`
	User  string `json:"user,omitempty"` // empty for a queue
	// Depth is how many queues are above it.
	Depth  int32 `json:"depth,omitempty"`
	Weight int32 `json:"weight"` // its part of what is shared beside it
	// Entitled is the part that weights give it while all others want theirs: of queues
	// beside it, or of users with jobs in the queue.
	Entitled   float64  `json:"entitled"`
	Guaranteed *Amounts `json:"guaranteed,omitempty"` // the queue's; nil: nothing is
	Max        *Amounts `json:"max,omitempty"`        // the queue's; nil: no limit
	// Use is what tasks under way request, with those of all below it. Dominant is the
	// resource of which that is most in relation to the fleet, and Share that part.
	Use      Amounts `json:"use,omitzero"`
	Dominant string  `json:"dominant,omitempty"` // see Use
	Share    float64 `json:"share"`              // see Use
	// Running counts tasks under way, Waiting elements that wait.
	Running int32 `json:"running"`
	Waiting int32 `json:"waiting"` // see Running
	// Usage is what has been used, where the queue above, or of a user the queue, goes by usage.
	// Effective is the part of that among those beside it, and Level the part of the weights over
	// that: the highest goes first. Level is left out where nothing was used, which comes before all.
	Usage     *PastUse `json:"usage,omitempty"`
	Effective float64  `json:"effective,omitempty"` // see Usage
	Level     float64  `json:"level,omitempty"`     // see Usage
	// Rank is that of a user, from 1, in the tree of queues that go by usage, guarantees aside: all in
	// the queue that goes first come before all in the next. A queue in it that goes by another policy
	// has one rank for all in it. Equal ones are in the order of their names.
	Rank int32 `json:"rank,omitempty"`
}

// OfPrices is PastUse.Of where a queue goes by prices.
const OfPrices = "prices"

// PastUse is what has been used over time; the older counts less. It is that of the resource that
// counts: of which most was used in relation to the fleet; or by prices, of all.
type PastUse struct {
	Of string `json:"of"` // the resource, or what is priced
	// Raw is in cores, GPUs, bytes, units or prices, times seconds; Fleet over what the fleet has:
	// for how many seconds all of it would have been used.
	Raw   float64 `json:"raw"`
	Fleet float64 `json:"fleet"` // see Raw
}

// ShareList is the answer to GET /v1/shares: queues in the order of the tree, each with its
// users and then the queues below it.
type ShareList struct {
	// ByQueues: jobs go in the order of this tree. Else they go by priority and number
	// alone, and the shares are what has come of it.
	ByQueues bool    `json:"byQueues,omitempty"`
	Shares   []Share `json:"shares"` // in the order of the tree
}

// Turn is an element that waits, and its place in the order: GET /v1/order.
type Turn struct {
	// Place is its place among those that wait, from 1. 0: a limit or a quota holds it
	// back.
	Place   int       `json:"place"`
	Job     job.ID    `json:"job"`             // which job
	Element int32     `json:"element"`         // its index
	Array   bool      `json:"array,omitempty"` // the job is one
	Name    string    `json:"name,omitempty"`  // the job's
	Owner   string    `json:"owner"`           // the user who submitted it
	Queue   string    `json:"queue"`           // its name
	Since   time.Time `json:"since"`           // when it was submitted
	// Priority is that of the job, QueuePriority that of the queue, which is added.
	Priority      int32 `json:"priority"`
	QueuePriority int32 `json:"queuePriority,omitempty"` // see Priority
	// Path is where it stands in the tree of queues, from the top. It is empty where jobs go
	// by priority and number.
	Path []Level `json:"path,omitempty"`
	// Held says which limit or quota holds it back.
	Held string `json:"held,omitempty"`
}

// Level is a queue, or the user in it, in the path of an element.
type Level struct {
	Queue  string `json:"queue,omitempty"` // empty for a user
	User   string `json:"user,omitempty"`  // empty for a queue
	Weight int64  `json:"weight"`          // its part of what is shared beside it
	// Share is the part of the fleet that it uses, of the resource of which it uses most.
	// Of those beside each other, the one with the smallest part for its weight goes first.
	Share float64 `json:"share"`
	// Usage is what it has used, where that counts in place of Share.
	Usage *PastUse `json:"usage,omitempty"`
}

// TurnList is the answer to GET /v1/order?limit=, by place. Users see their own jobs.
type TurnList struct {
	Turns []Turn `json:"turns"` // those that were asked for
	// Waiting is how many wait in all, with those of others.
	Waiting int `json:"waiting"`
}
