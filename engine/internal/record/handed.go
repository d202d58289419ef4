package record

import (
	"errors"
	"fmt"
)

// Handed are the objects that were handed over last, by the verb that did it. What is handed
// over is frozen: who changes it afterwards changes what is recorded under its ID. That is
// too dear to look for everywhere (a build with the tag berth_invariants does), but the
// common slip is one variable for a list of objects, and it hands over the same object
// again. It costs some tens of nanoseconds a change.
type Handed map[string]handed

type handed struct {
	object any // nil for a change that hands over none
	id     string
}

// Batch is what one Apply hands over.
type Batch struct {
	Before Handed // it; nil: nobody keeps track
	verb   string // of the last change
	last   any    // its object
}

// check refuses an object that its verb has handed over just before: with another ID, or in
// the last change.
func (b *Batch) check(verb string, object any, id string) error {
	again := object != nil && b.verb == verb && b.last == object
	b.verb, b.last = verb, object
	if before := b.Before[verb]; object != nil && before.object == object && before.id != id {
		return fmt.Errorf("it is the object that was handed over as %q, and was changed since: make a new one each time", before.id)
	}
	if again {
		return errors.New("it is the object of the change before it: make a new one each time")
	}
	return nil
}
