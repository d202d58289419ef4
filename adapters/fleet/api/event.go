package api

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Event is something that happened, a line of JSON each:
// GET /v1/events?after=&job=&node=&follow=. Users see those of their own jobs and
// of nodes.
type Event struct {
	// ID is larger than that of any earlier one, and the same on every server:
	// "index.number" of the change that made it.
	ID   string    `json:"id"`
	At   time.Time `json:"at"`   // when it happened
	Kind EventKind `json:"kind"` // what happened

	Job     job.ID    `json:"job,omitempty"`     // about which it is; empty where it is about a node
	Owner   string    `json:"owner,omitempty"`   // the job's
	Element *int32    `json:"element,omitempty"` // nil: the whole job
	Attempt int32     `json:"attempt,omitempty"` // of the element; 0 where it is about none
	State   job.State `json:"state,omitempty"`   // that was entered
	Node    string    `json:"node,omitempty"`    // its name
	Message string    `json:"message,omitempty"` // in words
	By      string    `json:"by,omitempty"`      // who asked for it
}

// EventKind says what happened.
type EventKind string

// The kinds.
const (
	EventSubmitted EventKind = "submitted"
	EventPlaced    EventKind = "placed"  // an attempt has its nodes
	EventRunning   EventKind = "running" // all its tasks run
	EventStopping  EventKind = "stopping"
	EventEnded     EventKind = "ended"    // an attempt has ended
	EventFinished  EventKind = "finished" // the element has ended for good
	EventHeld      EventKind = "held"
	EventReleased  EventKind = "released"
	EventNode      EventKind = "node"   // something of a node has changed
	EventMissed    EventKind = "missed" // of the stream itself: events before this one are gone
)
