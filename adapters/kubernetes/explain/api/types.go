package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Version is the apiVersion of all kinds.
const Version = "explain.berth/v1"

// The kinds.
const (
	PodExplanationKind = "PodExplanation"
	QueueKind          = "Queue"
	SimulationKind     = "Simulation"
)

// Pod is a pod, as others refer to it.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID is empty for one that is only simulated.
	UID string `json:"uid,omitempty"`
	// SchedulerName is the profile that places it.
	SchedulerName string `json:"schedulerName,omitempty"`
	Priority      int32  `json:"priority"`
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
	Reasons []string `json:"reasons,omitempty"`
}

// QueuePosition is where a pod waits. A member of a group has the times and counts
// of its group.
type QueuePosition struct {
	// Place is Active, Backoff, ErrorBackoff, Unschedulable, Gated, InFlight (it is
	// being tried), Incomplete (its group lacks members) or Joining (its group is
	// being tried without it).
	Place    string `json:"place"`
	Attempts int    `json:"attempts"`
	// UnschedulablePlugins rejected it last, PendingPlugins with something set in
	// motion. It is tried again when one of them hears of what may help.
	UnschedulablePlugins []string `json:"unschedulablePlugins,omitempty"`
	PendingPlugins       []string `json:"pendingPlugins,omitempty"`
	// GatingPlugin keeps it from being tried at all, and GateMessage is why.
	GatingPlugin string `json:"gatingPlugin,omitempty"`
	GateMessage  string `json:"gateMessage,omitempty"`
	// AddedAt is when it came into the queue for the first time, Since when it
	// came in last.
	AddedAt *metav1.MicroTime `json:"addedAt,omitempty"`
	Since   *metav1.MicroTime `json:"since,omitempty"`
	// BackoffUntil is when its last backoff ends, or has ended.
	BackoffUntil *metav1.MicroTime `json:"backoffUntil,omitempty"`
}

// Victim is a pod that has to go to make room.
type Victim struct {
	Pod  `json:",inline"`
	Node string `json:"node"`
}
