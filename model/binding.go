package model

// Binding is the outcome of scheduling one workload: where it goes, and what of
// the node is set aside for it.
type Binding struct {
	Workload string // ID
	Node     string // name
	// Devices are the device shares reserved for the workload, in the order of
	// its requests.
	Devices []DeviceShare
}
