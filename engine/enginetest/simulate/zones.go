package simulate

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// zoned is the node with its zones. At first there are two, with half of what it has.
func (w *simWorld) zoned(node string) *zonedNode {
	z := w.zones[node]
	if z == nil {
		z = &zonedNode{scope: pickOf(w.sim, []model.TopologyScope{model.AlignWorkload, model.AlignContainer})}
		z.zones = w.sim.newZones(node)
		w.zones[node] = z
	}
	return z
}

func (s *sim) newZones(node string) (list []model.Resources) {
	whole := model.Resources{CPU: 4000, Memory: 4000}
	if n := s.world.nodes[node]; n != nil {
		whole = n.Allocatable
	}
	for range 2 {
		list = append(list, model.Resources{CPU: whole.CPU / 2, Memory: whole.Memory / 2})
	}
	return list
}

// free is what is left in the zones of the node, in truth.
func (w *simWorld) free(node string) []model.Resources {
	z := w.zoned(node)
	left := make([]model.Resources, len(z.zones))
	for i := range left {
		left[i] = z.zones[i].Clone()
	}
	for _, id := range sortedKeys(w.book) {
		if e := w.book[id]; e.node == node {
			for _, g := range e.granted() {
				if g.zone < len(left) {
					left[g.zone].Sub(&g.amount)
				}
			}
		}
	}
	for i := range left {
		left[i].CPU, left[i].Memory = max(left[i].CPU, 0), max(left[i].Memory, 0)
	}
	return left
}

// granted is what the workload has of zones: no more than it requests by now.
func (e *booked) granted() (list []zoneGrant) {
	cpu, memory := e.spec.Requests.CPU, e.spec.Requests.Memory
	for _, g := range e.grants {
		g.amount.CPU, g.amount.Memory = min(g.amount.CPU, cpu), min(g.amount.Memory, memory)
		cpu, memory = cpu-g.amount.CPU, memory-g.amount.Memory
		list = append(list, g)
	}
	return list
}

// admit gives a workload that has come to its node what it is to have for itself: each part goes to the
// first zone that has all of it. False: one has no such zone; it runs all the same, with what others share.
func (w *simWorld) admit(e *booked) bool {
	e.grants = nil
	if !w.sim.o.Measured || e.spec.QoSClass() != model.Guaranteed || len(w.zoned(e.node).zones) == 0 {
		return true // what is of no zone is of the node as a whole
	}
	parts := e.spec.Containers
	if len(parts) == 0 || w.zoned(e.node).scope == model.AlignWorkload {
		parts = []model.Container{{Requests: e.spec.Requests}}
	}
	left := w.free(e.node)
	var grants []zoneGrant
	for i := range parts {
		wanted := &parts[i].Requests
		zone := slices.IndexFunc(left, func(r model.Resources) bool { return wanted.CPU <= r.CPU && wanted.Memory <= r.Memory })
		if zone < 0 {
			return false
		}
		if !parts[i].Startup {
			left[zone].Sub(wanted)
			grants = append(grants, zoneGrant{zone, model.Resources{CPU: wanted.CPU, Memory: wanted.Memory}})
		}
	}
	e.grants = grants
	return true
}

// arrive has the workload come to its node, as the engine has decided.
func (w *simWorld) arrive(id string) {
	s, e := w.sim, w.book[id]
	row, _ := s.row(id)
	promised := s.o.Measured && e.spec.QoSClass() == model.Guaranteed && w.promised(&row)
	if promised {
		s.reach("workload that needs a zone bound")
	}
	if !w.admit(e) && promised {
		s.fail("%s is bound to %s, and no zone has room for it: one was given twice", id, e.node)
	}
}

// promised reports whether there must be a zone for the workload: what the engine was told of the node since it has
// decided is true, and so is what it knows of who is there.
func (w *simWorld) promised(row *model.WorkloadRecord) bool {
	z := w.zoned(row.Node)
	if z.told == nil || z.told.lie || !z.doubted.Before(row.PlacedAt) {
		return false
	}
	for id, e := range w.book {
		if other, _ := w.sim.row(id); e.node == row.Node && id != row.ID && len(e.grants) > 0 && other.Node != row.Node {
			return false
		}
	}
	return true
}

// doubt notes that somebody else than the engine has put something on the node, or has changed what is there.
func (s *sim) doubt(node string) {
	if s.o.Measured && node != "" {
		s.world.zoned(node).doubted = s.now
	}
}

// settleIn gives a workload its zones that somebody else has put on its node. That it has been there for long may be
// another thing than a report says that does not name it.
func (s *sim) settleIn(id string) {
	e := s.world.book[id]
	if !s.o.Measured || e.node == "" {
		return
	}
	s.world.admit(e)
	s.doubt(e.node)
	if row, _ := s.row(id); row.PlacedAt.Before(s.now) {
		s.world.zoned(e.node).belie(func(r *zoneReport) bool { return !r.of.Listed })
	}
}

// belie makes lies of reports.
func (z *zonedNode) belie(which func(*zoneReport) bool) {
	for _, r := range append(slices.Clone(z.sent), z.told) {
		if r != nil && which(r) {
			r.lie = true
		}
	}
}

// newZoneReport is what the node would say now.
func (s *sim) newZoneReport(node string) *zoneReport {
	s.now = s.now.Add(time.Millisecond)
	z := s.world.zoned(node)
	t := &model.NodeTopology{Node: node, At: s.now, Policy: model.AlignSingleZone, Scope: z.scope, Listed: s.chance(60)}
	for i, left := range s.world.free(node) {
		t.Zones = append(t.Zones, model.NodeZone{ID: i, Resources: []model.ZoneResource{
			{Name: model.CPU, Allocatable: z.zones[i].CPU, Available: left.CPU}, {Name: model.Memory, Allocatable: z.zones[i].Memory, Available: left.Memory},
		}})
	}
	r := &zoneReport{of: t}
	for _, id := range sortedKeys(s.world.book) {
		e := s.world.book[id]
		switch row, _ := s.row(id); {
		case e.node == node && t.Listed:
			t.Workloads = append(t.Workloads, id)
			t.Uses = append(t.Uses, e.uses(id, len(t.Zones))...)
		case row.Node == node && e.node != node && row.Phase.TakesRoom() && !t.Listed:
			r.lie = true // it is on its way, and by its time it is there
		}
	}
	s.now = s.now.Add(time.Millisecond)
	return r
}

// uses are what the workload has of the zones that there are.
func (e *booked) uses(id string, zones int) (list []model.ZoneUse) {
	of := map[int]model.Resources{}
	for _, g := range e.granted() {
		if g.zone < zones {
			sum := of[g.zone]
			sum.Add(&g.amount)
			of[g.zone] = sum
		}
	}
	for _, zone := range slices.Sorted(maps.Keys(of)) {
		list = append(list, model.ZoneUse{Workload: id, Zone: zone, Resources: of[zone]})
	}
	return list
}
