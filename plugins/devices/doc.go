// Package devices is the plugin Devices: it places workloads that ask for
// devices (model.DeviceRequest) only on nodes that have them, and decides which
// devices they get.
//
// PreFilter skips workloads that ask for none, so that the plugin costs them
// nothing. Filter lets a node pass exactly where all requests of the workload
// can be served there together. Reserve picks the devices and writes them into
// the binding; other plugins can steer the pick with a helper.DeviceChooser.
//
// What is left of each device is NodeInfo.DeviceFree. A workload that is on the
// node without holding devices, although it asked for some, is counted all the same:
// one that is nominated to the node, or one for which the orchestrator did not report
// the devices. Its requests must be served beside those of the workload.
//
// # Points
//
//	PreFilter, Filter, Reserve
//
// # Events
//
//	AssignedWorkload/Delete|Update
//	TargetWorkload/Update
//	Node/Add|UpdateNodeDevices
//
// # Signature
//
//	Devices
//
// # Parity
//
// kube-scheduler has no such plugin: there, devices are plain counters
// (NodeResourcesFit) or claims (DynamicResources).
package devices
