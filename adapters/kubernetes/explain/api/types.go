package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Version is the apiVersion of all kinds.
const Version = "explain.berth/v1"

// The kinds.
const (
	PodExplanationKind = "PodExplanation"
	QueueKind          = "Queue"
	QueueTreeKind      = "QueueTree"
	SimulationKind     = "Simulation"
)

// Pod is a pod, as others refer to it.
type Pod struct {
	Namespace string `json:"namespace"` // of the pod
	Name      string `json:"name"`      // of the pod
	// UID is empty for one that is only simulated.
	UID string `json:"uid,omitempty"`
	// SchedulerName is the profile that places it.
	SchedulerName string `json:"schedulerName,omitempty"`
	Priority      int32  `json:"priority"` // the pod's
	// PodGroup is the pod group that it is a member of, in its namespace.
	PodGroup string `json:"podGroup,omitempty"`
}

// Rejection is why a plugin does not want the pod on a node.
type Rejection struct {
	// Plugin is the plugin's name; Extender stands for all extenders.
	Plugin string `json:"plugin"`
	// Code is Unschedulable where displacing other pods may help, and
	// UnschedulableAndUnresolvable where it cannot; others as in the scheduling
	// framework.
	Code    string   `json:"code"`
	Reasons []string `json:"reasons,omitempty"` // in the plugin's words
}

// QueuePosition is where a pod waits. A member of a group has the times and counts
// of its group.
type QueuePosition struct {
	// Place is Active, Backoff, ErrorBackoff, Unschedulable, Gated, InFlight (it is
	// being tried), Incomplete (its group lacks members), Joining (its group is
	// being tried without it), Permit (a Permit plugin has it wait with its node), Binding
	// (it is being bound) or OldBinding (it is tried when an earlier binding, which was
	// cancelled, has returned).
	Place    string `json:"place"`
	Attempts int    `json:"attempts"` // how often it was tried
	// Node is the node of the binding, where the place is one of the last three, and
	// PermitPlugins are those that have not let it go yet.
	Node          string   `json:"node,omitempty"`
	PermitPlugins []string `json:"permitPlugins,omitempty"` // see Node
	// UnschedulablePlugins rejected it last, PendingPlugins with something set in
	// motion. It is tried again when one of them hears of what may help.
	UnschedulablePlugins []string `json:"unschedulablePlugins,omitempty"`
	PendingPlugins       []string `json:"pendingPlugins,omitempty"` // see UnschedulablePlugins
	// GatingPlugin keeps it from being tried at all, and GateMessage is why.
	GatingPlugin string `json:"gatingPlugin,omitempty"`
	GateMessage  string `json:"gateMessage,omitempty"` // see GatingPlugin
	// AddedAt is when it came into the queue for the first time, Since when it
	// came in last, or to one of the last three places.
	AddedAt *metav1.MicroTime `json:"addedAt,omitempty"`
	Since   *metav1.MicroTime `json:"since,omitempty"` // see AddedAt
	// BackoffUntil is when its last backoff ends, or has ended.
	BackoffUntil *metav1.MicroTime `json:"backoffUntil,omitempty"`
	// QueuePath are the queues that it is in, from the top down, and Before is how many go
	// before it there, of an active one. HeldBy is the quota or the limit that holds it back,
	// or the one before it, or what is not there that it needs. Only where the configuration
	// has queues.
	QueuePath []string `json:"queuePath,omitempty"`
	Before    *int     `json:"before,omitempty"` // see QueuePath
	HeldBy    string   `json:"heldBy,omitempty"` // see QueuePath
	// Promise is when it is to start. Only where the scheduler plans ahead.
	Promise *Promise `json:"promise,omitempty"`
}

// Promise is when a pod is to start. It may start earlier; it starts later only for a
// cause.
type Promise struct {
	// First is the start that it was promised first, Current the present one; none while
	// there is no reservation for it.
	First   *metav1.MicroTime `json:"first,omitempty"`
	Current *metav1.MicroTime `json:"current,omitempty"` // see First
	// Node is where it is to start.
	Node string `json:"node,omitempty"`
	// MovedAt is when it was last moved to a later time, and Causes are why.
	MovedAt *metav1.MicroTime `json:"movedAt,omitempty"`
	Causes  []string          `json:"causes,omitempty"` // see MovedAt
}

// Victim is a pod that has to go to make room.
type Victim struct {
	Pod  `json:",inline"`
	Node string `json:"node"` // where it is
}
