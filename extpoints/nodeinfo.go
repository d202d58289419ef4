package extpoints

import (
	"math"
	"slices"

	"github.com/berth-project/berth/model"
)

// ImageState is what is known of an image that a node has.
type ImageState struct {
	Size int64 // bytes
	// NumNodes is how many nodes had the image when this node was last
	// touched. Like kube-scheduler's (pkg/scheduler/backend/cache/cache.go,
	// 1.37.1) it is not corrected while the node itself stays as it is.
	NumNodes int
}

// NodeInfo is a node and the sums over the workloads on it, kept so that a
// plugin never has to add them up. It is shared: plugins read it, and change
// only what they got from Clone.
type NodeInfo struct {
	// Node is the node as the orchestrator reported it last. It is frozen, as all of the model.
	Node *model.Node
	// Slot is the node's place in slices that the view's [Index] speaks of: a
	// small number that it keeps for as long as it is there. Clones have it
	// too. The view sets it.
	Slot int32
	// Workloads are those on the node, in the order of arrival except that a
	// removal moves the last one into the gap (as kube-scheduler does, which
	// matters for the order of victims).
	Workloads []*WorkloadInfo
	// WithAffinity are those with affinity or anti-affinity terms of any kind.
	WithAffinity []*WorkloadInfo
	// WithRequiredAntiAffinity are those with required anti-affinity.
	WithRequiredAntiAffinity []*WorkloadInfo
	// Requested is the sum of Requests.
	Requested model.Resources
	// EstimatedCPU is the sum of the load that scoring counts, in milli-CPU; see
	// [model.Workload.EstimatedLoad]. Like Requested it stops at the largest int64.
	EstimatedCPU int64
	// EstimatedMemory is the same of memory, in bytes.
	EstimatedMemory int64
	// Ports are the host ports in use.
	Ports PortSet
	// FirstFreesPort: a port that several workloads hold is free as soon as the first of them
	// goes, as in kube-scheduler. The view sets it under [KubeScheduler137].
	FirstFreesPort bool
	// Images are the images on the node by each of the names that the node
	// gives them.
	Images map[string]ImageState
	// DeviceFree is what is left of each device in thousandths, by index.
	DeviceFree []int64

	index *nodeIndex // nil for few workloads
}

// NewNodeInfo makes the info of a node without workloads and without image
// states (the snapshot fills those in).
func NewNodeInfo(n *model.Node) *NodeInfo {
	info := &NodeInfo{}
	info.SetNode(n)
	return info
}

// SetNode puts a changed node in place of the old one; the workloads stay.
func (n *NodeInfo) SetNode(node *model.Node) {
	n.Node = node
	n.DeviceFree = slices.Repeat([]int64{model.WholeDevice}, len(node.Devices))
	for _, w := range n.Workloads {
		n.takeDevices(w, +1)
	}
}

// Clone returns a copy that can be changed with AddWorkload, RemoveWorkload and
// SetNode without touching n.
func (n *NodeInfo) Clone() *NodeInfo {
	// One more place than needed: most clones are made to add one workload.
	c := &NodeInfo{Workloads: make([]*WorkloadInfo, 0, len(n.Workloads)+1)}
	n.CopyTo(c)
	return c
}

// CopyTo makes c a clone of n, in the memory that c has: for those who need many
// clones, one after the other. c must be the caller's own, and an earlier clone
// in it is gone.
func (n *NodeInfo) CopyTo(c *NodeInfo) {
	own := *c
	*c = *n
	c.Workloads = append(own.Workloads[:0], n.Workloads...)
	c.WithAffinity = append(own.WithAffinity[:0], n.WithAffinity...)
	c.WithRequiredAntiAffinity = append(own.WithRequiredAntiAffinity[:0], n.WithRequiredAntiAffinity...)
	c.Requested.Scalars = append(own.Requested.Scalars[:0], n.Requested.Scalars...)
	c.Ports = append(own.Ports[:0], n.Ports...)
	c.DeviceFree = append(own.DeviceFree[:0], n.DeviceFree...)
	c.index = n.index.copyTo(own.index)
}

// Workload returns the workload with the ID that is on the node, nil where there is
// none. It takes as long on a node with many workloads as on one with few.
func (n *NodeInfo) Workload(id string) *WorkloadInfo {
	if i := n.find(id); i >= 0 {
		return n.Workloads[i]
	}
	return nil
}

func (n *NodeInfo) find(id string) int {
	is := func(w *WorkloadInfo) bool { return w.ID == id }
	if n.index != nil {
		return n.index.workloads.find(n.Workloads, id, is)
	}
	return slices.IndexFunc(n.Workloads, is)
}

// RequestedFrom returns what the workloads on the node request that have at least the
// priority, and how many they are. On a node with many workloads it takes as long as there are
// priorities.
func (n *NodeInfo) RequestedFrom(priority int32) (sum model.Resources, workloads int) {
	if n.index != nil && n.index.totals != nil {
		return n.index.totals.from(priority)
	}
	for _, w := range n.Workloads {
		if w.Priority >= priority {
			sum.Add(&w.Requests)
			workloads++
		}
	}
	return sum, workloads
}

