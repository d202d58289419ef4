package model

import "time"

// PreemptionPolicy says whether a workload may displace others.
type PreemptionPolicy string

// The preemption policies; the empty value means PreemptLower.
const (
	PreemptLower PreemptionPolicy = "PreemptLowerPriority"
	PreemptNever PreemptionPolicy = "Never"
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
	IP       string // empty: AllAddresses
	Protocol Protocol
	Port     int32 // 1 to 65535
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
	Labels map[string]string
	// Profile names the scheduling profile that places it. Empty: the first
	// profile of the configuration.
	Profile string
	// Group is the ID of the group that it is a member of, or empty.
	Group string

	Priority   int32 // higher goes first
	Preemption PreemptionPolicy

	// Requests is what the workload needs of the node's Allocatable.
	Requests Resources
	// Estimate, where not nil, is the load that scoring counts in place of
	// Requests. Nil: Requests, with DefaultCPUEstimate and
	// DefaultMemoryEstimate in place of a CPU or memory of 0.
	Estimate *Resources
	// FitLoad, where not nil, is what NodeResourcesFit counts of the workload
	// itself when it scores a node for it, in place of the estimated load and
	// the requests. It is there to score as kube-scheduler does, which leaves
	// out what a pod requests as a whole there, and nowhere else
	// (noderesources/resource_allocation.go, 1.37.1).
	FitLoad *Resources

	// NodeName, where not empty, is the only node that will do.
	NodeName string
	// NodeSelector holds labels that the node must have, with these values.
	NodeSelector map[string]string
	NodeAffinity *NodeAffinity
	Affinity     *WorkloadAffinity
	AntiAffinity *WorkloadAffinity
	Spread       []SpreadConstraint
	Tolerations  []Toleration
	Ports        []HostPort
	// Images are the images that will be run, one entry for each container.
	Images  []string
	Devices []DeviceRequest
	// VolumeClaims are the claims whose volumes it uses, Disks the volumes that
	// it names itself.
	VolumeClaims []VolumeClaimRef
	Disks        []Disk
	// DeviceClaims are the claims whose devices it uses.
	DeviceClaims []DeviceClaimRef
	// Containers say which of its parts Requests are for. It matters only where
	// devices serve requests for scalars; see [DeviceClass].Resource. None: all
	// is for one part.
	Containers []Container
	// Features are what the node must declare to be able to do; see
	// [Node].Features.
	Features []string
	// OwnerSelector selects the workloads that this one is a replica among:
	// those of the same service, set or job. Default spread constraints
	// count them; nil, or without requirements, they do not apply.
	OwnerSelector *Selector
	// Gates hold the workload back from scheduling until all are removed.
	Gates []string

	// CreatedAt is when the workload came into being, by its orchestrator's
	// clock.
	CreatedAt time.Time
}

// Container is a part of a workload with requests of its own. Those that run
// before the others come first.
type Container struct {
	Name string
	// Startup: it ends before those after it begin, and leaves them what it
	// had. (Kubernetes: an init container that is not a sidecar.)
	Startup  bool
	Requests Resources
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

// MayPreempt reports whether the workload's policy lets it displace others.
func (w *Workload) MayPreempt() bool { return w.Preemption != PreemptNever }

// Namespace gives a namespace labels, for terms that select namespaces.
// Workloads may be in namespaces that have no such object.
type Namespace struct {
	Name   string
	Labels map[string]string
}
