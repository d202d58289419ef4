// Package model defines the objects of scheduling: nodes, workloads, groups and
// everything that they refer to. They are plain data, with methods for the few
// questions that one or two objects can answer. The package imports only the
// standard library.
//
// # Vocabulary
//
// One line for each noun, with the name in Kubernetes in brackets.
//
// Nodes and what they offer.
//
//	Node               what workloads are placed on [Node]
//	Resources          an amount of every resource [ResourceList; ours are int64, CPU in thousandths]
//	Scalar             a resource without a field of its own [extended resource]
//	Taint              keeps workloads off a node, or claims off a device [Taint, DeviceTaint]
//	NodeImage          an image that a node already has [ContainerImage]
//	Device             an accelerator that can be given in parts [nearest: Device of a ResourceSlice]
//
// Workloads, and what they request of a node.
//
//	Workload           the unit that is placed on one node [Pod]
//	Namespace          the scope of a name, with labels [Namespace]
//	Profile            which set of plugins places a workload [schedulerName]
//	Estimate           the load that scoring assumes [the non-zero requests]
//	HostPort           a port of the node [hostPort of a container]
//	Gate               holds a workload back from scheduling [PodSchedulingGate]
//	Toleration         lets a workload onto a tainted node [Toleration]
//	PreemptionPolicy   whether a workload may displace others [PreemptionPolicy]
//	PreemptionToleration who may not displace it, and for how long [annotations of PriorityClass]
//	QoSClass           how far its node guarantees what it requests [PodQOSClass]
//	Syscalls           which system calls it may make [SeccompProfile of the security profiles operator]
//	DeviceRequest      how many devices, and which part of each [nearest: DeviceRequest of a ResourceClaim]
//	DeviceShare        a part of one device, given [nearest: DeviceRequestAllocationResult]
//	VolumeClaimRef     a workload's use of a volume claim [PersistentVolumeClaimVolumeSource]
//	Disk               a volume that a workload names itself [Volume of a pod, without a claim]
//	DeviceClaimRef     a workload's use of a device claim [PodResourceClaim]
//
// Where a workload may go: conditions on nodes and on other workloads.
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
// What is decided together, and what is protected from disruption.
//
//	Group              workloads, or groups, that are decided on together [PodGroup, CompositePodGroup]
//	GroupPolicy        as many as there is room for, or at least so many [PodGroupSchedulingPolicy]
//	DisruptionMode     what is lost with one member [DisruptionMode]
//	Budget             how many may be displaced [PodDisruptionBudget]
//
// Anything else that decisions depend on: most of what follows.
//
//	Object             an object of one of the kinds, by kind and ID [none]
//
// Shares and quotas. Needed only if workloads are placed in the order of queues.
//
//	Queue              a part of the order, with what its workloads may use together [none]
//	Principal          on whose account workloads run: a user or an account [none]
//	Limit              the most that a queue or a principal may use or have [nearest: ResourceQuota]
//
// Reservations and maintenance.
//
//	Hold               nodes that are kept free in an interval: reserved, or for maintenance [none]
//
// Measurements, and what is known of networks. Needed only by plugins that go by them.
//
//	NodeLoad           how much of a node is in use, with its age and source [NodeMetrics]
//	NodeTopology       what a node has left in each of its NUMA zones [NodeResourceTopology]
//	AppGraph           which components of an application talk to each other [AppGroup]
//	NetworkCosts       how far places are from each other [NetworkTopology]
//
// Results.
//
//	Binding            the decision: node, devices, and decided forms of objects [Binding]
//	Phase              the stage that a workload has reached in the engine [none; not PodPhase]
//	WorkloadRecord     what the engine records of a workload; likewise NodeRecord and others [none; part of status]
//
// Storage. Needed only by an orchestrator whose workloads have volumes.
//
//	VolumeClaim        a request for a volume, or the right to one [PersistentVolumeClaim]
//	Volume             a piece of storage [PersistentVolume]
//	StorageClass       a way of making volumes [StorageClass]
//	StorageDriver      what a storage driver can do [CSIDriver]
//	NodeStorage        what a node has of storage drivers, with limits [CSINode]
//	StorageCapacity    room for new volumes, seen from some nodes [CSIStorageCapacity]
//	VolumeAttachment   a volume that is attached to a node, or about to be [VolumeAttachment]
//
// Claimed devices. Needed only by an orchestrator with device drivers; see Devices below.
//
//	DeviceSlice        devices that a driver offers on one node or to several [ResourceSlice]
//	SliceDevice        one of them, with attributes and capacity [Device]
//	DeviceClass        a kind of device that claims ask for [DeviceClass]
//	DeviceSelector     which devices, by requirements or an expression [DeviceSelector]
//	DeviceClaim        a request for devices, and its allocation [ResourceClaim]
//	ClaimRequest       one line of a claim, with alternatives [DeviceRequest]
//	DeviceDemand       what is requested of one class [ExactDeviceRequest, DeviceSubRequest]
//	Allocation         what a claim has been given [AllocationResult]
//	Drawn              what of the counters of its pool a given device has [none]
//	Consumer           a workload or group for which a claim is reserved [ResourceClaimConsumerReference]
//	DeviceTaintRule    puts a taint on devices [DeviceTaintRule]
//
// # Devices
//
// There are two models of devices, for two kinds of orchestrator. A workload may use
// both.
//
//   - [Node].Devices and [Workload].Devices count: a node lists its cards, a workload
//     requests a number of a class, whole or in thousandths, and the engine chooses them. Use
//     this model if the orchestrator itself hands out the devices. Plugin: Devices.
//   - [DeviceSlice], [DeviceClass] and [DeviceClaim] describe: drivers publish devices with
//     attributes, capacity, taints and partitions. A claim selects devices by these; workloads
//     share it, and it outlives them. Use this model if drivers prepare devices, as in
//     Kubernetes' dynamic resource allocation. Plugin: DynamicResources.
//
// # Ownership
//
// An object belongs to the caller until it is passed to an engine. From then on it
// is frozen: neither the caller nor the engine nor a plugin may change it, even
// after the engine has removed it, because snapshots and branches may still read it
// without a lock. To change an object, Clone it, change the copy, and pass the copy
// to the engine. Methods that change their receiver ([Resources.Set],
// [Resources.Add], [Resources.Sub]) are for objects that are still being built.
//
// # Validation
//
// Validate lists everything that is wrong with an object, each problem with
// the path of its field; see [ValidationError]. It checks one object only: the
// engine checks whether a group or a node that it names exists.
//
// For fields that Kubernetes' API has too, the rules are the same, so everything
// that is valid there is valid here, with one exception: Gt and Lt require a value
// that is a whole number, where Kubernetes accepts any value and then finds no match.
// Kubernetes' rules about the characters and the length of names, labels and addresses
// do not apply here: a key or an identity must only not be empty.
package model
