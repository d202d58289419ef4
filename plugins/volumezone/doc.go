// Package volumezone is the plugin VolumeZone: a workload goes to nodes in the
// zone and the region of its volumes.
//
// The labels of a volume say where it is; those in [Labels] count. A value may list
// several zones, joined with "__". A node without any of these labels accepts every
// volume, as in a cluster of one zone. Any other node must have each label that the
// volume has, with one of its values. If the volume has a label of the old name, a node
// may have the new one instead, but not the other way round.
//
// Claims that are made for one workload do not count, nor do disks. A claim without a
// volume is left out if its class waits for the first workload that needs it. If
// anything else is missing, PreFilter rejects the workload.
//
// # Points
//
//	PreFilter, Filter
//
// # Events
//
//	StorageClass/Add
//	Node/Add|UpdateNodeLabel
//	VolumeClaim/Add|Update
//	Volume/Add|Update
//	StorageClass/Update (Improved)
//
// # Signature
//
//	Volumes
//
// # Parity
//
// Rules: kube-scheduler plugins/volumezone/volume_zone.go, 1.37.1. No differences in
// verdicts. With extpoints.Improved it also wakes workloads when a storage class
// changes, which Kubernetes does not allow.
package volumezone
