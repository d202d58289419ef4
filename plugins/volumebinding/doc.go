// Package volumebinding is the plugin VolumeBinding: a workload goes to a node
// from which it can use the volumes of all its claims, and claims without a
// volume are given one when the node is chosen.
//
// A claim that is bound has its volume, and the volume says from which nodes it
// can be used. A claim of a class that binds at once, and has no volume yet, is bound
// by another component: until then the workload is rejected. The plugin decides about
// the other claims:
//
//   - It looks for a volume that is there already: the one that is kept for the
//     claim, or else the smallest that is large enough, free, matches the claim in
//     other respects, and is usable from the node. Of several claims the one with the
//     smallest request chooses first.
//   - If there is none, it checks whether one can be made: the class must have a
//     provisioner, allow the node, and, if the provisioner keeps track of its
//     capacity, have room for one seen from the node. A claim for which a volume
//     is being made for a node already is tied to that node. Room is what is reported, less
//     what volumes take that were decided on since; the claims of a workload find room
//     together. A driver must report its capacity again when it has made volumes, or its
//     room seems to run out.
//
// A feasible node scores higher if the chosen volumes fit the claims better, or if more
// capacity is left for new ones; see [Args].Shape.
//
// Reserve writes the decision into the binding: volumes with the claim that they
// are for, claims with the node for which a volume is to be made, and the capacities of which such
// volumes take room. From then on views show it, so the plugin keeps no state of its own. PreBind hands it to
// the orchestrator, if that is an [extpoints.VolumeBinder], and waits.
//
// # Points
//
//	PreFilter, Filter, PreScore, Score, Reserve, PreBind
//
// # Events
//
//	StorageClass/Add|Update
//	VolumeClaim/Add|Update
//	Volume/Add|Update
//	Node/Add|UpdateNodeLabel
//	NodeStorage/Add|Update
//	StorageDriver/Update
//	StorageCapacity/Add|Update
//	Volume/Delete (Improved)
//	NodeStorage/Delete (Improved)
//	StorageDriver/Delete (Improved)
//
// # Signature
//
//	Volumes
//
// # Parity
//
// Rules: kube-scheduler plugins/volumebinding/volume_binding.go, binder.go and scorer.go,
// 1.37.1. No differences in verdicts, except that there each claim is compared with the room that was
// reported; extpoints.KubeScheduler137 does so. The orchestrator binds the volumes; the
// reference writes them itself and waits. With extpoints.Improved more events wake
// workloads; see extpoints.Compat.
package volumebinding
