package model

import "time"

// PreemptionPolicy says whether a workload may displace others.
type PreemptionPolicy string

// The preemption policies; the empty value means PreemptLower.
const (
	PreemptLower PreemptionPolicy = "PreemptLowerPriority"
	PreemptNever PreemptionPolicy = "Never"
)

// PreemptionToleration keeps a workload from being displaced, for a time or for good, by
// workloads whose priority is higher but not high enough. Only the plugin
// PreemptionToleration looks at it.
type PreemptionToleration struct {
	// MinPriority is the lowest priority that may displace the workload at any time.
	MinPriority int32
	// For is for how long after it was placed lower priorities may not displace it. 0: they
	// may at once; negative: never.
	For time.Duration
}

// QoSClass says how far a workload's node guarantees it what it requests when the node runs
// short of CPU or memory.
type QoSClass string

// The classes, from the most to the least guaranteed.
const (
	Guaranteed QoSClass = "Guaranteed" // it may use what it requests, and no more
	Burstable  QoSClass = "Burstable"  // it may use more than it requests
	BestEffort QoSClass = "BestEffort" // it requests nothing
)

// Protocol of a host port.
type Protocol string

// The protocols; the empty value means TCP.
const (
	TCP  Protocol = "TCP"
	UDP  Protocol = "UDP"
	SCTP Protocol = "SCTP"
)

// AllAddresses is the host address that stands for all of a node's addresses.
const AllAddresses = "0.0.0.0"

// HostPort is a port of the node that the workload needs for itself.
type HostPort struct {
	IP       string   // empty: AllAddresses
	Protocol Protocol // empty: TCP
	Port     int32    // 1 to 65535
}

// protocol is Protocol with the default filled in.
func (p *HostPort) protocol() Protocol {
	if p.Protocol == "" {
		return TCP
	}
	return p.Protocol
}

// Amounts that scoring assumes for a workload that does not say how much CPU
// or memory it wants, so that many such workloads do not all land on one node.
// Values of kube-scheduler, pkg/scheduler/util/pod_resources.go, 1.37.1.
const (
	DefaultCPUEstimate    int64 = 100               // milli-CPU
	DefaultMemoryEstimate int64 = 200 * 1024 * 1024 // bytes
)

