// Package convert translates Kubernetes' objects into the model, and is the
// last place where they are called what Kubernetes calls them.
//
//	Pod                  [Gates.Pod] or [Pod], and what is not part of a workload: [Status]
//	Node                 [Node]
//	PodDisruptionBudget  [Budget]
//	Namespace            [Namespace]
//	PriorityClass        [PriorityClassOf], for pods without a priority: [Prioritize]
//	Service, ReplicationController, ReplicaSet, StatefulSet
//	                     [OwnerSelector]
//	PodGroup             [Group], and for its members: [DeviceClaimRefs]
//	CompositePodGroup    [CompositeGroup]
//	ResourceSlice        [DeviceSlice]
//	DeviceClass          [DeviceClass]
//	ResourceClaim        [DeviceClaim], and the way back: [DeviceClaimStatus]
//	DeviceTaintRule      [DeviceTaintRule]
//	PersistentVolumeClaim, PersistentVolume
//	                     [VolumeClaim], [Volume]
//	StorageClass, CSIDriver, CSINode
//	                     [StorageClass], [StorageDriver], [NodeStorage]
//	CSIStorageCapacity   [StorageCapacity]
//	VolumeAttachment     [VolumeAttachment], nil for those that do not count
//
// Of Workload and ResourceClaimTemplate nothing is read: others make groups and
// claims of them, and those are what counts. The selectors of devices are
// evaluated by package cel, next door.
//
// All functions are pure. Their results share maps and slices with the objects
// they are made of, so neither may be changed any more, as is the rule for
// objects of an informer as well as for those of an engine.
//
// # What is translated
//
// Every field that kube-scheduler 1.37.1 reads to make a decision, with the
// feature gates as they are by default, apart from those in [Gates]. A test knows
// the fate of every field of every object, and the reason of those that are
// ignored; it fails when a new version of the API has one more.
//
// Objects are taken for what the API server stores. It fills in a lot: requests
// where there are only limits, host ports of pods in the host's network,
// priorities, the selectors that matchLabelKeys of affinity add to. A manifest
// that has never been there means something else here than it will then.
//
// Groups are translated although the feature gates about them are off by
// default. Whether they count is for the profile to say: without the plugins for
// groups the members are placed like any other pods, as in the scheduler without
// the gates. To get that, leave the claims that groups share to
// the members, which is what [Pod] does.
//
// Volumes of built-in plugins are translated as the drivers see them that stand
// in for the plugins, and as the plugins do; which of the two counts on a node the
// plugins for volumes find out.
//
// # What cannot be translated
//
// The functions that can fail list all problems at once, in a
// [model.ValidationError] whose fields have the names of Kubernetes' API. They
// return what is left of the object as well, which is valid, because the
// scheduler does not forget a pod or a node either because it cannot read a term
// of theirs: what runs takes room. See [Pod] for how far that goes.
//
// # Known differences
//
//   - What is in the status of a pod on no node does not count towards its
//     requests. The scheduler lets it count where the pod is nominated to a node.
//     Nothing writes such a status.
//   - A toleration that tolerates nothing is left out, so that adding one is not
//     taken for a new toleration. The scheduler tries the pod once more then. The
//     API server only lets such a toleration in where the pod has one already.
//   - Amounts that are less than 0, and sums that are no int64, are problems. In
//     the scheduler the latter become something else.
//   - A pod with preferred node affinity that cannot be read has a problem. The
//     scheduler places it where there is only one node for it, and fails
//     otherwise.
//   - Amounts of devices that are no whole number of thousandths, or more than
//     9.2e15, are problems; see [DeviceAmount]. The scheduler can compare them.
//   - A group that is made anew under its name is the same group. The scheduler
//     does not free devices that the earlier one has reserved.
//   - Where something of a claim or a class cannot be read, no device is selected.
//     The scheduler says that it cannot be read.
//   - Where the selector of a volume claim cannot be read it selects nothing, and
//     where a volume of a built-in plugin cannot be translated it cannot be used
//     from nodes with the driver. The scheduler fails there.
//   - A pod that names a volume claim twice uses it once; if one of the two is an
//     ephemeral volume of the same name, the first counts.
//   - That the node that is selected for a volume claim has no name is a problem.
//     In the scheduler no node will do then.
package convert
