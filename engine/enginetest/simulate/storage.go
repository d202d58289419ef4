package simulate

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
)

// The storage of a history: volumes that were made by hand, a driver that makes
// some when a workload needs them, and one that does not wait for that.
const (
	localClass  = "local"
	diskClass   = "disk"
	promptClass = "prompt"
)

var simClaimClasses = []string{localClass, localClass, diskClass, diskClass, promptClass}

// newStorage makes the storage that there is at the beginning.
func (s *sim) newStorage() {
	f := &s.world.facts
	for _, name := range []string{localClass, diskClass, promptClass} {
		f.put(s.newStorageClass(name))
	}
	f.put(&model.StorageDriver{Name: simDriver, TracksCapacity: s.chance(60), MustBeInstalled: s.chance(30)})
	for i := range s.ifScarce(1, 3) + s.rng.IntN(s.ifScarce(2, 5)) {
		f.put(s.newVolume(fmt.Sprintf("v%d", i)))
	}
	for i := range 4 + s.rng.IntN(4) {
		f.put(s.newClaim(simClaimID(i)))
	}
	for _, zone := range simZones[1:] {
		f.put(s.newCapacity(zone))
	}
	for i := range s.o.Nodes + 5 {
		if s.chance(70) {
			f.put(s.newNodeStorage(faults.NodeName(i)))
		}
	}
}

func simClaimID(i int) string { return fmt.Sprintf("c%d", i) }

func (s *sim) newStorageClass(name string) *model.StorageClass {
	c := &model.StorageClass{Name: name, Provisioner: simDriver, Binding: model.BindWhenConsumed}
	switch name {
	case localClass:
		c.Provisioner = model.NoProvisioner
	case promptClass:
		c.Binding = model.BindImmediate
	case diskClass:
		if s.chance(20) {
			c.AllowedNodes = &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{{Key: "tier", Operator: model.In, Values: []string{"gold", ""}}}}}}
		}
	}
	return c
}

// newVolume makes a volume by hand: one that is on one node, or in one zone.
func (s *sim) newVolume(name string) *model.Volume {
	node := faults.NodeName(s.rng.IntN(s.o.Nodes))
	where := model.NodeTerm{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.In, Values: []string{node}}}}
	switch {
	case s.chance(30):
		where = model.NodeTerm{Labels: []model.Requirement{{Key: "kubernetes.io/hostname", Operator: model.In, Values: []string{node}}}}
	case s.chance(30):
		where = inZone(pickOf(s, simZones[1:]))
	}
	capacity := 1 + s.rng.Int64N(5)
	if s.o.Scarce { // and what there is is good for everybody
		capacity, where = 5, model.NodeTerm{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.NotIn, Values: []string{"none"}}}}
	}
	return &model.Volume{
		Name: name, Class: localClass, Capacity: capacity, Nodes: &model.NodeTerms{Terms: []model.NodeTerm{where}},
		AccessModes: []model.AccessMode{model.ReadWriteOnce, model.ReadWriteMany, model.ReadWriteOnceWorkload},
	}
}

func (s *sim) newClaim(id string) *model.VolumeClaim {
	s.world.facts.uids++
	class := localClass
	if !s.o.Scarce {
		class = pickOf(s, simClaimClasses)
	}
	return &model.VolumeClaim{
		ID: id, UID: fmt.Sprint(s.world.facts.uids), Class: class, Request: s.rng.Int64N(5),
		AccessModes: []model.AccessMode{pickOf(s, []model.AccessMode{model.ReadWriteOnce, model.ReadWriteMany, model.ReadWriteOnceWorkload})},
	}
}

func (s *sim) newCapacity(zone string) *model.StorageCapacity {
	room := s.rng.Int64N(9)
	return &model.StorageCapacity{ID: diskClass + "-" + zone, Class: diskClass, Capacity: &room, Nodes: model.SelectLabels(map[string]string{"zone": zone})}
}

func (s *sim) newNodeStorage(node string) *model.NodeStorage {
	d := model.NodeDriver{Name: simDriver}
	if s.chance(70) {
		most := int32(s.rng.IntN(4))
		d.MaxVolumes = &most
	}
	return &model.NodeStorage{Node: node, Drivers: []model.NodeDriver{d}}
}

// claimVolumes lets the workload use volumes: of claims that others use too, of
// some that are not there, and of one that is made for it.
func (s *sim) claimVolumes(w *model.Workload) {
	for range 1 + s.rng.IntN(2) {
		id := simClaimID(s.rng.IntN(7))
		if !slices.ContainsFunc(w.VolumeClaims, func(r model.VolumeClaimRef) bool { return r.ID == id }) {
			w.VolumeClaims = append(w.VolumeClaims, model.VolumeClaimRef{ID: id})
		}
	}
	if s.chance(s.ifScarce(90, 30)) {
		w.VolumeClaims = []model.VolumeClaimRef{{ID: w.ID + "-data", Generated: true}}
	}
}

