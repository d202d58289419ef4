package model

import (
	"strconv"
	"strings"
)

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

// The operators of a toleration; the empty value means TolerateEqual. Gt and Lt
// are for the taints of nodes, not for those of devices.
const (
	TolerateEqual  TolerationOperator = "Equal"
	TolerateExists TolerationOperator = "Exists"
	TolerateGt     TolerationOperator = "Gt" // the taint's value is the greater number
	TolerateLt     TolerationOperator = "Lt" // the taint's value is the smaller number
)

// Toleration lets a workload onto nodes with matching taints.
type Toleration struct {
	Key      string // empty: every key
	Operator TolerationOperator
	Value    string
	Effect   TaintEffect // empty: every effect
}

// Tolerates reports whether the toleration covers the taint. Gt and Lt cover no
// taint unless both values are whole numbers of 64 bits without a plus sign or
// leading zeros.
//
// Rule: k8s.io/api core/v1/toleration.go ToleratesTaint, 0.37.1, with the feature
// gate TaintTolerationComparisonOperators on.
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
	case TolerateGt, TolerateLt:
		return t.compares(taint.Value)
	}
	return false
}

func (t *Toleration) compares(value string) bool {
	limit, ok := plainInt(t.Value)
	if !ok {
		return false
	}
	n, ok := plainInt(value)
	if !ok {
		return false
	}
	if t.Operator == TolerateGt {
		return n > limit
	}
	return n < limit
}

// plainInt reads a whole number in its only plain spelling: no plus sign, no
// leading zeros, no -0.
func plainInt(text string) (n int64, ok bool) {
	if text == "0" {
		return 0, true
	}
	if digits := strings.TrimPrefix(text, "-"); digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
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
