// Package dynamicresources is the plugin DynamicResources: it gives workloads
// the devices that their device claims ask for.
//
// PreEnqueue holds a workload back while a claim of it is not there. PreFilter
// looks the claims up and gets the search for those that have no devices yet
// ready; package allocator does the searching. Filter lets a node pass where all
// claims can be served there, and the devices of those that have some can be
// used from there. Score prefers nodes on which requests with alternatives get
// the one that they like best. Reserve decides: the claims, as they are with
// their devices and with the workload among those that have them reserved, are
// added to what is decided of the binding. PreBind tells the orchestrator, if it
// is an extpoints.DeviceBinder, and waits for it.
//
// Whatever was decided of claims before is in the view, so the plugin keeps no
// books: a claim that was given devices a moment ago has them, and another
// workload may use it, whether or not the world outside knows of it yet.
//
// # Scalar resources
//
// A device class may stand for a scalar resource. A workload that requests such
// a resource gets devices of the class on a node that does not offer the scalar
// itself. The claim for them is made in Reserve; see model.DeviceClaim,
// ForResources.
//
// # Differences from kube-scheduler 1.37.1
//
// The rules are those of plugins/dynamicresources with the default feature
// gates, and claims of groups besides (DRAWorkloadResourceClaims). Knowingly
// different:
//
//   - A claim that was decided on but is not written yet can be used by others;
//     there they wait ("in the process of being allocated").
//   - A claim that model.MaxClaimConsumers have reserved is "in use" at once;
//     there the workload fails when it is bound.
//   - A claim that a workload names twice is one claim; there it cannot be bound.
//   - A search ends after a number of steps and not after ten seconds.
//   - Which of several claims is taken back in PostFilter is not random: it is
//     the first that the workload names.
//   - A claim that was only planned for another member of the group is not
//     taken back, nor is one of the group's that is not there an error; there
//     the whole group fails over it.
//
// What is alpha in 1.37 is not built: derived and list attributes, compatibility
// groups, optional node operations, and node allocatable resources.
package dynamicresources
