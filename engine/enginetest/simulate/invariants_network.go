package simulate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// network notes what the engine was last told of applications and of what the network costs.
func (o *observed) network(f *simFacts) {
	o.graphs = map[string]*model.AppGraph{}
	for _, app := range simApps {
		last := f.told[graphRef(app)]
		if last.at.After(o.toldGraphs) {
			o.toldGraphs = last.at
		}
		if g, ok := last.object.(*model.AppGraph); ok {
			o.graphs[app] = g
		}
	}
	o.costs, _ = f.told[costsRef].object.(*model.NetworkCosts)
}

// checkNear looks at a workload that the engine has just put on a node, and at those on nodes that it talks to: no more
// of them are far than are close, by what the engine was told. Those that came in the same attempt count only where they
// are close: in which order they came cannot be seen.
func (o *observed) checkNear(before *observed, row *model.WorkloadRecord) (p problems) {
	near, far := 0, 0
	for _, need := range o.needsOf(row.Workload) {
		for _, id := range o.ids {
			other := o.rows[id]
			of := other.Labels["app"] == row.Labels["app"] && other.Labels[componentLabel] == need.Component
			if !of || id == row.ID || !other.Phase.TakesRoom() {
				continue
			}
			switch o.distance(row.Node, other.Node, need.MaxCost) {
			case isNear:
				near++
			case isFar:
				if before.rows[id].Node == other.Node {
					far++
				}
			}
		}
	}
	if far > near {
		p.add("%s was put on %s, too far from %d whom it talks to, and close to %d", row.ID, row.Node, far, near)
	}
	return p
}

// needsOf are whom the workload talks to, as far as the engine knows that, and what the network costs.
func (o *observed) needsOf(w *model.Workload) []model.AppNeed {
	g := o.graphs[w.Labels["app"]]
	if g == nil || o.costs == nil {
		return nil
	}
	for i := range g.Components {
		if g.Components[i].Name == w.Labels[componentLabel] {
			return g.Components[i].Needs
		}
	}
	return nil
}

// distance is how far it is from one node to another.
type distance int

const (
	notKnown distance = iota
	isNear
	isFar
)

// distance goes by the first level in which the nodes differ. All is far from a node that is in no place.
func (o *observed) distance(from, to string, most int64) distance {
	here, there := o.nodes[from], o.nodes[to]
	switch {
	case here == nil || there == nil:
		return notKnown
	case from == to:
		return isNear
	case o.nowhere(there):
		return isFar
	}
	for i := range o.costs.Levels {
		l := &o.costs.Levels[i]
		if a, b := valueOf(here, l.Key), valueOf(there, l.Key); a != b {
			return between(l, a, b, most)
		}
	}
	return isNear
}

func between(l *model.CostLevel, from, to string, most int64) distance {
	for _, c := range l.Costs {
		if c.From == from && c.To == to {
			if c.Cost <= most {
				return isNear
			}
			return isFar
		}
	}
	return notKnown
}

// nowhere reports whether the node is in no place of any level.
func (o *observed) nowhere(n *model.Node) bool {
	for _, l := range o.costs.Levels {
		if valueOf(n, l.Key) != "" {
			return false
		}
	}
	return true
}

func valueOf(n *model.Node, key string) string {
	value, _ := n.TopologyValue(key)
	return value
}

// appBefore is turnBefore where TopologicalSort orders: by priority, then by where applications have their place, and in
// one by its components. Where an application has changed since somebody came who waits, only the priority counts for certain.
func (o *observed) appBefore(a, b *model.WorkloadRecord) bool {
	if a.Priority != b.Priority || a.Group != "" || b.Group != "" {
		return a.Priority > b.Priority
	}
	for _, pos := range o.positions {
		if pos.Place == queue.Active && !pos.Timestamp.After(o.toldGraphs) {
			return false
		}
	}
	return o.compareApps(a, b) < 0
}

// compareApps compares the places of two workloads of one priority.
func (o *observed) compareApps(a, b *model.WorkloadRecord) int {
	one, other := o.graphs[a.Labels["app"]], o.graphs[b.Labels["app"]]
	since, otherSince := o.positions[a.ID].Timestamp, o.positions[b.ID].Timestamp
	at, otherAt := since, otherSince
	name, otherName := "", ""
	if one != nil {
		at, name = one.CreatedAt, one.ID
	}
	if other != nil {
		otherAt, otherName = other.CreatedAt, other.ID
	}
	return cmp.Or(at.Compare(otherAt), strings.Compare(name, otherName), cmp.Compare(componentAt(one, a), componentAt(other, b)), since.Compare(otherSince))
}

// componentAt is the place of the workload's component among those of its application; -1 of one that is not there.
func componentAt(g *model.AppGraph, w *model.WorkloadRecord) int {
	if g == nil {
		return -1
	}
	return slices.IndexFunc(g.Components, func(c model.AppComponent) bool { return c.Name == w.Labels[componentLabel] })
}
