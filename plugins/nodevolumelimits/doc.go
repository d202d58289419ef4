// Package nodevolumelimits is the plugin NodeVolumeLimits: a node has no more
// volumes of a storage driver than the driver can attach to it.
//
// A node's [model.NodeStorage] says which drivers it has, and how many volumes
// of each there may be. Counted are the volumes of the claims and of the disks
// of all workloads on the node, each once, whoever uses it, and those that are
// attached to the node and that no workload there uses (any more). A claim
// without a volume counts as one volume of the driver of its class.
//
// Where a driver says so, its volumes also keep workloads off nodes that do not
// have it (kube-scheduler's feature VolumeLimitScaling, on by default in 1.37).
//
// Volumes of a built-in plugin count for the driver that stands in for it, on
// nodes with a NodeStorage. As in the reference, [model.NodeStorage].StandsIn is
// not asked. So the limits of what were plugins of their own before, EBSLimits,
// GCEPDLimits, AzureDiskLimits and CinderLimits, are those of the drivers
// ebs.csi.aws.com, pd.csi.storage.gke.io, disk.csi.azure.com and
// cinder.csi.openstack.org.
//
// # Points
//
//	PreFilter, Filter
//
// # Events
//
//	NodeStorage/Add
//	NodeStorage/Update
//	AssignedWorkload/Delete
//	VolumeClaim/Add
//	VolumeAttachment/Delete
//	Node/Add (Improved)
//	AssignedWorkload/Add (Improved)
//	NodeStorage/Delete (Improved)
//	StorageDriver/Delete|Update (Improved)
//	VolumeClaim/Update (Improved)
//
// # Signature
//
//	Volumes
//
// # Parity
//
// Rules: kube-scheduler plugins/nodevolumelimits/csi.go, 1.37.1. No differences in
// verdicts. With extpoints.Improved more events wake workloads; see extpoints.Compat.
//
// Two oddities of the reference are kept. A volume that is attached to the node, but
// not used there, counts twice for a workload that wants to use it. A claim on the
// node that was made for another workload than the one that uses it is an error, not
// a rejection, for as long as it is there.
package nodevolumelimits
