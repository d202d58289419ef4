package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// inputMeasure has a node make a report, or the engine told of one that was made before, in any order. Some are
// lost, some lie, and sometimes there is none any more, or what the node has is another thing.
func inputMeasure(s *sim) string {
	node := s.anyNode()
	z := s.world.zoned(node)
	if s.chance(30) {
		return s.measureLoad(node)
	}
	switch n := s.rng.IntN(10); {
	case n < 3:
		return s.tellZones(s.newZoneReport(node))
	case n < 5:
		z.sent = append(z.sent, s.newZoneReport(node))
		return "report zones of " + node + ", untold"
	case n < 7 && len(z.sent) > 0:
		i := s.rng.IntN(len(z.sent))
		r := z.sent[i]
		if s.chance(80) { // else it comes again
			z.sent = slices.Delete(z.sent, i, i+1)
		}
		if s.chance(15) {
			return "lose a report of zones of " + node
		}
		return s.tellZones(r)
	case n < 8:
		r := s.newZoneReport(node)
		s.falsify(r)
		return s.tellZones(r)
	case n < 9:
		return s.changeZones(node)
	case z.told != nil:
		s.doubt(node)
		z.told = nil
		s.apply(engine.RemoveObject(model.ObjectRef{Kind: model.NodeTopologyKind, ID: node}))
		return "no report of zones of " + node
	}
	return ""
}

// tellZones tells the engine of the report.
func (s *sim) tellZones(r *zoneReport) string {
	z := s.world.zoned(r.of.Node)
	if z.told == nil || z.told.lie {
		z.doubted = s.now
	}
	z.told, s.toldMeasures = r, true
	s.apply(engine.PutObject(r.of))
	return fmt.Sprintf("zones of %s at %v: %+v, listed %v %v, lie %v", r.of.Node, r.of.At.Sub(simEpoch), r.of.Zones, r.of.Listed, r.of.Workloads, r.lie)
}

// falsify makes a lie of the report.
func (s *sim) falsify(r *zoneReport) {
	r.lie = true
	r.of.Uses = nil
	switch s.rng.IntN(5) {
	case 0:
		for i := range r.of.Zones {
			for j := range r.of.Zones[i].Resources {
				r.of.Zones[i].Resources[j].Available = pickOf(s, simAmounts)
			}
		}
	case 1:
		r.of.At = s.wrongTime()
	case 2:
		r.of.Zones = r.of.Zones[:s.rng.IntN(len(r.of.Zones)+1)]
	case 3:
		r.of.Policy = pickOf(s, []model.TopologyPolicy{model.AlignNone, model.AlignRestricted})
	default:
		r.of.Listed, r.of.Workloads = true, sortedKeys(s.world.book)
	}
}

// wrongTime is that of a clock that is behind, or so far ahead that the history does not get there: nobody is
// told when a report from ahead is not any more.
func (s *sim) wrongTime() time.Time {
	if s.chance(30) {
		return s.now.Add(240 * time.Hour)
	}
	return s.now.Add(-time.Duration(s.rng.IntN(60)) * time.Minute)
}

// changeZones has zones of the node shrink, vanish or come back. What was reported before is not true any more.
func (s *sim) changeZones(node string) string {
	z := s.world.zoned(node)
	switch n := s.rng.IntN(3); {
	case n == 0 && len(z.zones) > 0:
		z.zones = z.zones[:len(z.zones)-1]
	case n == 1 && len(z.zones) > 0:
		last := &z.zones[len(z.zones)-1]
		last.CPU, last.Memory = last.CPU/2, last.Memory/2
	default:
		z.zones = s.newZones(node)
	}
	z.belie(func(*zoneReport) bool { return true })
	return fmt.Sprintf("zones of %s become %+v", node, z.zones)
}

// measureLoad reports how loaded the node is, late and in any order, or that nobody says so any more.
func (s *sim) measureLoad(node string) string {
	ref := model.ObjectRef{Kind: model.NodeLoadKind, ID: node}
	if _, there := s.raw.View().Object(ref); there && s.chance(10) {
		s.apply(engine.RemoveObject(ref))
		return "no load of " + node
	}
	l := &model.NodeLoad{Node: node, At: s.now.Add(time.Duration(s.rng.IntN(12)-10) * time.Second)}
	if s.chance(10) {
		l.At = s.wrongTime()
	}
	if s.chance(95) {
		l.Resources = []model.ResourceLoad{{Name: model.CPU, Average: pickOf(s, []float64{0, 10, 30, 60, 80, 100, 400}), StdDev: float64(s.rng.IntN(20))}}
	}
	for _, id := range s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Node == node }) {
		if s.chance(50) {
			l.Workloads = append(l.Workloads, model.WorkloadLoad{ID: id, Used: model.Resources{CPU: pickOf(s, simAmounts)}})
		}
	}
	s.toldMeasures = true
	s.apply(engine.PutObject(l))
	return fmt.Sprintf("load of %s at %v: %+v, of workloads %+v", node, l.At.Sub(simEpoch), l.Resources, l.Workloads)
}

// retellMeasures is how a new engine learns of zones: as the last one was told. Loads come again by themselves.
func (s *sim) retellMeasures() (changes []engine.Change) {
	for _, node := range sortedKeys(s.world.zones) {
		if r := s.world.zones[node].told; r != nil {
			changes = append(changes, engine.PutObject(r.of))
			s.doubt(node)
		}
	}
	return changes
}
