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
//
//	Workload           the unit that is placed on one node [Pod]
//	Namespace          the scope of a name, with labels [Namespace]
//	Profile            which set of plugins places a workload [schedulerName]
//	Estimate           the load that scoring assumes [the non-zero requests]
//	HostPort           a port of the node [hostPort of a container]
//	Gate               holds a workload back from scheduling [PodSchedulingGate]
//	Toleration         lets a workload onto a tainted node [Toleration]
//	PreemptionPolicy   whether a workload may displace others [PreemptionPolicy]
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
//	Group              workloads, or groups, that are decided on together [PodGroup, CompositePodGroup]
//	GroupPolicy        one by one or all together [PodGroupSchedulingPolicy]
//	DisruptionMode     what is lost with one member [DisruptionMode]
//	Budget             how many may be displaced [PodDisruptionBudget]
//
//	Binding            the outcome: which node, which devices [Binding]
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
