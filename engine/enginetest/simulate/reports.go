package simulate

import (
	"fmt"
	"maps"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// touch notes a change that comes from somebody else than the engine.
func (s *sim) touch(ref model.ObjectRef) {
	s.world.facts.touched[ref], s.world.facts.hidden[ref] = s.now, true
}

// change makes a change of an object that comes from somebody else, and mostly
// tells the engine at once.
func (s *sim) change(o model.Object) string {
	s.world.facts.put(o)
	s.touch(refTo(o))
	return s.mostlyTell(refTo(o))
}

func (s *sim) remove(ref model.ObjectRef) string {
	s.world.facts.drop(ref)
	s.touch(ref)
	return s.mostlyTell(ref)
}

func (s *sim) mostlyTell(ref model.ObjectRef) string {
	if s.chance(40) {
		return ", untold"
	}
	s.tellOf(ref)
	return ""
}

// tellOf tells the engine how an object is now.
func (s *sim) tellOf(ref model.ObjectRef) string {
	if s.world.facts.hidden[ref] {
		s.world.facts.touched[ref] = s.now
		delete(s.world.facts.hidden, ref)
	}
	delete(s.world.facts.untold, ref)
	s.roomReported(ref)
	o := s.world.facts.now[ref]
	s.world.facts.told[ref] = telling{o, s.now}
	row, known := s.raw.View().Object(ref)
	switch {
	case o != nil:
		s.told = true
		s.apply(engine.PutObject(o))
		return fmt.Sprintf(" %s %s", ref.Kind, describe(o))
	case known && (row.Reported != nil || row.Written != nil):
		s.told = true
		s.apply(engine.RemoveObject(ref))
		return fmt.Sprintf(" no %s %s", ref.Kind, ref.ID)
	}
	return ""
}

// roomReported forgets what was to be made in the room.
func (s *sim) roomReported(ref model.ObjectRef) {
	maps.DeleteFunc(s.toBeMade, func(_ string, made madeIn) bool {
		return ref.Kind == model.StorageCapacityKind && ref.ID == made.room
	})
}

// retellObjects is how a new engine learns of the objects.
func (s *sim) retellObjects() (changes []engine.Change) {
	clear(s.world.facts.told)
	for _, ref := range s.world.facts.refs() {
		changes = append(changes, engine.PutObject(s.world.facts.now[ref]))
		s.world.facts.told[ref] = telling{s.world.facts.now[ref], s.now}
	}
	clear(s.world.facts.untold)
	clear(s.world.facts.hidden)
	s.told = true
	s.rng.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	return changes
}

// describe says of an object what matters.
func describe(o model.Object) string {
	switch o := o.(type) {
	case *model.VolumeClaim:
		return fmt.Sprintf("%s (class %s, %v, request %d, volume %q, bound %v, selected %q, deleting %v)", o.ID, o.Class, o.AccessModes, o.Request, o.Volume, o.Bound, o.SelectedNode, o.Deleting)
	case *model.Volume:
		return fmt.Sprintf("%s (class %s, capacity %d, %v, for %v)", o.Name, o.Class, o.Capacity, o.Phase, o.Claim)
	case *model.StorageCapacity:
		return fmt.Sprintf("%s (%d)", o.ID, *o.Capacity)
	case *model.DeviceClaim:
		return fmt.Sprintf("%s (for %v, %s)", o.ID, o.ReservedFor, devicesOf(o))
	case *model.DeviceSlice:
		return fmt.Sprintf("%s (%d devices)", o.ID, len(o.Devices))
	}
	return model.RefOf(o).ID
}

// devicesOf says which devices the claim has.
func devicesOf(c *model.DeviceClaim) string {
	if c.Allocation == nil {
		return "no devices"
	}
	text := ""
	for _, d := range c.Allocation.Devices {
		text += " " + d.Pool + "/" + d.Device
	}
	return text[min(1, len(text)):]
}
