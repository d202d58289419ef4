package noderesourcetopologymatch

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

var (
	invalid            = extpoints.NewStatus(extpoints.Unschedulable, "invalid node topology data")
	cannotAlign        = extpoints.NewStatus(extpoints.Unschedulable, "cannot align workload")
	cannotAlignPart    = extpoints.NewStatus(extpoints.Unschedulable, "cannot align container")
	cannotAlignStartup = extpoints.NewStatus(extpoints.Unschedulable, "cannot align init container")
)

// Filter rejects nodes that would refuse the workload because no single zone can serve it, or
// one of its parts.
func (p *NodeResourceTopologyMatch) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	v := s.View()
	t := v.NodeTopology(node.Node.Name)
	if t == nil || !p.looksAt(w.Workload) {
		return nil
	}
	if s.TooOld(t.At, p.maxAge) {
		return invalid
	}
	return p.fits(v, t, w.Workload, node)
}

// looksAt reports whether the workload must be aligned where a node says so.
func (p *NodeResourceTopologyMatch) looksAt(w *model.Workload) bool {
	return aligned(w) || p.like && w.QoSClass() == model.Burstable
}

// fits is why the node would refuse the workload, nil where it would not.
func (p *NodeResourceTopologyMatch) fits(v extpoints.ClusterView, t *model.NodeTopology, w *model.Workload, node *extpoints.NodeInfo) *extpoints.Status {
	if t.Policy != model.AlignSingleZone && p.book != Wait {
		return nil
	}
	left, ok := p.leftOn(v, t, node)
	if !ok {
		return invalid
	}
	z := zones{of: t, left: left, shared: true}
	if t.Policy != model.AlignSingleZone {
		return nil
	}
	var few [8]amount
	guaranteed := w.QoSClass() == model.Guaranteed
	if t.Scope == model.AlignWorkload {
		if p.zoneFor(&z, amounts(few[:0], &w.Requests), guaranteed, node.Node) < 0 {
			return cannotAlign
		}
		return nil
	}
	parts := partsOf(w)
	for i := range parts {
		part := &parts[i]
		wanted := amounts(few[:0], &part.Requests)
		zone := p.zoneFor(&z, wanted, guaranteed, node.Node)
		switch {
		case zone < 0 && part.Startup:
			return cannotAlignStartup
		case zone < 0:
			return cannotAlignPart
		case part.Startup || len(t.Zones) == 0 || i == len(parts)-1:
			continue // it leaves what it has to those after it, or there are none
		}
		for _, a := range wanted {
			if guaranteed || !shared(a.name) {
				z.take(zone, a)
			}
		}
	}
	return nil
}

// zoneFor is the first zone that can serve all that is wanted, which is where the node will
// put it; negative: there is none. What belongs to no zone any will serve.
func (p *NodeResourceTopologyMatch) zoneFor(z *zones, wanted []amount, guaranteed bool, node *model.Node) int {
	for _, a := range wanted {
		if !offers(node, a.name) || p.like && shared(a.name) && !z.has(a.name) {
			return -1
		}
	}
	if len(z.of.Zones) == 0 {
		return 0
	}
	for i := range z.of.Zones {
		if serves(z, i, wanted, guaranteed) {
			return i
		}
	}
	return -1
}

// offers reports whether the node may have any of the resource. What all nodes have is for
// others to look at.
func offers(n *model.Node, name string) bool {
	switch name {
	case model.CPU, model.Memory, model.EphemeralStorage:
		return true
	}
	return slices.ContainsFunc(n.Allocatable.Scalars, func(s model.Scalar) bool { return s.Name == name })
}

// serves reports whether the zone can serve all that is wanted.
func serves(z *zones, zone int, wanted []amount, guaranteed bool) bool {
	for _, a := range wanted {
		left, has := z.get(zone, a.name)
		switch {
		case !has && z.has(a.name), has && left < a.n && (guaranteed || !shared(a.name)):
			return false
		}
	}
	return true
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads what the workload requests and how far it is guaranteed that.
func (*NodeResourceTopologyMatch) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendParts(key, w.Workload), true
}

// Sign signs what must be aligned, and of what class the workload is.
func (*NodeResourceTopologyMatch) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.PartsFragments(w), nil
}

var (
	_ extpoints.FilterPlugin      = (*NodeResourceTopologyMatch)(nil)
	_ extpoints.ScorePlugin       = (*NodeResourceTopologyMatch)(nil)
	_ extpoints.EnqueueExtensions = (*NodeResourceTopologyMatch)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodeResourceTopologyMatch)(nil)
	_ extpoints.SignPlugin        = (*NodeResourceTopologyMatch)(nil)
)
