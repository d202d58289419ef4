// Package dynamicresources is the plugin DynamicResources: it gives workloads
// the devices that their device claims ask for.
//
// PreEnqueue gates a workload while one of its claims does not exist. PreFilter looks up
// the claims and prepares the search for those without devices; package allocator
// searches. Filter accepts a node if all claims can be served there, and if allocated
// devices can be used from there. Score prefers nodes on which requests with
// alternatives get the first one. Reserve decides: it adds the claims, with their
// devices and with the workload among their consumers, to the binding. PreBind passes
// them to the orchestrator, if that is an extpoints.DeviceBinder, and waits.
//
// The view shows earlier decisions about claims, so the plugin keeps no state of its
// own: a claim that was allocated a moment ago has its devices, and another workload may
// use it, before the orchestrator has recorded it.
//
// # Scalar resources
//
// A device class may stand for a scalar resource. A workload that requests such
// a resource gets devices of the class on a node that does not offer the scalar
// itself. The claim for them is made in Reserve; see model.DeviceClaim,
// ForResources.
//
// # Points
//
//	PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind, GroupPostFilter, ScoreNormalizer
//
// # Events
//
//	Node/Add|UpdateNodeAllocatable|UpdateNodeLabel
//	DeviceClaim/All
//	TargetWorkload/UpdateWorkloadDeviceClaims
//	DeviceClass/All (Improved)
//	DeviceSlice/All (Improved)
//	DeviceClass/Add|Update (KubeScheduler137)
//	DeviceSlice/Add|Update (KubeScheduler137)
//
// # Signature
//
//	(refuses some workloads)
//
// A workload with device claims, or with resources that a device class stands for, is
// not signed. Nothing else matters to the plugin.
//
// # Parity
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go, 1.37.1, with the
// default feature gates, and the claims of groups besides (DRAWorkloadResourceClaims).
// Intended differences:
//
//   - A claim that was decided on but is not written yet can be used by others;
//     there they wait ("in the process of being allocated").
//   - A claim that model.MaxClaimConsumers have reserved is "in use" at once;
//     there the workload fails when it is bound.
//   - A claim that a workload names twice is one claim; there it cannot be bound.
//   - Administrative access takes nothing, also not while devices are looked for; there
//     it does (extpoints.KubeScheduler137 does as there).
//   - What was drawn on counters with a device stays as it was when the device was given,
//     however the driver publishes it afterwards; there it is what the slices say now
//     (extpoints.KubeScheduler137 does as there). See model.AllocatedDevice, Drawn.
//   - A search ends after a number of steps and not after ten seconds.
//   - Which of several claims is taken back in PostFilter is not random: it is
//     the first that the workload names.
//   - A claim that was only planned for another member of the group is not
//     deallocated. A missing claim of the group is not an error; there, it fails the
//     whole group.
//
// What is alpha in 1.37 is not built: derived and list attributes, compatibility
// groups, optional node operations, and node allocatable resources.
package dynamicresources
