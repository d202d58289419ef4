package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Queue is what waits for a node, or to be bound to it.
type Queue struct {
	metav1.TypeMeta `json:",inline"`
	At              metav1.MicroTime `json:"at"` // when it was looked at
	// Standby: another scheduler leads. This one knows what waits, and tries nothing.
	Standby bool `json:"standby,omitempty"`
	// Counts are of all that waits, whatever was asked for.
	Counts QueueCounts `json:"counts"`
	// Pods are those of the highest priority, of these the ones that have waited the
	// longest, in this order. Each is as it was when it was looked at: pods go on
	// moving meanwhile.
	Pods []QueuedPod `json:"pods,omitempty"`
	// Remaining is how many more there are.
	Remaining int `json:"remaining,omitempty"`
}

// QueueCounts is how many pods are in each place; see [QueuePosition].
type QueueCounts struct {
	Active        int `json:"active"`        // ready to be tried
	Backoff       int `json:"backoff"`       // kept back after a rejection
	ErrorBackoff  int `json:"errorBackoff"`  // kept back after an error
	Unschedulable int `json:"unschedulable"` // rejected, and wait for an event
	Gated         int `json:"gated"`         // held back by a gate
	InFlight      int `json:"inFlight"`      // being tried
	Incomplete    int `json:"incomplete"`    // members of groups that are not complete
	Joining       int `json:"joining"`       // members of groups that are being tried without them
	Permit        int `json:"permit"`        // wait on a Permit plugin, with a node
	Binding       int `json:"binding"`       // being bound
	OldBinding    int `json:"oldBinding"`    // wait for the end of an earlier binding that was cancelled
}

// QueuedPod is a pod that waits.
type QueuedPod struct {
	Pod           `json:",inline"` // which pod
	NominatedNode string           `json:"nominatedNode,omitempty"` // the node that it waits for
	QueuePosition `json:",inline"` // where and why it waits
}
