// Package volumerestrictions is the plugin VolumeRestrictions: it keeps workloads apart
// that would use a disk or a claim at the same time, if only one of them may.
//
// A disk that a workload names itself may be used on a node by one workload
// only, or by several that only read it; see [model.Disk]. Which kinds of disk
// that concerns (in Kubernetes: GCE persistent disks, EBS volumes, iSCSI and
// RBD), and what makes two of them the same, is for the adapter to say, with
// their keys.
//
// A claim with the access mode ReadWriteOnceWorkload may be used by one workload
// in the whole cluster. Claims that are made for one workload are not checked. As in
// the reference, a claim in use counts once, even if several workloads use it, and is
// considered free as soon as one of them leaves. There can only be several if
// something other than the scheduler placed them.
//
// # Points
//
//	PreFilter, Filter, PreFilterExtensions
//
// # Events
//
//	AssignedWorkload/Delete
//	Node/Add
//	VolumeClaim/Add
//	Node/Delete (Improved)
//	VolumeClaim/Update (Improved)
//
// # Signature
//
//	Volumes
//
// # Parity
//
// Rules: kube-scheduler plugins/volumerestrictions/volume_restrictions.go, 1.37.1. A
// claim is identified by its ID. The reference compares names when it tries whether a
// pod would fit without another one, even if that is in another namespace. With
// extpoints.Improved more events wake workloads; see extpoints.Compat.
package volumerestrictions
