package model

import "time"

// Binding is the outcome of scheduling one workload: where it goes, and what of
// the node is set aside for it.
type Binding struct {
	Workload string // ID
	Node     string // name
	// Devices are the device shares reserved for the workload, in the order of
	// its requests.
	Devices []DeviceShare
	// Decided are the objects that the decision changes, as it leaves them:
	// volumes and claims that belong together from now on, claims with the
	// devices that they are given. Each is a claim or a volume, and there once.
	Decided Objects `json:",omitempty"`
	// Since is when the workload started there, where the orchestrator says so
	// when it confirms; zero in decisions. Preemption spares those that have run
	// for longer.
	Since time.Time `json:",omitzero"`
	// Limit is the limit that the workload was granted, where that is shorter than its own
	// (see [Workload].MinLimit); 0: its own. One that adopts what runs says it again; it is
	// not looked at in confirmations, since it is fixed from the start.
	Limit time.Duration `json:",omitempty"`
}
