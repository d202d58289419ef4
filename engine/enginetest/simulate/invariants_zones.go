package simulate

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// checkMeasured looks at a workload that the engine has just put on a node, and at what the node was last heard to
// say: all who are not in its report have room in one zone, or, where parts go to zones of their own, in all of
// them together; and neither that nor how busy it is was said too long ago, or speaks against it.
func (o *observed) checkMeasured(row *model.WorkloadRecord) (p problems) {
	lasting := row.Profile == batchProfile
	if t := o.topologies[row.Node]; t != nil && row.QoSClass() == model.Guaranteed {
		if !lasting && o.at.Sub(t.At) > oldestZones {
			p.add("%s was put on %s, whose report of zones of %v is too old", row.ID, row.Node, t.At.Sub(simEpoch))
		}
		if late := o.late(t, &row.Requests); t.Policy == model.AlignSingleZone && len(t.Zones) > 0 && !haveRoom(t, late) {
			p.add("%s was put on %s, and no zone has %+v for all who are not in the report", row.ID, row.Node, late)
		}
	}
	if l := o.loads[row.Node]; l != nil && !lasting {
		if o.at.Sub(l.At) >= oldestLoad {
			p.add("%s was put on %s, whose report of load of %v is too old", row.ID, row.Node, l.At.Sub(simEpoch))
		}
		for i := range l.Resources {
			if m := &l.Resources[i]; m.Name == model.CPU && m.Average > busyCPU+1 && o.nodes[row.Node].Allocatable.CPU > 0 {
				p.add("%s was put on %s, which is too busy: %v %%", row.ID, row.Node, m.Average)
			}
		}
	}
	return p
}

// late is what those on the node have for themselves who are not in the report, of what is wanted.
func (o *observed) late(t *model.NodeTopology, wanted *model.Resources) (sum model.Resources) {
	for _, id := range o.ids {
		row := o.rows[id]
		if row.Node == t.Node && row.Phase.TakesRoom() && row.QoSClass() == model.Guaranteed && !inZoneReport(t, &row) {
			sum.CPU += min(wanted.CPU, 1) * row.Requests.CPU
			sum.Memory += min(wanted.Memory, 1) * row.Requests.Memory
		}
	}
	return sum
}

// inZoneReport reports whether the report has what the workload uses where it is now.
func inZoneReport(t *model.NodeTopology, row *model.WorkloadRecord) bool {
	if !t.Listed {
		return row.PlacedAt.Before(t.At)
	}
	return slices.Contains(t.Workloads, row.ID) && !row.PlacedAt.After(t.At)
}

// haveRoom reports whether a zone has as much left, or all have where each part has a zone.
func haveRoom(t *model.NodeTopology, wanted model.Resources) bool {
	var all model.Resources
	for i := range t.Zones {
		var left model.Resources
		for _, r := range t.Zones[i].Resources {
			left.Set(r.Name, r.Available)
		}
		if wanted.CPU <= left.CPU && wanted.Memory <= left.Memory {
			return true
		}
		all.Add(&left)
	}
	return t.Scope != model.AlignWorkload && wanted.CPU <= all.CPU && wanted.Memory <= all.Memory
}
