package extpoints

import (
	"strings"

	"github.com/berth-project/berth/model"
)

// The kinds of thing that events are about, besides the kinds of storage and devices
// ([model.ObjectKinds]). AnyWorkload stands, in registrations, for the three below it.
const (
	AnyWorkload model.ObjectKind = "Workload"
	// AssignedWorkload: a workload that is on a node.
	AssignedWorkload model.ObjectKind = "AssignedWorkload"
	// UnscheduledWorkload: a workload that is on no node.
	UnscheduledWorkload model.ObjectKind = "UnscheduledWorkload"
	// TargetWorkload: the waiting workload itself.
	TargetWorkload    model.ObjectKind = "TargetWorkload"
	NodeResource      model.ObjectKind = "Node"
	GroupResource     model.ObjectKind = "Group"
	NamespaceResource model.ObjectKind = "Namespace"
	BudgetResource    model.ObjectKind = "Budget"
	// AnyResource matches every kind.
	AnyResource model.ObjectKind = "*"
)

// Action is a set of things that may happen to an object. The order of the
// bits is part of the matching rule; see [ClusterEvent.Matches].
type Action uint32

// The actions.
const (
	Add Action = 1 << iota
	Delete
	UpdateNodeAllocatable
	UpdateNodeLabel
	UpdateNodeTaint
	UpdateNodeDevices
	UpdateNodeFeatures
	UpdateWorkloadLabel
	UpdateWorkloadScaleDown
	UpdateWorkloadScaleUp
	UpdateWorkloadToleration
	UpdateWorkloadGatesEliminated
	// UpdateWorkloadDeviceClaims: claims that are made for it are there.
	UpdateWorkloadDeviceClaims
	updateOther

	// Update is every update. An update that is none of the kinds above is
	// reported as Update too.
	Update = 1<<iota - 1 - Add - Delete
	// AllActions is everything.
	AllActions = Update | Add | Delete
)

var actionNames = []string{"Add", "Delete", "UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint",
	"UpdateNodeDevices", "UpdateNodeFeatures", "UpdateWorkloadLabel", "UpdateWorkloadScaleDown", "UpdateWorkloadScaleUp",
	"UpdateWorkloadToleration", "UpdateWorkloadGatesEliminated", "UpdateWorkloadDeviceClaims", "UpdateOther"}

// String names the action; a union is joined with "|".
func (a Action) String() string {
	switch a {
	case AllActions:
		return "All"
	case Update:
		return "Update"
	}
	var names []string
	for i, name := range actionNames {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// ClusterEvent is a kind of change that may make a waiting workload
// schedulable. In registrations Action may be a union.
type ClusterEvent struct {
	// Resource is the kind of thing that changes.
	Resource model.ObjectKind
	// Action is what happens to it.
	Action Action
	// Label is what logs and listeners call the event; empty: made up from
	// the other two.
	Label string
}

// String returns the label, or one made up from the kind and the action.
func (e ClusterEvent) String() string {
	if e.Label != "" {
		return e.Label
	}
	return string(e.Resource) + "/" + e.Action.String()
}

// Matches reports whether an incoming event is one that e registers for, by
// kube-scheduler's rule (staging framework/types.go MatchClusterEvents,
// 1.37.1).
func (e ClusterEvent) Matches(incoming ClusterEvent) bool {
	if e.IsWildcard() {
		return true
	}
	return matches(e.Resource, incoming.Resource) &&
		e.Action&incoming.Action != 0 && incoming.Action <= e.Action
}

// IsWildcard reports whether the event is every action on every kind.
func (e ClusterEvent) IsWildcard() bool {
	return e.Resource == AnyResource && e.Action == AllActions
}

func matches(r, incoming model.ObjectKind) bool {
	if r == incoming || r == AnyResource {
		return true
	}
	if r != AnyWorkload {
		return false
	}
	switch incoming {
	case AssignedWorkload, UnscheduledWorkload, TargetWorkload:
		return true
	}
	return false
}

// Event is something that has happened, with what it is about before and after it.
// For each event at most one pair is set, that of the kind that Resource names; the
// old one is nil for Add, the new one for Delete.
type Event struct {
	// ClusterEvent says what has happened to which kind of thing.
	ClusterEvent
	// OldNode and NewNode are of an event of NodeResource.
	OldNode, NewNode *model.Node
	// OldWorkload and NewWorkload are of an event of one of the kinds of workload.
	OldWorkload, NewWorkload *WorkloadInfo
	// WorkloadNode is the name of the node on which there may be more room now, of
	// a Delete or an update of an AssignedWorkload: that which the workload has left,
	// is on, or was nominated to. The handle's View has the node as it is now. Empty:
	// it is not known.
	WorkloadNode string
	// OldGroup and NewGroup are of an event of GroupResource.
	OldGroup, NewGroup *model.Group
	// OldNamespace and NewNamespace are of an event of NamespaceResource.
	OldNamespace, NewNamespace *model.Namespace
	// OldObject and NewObject are of the kind that the event's Resource names;
	// see [ObjectsOf]. What was decided about them is not part of it.
	OldObject, NewObject model.Object
}

// ObjectsOf returns the objects of an event as what they are: nil where there is
// none, or where it is of another kind.
func ObjectsOf[T model.Object](c *Event) (before, after T) {
	before, _ = c.OldObject.(T)
	after, _ = c.NewObject.(T)
	return before, after
}

// Hint says whether an event makes it worth trying a workload again.
type Hint uint8

// The hints.
const (
	HintSkip  Hint = iota // the event changes nothing for the workload
	HintQueue             // it may be schedulable now
)

// String returns the hint's name.
func (h Hint) String() string {
	if h == HintQueue {
		return "Queue"
	}
	return "Skip"
}

// HintFunc judges an event for a workload that the plugin rejected. It is
// called on the engine's goroutine, often, and must not block. An error counts
// as HintQueue.
type HintFunc func(w *model.Workload, c *Event) (Hint, error)

// EventHint registers for events, with a function that looks closer at each;
// nil stands for one that always says HintQueue.
type EventHint struct {
	// Event is what the plugin registers for. A wider one is offered more often.
	Event ClusterEvent
	// Hint looks closer at each event of the kind. Default: nil, every one queues the workload.
	Hint HintFunc
}

// EnqueueExtensions is implemented by plugins that reject workloads, to say
// which events may make them change their mind. A plugin that rejects but does
// not implement it is taken to change its mind at any event.
type EnqueueExtensions interface {
	Plugin
	// EventsToRegister is called once, when the engine is made.
	EventsToRegister() ([]EventHint, error)
}
