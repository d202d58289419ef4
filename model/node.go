package model

// TaintEffect is what a taint does to workloads that do not tolerate it.
type TaintEffect string

// The effects of a taint.
const (
	NoSchedule       TaintEffect = "NoSchedule"       // not feasible
	PreferNoSchedule TaintEffect = "PreferNoSchedule" // scores lower
	NoExecute        TaintEffect = "NoExecute"        // not feasible; the orchestrator also evicts
)

// Taint keeps workloads away from a node unless they tolerate it.
type Taint struct {
	Key    string
	Value  string
	Effect TaintEffect
}

// TolerationOperator is the relation between a toleration and a taint's value.
type TolerationOperator string

// The operators of a toleration; the empty value means TolerateEqual.
const (
	TolerateEqual  TolerationOperator = "Equal"
	TolerateExists TolerationOperator = "Exists"
)

// Toleration lets a workload onto nodes with matching taints.
type Toleration struct {
	Key      string // empty: every key
	Operator TolerationOperator
	Value    string
	Effect   TaintEffect // empty: every effect
}

// Tolerates reports whether the toleration covers the taint.
func (t *Toleration) Tolerates(taint *Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", TolerateEqual:
		return t.Value == taint.Value
	case TolerateExists:
		return true
	}
	return false
}

// NodeImage is one image that a node already has.
type NodeImage struct {
	Names []string // every name that means this image, tag or digest included
	Size  int64    // bytes
}

// Unlimited as [Node].MaxWorkloads puts no limit on the number of workloads.
const Unlimited int64 = 0

// NoWorkloads as [Node].MaxWorkloads lets no workload onto the node.
const NoWorkloads int64 = -1

// Node is a machine, or whatever else workloads are placed on.
type Node struct {
	// Name is the node's identity, unique among nodes.
	Name   string
	Labels map[string]string
	// Zone is the failure domain in whose order nodes are visited (round
	// robin over zones). It may be empty. Spreading goes by labels, not by it.
	Zone string
	// Allocatable is what workloads may use.
	Allocatable Resources
	// MaxWorkloads limits how many workloads may be on the node at once; see
	// Unlimited and NoWorkloads.
	MaxWorkloads int64
	Taints       []Taint
	// Unschedulable nodes take no new workload (drained, cordoned).
	Unschedulable bool
	Images        []NodeImage
	// Devices are the node's devices; a device's place in the list is its
	// index and must stay the same for as long as something is placed on it.
	Devices []Device
	// Features are what the node declares to be able to do (Kubernetes:
	// status.declaredFeatures), in any order.
	Features []string
}
