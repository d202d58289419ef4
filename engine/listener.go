package engine

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Listener is told what happens to workloads, stage by stage; the fields have
// the names of the stages. A nil function is not called. The functions are
// called in order, one at a time, while the engine waits for them: they must
// be quick and must not call the engine. What they are given must not be
// changed.
type Listener struct {
	Submitted func(SubmittedEvent)
	Gated     func(QueuedEvent)
	Enqueued  func(QueuedEvent)
	Popped    func(PoppedEvent)
	Filtered  func(FilteredEvent)
	Scored    func(ScoredEvent)
	Selected  func(SelectedEvent)
	Reserved  func(PlacedEvent)
	Waiting   func(WaitingEvent)
	Permitted func(PlacedEvent)
	Bound     func(PlacedEvent)
	Confirmed func(PlacedEvent)
	Rejected  func(RejectedEvent)
	// Decided tells how an attempt to place a group has ended, after the
	// events of its members.
	Decided func(GroupEvent)
	// Evicting tells of an eviction that is asked of the orchestrator, or that is
	// done by calling off the workload's binding.
	Evicting func(EvictingEvent)
	// Unnominated tells that the room which was kept for a workload that waits is
	// taken for another of higher priority. (What a workload's own cycle says of
	// its nomination is in Rejected.)
	Unnominated func(UnnominatedEvent)
	// Removed tells of a workload that has gone.
	Removed func(RemovedEvent)
	// Failed tells of a failure that does not end a cycle by itself, such as a
	// panic in Unreserve.
	Failed func(FailedEvent)
}

// SubmittedEvent: a workload became known.
type SubmittedEvent struct {
	At       time.Time
	Workload *model.Workload
}

// QueuedEvent: a workload moved from one part of the queue to another.
type QueuedEvent struct {
	queue.Move
}

// PoppedEvent: a scheduling cycle begins.
type PoppedEvent struct {
	At       time.Time
	Workload *model.Workload
	Attempt  int // from 1
}

// FilteredEvent: the nodes are filtered.
type FilteredEvent struct {
	At        time.Time
	Workload  *model.Workload
	Evaluated int // nodes looked at
	Feasible  int // nodes found feasible and kept
}

// ScoredEvent: the feasible nodes are scored.
type ScoredEvent struct {
	At       time.Time
	Workload *model.Workload
	Nodes    int
	Best     int64 // highest total
}

// SelectedEvent: a node is chosen.
type SelectedEvent struct {
	At       time.Time
	Workload *model.Workload
	Node     string
	Ties     int // nodes with the same total, the chosen one included
}

// PlacedEvent: a workload has got one step further with its node.
type PlacedEvent struct {
	At       time.Time
	Workload *model.Workload
	Binding  model.Binding
}

// WaitingEvent: a workload waits on Permit.
type WaitingEvent struct {
	PlacedEvent
	Plugins []string  // who wants to wait
	Until   time.Time // when the first of them gives up
}

// RejectedEvent: a workload goes back to the queue.
type RejectedEvent struct {
	At       time.Time
	Workload *model.Workload
	// Code is the kind of rejection; Error for a failure.
	Code extpoints.Code
	// Err is the failure behind Code Error.
	Err error
	// Message is the one-line summary.
	Message string
	// Diagnosis has the details where nodes were looked at, else nil. It must
	// not be kept: it holds on to the state of the whole cluster.
	Diagnosis *Diagnosis
	// Nominated is the node that the workload is nominated to, or empty.
	Nominated string
	// Plugins are those that must change their mind, sorted.
	Plugins []string
}

// GroupEvent: an attempt to place a group has ended; of a tree of groups there
// is one for each.
type GroupEvent struct {
	At    time.Time
	Group *model.Group
	// Code is Success, Unschedulable, or Error.
	Code extpoints.Code
	// Message is why it was not placed.
	Message string
	// Placed and Unplaced count the members that were tried in this attempt.
	Placed, Unplaced int
	// MakingRoom: others are asked to leave for the group's sake.
	MakingRoom bool
}

