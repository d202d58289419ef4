package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Simulation is what would become of pods that are not there yet.
type Simulation struct {
	metav1.TypeMeta `json:",inline"`
	At              metav1.MicroTime `json:"at"` // when it was simulated
	// Fits: all pods of the request are placed.
	Fits bool `json:"fits"`
	// Pods are in the order in which they were tried: by priority, and otherwise as
	// in the request. Members of a group are tried together. Those of other schedulers
	// come last.
	Pods []SimulatedPod `json:"pods"`
	// Groups are the trees of pod groups that were tried, by their highest group.
	Groups []SimulatedGroup `json:"groups,omitempty"`
	// Owners are the Deployments, Jobs and so on of the request, in its order. Their pods are among Pods.
	Owners []SimulatedOwner `json:"owners,omitempty"`
}

// Outcome is what happened to a simulated pod.
type Outcome string

// The outcomes.
const (
	Placed   Outcome = "Placed"
	Unplaced Outcome = "Unplaced" // it would wait
	Failed   Outcome = "Failed"   // a plugin or an extender failed
	NotOurs  Outcome = "NotOurs"  // it was not tried: it is another scheduler's to place
)

// SimulatedPod is what happened to a pod.
type SimulatedPod struct {
	Pod     `json:",inline"`
	Outcome Outcome `json:"outcome"` // what happened to it
	// InCluster: it is not of the request, but waits in the cluster as a member of a
	// group of the request.
	InCluster bool `json:"inCluster,omitempty"`
	// Node is where it would go, NominatedNode the one it would wait for.
	Node          string `json:"node,omitempty"`
	NominatedNode string `json:"nominatedNode,omitempty"` // see Node
	// Preempts are the pods that would be displaced for it. It would wait until they have
	// left, and then go to Node. What is said of those after it is said of a cluster without
	// them.
	Preempts []Victim `json:"preempts,omitempty"`
	// Message is the summary of why it would wait, in kube-scheduler's words, and
	// Plugins are those that reject it; Queues stands for a quota or a limit.
	Message string   `json:"message,omitempty"`
	Plugins []string `json:"plugins,omitempty"` // see Message
	// SchedulingGates are the gates that would first have to be removed.
	SchedulingGates []string `json:"schedulingGates,omitempty"`
	// EvaluatedNodes were looked at, and on FeasibleNodes of them it fits.
	EvaluatedNodes int `json:"evaluatedNodes"`
	FeasibleNodes  int `json:"feasibleNodes"` // see EvaluatedNodes
}

// SimulatedGroup is what happened to a tree of pod groups.
type SimulatedGroup struct {
	// Namespace and Name are those of the highest group; Composite where that is a
	// composite pod group.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`                // see Namespace
	Composite bool   `json:"composite,omitempty"` // see Namespace
	// Placed: the tree is placed; not necessarily all members.
	Placed  bool   `json:"placed"`
	Message string `json:"message,omitempty"` // why the tree is not placed, in kube-scheduler's words
	// Preempts are the pods that would be displaced for the group.
	Preempts []Victim `json:"preempts,omitempty"`
}

// SimulatedOwner is what happened to the pods that a controller would make of an object.
type SimulatedOwner struct {
	Namespace string `json:"namespace"` // of the object
	Kind      string `json:"kind"`      // of the object
	Name      string `json:"name"`      // of the object
	// Pods is how many pods it has in the simulation, and Placed of them have a node.
	Pods   int `json:"pods"`
	Placed int `json:"placed"` // see Pods
	// InCluster are pods that it has on nodes already, and that stay there. It needs so many fewer,
	// but for a CronJob, where they are of earlier runs. Those of a StatefulSet are not counted: they
	// are among Pods, by their names.
	InCluster int `json:"inCluster,omitempty"`
	// Suspended: none of the pods would be made until it is resumed.
	Suspended bool `json:"suspended,omitempty"`
}
