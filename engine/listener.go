package engine

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Listener is told what happens to workloads, stage by stage; the fields have
// the names of the stages. What a workload is told of comes in this order:
//
//	Submitted                   it is known; an adopted one is Confirmed next
//	Gated, Enqueued             it waits, and moves from one place of the queue to another
//	Popped                      an attempt begins
//	Filtered, Scored, Selected  of a member of a group once for each placement that is tried
//	Reserved                    it has a node, which is recorded
//	Waiting                     where a Permit plugin has it wait
//	Permitted                   it is being bound
//	Bound                       the orchestrator has accepted, or the workload is seen there
//	Confirmed                   it is seen on its node, or on another
//	Terminating                 it has been asked to leave, and keeps its room
//	Finished                    it has ended
//	Removed                     it is forgotten
//
// Each may be left out, and ends may come at any time: a workload that finishes while it
// is being bound is told of as Permitted, Finished. None comes late: what is Confirmed
// is not Permitted or Bound afterwards. Two lead back to the queue: Rejected, at any time
// from Popped until it is Bound (the Enqueued or Gated that puts it back comes just
// before it, for a member of a group after it), and Requeued, which tells of one that has lost its node or whose binding is
// abandoned (Enqueued comes next, at once or when the binding has returned). The other
// events may come in between.
//
// A nil function is not called. The functions are
// called in order, one at a time (PluginRan apart), while the engine waits for
// them: they must be quick. They may read the engine; [Engine] and [Raw] say which
// methods they may call, and what happens where they call others. The workloads,
// groups and objects that they are given are the engine's own, frozen: they may be
// kept, and must not be changed (a build with the tag berth_invariants panics where
// one was). Everything else is theirs. One that panics is logged, and the engine goes
// on.
//
// Times are those of the engine's clock, or those that the calls of a Raw were given.
//
// The functions from PluginRan on are told what things cost. To measure it costs
// something, so nothing is measured unless one of them is there. They are told of
// what the engine itself does, not of branches and explanations. What is decided, and
// what a [Recorder] writes, does not depend on who listens.
type Listener struct {
	Submitted func(SubmittedEvent) // it is known
	Gated     func(QueuedEvent)    // a gate keeps it out of the active queue
	Enqueued  func(QueuedEvent)    // it waits in the active queue, in backoff, or for an event
	Popped    func(PoppedEvent)    // an attempt begins
	Filtered  func(FilteredEvent)  // the nodes have been filtered
	Scored    func(ScoredEvent)    // the feasible nodes have been scored
	Selected  func(SelectedEvent)  // a node was chosen
	Reserved  func(PlacedEvent)    // the decision is recorded, and its room taken
	Waiting   func(WaitingEvent)   // a Permit plugin has it wait with its node
	Permitted func(PlacedEvent)    // it is handed to the orchestrator
	Bound     func(PlacedEvent)    // the orchestrator has accepted
	Confirmed func(PlacedEvent)    // it is seen on a node
	Rejected  func(RejectedEvent)  // the attempt failed, and the workload goes back to the queue
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
	// Terminating: it has been asked to leave, and keeps its room. This event and the three
	// below tell of a workload that leaves: its node, where it is on one or is being bound
	// to it, or the queue. What LoseNode takes off a node is Requeued or Finished.
	Terminating func(LeavingEvent)
	Finished    func(LeavingEvent) // it has ended
	Requeued    func(LeavingEvent) // it has lost its node, and is to be placed again
	Removed     func(LeavingEvent) // it is forgotten
	// LimitReached tells, once each time, of a limit of breach [model.LimitStop] on
	// resource-seconds that what runs has reached. Raw.Tick finds it.
	LimitReached func(LimitReachedEvent)
	// Misused tells of what is valid and most likely not what was meant, at the first
	// attempt since a workload was submitted or requeued. See [MisusedEvent].
	Misused func(MisusedEvent)
	// Failed tells of a failure that does not end a cycle by itself, such as a
	// panic in Unreserve.
	Failed func(FailedEvent)

	// PluginRan tells of one call of a plugin, in some cycles. It is called by
	// several goroutines at once.
	PluginRan func(PluginRanEvent)
	// PluginEvaluated tells how often a plugin was asked, in every cycle.
	PluginEvaluated func(PluginEvaluatedEvent)
	// HintRan tells of a hint that was asked what a change means for a workload.
	HintRan func(HintRanEvent)
	// ChangeOffered tells of a change that the queue was told of.
	ChangeOffered func(ChangeOfferedEvent)
	// PreemptionTried tells of a plugin that was asked whom to displace, at PostFilter
	// for a workload or at GroupPostFilter for a group, in every cycle.
	PreemptionTried func(PluginRanEvent)
	// PreemptionEnded tells that all evictions were accepted that a plugin asked
	// for, or one failed.
	PreemptionEnded func(PreemptionEndedEvent)
	// PlacementsGenerated tells how many placements there are to try for a group.
	PlacementsGenerated func(PlacementsGeneratedEvent)
	// PlacementTried tells of one that was tried.
	PlacementTried func(PlacementTriedEvent)
}

