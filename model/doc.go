// Package model holds the nouns of scheduling: what is placed, what it is
// placed on, and the wishes and limits of both. It is plain data with the few
// questions that can be answered by looking at one or two objects; it imports
// nothing but the standard library.
//
// # Vocabulary
//
// One line a noun; in brackets what Kubernetes calls it.
//
//	Node               what workloads are placed on [Node]
//	Resources          an amount of every resource [ResourceList; ours are int64, CPU in thousandths]
//	Scalar             a resource without a field of its own [extended resource]
//	Taint              keeps workloads off a node [Taint]
//	NodeImage          an image that a node already has [ContainerImage]
//	Device             an accelerator that can be given in parts [nearest: Device of a ResourceSlice]
//	DeviceRequest      how many devices, and which part of each [nearest: DeviceRequest of a ResourceClaim]
//	DeviceShare        a part of one device, given [nearest: DeviceRequestAllocationResult]
//	Object             what decisions depend on besides nodes, workloads and groups: the nouns
//	                   of volumes and of claimed devices below, by kind and ID [none]
//	Decidable          an object that decisions change: claims, and volumes [none]
//
//	Workload           the unit that is placed on one node [Pod]
//	Namespace          the scope of a name, with labels [Namespace]
//	Profile            which set of plugins places a workload [schedulerName]
//	Estimate           the load that scoring assumes [the non-zero requests]
//	HostPort           a port of the node [hostPort of a container]
//	Gate               holds a workload back from scheduling [PodSchedulingGate]
//	Toleration         lets a workload onto a tainted node [Toleration]
//	PreemptionPolicy   whether a workload may displace others [PreemptionPolicy]
//	VolumeClaimRef     a workload's use of a volume claim [PersistentVolumeClaimVolumeSource]
//	Disk               a volume that a workload names itself [Volume of a pod, without a claim]
//	DeviceClaimRef     a workload's use of a device claim [PodResourceClaim]
//
//	Requirement        a condition on one label [LabelSelectorRequirement, NodeSelectorRequirement]
//	Selector           which objects, by labels [LabelSelector]
//	NodeTerm           which nodes, by labels and fields [NodeSelectorTerm]
//	NodeTerms          alternatives of NodeTerm [NodeSelector]
//	NodeAffinity       which nodes a workload must have or likes [NodeAffinity]
//	AffinityTerm       other workloads, and what counts as near them [PodAffinityTerm]
//	WorkloadAffinity   near or away from other workloads [PodAffinity, PodAntiAffinity]
//	SpreadConstraint   evenly over a topology [TopologySpreadConstraint]
//	InclusionPolicy    which nodes count in it [NodeInclusionPolicy]
//
//	VolumeClaim        a wish for a volume, or the right to one [PersistentVolumeClaim]
//	Volume             a piece of storage [PersistentVolume]
//	StorageClass       a way of making volumes [StorageClass]
//	StorageDriver      what a storage driver can do [CSIDriver]
//	NodeStorage        what a node has of storage drivers, with limits [CSINode]
//	StorageCapacity    room for new volumes, seen from some nodes [CSIStorageCapacity]
//	VolumeAttachment   a volume that is attached to a node, or about to be [VolumeAttachment]
//
//	DeviceSlice        devices that a driver has on a node, or in reach of some [ResourceSlice]
//	SliceDevice        one of them, with attributes and capacity [Device]
//	DeviceClass        a kind of device that claims ask for [DeviceClass]
//	DeviceSelector     which devices, by requirements or an expression [DeviceSelector]
//	DeviceClaim        a wish for devices, and what came of it [ResourceClaim]
//	ClaimRequest       one line of a claim, with alternatives [DeviceRequest]
//	DeviceDemand       what is wanted of one class [ExactDeviceRequest, DeviceSubRequest]
//	Allocation         what a claim has been given [AllocationResult]
//	Consumer           who has a claim reserved [ResourceClaimConsumerReference]
//	DeviceTaint        keeps claims off a device [DeviceTaint]
//	DeviceTaintRule    puts a taint on devices [DeviceTaintRule]
//
//	Group              workloads, or groups, that are decided on together [PodGroup, CompositePodGroup]
//	GroupPolicy        as many as there is room for, or at least so many [PodGroupSchedulingPolicy]
//	DisruptionMode     what is lost with one member [DisruptionMode]
//	Budget             how many may be displaced [PodDisruptionBudget]
//
//	Binding            the outcome: which node, which devices, what was decided of objects [Binding]
//	Phase              where a workload is on its way through the engine [none; not PodPhase]
//	WorkloadRecord     what an engine knows of a workload; likewise NodeRecord and the others [none; part of status]
//
// # Ownership
//
// An object belongs to its maker until it is given to an engine; from then on it
// is frozen. Nobody changes it any more, neither the caller nor the engine nor
// a plugin, not even after the engine has forgotten it: snapshots and branches
// may go on reading it, without a lock. To change something, Clone it, change
// the copy, and give the engine the copy. Methods that change their receiver
// ([Resources.Set], [Resources.Add], [Resources.Sub]) are for objects that are
// still being built.
//
// # Validity
//
// Validate lists everything that is wrong with an object, each problem with
// the path of its field; see [ValidationError]. It looks at one object only:
// whether a group or a node that it names exists is for the engine to say.
//
// The rules are those of Kubernetes' API where it has the same field, so that
// what it lets in is valid here too, with one exception: Gt and Lt want a value
// that is a whole number, where Kubernetes takes any and then finds no match.
// What it says about the letters and the length of names, labels and addresses
// is not repeated here: a key or an identity must not be empty, that is all.
package model
