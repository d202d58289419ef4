package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Basis says what an explanation is made from.
type Basis string

// The bases.
const (
	// BasisNow: the pod waits, and was tried on every node as things are now.
	BasisNow Basis = "Now"
	// BasisDecision: the decision by which the pod got its node was made again, on
	// the cluster as it was then.
	BasisDecision Basis = "Decision"
	// BasisNone: the pod has a node, and the decision is not known: it is too long
	// ago, was made before this scheduler began to lead, or is somebody else's.
	BasisNone Basis = "None"
)

// PodExplanation says why a pod is where it is, or why it is nowhere.
type PodExplanation struct {
	metav1.TypeMeta `json:",inline"`
	Pod             Pod `json:"pod"` // which pod is explained
	// Phase is Pending, Assumed (a node was chosen), Bound (the API server was
	// told), Confirmed (it was seen on the node) or Terminating.
	Phase string `json:"phase"`
	// Node is the one that it is on or, where it waits, the one that it would get if
	// it were tried now.
	Node string `json:"node,omitempty"`
	// NominatedNode is the one that it waits for.
	NominatedNode string `json:"nominatedNode,omitempty"`
	Basis         Basis  `json:"basis"` // what the explanation is made from
	// At is the moment that is explained; with BasisNone when it got to its node.
	At metav1.MicroTime `json:"at"`
	// Message is the summary of why it fits nowhere, in kube-scheduler's words.
	Message string `json:"message,omitempty"`
	// LastAttempt is why the last attempt of a pod that waits has failed. Things may
	// have changed since.
	LastAttempt *Attempt `json:"lastAttempt,omitempty"`
	// Queue is where it waits.
	Queue *QueuePosition `json:"queue,omitempty"`
	// Preemption is what would have to go so that it fits, where it does not now,
	// it may displace others, and that would help.
	Preemption *Preemption `json:"preemption,omitempty"`
	// ClosestNodes are those that the fewest plugins reject, at most
	// [MaxClosestNodes]: the smallest change might be made there. None where it fits
	// somewhere, and where all are equally far.
	ClosestNodes []string `json:"closestNodes,omitempty"`
	// MissingTopologyKeys are the topology keys of its constraints that no node has as a
	// label: a required one then fits nowhere, and others have no effect.
	MissingTopologyKeys []string `json:"missingTopologyKeys,omitempty"`

	// FilterPlugins and ScorePlugins are those that were asked, in order; extenders
	// that prioritize come last.
	FilterPlugins []string      `json:"filterPlugins,omitempty"`
	ScorePlugins  []ScorePlugin `json:"scorePlugins,omitempty"` // see FilterPlugins
	// Nodes are in the order in which they are looked at: all of them for a pod that
	// waits, for one that has a node those that were looked at.
	Nodes []Node `json:"nodes,omitempty"`
	// Ties are the nodes with the highest score, where there is a score, and TieBreak
	// is how one of them is chosen.
	Ties     []string `json:"ties,omitempty"`
	TieBreak string   `json:"tieBreak,omitempty"` // see Ties
}

// MaxClosestNodes is how many closest nodes are named.
const MaxClosestNodes = 10

// Attempt is an attempt to place a pod that has failed.
type Attempt struct {
	At metav1.MicroTime `json:"at"` // when it failed
	// Code is Unschedulable, UnschedulableAndUnresolvable, Pending or Error.
	Code    string `json:"code"`
	Message string `json:"message"` // why, in kube-scheduler's words
	// Plugins are those that rejected it.
	Plugins []string `json:"plugins,omitempty"`
}

// Preemption is what would make room, on which node.
type Preemption struct {
	Node    string   `json:"node"`    // its name
	Victims []Victim `json:"victims"` // the pods that would have to go
}

// ScorePlugin is a plugin, or an extender, that scores nodes, and its weight.
type ScorePlugin struct {
	Plugin string `json:"plugin"` // its name
	Weight int64  `json:"weight"` // by which its normalized scores are multiplied
}

// Node is what the plugins say of one node.
type Node struct {
	Name string `json:"name"` // of the node
	// Feasible: the pod fits there.
	Feasible bool `json:"feasible"`
	// Unseen: no plugin was asked, because the nominated node will do, or because one
	// has failed.
	Unseen bool `json:"unseen,omitempty"`
	// Rejections are all that plugins have against it.
	Rejections []Rejection `json:"rejections,omitempty"`
	// Score is the sum of the weighted scores; none where the pod does not fit, and
	// where it fits on one node only.
	Score *int64 `json:"score,omitempty"`
	// Scores has the plugins that had something to say about the pod.
	Scores []Score `json:"scores,omitempty"`
}

// Score is what a plugin gave a node.
type Score struct {
	Plugin string `json:"plugin"` // its name
	// Raw is as the plugin gave it, Normalized is in [0, 100], and Weighted is its
	// part of the node's score.
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"` // in [0, 100]
	Weighted   int64 `json:"weighted"`   // its part of the node's score
}
