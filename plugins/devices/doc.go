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
// node without holding devices, although it asked for some, still has a claim:
// one that is nominated to the node while the room for it is being made, or one
// of which the orchestrator did not say what it holds. Such claims must find
// their devices beside the workload's own.
//
// kube-scheduler has no counterpart: there, devices are plain counters
// (NodeResourcesFit) or DynamicResources.
package devices
