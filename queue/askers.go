package queue

import (
	"maps"
	"slices"
	"time"
)

// askers are those who have looked for room in other queues in vain, or are about to get it,
// and when one of those runs long enough who could not be displaced before, the zero time
// where there is none. That, and other definitions, may be what they wait for, and no event
// says so.
type askers struct {
	until map[string]time.Time // by the ID of a workload, of a group that of one member
	next  time.Time            // not after any of them; zero for none
}

// note takes down that the one asks anew.
func (a *askers) note(id string, until time.Time) {
	if a.until == nil {
		a.until = map[string]time.Time{}
	}
	a.until[id] = until
	a.await(until)
}

func (a *askers) await(until time.Time) {
	if !until.IsZero() && (a.next.IsZero() || until.Before(a.next)) {
		a.next = until
	}
}

// put off the time of the one, if it is sooner than it was.
func (a *askers) earlier(id string, until time.Time) {
	if at := a.until[id]; at.IsZero() || until.Before(at) {
		a.note(id, until)
	}
}

// due takes out those whose time has come, or with all everybody, by ID.
func (a *askers) due(now time.Time, all bool) (ids []string) {
	if !all && (a.next.IsZero() || a.next.After(now)) {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(a.until)) {
		if until := a.until[id]; all || !until.IsZero() && !until.After(now) {
			ids = append(ids, id)
			delete(a.until, id)
		}
	}
	a.next = time.Time{}
	for _, until := range a.until { // the least, in whatever order
		a.await(until)
	}
	return ids
}

// forget leaves out those who do not wait any more, once there are many.
func (a *askers) forget(waits func(id string) bool, enough int) {
	if len(a.until) > enough {
		maps.DeleteFunc(a.until, func(id string, _ time.Time) bool { return !waits(id) })
	}
}
