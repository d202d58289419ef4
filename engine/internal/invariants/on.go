//go:build berth_invariants

package invariants

import (
	"fmt"
	"sync"
)

// Enabled says whether the checks are compiled in.
const Enabled = true

// sample is how many objects CheckSome looks at.
const sample = 8

// maxObjects is how many objects are remembered.
const maxObjects = 1 << 17

// Frozen finds out when a stored object is changed in place. It remembers a
// deep hash of each object and panics, naming the object, when a check finds
// another. Copies of a Frozen share what they remember, and may be used from
// any goroutine.
type Frozen struct {
	known *known
}

type known struct {
	mu      sync.Mutex
	objects map[any]record // by pointer
}

type record struct {
	kind, id string
	hash     uint64
}

// NewFrozen returns a Frozen that knows no object.
func NewFrozen() Frozen { return Frozen{&known{objects: map[any]record{}}} }

// Remember remembers what the object, a pointer, holds now. Objects are never
// forgotten for being replaced or deleted, since snapshots may hold them still;
// past maxObjects some are, at random.
func (f Frozen) Remember(kind, id string, object any) {
	f.known.mu.Lock()
	defer f.known.mu.Unlock()
	for p := range f.known.objects {
		if len(f.known.objects) < maxObjects {
			break
		}
		delete(f.known.objects, p)
	}
	f.known.objects[object] = record{kind, id, Hash(object)}
}

// Check checks the object if it is remembered.
func (f Frozen) Check(object any) {
	f.known.mu.Lock()
	defer f.known.mu.Unlock()
	if r, ok := f.known.objects[object]; ok {
		r.check(object)
	}
}

// CheckSome checks a few of the objects that are remembered, at random.
func (f Frozen) CheckSome() { f.check(sample) }

// CheckAll checks all objects that are remembered.
func (f Frozen) CheckAll() { f.check(-1) }

func (f Frozen) check(n int) {
	f.known.mu.Lock()
	defer f.known.mu.Unlock()
	for p, r := range f.known.objects {
		if n == 0 {
			return
		}
		n--
		r.check(p)
	}
}

func (r record) check(object any) {
	if Hash(object) != r.hash {
		panic(fmt.Sprintf("invariants: %s %q was changed in place after it was stored", r.kind, r.id))
	}
}