// SubmittedEvent tells of a workload that became known.
type SubmittedEvent struct {
	At       time.Time       // when
	Workload *model.Workload // as submitted or adopted
}

// QueuedEvent tells of a workload that moved from one part of the queue to another.
type QueuedEvent struct {
	queue.Move
}

// PoppedEvent tells that a scheduling cycle begins.
type PoppedEvent struct {
	At       time.Time       // when
	Workload *model.Workload // as it is tried
	Attempt  int             // from 1
}

// FilteredEvent tells that the nodes have been filtered.
type FilteredEvent struct {
	At        time.Time       // when the cycle began
	Workload  *model.Workload // that is tried
	Evaluated int             // nodes looked at
	Feasible  int             // nodes found feasible and kept
}

// ScoredEvent tells that the feasible nodes have been scored.
type ScoredEvent struct {
	At       time.Time       // when the cycle began
	Workload *model.Workload // that is tried
	Nodes    int             // how many were scored
	Best     int64           // highest total
}

// SelectedEvent tells which node was chosen.
type SelectedEvent struct {
	At       time.Time       // when the cycle began
	Workload *model.Workload // that is tried
	Node     string          // name of the chosen one
	Ties     int             // nodes with the same total, the chosen one included
}

// PlacedEvent tells of a workload that has got one step further with its node.
type PlacedEvent struct {
	// Stage is the one that it has reached: Reserved, Waiting, Permitted, Bound or
	// Confirmed.
	Stage    string
	At       time.Time       // when it reached the stage
	Workload *model.Workload // that has a node
	Binding  model.Binding   // its node, and the devices that it got there
}

// WaitingEvent tells of a workload that waits on Permit.
type WaitingEvent struct {
	PlacedEvent
	Plugins []string  // that want to wait
	Until   time.Time // when the first of them gives up
}

// RejectedEvent tells of a workload that goes back to the queue.
type RejectedEvent struct {
	At       time.Time       // when
	Workload *model.Workload // that was tried
	// Code is the kind of rejection; Error for a failure.
	Code extpoints.Code
	// Err is the failure behind Code Error.
	Err error
	// Message is the one-line summary.
	Message string
	// Diagnosis has the details where nodes were looked at. It must not be kept:
	// it holds on to the state of the whole cluster.
	Diagnosis Diagnosis
	// Nominated is the node that the workload is nominated to, or empty.
	Nominated string
	// Plugins are those that must change their mind, sorted.
	Plugins []string
}

// GroupEvent tells that an attempt to place a group has ended. For a tree of groups
// there is one event for each group.
type GroupEvent struct {
	At    time.Time    // when
	Group *model.Group // that was tried, or one below it
	// Code is Success, Unschedulable, or Error.
	Code extpoints.Code
	// Message is why it was not placed; empty where it was.
	Message string
	// Plugin is the one that rejected it, or the first placement that was tried; empty where no
	// plugin did.
	Plugin string
	// Placed and Unplaced count the members that were tried in this attempt.
	Placed, Unplaced int
	// Preempting: others are asked to leave for the group's sake.
	Preempting bool
}

// LimitReachedEvent tells of a limit that is used up while something of it runs.
type LimitReachedEvent struct {
	At    time.Time    // when Tick found it
	Limit *model.Limit // that is used up
	// Principal is whose limit it is where each has it for itself, see
	// [model.LimitEachPrincipal]; else empty.
	Principal string
}

// EvictingEvent tells of a workload that is asked to leave its node, or whose binding
// is called off.
type EvictingEvent struct {
	At       time.Time       // when
	Workload *model.Workload // that is to leave
	Node     string          // that it is on, or was being bound to
	Reason   string          // for people, as the orchestrator is told it
	// By is the ID of the workload that room is made for, or empty; ByGroup
	// that of the highest group, where it is made for a group.
	By, ByGroup string
	// For is the workload that room is made for, or one of the group that waits;
	// nil where it has gone, and where somebody else wants the eviction.
	For *model.Workload
}

// UnnominatedEvent tells of a workload that is not nominated to a node any more.
type UnnominatedEvent struct {
	At       time.Time       // when
	Workload *model.Workload // that waits
	Node     string          // that it was nominated to
}

// LeavingEvent tells of a workload that leaves where it was.
type LeavingEvent struct {
	// Stage is the one that it has reached: Terminating, Finished, Requeued or Removed.
	Stage    string
	At       time.Time       // when
	Workload *model.Workload // that leaves
	Phase    model.Phase     // in which it was
	Node     string          // where it was, or was being bound to; empty where it had none
}

// FailedEvent tells of a failure that has no event of its own.
type FailedEvent struct {
	At       time.Time // when
	Workload string    // ID, or empty
	Err      error     // what failed; it names the plugin or the call
}

