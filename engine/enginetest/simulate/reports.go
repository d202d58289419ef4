package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// simFacts are the objects of storage and devices as they are in the world, and
// what the engine was not told of yet. The objects are frozen: a change makes
// another.
type simFacts struct {
	now    map[model.ObjectRef]model.Object
	untold map[model.ObjectRef]bool
	// touched is when something happened to an object that no binding asked
	// for, or when the engine was told of it; hidden: it has not been yet.
	touched map[model.ObjectRef]time.Time
	hidden  map[model.ObjectRef]bool
	changed bool // since they were checked
	uids    int
}

func newSimFacts() simFacts {
	return simFacts{map[model.ObjectRef]model.Object{}, map[model.ObjectRef]bool{}, map[model.ObjectRef]time.Time{}, map[model.ObjectRef]bool{}, false, 0}
}

func refTo(o model.Object) model.ObjectRef {
	return model.ObjectRef{Kind: o.ObjectKind(), ID: o.ObjectID()}
}

// put makes it so.
func (f *simFacts) put(o model.Object) {
	f.changed = true
	f.now[refTo(o)] = o
	f.untold[refTo(o)] = true
}

// drop makes it gone.
func (f *simFacts) drop(ref model.ObjectRef) {
	delete(f.now, ref)
	f.untold[ref] = true
}

// refs lists the objects of the kinds, of all kinds where there is none.
func (f *simFacts) refs(kinds ...model.ObjectKind) []model.ObjectRef {
	return sortedRefs(maps.Keys(f.now), kinds)
}

func sortedRefs(refs func(func(model.ObjectRef) bool), kinds []model.ObjectKind) []model.ObjectRef {
	list := slices.SortedFunc(refs, func(a, b model.ObjectRef) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.ID, b.ID))
	})
	return slices.DeleteFunc(list, func(r model.ObjectRef) bool { return len(kinds) > 0 && !slices.Contains(kinds, r.Kind) })
}

// factOf is the object of the ID as it is, nil for none.
func factOf[T model.Object](f *simFacts, id string) T {
	var none T
	o, _ := f.now[model.ObjectRef{Kind: none.ObjectKind(), ID: id}].(T)
	return o
}

// factsOf lists the objects of the kind by ID.
func factsOf[T model.Object](f *simFacts) []T {
	var none T
	var list []T
	for _, ref := range f.refs(none.ObjectKind()) {
		list = append(list, f.now[ref].(T))
	}
	return list
}

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
	o := s.world.facts.now[ref]
	row, known := s.raw.View().Object(ref)
	switch {
	case o != nil:
		s.told = true
		s.apply(engine.Change{PutObject: o})
		return fmt.Sprintf(" %s %s", ref.Kind, describe(o))
	case known && row.Reported != nil:
		s.told = true
		s.apply(engine.Change{RemoveObject: &ref})
		return fmt.Sprintf(" no %s %s", ref.Kind, ref.ID)
	}
	return ""
}

// inputTell tells the engine of things that happened, in any order, and of some
// again.
func inputTell(s *sim) string {
	what := "told:"
	for range 1 + s.rng.IntN(4) {
		untold := sortedRefs(maps.Keys(s.world.facts.untold), nil)
		if len(untold) > 0 && s.chance(90) {
			what += s.tellOf(pickOf(s, untold))
		} else if again := s.world.facts.refs(); len(again) > 0 {
			what += s.tellOf(pickOf(s, again)) + " again"
		}
	}
	if what == "told:" {
		return ""
	}
	return what
}

// tellEverything has the world come to rest, and tells the engine of it.
func (s *sim) tellEverything() {
	for range 3 {
		if s.tend() == "" && len(s.world.facts.untold) == 0 {
			return
		}
		for _, ref := range sortedRefs(maps.Keys(s.world.facts.untold), nil) {
			if what := s.tellOf(ref); what != "" && s.result.Failure == nil {
				s.note(s.step, "told:"+what)
			}
		}
		s.observe()
	}
}

// retellObjects is how a new engine learns of the objects.
func (s *sim) retellObjects() (changes []engine.Change) {
	for _, ref := range s.world.facts.refs() {
		changes = append(changes, engine.Change{PutObject: s.world.facts.now[ref]})
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
	return o.ObjectID()
}

// tend lets those at work who look after objects: whoever binds claims at once,
// makes the claims that are made for workloads, and cleans up.
func (s *sim) tend() string {
	return s.tendStorage() + s.tendDevices()
}

func inputTend(s *sim) string {
	if what := s.tend(); what != "" {
		return "tend:" + what
	}
	return ""
}

// sortedKeys lists the keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
