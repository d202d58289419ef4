package api

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// QueueTree is what the queues and limits of the configuration allow, and what is used of them. Amounts
// are quantities of resources, as in the configuration.
type QueueTree struct {
	metav1.TypeMeta `json:",inline"`
	At              metav1.MicroTime `json:"at"` // when it was looked at
	// Standby: another scheduler leads. This one tries no pods, and knows only what was used since it
	// was started.
	Standby bool `json:"standby,omitempty"`
	// Capacity is what all nodes offer; shares are parts of it.
	Capacity v1.ResourceList `json:"capacity,omitempty"`
	// Queues are in the order of the tree: each before those below it, and those beside each other
	// by name. Then come those that are not there and have pods, and where pods are in no queue one without
	// a name, which stands for these. None where the configuration has no queues.
	Queues []QueueUse `json:"queues,omitempty"`
	// Limits are those of the queues and of the namespaces in them: first the one of which the largest
	// part is used.
	Limits []LimitUse `json:"limits,omitempty"`
}

// QueueUse is what a queue may use, and what the pods in it and below it do use.
type QueueUse struct {
	Name   string `json:"name,omitempty"`   // see [QueueTree].Queues
	Parent string `json:"parent,omitempty"` // the queue above it; empty: it is at the top
	// Absent: the configuration has no such queue, and the label of a namespace or a pod names it. What
	// waits in it waits for the queue.
	Absent bool `json:"absent,omitempty"`
	// Policy, Weight, Priority, Guaranteed and Max are as in the configuration, with the policy that it
	// has if it names none.
	Policy     string          `json:"policy,omitempty"`
	Weight     int64           `json:"weight,omitempty"`     // see Policy
	Priority   int32           `json:"priority,omitempty"`   // see Policy
	Guaranteed v1.ResourceList `json:"guaranteed,omitempty"` // see Policy
	Max        v1.ResourceList `json:"max,omitempty"`        // see Policy
	// HalfLife is for policy Usage: after it, what was used counts half.
	HalfLife *metav1.Duration `json:"halfLife,omitempty"`
	// FairShare is the part of the cluster, up to 1, that its weight and those of the queues above it
	// give it among the queues beside it that have pods. None where policies go by no weights.
	FairShare *float64 `json:"fairShare,omitempty"`
	Use       `json:",inline"`
	// Held is how many pods a quota of this queue holds back: its max, what it may borrow, or what
	// others do not lend; of one that is absent, how many wait for it.
	Held int `json:"held"`
	// Namespaces are those with pods in the queue itself, by name, and with policy Usage those of
	// which it remembers anything.
	Namespaces []NamespaceUse `json:"namespaces,omitempty"`
}

// NamespaceUse is what the pods of a namespace use in one queue.
type NamespaceUse struct {
	Name string `json:"name"` // of the namespace
	Use  `json:",inline"`
}

// Use is what some pods use.
type Use struct {
	// Used is what those request that have a node.
	Used v1.ResourceList `json:"used,omitempty"`
	// Share is the largest part that this is of what all nodes offer, and Resource is the one of which
	// it is.
	Share    float64 `json:"share"`
	Resource string  `json:"resource,omitempty"` // see Share
	Running  int     `json:"running"`            // how many have a node
	Waiting  int     `json:"waiting"`            // how many have none, for whatever reason
	// Past is what was used over time. Only where the policy of the queue that it is in is Usage.
	Past *PastUse `json:"past,omitempty"`
}

// PastUse is what was used over time; the older counts less, by the half-life of the queue above.
type PastUse struct {
	// Used is in resources times hours; none where the policy goes by prices.
	Used v1.ResourceList `json:"used,omitempty"`
	// WholeCluster is for how long all of the cluster would have been used: of Resource, of which that
	// is longest, or by prices of all. For equal weights the one with the shortest goes first.
	WholeCluster metav1.Duration `json:"wholeCluster"`
	Resource     string          `json:"resource,omitempty"` // see WholeCluster
}

// LimitUse is a limit, and how much counts towards it. With scope EachNamespace there is one for each
// namespace that uses any of it.
type LimitUse struct {
	Name  string `json:"name"`            // of the limit
	Queue string `json:"queue,omitempty"` // whose limit it is; empty: that of Namespace
	// Namespace is the one whose limit it is, or with scope EachNamespace the one that it is about.
	Namespace string `json:"namespace,omitempty"`
	Scope     string `json:"scope"`              // EachPod, EachNamespace, Own or Subtree, as in the configuration
	Resource  string `json:"resource,omitempty"` // what is counted; empty: pods
	// OverTime: it is of the resource times hours. HalfLife: after it, what was used counts half.
	OverTime bool             `json:"overTime,omitempty"`
	HalfLife *metav1.Duration `json:"halfLife,omitempty"` // see OverTime
	// Amount is the most. Used counts towards it: over time, with what those that have a node may yet
	// use. There is none with scope EachPod.
	Amount resource.Quantity  `json:"amount"`
	Used   *resource.Quantity `json:"used,omitempty"` // see Amount
	Held   int                `json:"held"`           // how many pods it holds back
}