// EvictingEvent: a workload is asked to leave its node, or has its binding called off.
type EvictingEvent struct {
	At       time.Time
	Workload *model.Workload
	Node     string
	Reason   string
	// By is the ID of the workload that room is made for, or empty; ByGroup
	// that of the highest group, where it is made for a group.
	By, ByGroup string
	// For is the workload that room is made for, or one of the group that waits;
	// nil where it has gone, and where somebody else wants the eviction.
	For *model.Workload
}

// UnnominatedEvent: a workload is not nominated to a node any more.
type UnnominatedEvent struct {
	At       time.Time
	Workload *model.Workload
	Node     string // that it was nominated to
}

// RemovedEvent: a workload has gone.
type RemovedEvent struct {
	At       time.Time
	Workload *model.Workload
	Phase    model.Phase // in which it was
	Node     string      // where it was, or empty
}

// FailedEvent: something failed that has no event of its own.
type FailedEvent struct {
	At       time.Time
	Workload string // ID, or empty
	Err      error
}

// Tee returns a listener that tells all of the given ones, in order.
func Tee(listeners ...Listener) Listener {
	return guardedTee(nil, listeners...)
}

// guardedTee is Tee; with a logger, a listener that panics is logged and the
// engine goes on.
func guardedTee(log hclog.Logger, listeners ...Listener) Listener {
	return Listener{
		Submitted:   tee(log, listeners, func(l *Listener) func(SubmittedEvent) { return l.Submitted }),
		Gated:       tee(log, listeners, func(l *Listener) func(QueuedEvent) { return l.Gated }),
		Enqueued:    tee(log, listeners, func(l *Listener) func(QueuedEvent) { return l.Enqueued }),
		Popped:      tee(log, listeners, func(l *Listener) func(PoppedEvent) { return l.Popped }),
		Filtered:    tee(log, listeners, func(l *Listener) func(FilteredEvent) { return l.Filtered }),
		Scored:      tee(log, listeners, func(l *Listener) func(ScoredEvent) { return l.Scored }),
		Selected:    tee(log, listeners, func(l *Listener) func(SelectedEvent) { return l.Selected }),
		Reserved:    tee(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Reserved }),
		Waiting:     tee(log, listeners, func(l *Listener) func(WaitingEvent) { return l.Waiting }),
		Permitted:   tee(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Permitted }),
		Bound:       tee(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Bound }),
		Confirmed:   tee(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Confirmed }),
		Rejected:    tee(log, listeners, func(l *Listener) func(RejectedEvent) { return l.Rejected }),
		Decided:     tee(log, listeners, func(l *Listener) func(GroupEvent) { return l.Decided }),
		Evicting:    tee(log, listeners, func(l *Listener) func(EvictingEvent) { return l.Evicting }),
		Unnominated: tee(log, listeners, func(l *Listener) func(UnnominatedEvent) { return l.Unnominated }),
		Removed:     tee(log, listeners, func(l *Listener) func(RemovedEvent) { return l.Removed }),
		Failed:      tee(log, listeners, func(l *Listener) func(FailedEvent) { return l.Failed }),
	}
}

// tee joins the functions that the listeners have for one event; with no
// function at all it is a no-op, so that the engine never tests for nil.
func tee[E any](log hclog.Logger, listeners []Listener, pick func(*Listener) func(E)) func(E) {
	var functions []func(E)
	for i := range listeners {
		if f := pick(&listeners[i]); f != nil {
			functions = append(functions, f)
		}
	}
	if len(functions) == 0 {
		return func(E) {}
	}
	return func(e E) {
		for _, f := range functions {
			call(log, "a listener", f, e)
		}
	}
}

// call tells somebody; with a logger, a panic is logged, and who it was.
func call[E any](log hclog.Logger, who string, f func(E), e E) {
	if log != nil {
		defer func() {
			if cause := recover(); cause != nil {
				log.Error(who+" panicked", "event", fmt.Sprintf("%T", e), "panic", cause)
			}
		}()
	}
	f(e)
}
