package queueing

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// APIVersion and Kind are those of the document.
const (
	APIVersion = "berth-project.github.io/v1alpha1"
	Kind       = "QueueingConfiguration"
)

// NamespaceLabel is the label by which a namespace says which queue its pods are in.
const NamespaceLabel = "berth-project.github.io/queue"

// Configuration is the document.
type Configuration struct {
	metav1.TypeMeta `json:",inline"`
	// Queues make a tree. Where there is one, pods are placed in the order of queues;
	// otherwise in that of the profile, as in kube-scheduler.
	Queues []Queue `json:"queues,omitempty"`
	// DefaultQueue is the queue of namespaces without the label.
	DefaultQueue string `json:"defaultQueue,omitempty"`
	// ElasticQuotas are queues, one for each of some namespaces, by the fields of the objects of
	// that kind in kubernetes-sigs/scheduler-plugins.
	ElasticQuotas []ElasticQuota `json:"elasticQuotas,omitempty"`
	// QuotaObjects: the objects of that kind make such queues, too. It is no part of the document:
	// a profile with the plugin CapacityScheduling says so.
	QuotaObjects bool `json:"-"`
	// Limits are those of queues and namespaces. They need the order by queues, and so a queue or
	// an elastic quota.
	Limits []Limit `json:"limits,omitempty"`
	// Backfill says how the scheduler plans ahead. None: it does not.
	Backfill *Backfill `json:"backfill,omitempty"`
	// Holds set nodes aside. Where there is one, each profile has the plugin NodeHolds.
	Holds []Hold `json:"holds,omitempty"`
}

// Queue is one queue; see model.Queue, which says what the fields mean.
type Queue struct {
	Name       string          `json:"name"`                 // unique; parents, limits, defaultQueue and namespaces name it
	Parent     string          `json:"parent,omitempty"`     // empty: it is at the top
	Weight     int64           `json:"weight,omitempty"`     // its part among its siblings; 0: after all that have one
	Priority   int32           `json:"priority,omitempty"`   // before lower siblings, unless by policy FIFO
	Guaranteed v1.ResourceList `json:"guaranteed,omitempty"` // 0 where it is not said
	Max        v1.ResourceList `json:"max,omitempty"`        // no limit where it is not said
	Lend       v1.ResourceList `json:"lend,omitempty"`       // what others may use of guaranteed; all where it is not said
	Borrow     v1.ResourceList `json:"borrow,omitempty"`     // beyond guaranteed; no limit where it is not said
	// Policy is FIFO, Priority, Share, which is the default, or Usage.
	Policy string `json:"policy,omitempty"`
	// HalfLife, for policy Usage: after it, what has been used counts half. Default:
	// DefaultHalfLife. What was used is in the scheduler's memory: one that has been started
	// anew knows only what the pods that have a node have used.
	HalfLife metav1.Duration `json:"halfLife,omitzero"`
	// Prices, for policy Usage, make one number of all that is used: the price of a core, a GiB of
	// memory or ephemeral storage, or one of another resource. What is not named costs nothing.
	// None: what counts is the resource of which most was used in relation to the cluster.
	Prices map[v1.ResourceName]int64 `json:"prices,omitempty"`
	// Reclaim says whose pods are displaced for what the queue is entitled to: Never, which is
	// the default, LowerPriority or Any. MinRuntime is for how long a pod of this queue runs at
	// least before that.
	Reclaim    string          `json:"reclaim,omitempty"`
	MinRuntime metav1.Duration `json:"minRuntime,omitzero"` // 0: it may be displaced at any time
	// Protected is the part of its fair share that nobody may reclaim, in percent; default 0. The
	// fair share is what its weight gives it among the queues beside it that have pods.
	Protected int64 `json:"protected,omitempty"`
}

// DefaultHalfLife is the half-life of a queue or limit that has one and does not say it.
const DefaultHalfLife = 7 * 24 * time.Hour

// ElasticQuota is what the pods of a namespace can count on together, and the most that they
// may use. The namespace is in a queue of its own then, unless its label names another one.
type ElasticQuota struct {
	Namespace string          `json:"namespace"`     // required, each once
	Min       v1.ResourceList `json:"min,omitempty"` // 0 where it is not said
	Max       v1.ResourceList `json:"max,omitempty"` // no limit where it is not said
}

// Limit is the most that the pods of a queue or a namespace may be or use. Pods beyond it
// wait. Exactly one of Queue and Namespace is given.
type Limit struct {
	Name      string `json:"name"`                // unique among limits; what has been used over time is known by it
	Queue     string `json:"queue,omitempty"`     // one of the document
	Namespace string `json:"namespace,omitempty"` // it need not exist yet
	// Scope is EachPod, EachNamespace (for a queue), Own or Subtree.
	Scope string `json:"scope"`
	// Resource is what is counted; none: the pods that have a node.
	Resource v1.ResourceName    `json:"resource,omitempty"`
	Amount   *resource.Quantity `json:"amount"` // required: of the resource, or a whole number of pods
	// OverTime: the amount is of the resource times hours, such as core-hours: what pods have had, and
	// what those that have a node may yet have until activeDeadlineSeconds. A pod without that waits for
	// ever. HalfLife is as in Queue, also where it is not said; not with scope EachPod.
	OverTime bool            `json:"overTime,omitempty"`
	HalfLife metav1.Duration `json:"halfLife,omitzero"` // only with overTime
}

// Backfill says who may be placed before a pod that waits longer; see engine.Backfill.
type Backfill struct {
	// Mode is InOrder, EASY, Reservations or Conservative.
	Mode string `json:"mode"`
	// Reservations is how many pods have one, with mode Reservations.
	Reservations int `json:"reservations,omitempty"`
	// Depth is for how many pods it is found out when they fit; default 100.
	Depth int `json:"depth,omitempty"`
	// ShortestFirst: others are tried in the order of their limits. It does not go with queues.
	ShortestFirst bool `json:"shortestFirst,omitempty"`
	// Pinned: a reservation is of nodes, too.
	Pinned bool `json:"pinned,omitempty"`
	// Slack: a reservation may be put off to the start that was promised first. It does not go with
	// pinned, nor with queues.
	Slack bool `json:"slack,omitempty"`
	// Every is for how long reservations stay when something ends early.
	Every metav1.Duration `json:"every,omitzero"`
	// Overrun is how long after its limit a pod is still expected to end; 0: for ever.
	Overrun metav1.Duration `json:"overrun,omitzero"`
}

// Hold sets nodes aside from one moment to another; see model.Hold.
type Hold struct {
	Name  string      `json:"name"`           // unique among holds
	From  metav1.Time `json:"from,omitzero"`  // not said: since ever
	Until metav1.Time `json:"until,omitzero"` // itself not in the interval; not said: for ever
	// Nodes and NodeSelector say which nodes, at least one of the two is given.
	Nodes        []string          `json:"nodes,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"` // a node must have all these labels
	// PodSelector selects the pods that may use them; none: no pod may.
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`
	// Flex: those pods may start before the hold begins and run on when it has ended.
	Flex bool `json:"flex,omitempty"`
}
