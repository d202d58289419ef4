package simulate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/model"
)

// simFacts are the objects of storage, devices and the network as they are in the world,
// and what the engine was not told of yet. The objects are frozen: a change makes
// another.
type simFacts struct {
	now    map[model.ObjectRef]model.Object
	untold map[model.ObjectRef]bool
	told   map[model.ObjectRef]telling // the last of each
	// touched is when something happened to an object that no binding asked
	// for, or when the engine was told of it; hidden: it has not been yet.
	touched map[model.ObjectRef]time.Time
	hidden  map[model.ObjectRef]bool
	changed bool // since they were checked
	uids    int
}

func newSimFacts() simFacts {
	return simFacts{map[model.ObjectRef]model.Object{}, map[model.ObjectRef]bool{}, map[model.ObjectRef]telling{}, map[model.ObjectRef]time.Time{}, map[model.ObjectRef]bool{}, false, 0}
}

// telling is what the engine was told of an object, nil: that there is none.
type telling struct {
	object model.Object
	at     time.Time
}

func refTo(o model.Object) model.ObjectRef {
	return model.RefOf(o)
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

// factOf is the object with the ID as it is, nil for none.
func factOf[T model.Object](f *simFacts, id string) T {
	var none T
	o, _ := f.now[model.ObjectRef{Kind: model.RefOf(none).Kind, ID: id}].(T)
	return o
}

// factsOf lists the objects of the kind by ID.
func factsOf[T model.Object](f *simFacts) []T {
	var none T
	var list []T
	for _, ref := range f.refs(model.RefOf(none).Kind) {
		list = append(list, f.now[ref].(T))
	}
	return list
}

// zonedNode are the zones of a node as they are, and what the engine was told of them.
type zonedNode struct {
	zones []model.Resources // what each has in all
	scope model.TopologyScope
	sent  []*zoneReport // made, and not told yet
	told  *zoneReport   // the engine has it; nil: none
	// doubted is when it was last not to be told from what the engine had heard which zones have room:
	// no decision that is not younger need come about.
	doubted time.Time
}

// zoneReport is a report of the zones of a node. It may be a lie from the start on, or become one.
type zoneReport struct {
	of  *model.NodeTopology
	lie bool
}
