package modeltest

import (
	"time"

	"github.com/berth-project/berth/model"
)

// ZoneKey is the node label that [NodeBuilder.Zone] sets along with the zone.
const ZoneKey = "zone"

// NodeBuilder builds a node step by step; start with [Node].
type NodeBuilder struct{ node model.Node }

// Node starts a node of the given name that offers nothing.
func Node(name string) *NodeBuilder { return &NodeBuilder{model.Node{Name: name}} }

// Build returns the node. The builder may go on to be changed and to build
// others like it.
func (b *NodeBuilder) Build() *model.Node { return b.node.Clone() }

// With calls change on the node under construction, for whatever has no method
// here.
func (b *NodeBuilder) With(change func(*model.Node)) *NodeBuilder {
	change(&b.node)
	return b
}

// CPU sets the allocatable milli-CPU.
func (b *NodeBuilder) CPU(milli int64) *NodeBuilder { return b.Resource(model.CPU, milli) }

// Memory sets the allocatable bytes of memory.
func (b *NodeBuilder) Memory(bytes int64) *NodeBuilder { return b.Resource(model.Memory, bytes) }

// Resource sets the allocatable amount of any resource.
func (b *NodeBuilder) Resource(name string, amount int64) *NodeBuilder {
	b.node.Allocatable.Set(name, amount)
	return b
}

// Label sets a label.
func (b *NodeBuilder) Label(key, value string) *NodeBuilder {
	b.node.Labels = set(b.node.Labels, key, value)
	return b
}

// Zone sets the zone, and the label [ZoneKey] to the same value.
func (b *NodeBuilder) Zone(zone string) *NodeBuilder {
	b.node.Zone = zone
	return b.Label(ZoneKey, zone)
}

// MaxWorkloads sets how many workloads may be on the node.
func (b *NodeBuilder) MaxWorkloads(n int64) *NodeBuilder {
	b.node.MaxWorkloads = n
	return b
}

// Taint adds a taint.
func (b *NodeBuilder) Taint(key, value string, effect model.TaintEffect) *NodeBuilder {
	b.node.Taints = append(b.node.Taints, model.Taint{Key: key, Value: value, Effect: effect})
	return b
}

// Unschedulable closes the node for new workloads.
func (b *NodeBuilder) Unschedulable() *NodeBuilder {
	b.node.Unschedulable = true
	return b
}

// Image adds an image of the given size and names.
func (b *NodeBuilder) Image(size int64, names ...string) *NodeBuilder {
	b.node.Images = append(b.node.Images, model.NodeImage{Names: names, Size: size})
	return b
}

// Features says what the node declares to be able to do.
func (b *NodeBuilder) Features(names ...string) *NodeBuilder {
	b.node.Features = append(b.node.Features, names...)
	return b
}

// Devices adds n devices of a class and model.
func (b *NodeBuilder) Devices(n int, class, deviceModel string) *NodeBuilder {
	for range n {
		b.node.Devices = append(b.node.Devices, model.Device{Class: class, Model: deviceModel})
	}
	return b
}

// WorkloadBuilder builds a workload step by step; start with [Workload].
type WorkloadBuilder struct{ workload model.Workload }

// Workload starts a workload of the given ID that asks for nothing.
func Workload(id string) *WorkloadBuilder { return &WorkloadBuilder{model.Workload{ID: id}} }

// Build returns the workload. The builder may go on to be changed and to build
// others like it.
func (b *WorkloadBuilder) Build() *model.Workload { return b.workload.Clone() }

// With calls change on the workload under construction, for whatever has no
// method here.
func (b *WorkloadBuilder) With(change func(*model.Workload)) *WorkloadBuilder {
	change(&b.workload)
	return b
}

// Namespace sets the namespace.
func (b *WorkloadBuilder) Namespace(namespace string) *WorkloadBuilder {
	b.workload.Namespace = namespace
	return b
}

// Label sets a label.
func (b *WorkloadBuilder) Label(key, value string) *WorkloadBuilder {
	b.workload.Labels = set(b.workload.Labels, key, value)
	return b
}

// Group makes it a member of the group.
func (b *WorkloadBuilder) Group(id string) *WorkloadBuilder {
	b.workload.Group = id
	return b
}

// Priority sets the priority.
func (b *WorkloadBuilder) Priority(priority int32) *WorkloadBuilder {
	b.workload.Priority = priority
	return b
}

// CPU sets the requested milli-CPU.
func (b *WorkloadBuilder) CPU(milli int64) *WorkloadBuilder { return b.Resource(model.CPU, milli) }

// Memory sets the requested bytes of memory.
func (b *WorkloadBuilder) Memory(bytes int64) *WorkloadBuilder {
	return b.Resource(model.Memory, bytes)
}

// Resource sets the requested amount of any resource.
func (b *WorkloadBuilder) Resource(name string, amount int64) *WorkloadBuilder {
	b.workload.Requests.Set(name, amount)
	return b
}

// NodeName names the only node that will do.
func (b *WorkloadBuilder) NodeName(name string) *WorkloadBuilder {
	b.workload.NodeName = name
	return b
}

