package simulate

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// checkDecided: what is decided about an object, and neither reported nor written yet, is
// for the sake of a workload that is on its way, or, of a claim to devices, on a node; or
// the orchestrator is being asked for it, whatever has become of the workload.
func checkDecided(o *observed) (p problems) {
	for ref, row := range o.objects {
		if row.Object == row.Reported || row.Object == row.Written || o.asked[ref] {
			continue
		}
		switch now := row.Object.(type) {
		case *model.Volume:
			if now.Claim == nil || o.userOnItsWay(now.Claim.ID, "") == "" {
				p.add("volume %s is decided to be for %v, and nobody is on the way who uses that", ref.ID, now.Claim)
			}
		case *model.VolumeClaim:
			if o.userOnItsWay(now.ID, now.SelectedNode) == "" {
				p.add("a volume of claim %s is decided to be made for %q, and nobody is on the way there who uses it", ref.ID, now.SelectedNode)
			}
		case *model.StorageCapacity:
			for _, taken := range now.Taken {
				if taken.Workload != "" && o.userOnItsWay(taken.Claim, "") == "" {
					p.add("%d of %s are taken for claim %s, and nobody is on the way who uses it", taken.Bytes, ref.ID, taken.Claim)
				}
			}
		case *model.DeviceClaim:
			p = append(p, o.checkReserved(now, row.Reported)...)
		}
	}
	return p
}

// userOnItsWay is a workload on its way, to the node if one is named, that uses
// the claim; empty for none. What was decided for one that is asked to go before
// it has got there is kept until it has gone.
func (o *observed) userOnItsWay(claim, node string) string {
	for _, id := range o.ids {
		row := o.rows[id]
		onItsWay := row.Phase == model.Assumed || row.Phase == model.Terminating // which was called off
		if onItsWay && (node == "" || row.Node == node) && usesVolumeClaim(row.Workload, claim) {
			return id
		}
	}
	return ""
}

func usesVolumeClaim(w *model.Workload, claim string) bool {
	return slices.ContainsFunc(w.VolumeClaims, func(r model.VolumeClaimRef) bool { return r.ID == claim })
}

// checkGiven: no decision gives a volume to a second claim, or a claim a second
// volume. (What is reported may do so, where something was done that was called
// off.)
func checkGiven(before, after *observed) (p problems) {
	if before.index == after.index && after.index > 0 {
		return nil
	}
	volumes := all[*model.Volume](after.objects)
	for _, v := range volumes {
		row := after.objects[refTo(v)]
		old := current[*model.Volume](before.objects, v.Name)
		if v.Claim == nil || row.Object == row.Reported || row.Object == row.Written || old != nil && old.Claim != nil && *old.Claim == *v.Claim {
			continue
		}
		if old != nil && old.Claim != nil {
			p.add("volume %s belongs to %v, and is given to %v", v.Name, *old.Claim, *v.Claim)
		}
		for _, other := range volumes {
			if other != v && other.Claim != nil && *other.Claim == *v.Claim {
				p.add("claim %s has volume %s, and is given %s", v.Claim.ID, other.Name, v.Name)
			}
		}
		for _, c := range all[*model.VolumeClaim](after.objects) {
			if c.Bound && c.ID == v.Claim.ID && c.Volume != v.Name {
				p.add("volume %s is given to claim %s, which is bound to %s", v.Name, c.ID, c.Volume)
			}
		}
	}
	return p
}

// checkVolumes looks at a workload that the engine has just put on a node: each of
// its claims has a volume there, or gets one.
func (o *observed) checkVolumes(row *model.WorkloadRecord) (p problems) {
	node := o.nodes[row.Node]
	if node == nil {
		return p
	}
	for _, ref := range row.VolumeClaims {
		c := current[*model.VolumeClaim](o.objects, ref.ID)
		switch {
		case c == nil || c.Deleting || c.Lost:
			p.add("%s was put on %s, and its claim %s is not there, or on its way out", row.ID, row.Node, ref.ID)
			continue
		case ref.Generated && c.Owner != row.ID:
			p.add("%s was put on %s with claim %s, which was made for %q", row.ID, row.Node, ref.ID, c.Owner)
		case c.Bound:
			if v := current[*model.Volume](o.objects, c.Volume); v == nil || !v.Nodes.Matches(node) {
				p.add("%s was put on %s, where the volume %s of claim %s cannot be used", row.ID, row.Node, c.Volume, c.ID)
			}
		case !o.getsVolume(c, node):
			p.add("%s was put on %s, where there is no volume for claim %s", row.ID, row.Node, c.ID)
		}
		if slices.Contains(c.AccessModes, model.ReadWriteOnceWorkload) && !ref.Generated {
			for _, id := range o.ids {
				other := o.rows[id]
				if id != row.ID && isPlaced(&other) && o.nodes[other.Node] != nil && usesVolumeClaim(other.Workload, c.ID) {
					p.add("%s was put on %s with claim %s, which %s has for itself", row.ID, row.Node, c.ID, id)
				}
			}
		}
	}
	return append(p, o.checkLimit(row, node)...)
}

