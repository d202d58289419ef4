package queue

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Move is a workload going from one place to another. Where a tree of groups
// moves there is one for each member.
type Move struct {
	ID string // the workload's
	// Group is the ID of the highest group of the tree of which the workload is
	// a member; empty for a workload of its own, and while it is not known.
	Group    string
	From, To Place // None: it was not in the queue, or is not any more
	// Event is what moved it: a change in the cluster, or one of the labels
	// below without a kind of object.
	Event extpoints.ClusterEvent
	// Plugin is the one whose hint or gate decided, empty where none did.
	Plugin string
	// At is the time that the call was given; zero for Delete and Done, which
	// are given none.
	At time.Time
}

// Labels of events that are no change in the cluster. Those that exist there
// are named as in kube-scheduler (pkg/scheduler/framework/events.go, 1.37.1).
const (
	ScheduleAttemptFailure = "ScheduleAttemptFailure" // AddUnschedulable
	BackoffComplete        = "BackoffComplete"        // Tick
	UnschedulableTimeout   = "UnschedulableTimeout"   // Tick
	ForceActivate          = "ForceActivate"          // Activate
	DemandsChanged         = "DemandsChanged"         // Update, of what the workload asks for
	EvictionFailed         = "EvictionFailed"         // Retry
	RoomMade               = "RoomMade"               // Retry
	GroupChanged           = "GroupChanged"           // GroupChanged
	RoomGivenUp            = "RoomGivenUp"            // Move, of a workload that takes other room than was kept for it; not for itself
	RoomLost               = "RoomLost"               // Move, with the workload whose nomination has ended or may be worth nothing
	PopFromBackoffQ        = "PopFromBackoffQ"        // Pop, when nothing was active
	NextAlike              = "NextAlike"              // one like it that was before it has left; see Item.Class
	QueuesChanged          = "QueuesChanged"          // Reorder
	MinRuntimeOver         = "MinRuntimeOver"         // Tick: one runs long enough to be displaced; see [model.Queue].MinRuntime
	Deleted                = "Deleted"                // Delete, also of members that are left

	// Of these a move ends in none of the places in which workloads wait.
	popped    = "Popped"    // Pop
	discarded = "Discarded" // Pop, of one already in flight
	finished  = "Finished"  // Done
)

// cause is why an item moves: the part of a Move that is handed down.
type cause struct {
	event  extpoints.ClusterEvent
	plugin string
	at     time.Time
}

func labelled(label string, now time.Time) cause {
	return cause{event: extpoints.ClusterEvent{Label: label}, at: now}
}