// Workload is the unit that is placed on one node: a task, a container group,
// a virtual machine.
//
// Once given to an engine it is frozen; see the package comment.
type Workload struct {
	// ID is the workload's identity, unique among all workloads that an
	// engine knows. A new incarnation of something is a new ID.
	ID string
	// Namespace is the scope within which selectors look by default.
	Namespace string
	// Name is for people; several workloads may share it. Empty: ID.
	Name   string
	Labels map[string]string // what the selectors of others go by
	// Profile names the scheduling profile that places it. Empty: the first
	// profile of the configuration. One that is not there: it waits until it is updated.
	Profile string
	// Group is the ID of the group that it is a member of, or empty.
	Group string

	// Queue is the name of the queue that it waits in, and that is charged with what it
	// requests while it has a node. Empty: that of its principal; without one it waits
	// at the top. It matters where an engine orders by queues.
	Queue string
	// Principal is the name of the principal on whose account it runs, or empty. It
	// matters where an engine orders by queues.
	Principal string

	Priority   int32            // higher goes first
	Preemption PreemptionPolicy // empty: PreemptLower
	// PreemptionToleration keeps some from displacing it. None: all of higher priority may.
	PreemptionToleration PreemptionToleration `json:",omitzero"`
	// QoS is its class as its orchestrator says it. Empty: by its requests, see QoSClass.
	QoS QoSClass

	// Requests is what the workload needs of the node's Allocatable.
	Requests Resources
	// Estimate, where not nil, is the load that scoring counts in place of
	// Requests. Nil: Requests, with DefaultCPUEstimate and
	// DefaultMemoryEstimate in place of a CPU or memory of 0.
	Estimate *Resources
	// UsageLimits are the most that it may use of resources while it runs, which may be more
	// than it requests (Kubernetes: limits). An amount of 0: no limit is known. Only plugins
	// that go by measured load look at it.
	UsageLimits Resources `json:",omitzero"`
	// FitLoad, where not nil, is what NodeResourcesFit counts of the workload
	// itself when it scores a node for it, in place of the estimated load and
	// the requests. It is there to score as kube-scheduler does, which leaves
	// out what a pod requests as a whole there, and nowhere else
	// (noderesources/resource_allocation.go, 1.37.1).
	FitLoad *Resources

	// NodeName, where not empty, is the only node that will do. It waits until that is there.
	NodeName string
	// NodeSelector holds labels that the node must have, with these values.
	NodeSelector map[string]string
	NodeAffinity *NodeAffinity      // which nodes it must have, and which it likes; nil: any
	Affinity     *WorkloadAffinity  // near which others it must or would like to be; nil: none
	AntiAffinity *WorkloadAffinity  // away from which others; nil: none
	Spread       []SpreadConstraint // how it and others are spread; none: the profile's default constraints
	Tolerations  []Toleration       // of taints on nodes
	Ports        []HostPort         // of the node, for itself
	// Images are the images that will be run, one entry for each container.
	Images  []string
	Devices []DeviceRequest // parts of the Devices of its node
	// VolumeClaims are the claims whose volumes it uses, Disks the volumes that
	// it names itself.
	VolumeClaims []VolumeClaimRef
	Disks        []Disk // see VolumeClaims
	// DeviceClaims are the claims whose devices it uses.
	DeviceClaims []DeviceClaimRef
	// Containers say which of its parts Requests are for. It matters only where
	// devices serve requests for scalars; see [DeviceClass].Resource. None: all
	// is for one part.
	Containers []Container
	// Features are what the node must declare to be able to do; see
	// [Node].Features.
	Features []string
	// Syscalls are the system calls that it may make, in ascending order, each once. None:
	// nothing is known of them.
	Syscalls []string
	// OwnerSelector selects the workloads that this one is a replica among:
	// those of the same service, set or job. Default spread constraints
	// count them; nil, or without requirements, they do not apply.
	OwnerSelector *Selector
	// Gates hold the workload back from scheduling until all are removed.
	Gates []string

	// CreatedAt is when the workload came into being, by its orchestrator's
	// clock.
	CreatedAt time.Time
	// Limit is the longest time for which it may run; 0: no limit. Plugins go by
	// it; the engine does not end what runs for longer.
	Limit time.Duration
	// MinLimit, where not 0, lets it start sooner with a shorter limit, of at least this: where
	// its Limit would run into a hold, or delay something with a reservation, and a shorter
	// one does not, it is granted the longest such limit. It is fixed when its node is
	// chosen; see [Binding].Limit. Members of groups are placed with their whole Limit, and
	// that is also what promises, and explanations of a workload that waits, are about.
	MinLimit time.Duration

	// Data is the orchestrator's own, for its plugins, its listeners, Bind and
	// Evict. The engine does not look at it, and an update that changes nothing
	// else requeues no workload. It is frozen with the workload, and Clone copies
	// the interface value, not what it points to.
	//
	// A recorder writes Data with [encoding/json], and stops with an error where
	// that fails. A replay has what encoding/json reads into an any: for a struct a
	// map[string]any, for a number a float64. A plugin that must decide the
	// same in a replay accepts both.
	//
	// Where the Data of the members of a gang differ, and no plugin sees a difference, it should be
	// an [Alike]: plans with many gangs cost a fraction then.
	Data any `json:",omitempty"`
}

// Container is a part of a workload with requests of its own. Those that run
// before the others come first.
type Container struct {
	Name string // unique in the workload
	// Startup: it ends before those after it begin, and leaves them what it
	// had. (Kubernetes: an init container that is not a sidecar.)
	Startup  bool
	Requests Resources // its part of the workload's Requests
}

// DisplayName is what messages call the workload: namespace/name, or the name
// alone where there is no namespace.
func (w *Workload) DisplayName() string {
	name := w.Name
	if name == "" {
		name = w.ID
	}
	if w.Namespace == "" {
		return name
	}
	return w.Namespace + "/" + name
}

// EstimatedLoad is the load that scoring counts: Estimate, or Requests with the
// default amounts in place of a CPU or memory of 0. The caller must not change
// the Scalars of the result.
func (w *Workload) EstimatedLoad() Resources {
	if w.Estimate != nil {
		return *w.Estimate
	}
	load := w.Requests
	if load.CPU == 0 {
		load.CPU = DefaultCPUEstimate
	}
	if load.Memory == 0 {
		load.Memory = DefaultMemoryEstimate
	}
	return load
}

// QoSClass is QoS or, where that is empty, Burstable for a workload that requests CPU or
// memory, else BestEffort.
func (w *Workload) QoSClass() QoSClass {
	switch {
	case w.QoS != "":
		return w.QoS
	case w.Requests.CPU > 0 || w.Requests.Memory > 0:
		return Burstable
	}
	return BestEffort
}

// MayPreempt reports whether the workload's policy lets it displace others.
func (w *Workload) MayPreempt() bool { return w.Preemption != PreemptNever }

// Namespace gives a namespace labels, for terms that select namespaces.
// Workloads may be in namespaces that have no such object.
type Namespace struct {
	Name   string            // identity
	Labels map[string]string // what namespace selectors go by
}

// DevicesOf is how much the workload asks for of all devices of the class, in thousandths. Like
// sums of [Resources] it stops at the largest int64.
func (w *Workload) DevicesOf(class string) (sum int64) {
	for i := range w.Devices {
		if w.Devices[i].Class == class {
			sum = addSaturated(sum, w.Devices[i].Total())
		}
	}
	return sum
}