// inputStorage changes something about the storage.
func inputStorage(s *sim) string {
	if !s.volumes {
		return ""
	}
	f := &s.world.facts
	switch s.rng.IntN(10) {
	case 0, 1, 2:
		id := simClaimID(s.rng.IntN(7))
		if factOf[*model.VolumeClaim](f, id) == nil {
			c := s.newClaim(id)
			return "claim " + describe(c) + s.change(c)
		}
		return s.deleteClaim(id)
	case 3, 4:
		name := fmt.Sprintf("v%d", s.rng.IntN(s.ifScarce(2, 8)))
		if v := factOf[*model.Volume](f, name); v != nil && v.Claim == nil && s.chance(40) {
			return "no volume " + name + s.remove(refTo(v))
		} else if v == nil {
			v = s.newVolume(name)
			return "volume " + describe(v) + s.change(v)
		}
	case 5, 6:
		c := s.newCapacity(pickOf(s, simZones[1:]))
		return "capacity " + describe(c) + s.change(c)
	case 7:
		n := s.newNodeStorage(faults.NodeName(s.rng.IntN(s.o.Nodes + 5)))
		if f.now[refTo(n)] != nil && s.chance(30) {
			return "no storage on " + n.Node + s.remove(refTo(n))
		}
		return "storage on " + n.Node + s.change(n)
	case 8:
		c := s.newStorageClass(pickOf(s, simClaimClasses))
		if s.chance(8) {
			return "no class " + c.Name + s.remove(refTo(c))
		}
		return "class " + c.Name + s.change(c)
	case 9:
		d := &model.StorageDriver{Name: simDriver, TracksCapacity: s.chance(60), MustBeInstalled: s.chance(30)}
		return fmt.Sprintf("driver %+v", *d) + s.change(d)
	}
	return ""
}

// deleteClaim deletes a claim: at once where nobody uses it, else it is on its
// way out until the last one has gone.
func (s *sim) deleteClaim(id string) string {
	c := *factOf[*model.VolumeClaim](&s.world.facts, id)
	if s.world.uses(id) {
		c.Deleting = true
		return "delete claim " + id + s.change(&c)
	}
	return "no claim " + id + s.freeVolume(&c) + s.remove(refTo(&c))
}

// freeVolume releases the volume of a claim that goes.
func (s *sim) freeVolume(c *model.VolumeClaim) string {
	for _, v := range factsOf[*model.Volume](&s.world.facts) {
		if v.Claim == nil || v.Claim.ID != c.ID {
			continue
		}
		released := *v
		released.Phase = model.VolumeReleased
		return ", volume " + v.Name + " is released" + s.change(&released)
	}
	return ""
}

// uses reports whether a workload that runs, or may be on its way, uses the claim
// to a volume.
func (w *simWorld) uses(claim string) bool {
	for _, e := range w.book {
		if !e.ended && e.node != "" && slices.ContainsFunc(e.spec.VolumeClaims, func(r model.VolumeClaimRef) bool { return r.ID == claim }) {
			return true
		}
	}
	return false
}

// tendStorage makes the claims that are made for workloads, binds those that do
// not wait for a workload, and cleans up after those that have gone.
func (s *sim) tendStorage() (what string) {
	if !s.volumes {
		return ""
	}
	f := &s.world.facts
	for _, w := range s.sortedBook() {
		for _, ref := range w.VolumeClaims {
			if ref.Generated && factOf[*model.VolumeClaim](f, ref.ID) == nil && !s.world.book[w.ID].ended {
				c := s.newClaim(ref.ID)
				c.Owner = w.ID
				what += " made " + describe(c) + s.change(c)
			}
		}
	}
	for _, c := range factsOf[*model.VolumeClaim](f) {
		owner := s.world.book[c.Owner]
		switch {
		case c.Owner != "" && (owner == nil || owner.ended) || c.Deleting && !s.world.uses(c.ID):
			what += s.freeVolume(c) + " no claim " + c.ID + s.remove(refTo(c))
		case c.Class == promptClass && !c.Bound:
			bound := *c
			s.provision(&bound, &model.NodeTerms{Terms: []model.NodeTerm{inZone(pickOf(s, simZones[1:]))}})
			what += " bound " + c.ID + s.change(&bound)
		}
	}
	for _, v := range factsOf[*model.Volume](f) {
		switch {
		case v.Phase != model.VolumeReleased:
		case v.Class == localClass:
			free := *v
			free.Phase, free.Claim = model.VolumeAvailable, nil
			what += " free " + v.Name + s.change(&free)
		default:
			what += " no volume " + v.Name + s.remove(refTo(v))
		}
	}
	return what
}

// provision makes a volume for the claim, which has it afterwards.
func (s *sim) provision(c *model.VolumeClaim, where *model.NodeTerms) {
	v := &model.Volume{
		Name: "pv-" + c.ID + "-" + c.UID, Class: c.Class, Capacity: c.Request, AccessModes: c.AccessModes, Phase: model.VolumeBound,
		Claim: &model.ClaimIdentity{ID: c.ID, UID: c.UID}, Driver: simDriver, Nodes: where,
	}
	v.Handle = v.Name
	c.Volume, c.Bound = v.Name, true
	s.world.facts.put(v)
}
