package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Queue is what waits for a node, or to be bound to it.
type Queue struct {
	metav1.TypeMeta `json:",inline"`
	At              metav1.MicroTime `json:"at"`
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
	Active        int `json:"active"`
	Backoff       int `json:"backoff"`
	ErrorBackoff  int `json:"errorBackoff"`
	Unschedulable int `json:"unschedulable"`
	Gated         int `json:"gated"`
	InFlight      int `json:"inFlight"`
	Incomplete    int `json:"incomplete"`
	Joining       int `json:"joining"`
	Permit        int `json:"permit"`
	Binding       int `json:"binding"`
	OldBinding    int `json:"oldBinding"`
}

// QueuedPod is a pod that waits.
type QueuedPod struct {
	Pod           `json:",inline"`
	NominatedNode string `json:"nominatedNode,omitempty"`
	QueuePosition `json:",inline"`
}
