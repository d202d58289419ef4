package noderesourcetopologymatch

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// amount is how much of a resource is requested.
type amount struct {
	name string
	n    int64
}

// amounts appends what the requests are of, without what is requested with 0.
func amounts(list []amount, r *model.Resources) []amount {
	if r.CPU > 0 {
		list = append(list, amount{model.CPU, r.CPU})
	}
	if r.Memory > 0 {
		list = append(list, amount{model.Memory, r.Memory})
	}
	if r.EphemeralStorage > 0 {
		list = append(list, amount{model.EphemeralStorage, r.EphemeralStorage})
	}
	for _, s := range r.Scalars {
		if s.Amount > 0 {
			list = append(list, amount{s.Name, s.Amount})
		}
	}
	return list
}

// shared reports whether only guaranteed workloads get the resource for themselves, while
// others share what there is of it.
func shared(name string) bool {
	return name == model.CPU || name == model.Memory || strings.HasPrefix(name, "hugepages-")
}

// aligned reports whether the workload requests anything that it gets for itself.
func aligned(w *model.Workload) bool {
	if w.QoSClass() == model.Guaranteed {
		return true
	}
	return slices.ContainsFunc(w.Requests.Scalars, func(s model.Scalar) bool { return s.Amount > 0 && !shared(s.Name) })
}

// zones are what is left in the zones of a node.
type zones struct {
	of   *model.NodeTopology
	left []int64 // by zone and by resource, one after the other
	// shared: left is not to be changed.
	shared bool
}

// zonesOf fills in what is left in the zones of the node: what its report says, with what
// those have given back that were taken off the node to try something out, and without what
// the late ones have, who are not in the report. False: nothing can be said of it yet.
func (p *NodeResourceTopologyMatch) zonesOf(z *zones, v extpoints.ClusterView, t *model.NodeTopology, node *extpoints.NodeInfo, late []bool) bool {
	size := 0
	for i := range t.Zones {
		size += len(t.Zones[i].Resources)
	}
	z.of, z.left = t, slices.Grow(z.left[:0], size)
	for i := range t.Zones {
		for _, r := range t.Zones[i].Resources {
			z.left = append(z.left, r.Available)
		}
	}
	if len(t.Uses) > 0 {
		z.giveBack(v.Nodes().Get(node.Node.Name), node)
	}
	if p.book == Ignore {
		return true
	}
	if p.book == Wait {
		return !slices.Contains(late, true)
	}
	for i, is := range late {
		if is {
			z.reserve(node.Workloads[i].Workload)
		}
	}
	return true
}

// leftOn is what is left in the zones of the node, which must not be changed; see zonesOf.
func (p *NodeResourceTopologyMatch) leftOn(v extpoints.ClusterView, t *model.NodeTopology, node *extpoints.NodeInfo) ([]int64, bool) {
	if len(t.Uses) > 0 && v.Nodes().Get(node.Node.Name) != node { // it depends on who is there in truth, too
		var z zones
		ok := p.zonesOf(&z, v, t, node, (*remembered)(nil).lateOn(t, node))
		return z.left, ok
	}
	at := p.memo.at(node)
	r := at.Load()
	if r.is(t, node) {
		return r.left, r.ok
	}
	var z zones
	late := r.lateOn(t, node)
	ok := p.zonesOf(&z, v, t, node, late)
	at.Store(&remembered{t, slices.Clone(node.Workloads), late, z.left, ok})
	return z.left, ok
}

// lateOn says which of the workloads on the node are not in its report, and are aligned. What is
// remembered of the same report and the same workload in the same place is not asked again: mostly
// one has come.
func (r *remembered) lateOn(t *model.NodeTopology, n *extpoints.NodeInfo) []bool {
	late := make([]bool, len(n.Workloads))
	for i, w := range n.Workloads {
		if r != nil && r.of == t && i < len(r.on) && r.on[i] == w {
			late[i] = r.late[i]
		} else {
			late[i] = aligned(w.Workload) && !inReport(t, w)
		}
	}
	return late
}

// inReport reports whether what the workload uses is in the report. One that was placed later may have been
// on the node before, and had other zones.
func inReport(t *model.NodeTopology, w *extpoints.WorkloadInfo) bool {
	if !t.Listed {
		// One that is nominated to the node has not been placed.
		return !w.PlacedAt.IsZero() && w.PlacedAt.Before(t.At)
	}
	_, is := slices.BinarySearch(t.Workloads, w.ID)
	return is && !w.PlacedAt.After(t.At)
}

// giveBack gives back what those use who are on the node in the view, and not on this one.
// Those of whom the view knows nothing may be there still.
func (z *zones) giveBack(was, is *extpoints.NodeInfo) {
	if was == nil || was == is {
		return
	}
	for i := range z.of.Uses {
		u := &z.of.Uses[i]
		if was.Workload(u.Workload) == nil || is.Workload(u.Workload) != nil {
			continue
		}
		at := 0
		for j := range z.of.Zones {
			resources := z.of.Zones[j].Resources
			if z.of.Zones[j].ID == u.Zone {
				for k := range resources {
					left := &z.left[at+k]
					*left = max(*left, min(*left+u.Resources.Get(resources[k].Name), resources[k].Allocatable))
				}
			}
			at += len(resources)
		}
	}
}

// reserve takes what the workload gets for itself out of every zone: in which one it is is not
// known.
func (z *zones) reserve(w *model.Workload) {
	guaranteed := w.QoSClass() == model.Guaranteed
	at := 0
	for i := range z.of.Zones {
		for _, r := range z.of.Zones[i].Resources {
			if guaranteed || !shared(r.Name) {
				z.left[at] = max(z.left[at]-w.Requests.Get(r.Name), 0)
			}
			at++
		}
	}
}

// get is how much is left of the resource in the i-th zone; false: the zone has none.
func (z *zones) get(i int, name string) (int64, bool) {
	if at := z.index(i, name); at >= 0 {
		return z.left[at], true
	}
	return 0, false
}

// take takes as much of the resource out of the zone as there is, and returns what is
// missing.
func (z *zones) take(i int, a amount) int64 {
	at := z.index(i, a.name)
	if at < 0 {
		return a.n
	}
	if z.shared {
		z.left, z.shared = slices.Clone(z.left), false
	}
	taken := min(a.n, z.left[at])
	z.left[at] -= taken
	return a.n - taken
}

func (z *zones) index(i int, name string) int {
	at := 0
	for j := range z.of.Zones[:i] {
		at += len(z.of.Zones[j].Resources)
	}
	for k, r := range z.of.Zones[i].Resources {
		if r.Name == name {
			return at + k
		}
	}
	return -1
}

// has reports whether the resource is that of any zone.
func (z *zones) has(name string) bool {
	for i := range z.of.Zones {
		if z.index(i, name) >= 0 {
			return true
		}
	}
	return false
}