// NodeSelector wants a node label to have a value.
func (b *WorkloadBuilder) NodeSelector(key, value string) *WorkloadBuilder {
	b.workload.NodeSelector = set(b.workload.NodeSelector, key, value)
	return b
}

// RequireNode adds one more alternative to the required node affinity: a node
// whose labels meet all of the requirements.
func (b *WorkloadBuilder) RequireNode(labels ...model.Requirement) *WorkloadBuilder {
	a := b.nodeAffinity()
	if a.Required == nil {
		a.Required = &model.NodeTerms{}
	}
	a.Required.Terms = append(a.Required.Terms, model.NodeTerm{Labels: labels})
	return b
}

// PreferNode adds a preference for nodes whose labels meet the requirements.
func (b *WorkloadBuilder) PreferNode(weight int32, labels ...model.Requirement) *WorkloadBuilder {
	a := b.nodeAffinity()
	term := model.NodeTerm{Labels: labels}
	a.Preferred = append(a.Preferred, model.PreferredNodeTerm{Weight: weight, NodeTerm: term})
	return b
}

func (b *WorkloadBuilder) nodeAffinity() *model.NodeAffinity {
	if b.workload.NodeAffinity == nil {
		b.workload.NodeAffinity = &model.NodeAffinity{}
	}
	return b.workload.NodeAffinity
}

// Near requires a workload with the label in the same topology.
func (b *WorkloadBuilder) Near(topologyKey, label, value string) *WorkloadBuilder {
	if b.workload.Affinity == nil {
		b.workload.Affinity = &model.WorkloadAffinity{}
	}
	a := b.workload.Affinity
	a.Required = append(a.Required, term(topologyKey, label, value))
	return b
}

// Away forbids workloads with the label in the same topology.
func (b *WorkloadBuilder) Away(topologyKey, label, value string) *WorkloadBuilder {
	if b.workload.AntiAffinity == nil {
		b.workload.AntiAffinity = &model.WorkloadAffinity{}
	}
	a := b.workload.AntiAffinity
	a.Required = append(a.Required, term(topologyKey, label, value))
	return b
}

func term(topologyKey, label, value string) model.AffinityTerm {
	selector := model.SelectLabels(map[string]string{label: value})
	return model.AffinityTerm{TopologyKey: topologyKey, Selector: selector}
}

// Spread adds a spread constraint over workloads with the label.
func (b *WorkloadBuilder) Spread(topologyKey string, maxSkew int32, mode model.SpreadMode, label, value string) *WorkloadBuilder {
	b.workload.Spread = append(b.workload.Spread, model.SpreadConstraint{
		TopologyKey: topologyKey,
		MaxSkew:     maxSkew,
		Mode:        mode,
		Selector:    model.SelectLabels(map[string]string{label: value}),
	})
	return b
}

// Tolerate adds a toleration of taints with the key, whatever their value and
// effect.
func (b *WorkloadBuilder) Tolerate(key string) *WorkloadBuilder {
	t := model.Toleration{Key: key, Operator: model.Exists}
	b.workload.Tolerations = append(b.workload.Tolerations, t)
	return b
}

// Port adds a TCP port on all addresses.
func (b *WorkloadBuilder) Port(port int32) *WorkloadBuilder {
	b.workload.Ports = append(b.workload.Ports, model.HostPort{Port: port})
	return b
}

// Images adds images that it runs.
func (b *WorkloadBuilder) Images(names ...string) *WorkloadBuilder {
	b.workload.Images = append(b.workload.Images, names...)
	return b
}

// Features asks for a node that declares the features.
func (b *WorkloadBuilder) Features(names ...string) *WorkloadBuilder {
	b.workload.Features = append(b.workload.Features, names...)
	return b
}

// OwnedBy makes the workload one of those whose label has the value.
func (b *WorkloadBuilder) OwnedBy(key, value string) *WorkloadBuilder {
	b.workload.OwnerSelector = model.SelectLabels(map[string]string{key: value})
	return b
}

// Devices asks for count whole devices of a class.
func (b *WorkloadBuilder) Devices(count int64, class string) *WorkloadBuilder {
	return b.device(model.DeviceRequest{Class: class, Count: count, Share: model.WholeDevice})
}

// DeviceShare asks for a part, in thousandths, of one device of a class.
func (b *WorkloadBuilder) DeviceShare(share int64, class string) *WorkloadBuilder {
	return b.device(model.DeviceRequest{Class: class, Count: 1, Share: share})
}

func (b *WorkloadBuilder) device(r model.DeviceRequest) *WorkloadBuilder {
	b.workload.Devices = append(b.workload.Devices, r)
	return b
}

// Gate adds a gate.
func (b *WorkloadBuilder) Gate(name string) *WorkloadBuilder {
	b.workload.Gates = append(b.workload.Gates, name)
	return b
}

// CreatedAt sets the time of creation.
func (b *WorkloadBuilder) CreatedAt(t time.Time) *WorkloadBuilder {
	b.workload.CreatedAt = t
	return b
}

func set(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