// AddWorkload adds a workload and its share of every sum. n must be a clone of
// the caller's own.
func (n *NodeInfo) AddWorkload(w *WorkloadInfo) {
	token, workloads, withAffinity, withRequiredAntiAffinity := n.index.open()
	n.Workloads = workloads.append(token, n.Workloads, w)
	if w.Affinity != nil || w.AntiAffinity != nil {
		n.WithAffinity = withAffinity.append(token, n.WithAffinity, w)
	}
	if w.hasRequiredAntiAffinity() {
		n.WithRequiredAntiAffinity = withRequiredAntiAffinity.append(token, n.WithRequiredAntiAffinity, w)
	}
	if n.index != nil {
		n.index.totals = n.index.totals.with(w)
	}
	n.fitIndex()
	n.Requested.Add(&w.Requests)
	n.addLoad(w)
	for i := range w.Ports {
		n.Ports.add(&w.Ports[i])
	}
	n.takeDevices(w, +1)
}

// RemoveWorkload removes the workload of the same ID and its share of every
// sum; it reports whether there was one. n must be a clone of the caller's own.
func (n *NodeInfo) RemoveWorkload(id string) bool {
	i := n.find(id)
	if i < 0 {
		return false
	}
	w := n.Workloads[i]
	token, workloads, withAffinity, withRequiredAntiAffinity := n.index.open()
	n.Workloads = workloads.remove(token, n.Workloads, i)
	n.WithAffinity = withAffinity.remove(token, n.WithAffinity, withAffinity.placeOf(n.WithAffinity, w))
	n.WithRequiredAntiAffinity = withRequiredAntiAffinity.remove(token, n.WithRequiredAntiAffinity, withRequiredAntiAffinity.placeOf(n.WithRequiredAntiAffinity, w))
	if n.index != nil {
		n.index.totals = n.index.totals.without(w)
	}
	n.fitIndex()
	n.forget(&w.Requests)
	n.forgetLoad(w)
	for j := range w.Ports {
		n.Ports.remove(&w.Ports[j], n.FirstFreesPort)
	}
	n.takeDevices(w, -1)
	return true
}

// fitIndex makes an index where there have come to be many workloads, and drops it where
// few are left.
func (n *NodeInfo) fitIndex() {
	switch {
	case n.index == nil && len(n.Workloads) > fewWorkloads:
		n.index = newNodeIndex(n.Workloads, n.WithAffinity, n.WithRequiredAntiAffinity)
	case n.index != nil && len(n.Workloads) <= fewWorkloads/2:
		n.index = nil
	}
}

// forget takes the requests out of the sum. A sum that has reached the largest
// amount no longer says what it is made of, and is made anew.
func (n *NodeInfo) forget(requests *model.Resources) {
	atLimit := func(s model.Scalar) bool { return s.Amount == math.MaxInt64 }
	r := &n.Requested
	if max(r.CPU, r.Memory, r.EphemeralStorage) < math.MaxInt64 && !slices.ContainsFunc(r.Scalars, atLimit) {
		r.Sub(requests)
		return
	}
	*r = model.Resources{}
	for _, w := range n.Workloads {
		r.Add(&w.Requests)
	}
}

func (n *NodeInfo) addLoad(w *WorkloadInfo) {
	load := w.EstimatedLoad()
	n.EstimatedCPU = addSaturated(n.EstimatedCPU, load.CPU)
	n.EstimatedMemory = addSaturated(n.EstimatedMemory, load.Memory)
}

// forgetLoad is forget for the estimated load.
func (n *NodeInfo) forgetLoad(w *WorkloadInfo) {
	if max(n.EstimatedCPU, n.EstimatedMemory) < math.MaxInt64 {
		load := w.EstimatedLoad()
		n.EstimatedCPU -= load.CPU
		n.EstimatedMemory -= load.Memory
		return
	}
	n.EstimatedCPU, n.EstimatedMemory = 0, 0
	for _, other := range n.Workloads {
		n.addLoad(other)
	}
}

func (n *NodeInfo) takeDevices(w *WorkloadInfo, sign int64) {
	for _, share := range w.Shares {
		if share.Device < len(n.DeviceFree) {
			n.DeviceFree[share.Device] -= sign * share.Share
		}
	}
}

// PortSet are the host ports in use on a node, each of them once for every workload that
// holds it: several hold one where they were put on the node from outside, or got it by an
// update. In kube-scheduler each is there once (framework/types.go HostPortInfo, 1.37.1).
type PortSet []model.HostPort

// Conflicts reports whether the port cannot be had: same protocol and number,
// on the same address or with one of the two on all addresses.
func (s PortSet) Conflicts(port *model.HostPort) bool {
	if len(s) == 0 || port.Port <= 0 {
		return false
	}
	p := normalPort(port)
	for i := range s {
		used := &s[i]
		if used.Port == p.Port && used.Protocol == p.Protocol &&
			(used.IP == p.IP || used.IP == model.AllAddresses || p.IP == model.AllAddresses) {
			return true
		}
	}
	return false
}

func (s *PortSet) add(port *model.HostPort) {
	if p := normalPort(port); p.Port > 0 {
		*s = append(*s, p)
	}
}

// remove takes the port out for one of those that hold it, or for all.
func (s *PortSet) remove(port *model.HostPort, forAll bool) {
	p := normalPort(port)
	for i := slices.Index(*s, p); i >= 0; i = slices.Index(*s, p) {
		if *s = slices.Delete(*s, i, i+1); !forAll {
			return
		}
	}
}

func normalPort(p *model.HostPort) model.HostPort {
	n := *p
	if n.IP == "" {
		n.IP = model.AllAddresses
	}
	if n.Protocol == "" {
		n.Protocol = model.TCP
	}
	return n
}
