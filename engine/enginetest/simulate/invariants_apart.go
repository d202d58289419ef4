package simulate

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// checkKept: a workload that has just been put on a node leaves the room that is
// kept there for those that were nominated to it and that it may not displace.
func (o *observed) checkKept(before *observed, row *model.WorkloadRecord, u *usage) (p problems) {
	node := o.nodes[row.Node]
	if node == nil {
		return p
	}
	all := u.requested.Clone()
	workloads := int64(len(u.workloads))
	g := &sight{groups: o.groups}
	root := g.root(row.Workload)
	for _, id := range before.ids {
		other := before.rows[id]
		now := o.rows[id]
		if root != "" && g.root(other.Workload) == root {
			continue // within a tree of groups nothing is kept for one member
		}
		if other.Phase == model.Pending && now.Phase == model.Pending && id != row.ID && other.Workload == now.Workload &&
			other.Nominated == row.Node && now.Nominated == row.Node && other.Priority >= row.Priority {
			all.Add(&other.Requests)
			workloads++
		}
	}
	for _, name := range row.Requests.Names() {
		if name != cardResource && row.Requests.Get(name) > 0 && all.Get(name) > node.Allocatable.Get(name) {
			p.add("%s was put on %s, where %s is kept for others", row.ID, row.Node, name)
		}
	}
	if workloads > mostWorkloads(node) {
		p.add("%s was put on %s, where a place is kept for others", row.ID, row.Node)
	}
	return p
}

// checkApart: a workload that has just been put on a node is in no domain with
// workloads that it, or they, must be kept apart from.
func (o *observed) checkApart(row *model.WorkloadRecord) (p problems) {
	for _, id := range o.ids {
		other := o.rows[id]
		if id == row.ID || !other.Phase.TakesRoom() || o.nodes[other.Node] == nil {
			continue
		}
		if o.keptApart(row, &other) || o.keptApart(&other, row) {
			p.add("%s was put on %s, and must be kept apart from %s on %s", row.ID, row.Node, id, other.Node)
		}
	}
	return p
}

// keptApart reports whether a required term of a keeps b out of its domain.
func (o *observed) keptApart(a, b *model.WorkloadRecord) (apart bool) {
	from, to := o.nodes[a.Node], o.nodes[b.Node]
	if from == nil || to == nil {
		return false
	}
	extpointstest.EachTerm(a.Workload, func(kind extpoints.TermKind, _ int32, t *model.AffinityTerm) {
		here, ok := from.TopologyValue(t.TopologyKey)
		there, known := to.TopologyValue(t.TopologyKey)
		if kind == extpoints.RequiredAntiAffinityTerm && ok && known && here == there &&
			slices.Contains(t.Namespaces, b.Namespace) && t.Selector.Matches(b.Labels) {
			apart = true
		}
	})
	return apart
}
