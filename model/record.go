package model

import "time"

// WorkloadRecord is what an engine knows of a workload at one moment. It is
// shared and must not be changed.
type WorkloadRecord struct {
	*Workload
	Phase Phase // where it is on its way
	// Node is the name of the node that it is on, empty where it is on none.
	Node string
	// Shares are the device shares set aside for it on its node (what it
	// asked for is Workload.Devices).
	Shares []DeviceShare
	// Nominated is the node that it waits for, empty for none.
	Nominated string
	// PlacedAt is when its node was chosen, or when it started where the
	// orchestrator says so; zero for a workload on no node.
	PlacedAt time.Time
	// GrantedLimit is the limit with which it was placed, where that is shorter than its own
	// (see [Workload].MinLimit); 0: its own.
	GrantedLimit time.Duration
	// Displaced: it is terminating to make room for another workload.
	Displaced bool
	// Seq is the order in which workloads were submitted, or found.
	Seq uint64
	// CreateIndex and ModifyIndex say which of the engine's transactions made
	// the record and which last changed it. They only grow; a later
	// transaction has a greater index.
	CreateIndex, ModifyIndex uint64
}

// NodeRecord is what an engine knows of a node at one moment. It is shared and
// must not be changed.
type NodeRecord struct {
	*Node
	// CreateIndex and ModifyIndex are as in [WorkloadRecord].
	CreateIndex, ModifyIndex uint64
}

// GroupRecord is what an engine knows of a group at one moment. It is shared
// and must not be changed.
type GroupRecord struct {
	*Group
	// CreateIndex and ModifyIndex are as in [WorkloadRecord].
	CreateIndex, ModifyIndex uint64
}

// BudgetRecord is what an engine knows of a budget at one moment. It is shared
// and must not be changed.
type BudgetRecord struct {
	*Budget // as it was reported
	// Spent are the IDs of the workloads that it protects and that the engine has displaced
	// since, in that order: each is one less that is allowed.
	Spent []string
	// CreateIndex and ModifyIndex are as in [WorkloadRecord].
	CreateIndex, ModifyIndex uint64
}

// NamespaceRecord is what an engine knows of a namespace at one moment. It is
// shared and must not be changed.
type NamespaceRecord struct {
	*Namespace
	// CreateIndex and ModifyIndex are as in [WorkloadRecord].
	CreateIndex, ModifyIndex uint64
}

// ObjectRecord is what an engine knows of an object at one moment. It is shared
// and must not be changed.
type ObjectRecord struct {
	// Object is the object as decisions have left it.
	Object
	// Reported is the object as it was last put; nil for one that a decision
	// has made.
	Reported Object
	// Written is the object as the orchestrator was asked to make it since, and may have,
	// without the reservations of the workloads that it was for; nil where it was not asked,
	// or has reported what came of it.
	Written Object
	// CreateIndex and ModifyIndex are as in [WorkloadRecord].
	CreateIndex, ModifyIndex uint64
}