// MisusedEvent tells of something that is valid and most likely not what was meant. The
// engine goes on as the documentation says:
//
//   - A topology key that no node has: a required constraint fits nowhere, anti-affinity
//     keeps nothing apart, and a preference has no effect. There is one for each key.
//   - A Permit plugin that wants to wait for longer than [extpoints.MaxPermitTimeout]: it
//     waits that long.
type MisusedEvent struct {
	At       time.Time       // when
	Workload *model.Workload // that asks for it
	// Message says what is wrong, and what comes of it.
	Message string
}

// placedEvent is that the cycle's workload has reached the stage.
func placedEvent(stage string, now time.Time, c *decide.Cycle) PlacedEvent {
	return PlacedEvent{Stage: stage, At: now, Workload: c.Info.Workload, Binding: framework.OwnBinding(&c.Binding)}
}

// leavingEvent is that the workload of the row has reached the stage.
func leavingEvent(stage string, now time.Time, before *store.Workload) LeavingEvent {
	return LeavingEvent{Stage: stage, At: now, Workload: before.Info.Workload, Phase: before.Phase, Node: before.Node}
}

// Tee returns a listener that tells all of the given ones, in order.
func Tee(listeners ...Listener) Listener { return tee(nil, listeners) }

// tee is Tee. With a logger it is for the engine: then every function is there, so that the
// engine never tests for nil, and none panics.
func tee(log hclog.Logger, listeners []Listener) Listener {
	return Listener{
		Submitted:           join(log, listeners, func(l *Listener) func(SubmittedEvent) { return l.Submitted }),
		Gated:               join(log, listeners, func(l *Listener) func(QueuedEvent) { return l.Gated }),
		Enqueued:            join(log, listeners, func(l *Listener) func(QueuedEvent) { return l.Enqueued }),
		Popped:              join(log, listeners, func(l *Listener) func(PoppedEvent) { return l.Popped }),
		Filtered:            join(log, listeners, func(l *Listener) func(FilteredEvent) { return l.Filtered }),
		Scored:              join(log, listeners, func(l *Listener) func(ScoredEvent) { return l.Scored }),
		Selected:            join(log, listeners, func(l *Listener) func(SelectedEvent) { return l.Selected }),
		Reserved:            join(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Reserved }),
		Waiting:             join(log, listeners, func(l *Listener) func(WaitingEvent) { return l.Waiting }),
		Permitted:           join(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Permitted }),
		Bound:               join(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Bound }),
		Confirmed:           join(log, listeners, func(l *Listener) func(PlacedEvent) { return l.Confirmed }),
		Rejected:            join(log, listeners, func(l *Listener) func(RejectedEvent) { return l.Rejected }),
		Decided:             join(log, listeners, func(l *Listener) func(GroupEvent) { return l.Decided }),
		LimitReached:        join(log, listeners, func(l *Listener) func(LimitReachedEvent) { return l.LimitReached }),
		Evicting:            join(log, listeners, func(l *Listener) func(EvictingEvent) { return l.Evicting }),
		Unnominated:         join(log, listeners, func(l *Listener) func(UnnominatedEvent) { return l.Unnominated }),
		Terminating:         join(log, listeners, func(l *Listener) func(LeavingEvent) { return l.Terminating }),
		Finished:            join(log, listeners, func(l *Listener) func(LeavingEvent) { return l.Finished }),
		Requeued:            join(log, listeners, func(l *Listener) func(LeavingEvent) { return l.Requeued }),
		Removed:             join(log, listeners, func(l *Listener) func(LeavingEvent) { return l.Removed }),
		Misused:             join(log, listeners, func(l *Listener) func(MisusedEvent) { return l.Misused }),
		Failed:              join(log, listeners, func(l *Listener) func(FailedEvent) { return l.Failed }),
		PluginRan:           join(log, listeners, func(l *Listener) func(PluginRanEvent) { return l.PluginRan }),
		PluginEvaluated:     join(log, listeners, func(l *Listener) func(PluginEvaluatedEvent) { return l.PluginEvaluated }),
		HintRan:             join(log, listeners, func(l *Listener) func(HintRanEvent) { return l.HintRan }),
		ChangeOffered:       join(log, listeners, func(l *Listener) func(ChangeOfferedEvent) { return l.ChangeOffered }),
		PreemptionTried:     join(log, listeners, func(l *Listener) func(PluginRanEvent) { return l.PreemptionTried }),
		PreemptionEnded:     join(log, listeners, func(l *Listener) func(PreemptionEndedEvent) { return l.PreemptionEnded }),
		PlacementsGenerated: join(log, listeners, func(l *Listener) func(PlacementsGeneratedEvent) { return l.PlacementsGenerated }),
		PlacementTried:      join(log, listeners, func(l *Listener) func(PlacementTriedEvent) { return l.PlacementTried }),
	}
}

// join joins the functions that the listeners have for one event.
func join[E any](log hclog.Logger, listeners []Listener, pick func(*Listener) func(E)) func(E) {
	var functions []func(E)
	for i := range listeners {
		f := pick(&listeners[i])
		if log != nil {
			f = observe.Guarded(log, f) // each by itself: one that panics silences no other
		}
		functions = append(functions, f)
	}
	if f := observe.Join(functions...); f != nil || log == nil {
		return f
	}
	return func(E) {}
}