// takesRoom: since the room for volumes was reported, no more has been given of it than there is. What
// is given is noted here, and forgotten when the claim has no node any more, or the room is reported again, be it
// the same: a report is taken to know of all that was asked for before.
func (s *sim) takesRoom(b *model.Binding) {
	driver, known := s.raw.View().Object(model.ObjectRef{Kind: model.StorageDriverKind, ID: simDriver})
	if s.o.Compat != extpoints.Improved || !known || !driver.Object.(*model.StorageDriver).TracksCapacity {
		return
	}
	node := s.cur.nodes[b.Node]
	for _, decided := range b.Decided {
		c, ok := decided.(*model.VolumeClaim)
		if !ok || c.SelectedNode == "" || c.Request == 0 || node == nil {
			continue
		}
		for row := range s.raw.View().Objects(model.StorageCapacityKind) {
			room := row.Object.(*model.StorageCapacity)
			if room.Class == c.Class && room.Nodes.Matches(node.Labels) && row.Reported != nil {
				s.takes(c, row.Reported.(*model.StorageCapacity))
			}
		}
	}
}

func (s *sim) takes(c *model.VolumeClaim, room *model.StorageCapacity) {
	sum := c.Request
	for id, other := range s.toBeMade {
		row, _ := s.raw.View().Object(model.ObjectRef{Kind: model.VolumeClaimKind, ID: id})
		now, known := row.Object.(*model.VolumeClaim)
		switch {
		case id == c.ID || other.room != room.ID:
		case !known || now.SelectedNode == "" && !now.Bound:
			delete(s.toBeMade, id)
		default:
			sum += other.bytes
		}
	}
	if sum > c.Request && sum > *room.Capacity {
		s.fail("volumes of %d are to be made in %s since it was reported, which has room for %d", sum, room.ID, *room.Capacity)
	}
	s.reach("room taken for a volume")
	s.toBeMade[c.ID] = madeIn{room.ID, c.Request}
}

// getsVolume reports whether it is decided that the claim gets a volume that will
// do on the node.
func (o *observed) getsVolume(c *model.VolumeClaim, node *model.Node) bool {
	for _, v := range all[*model.Volume](o.objects) {
		kept := v.Claim != nil && v.Claim.ID == c.ID && (v.Claim.UID == c.UID || v.Claim.UID == "")
		if kept && v.Nodes.Matches(node) && v.Capacity >= c.Request {
			return true
		}
	}
	class := current[*model.StorageClass](o.objects, c.Class)
	if c.SelectedNode != node.Name || class == nil || class.Provisioner == model.NoProvisioner || !class.AllowedNodes.Matches(node) {
		return false
	}
	if d := current[*model.StorageDriver](o.objects, class.Provisioner); d == nil || !d.TracksCapacity || c.Request == 0 {
		return true
	}
	return slices.ContainsFunc(all[*model.StorageCapacity](o.objects), func(room *model.StorageCapacity) bool {
		return room.Class == c.Class && room.Nodes.Matches(node.Labels) && *room.Capacity >= c.Request
	})
}

// checkLimit: with the workload the node has no more volumes of the driver than it
// can have, unless all that it uses is used there already.
func (o *observed) checkLimit(row *model.WorkloadRecord, node *model.Node) (p problems) {
	on := current[*model.NodeStorage](o.objects, node.Name)
	if on == nil || len(on.Drivers) == 0 || on.Drivers[0].MaxVolumes == nil {
		return p
	}
	used := map[string]bool{}
	for _, id := range o.ids {
		if other := o.rows[id]; id != row.ID && isPlaced(&other) && other.Node == node.Name {
			o.volumesOf(other.Workload, used)
		}
	}
	before := len(used)
	o.volumesOf(row.Workload, used)
	if most := int(*on.Drivers[0].MaxVolumes); len(used) > most && len(used) > before {
		p.add("%s was put on %s, which has %d volumes then, and can have %d", row.ID, row.Node, len(used), most)
	}
	return p
}

// volumesOf adds the volumes of the driver that the workload uses.
func (o *observed) volumesOf(w *model.Workload, used map[string]bool) {
	for _, ref := range w.VolumeClaims {
		c := current[*model.VolumeClaim](o.objects, ref.ID)
		if c == nil {
			continue
		}
		if v := current[*model.Volume](o.objects, c.Volume); v != nil {
			if v.Driver == simDriver {
				used[v.Handle] = true
			}
			continue
		}
		if class := current[*model.StorageClass](o.objects, c.Class); class != nil && class.Provisioner == simDriver {
			used[fmt.Sprintf("of claim %s", c.ID)] = true
		}
	}
}

// checkFacts: in the world itself no volume is bound to two claims, and no claim
// has two volumes.
func checkFacts(f *simFacts) (p problems) {
	has := map[string]string{}
	for _, c := range factsOf[*model.VolumeClaim](f) {
		if !c.Bound {
			continue
		}
		if other := has[c.Volume]; other != "" {
			p.add("volume %s is bound to claim %s, and to %s", c.Volume, other, c.ID)
		}
		has[c.Volume] = c.ID
	}
	got := map[model.ClaimIdentity]string{}
	for _, v := range factsOf[*model.Volume](f) {
		if v.Claim == nil || v.Phase != model.VolumeBound {
			continue
		}
		if other := got[*v.Claim]; other != "" {
			p.add("claim %s has volume %s, and %s", v.Claim.ID, other, v.Name)
		}
		got[*v.Claim] = v.Name
	}
	return p
}
