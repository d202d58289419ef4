// Package volumerestrictions is the plugin VolumeRestrictions: two workloads do
// not use at once what only one may use.
//
// A disk that a workload names itself may be used on a node by one workload
// only, or by several that only read it; see [model.Disk]. Which kinds of disk
// that concerns (in Kubernetes: GCE persistent disks, EBS volumes, iSCSI and
// RBD), and what makes two of them the same, is for the adapter to say, with
// their keys.
//
// A claim with the access mode ReadWriteOnceWorkload may be used by one workload
// in the whole cluster. Claims that are made for one workload are not asked
// about. As in the reference, a claim in use counts once, however many use it, and
// is taken for free when one of them leaves: there can only be several where
// somebody else placed workloads.
//
// One thing is different. The reference goes by the names of claims when it
// tries what would be if a workload left, also where that is in another
// namespace. Here a claim is known by its ID.
package volumerestrictions
