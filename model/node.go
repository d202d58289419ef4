package model

import (
	"strconv"
	"strings"
)

// TaintEffect is what a taint does to workloads that do not tolerate it.
type TaintEffect string

// The effects of a taint. PreferNoSchedule is for nodes only, NoEffect for claimed
// devices only.
const (
	NoSchedule       TaintEffect = "NoSchedule"       // not feasible
	PreferNoSchedule TaintEffect = "PreferNoSchedule" // scores lower
	NoExecute        TaintEffect = "NoExecute"        // not feasible; the orchestrator also evicts
	NoEffect         TaintEffect = "None"             // nothing: a note
)

// Taint keeps workloads away from a node, or claims away from a device of a
// [DeviceSlice], unless they tolerate it.
type Taint struct {
	Key    string      // on a node unique with the Effect
	Value  string      // may be empty
	Effect TaintEffect // what the taint does
}

// Toleration lets a workload onto nodes, or a claim have devices, with matching
// taints.
type Toleration struct {
	Key string // empty: every key
	// Operator is Equal, Exists or, of a node's taint, Gt (the taint's value is the
	// greater number) or Lt (it is the smaller one). Empty: Equal.
	Operator Operator
	Value    string      // to compare with the taint's; empty with Exists
	Effect   TaintEffect // empty: every effect
}

// Tolerates reports whether the toleration covers the taint. Gt and Lt cover no
// taint unless both values are whole numbers of 64 bits without a plus sign or
// leading zeros.
//
// Rule: k8s.io/api core/v1/toleration.go ToleratesTaint, 0.37.1, with the feature
// gate TaintTolerationComparisonOperators on; for devices
// k8s.io/dynamic-resource-allocation resourceclaim/devicetoleration.go, 0.37.1.
func (t *Toleration) Tolerates(taint *Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", Equal:
		return t.Value == taint.Value
	case Exists:
		return true
	case Gt, Lt:
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
	if t.Operator == Gt {
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
	Labels map[string]string // what selectors, affinity and spreading go by
	// Zone is the failure domain in whose order nodes are visited (round
	// robin over zones), and the domain of [ByZone]. It may be empty.
	Zone string
	// Allocatable is what workloads may use.
	Allocatable Resources
	// Capacity is all that the machine has, of which Allocatable is a part. An amount of 0:
	// as much as Allocatable. It says what a measured load is a percentage of, see
	// [NodeLoad], and nothing else.
	Capacity Resources `json:",omitzero"`
	// MaxWorkloads limits how many workloads may be on the node at once; see
	// Unlimited and NoWorkloads.
	MaxWorkloads int64
	Taints       []Taint // keep off workloads that do not tolerate them
	// Unschedulable nodes take no new workload (drained, cordoned).
	Unschedulable bool
	Images        []NodeImage // that it already has
	// Devices are the node's devices; a device's place in the list is its
	// index and must stay the same for as long as something is placed on it.
	Devices []Device
	// Features are what the node declares to be able to do (Kubernetes:
	// status.declaredFeatures), in any order.
	Features []string
}

// Topology keys that need no label. Everywhere a TopologyKey stands, in a
// [SpreadConstraint], an [AffinityTerm] or a [Group], it is the key of a node
// label, or one of these. No label of Kubernetes can have such a key.
const (
	// ByNode makes each node a domain of its own: its value is [Node].Name.
	ByNode = "@node"
	// ByZone makes each zone a domain: its value is [Node].Zone. A node whose Zone
	// is empty is in none.
	ByZone = "@zone"
)

// TopologyValue says which domain of the key the node is in: ByNode and ByZone are
// looked up in the node itself, any other key in its labels. False means that the
// node is in none.
func (n *Node) TopologyValue(key string) (string, bool) {
	switch key {
	case ByNode:
		return n.Name, n.Name != ""
	case ByZone:
		return n.Zone, n.Zone != ""
	}
	value, ok := n.Labels[key]
	return value, ok
}
