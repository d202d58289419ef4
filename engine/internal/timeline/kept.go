package timeline

import (
	"slices"

	"github.com/berth-project/berth/queue"
)

// kept is what is to be tried again although no event says so: what was rejected because it would
// have delayed others, and what has come to have a reservation for now.
type kept struct {
	// heeded has for each of them the reservations before it, by ID; none of them where the
	// order stays.
	heeded map[string][]string
	trying []string // what that is for the one that is being tried
	freed  bool     // something has become possible since they were woken
	due    []string // what has a reservation for now since then
	// version is that of the turns when it was last looked who has passed.
	version uint64
}

// heed takes note of the reservations before what is tried now.
func (k *kept) heed(list []Reservation) {
	k.trying = nil
	for i := range list {
		k.trying = append(k.trying, list[i].ID())
	}
}

// note takes note of what has come of it.
func (k *kept) note(id string, delays bool) {
	delete(k.heeded, id)
	if delays {
		k.heeded[id] = k.trying
	}
	k.trying = nil
}

func (k *kept) forget(id string) { delete(k.heeded, id) }

// Freed reports whether something has become possible since those that are kept were woken.
func (k *kept) Freed() bool { return len(k.due) > 0 || k.freed && len(k.heeded) > 0 }

// takeDue lists what has come to have a reservation for now, and waits for an event.
func (k *kept) takeDue(l *line) []string {
	ids := slices.DeleteFunc(k.due, func(id string) bool {
		it := l.byID[id]
		return it == nil || it.Place() != queue.Unschedulable
	})
	k.due = nil
	return ids
}

// among lists them in the order of the list.
func (k *kept) among(waiting []*queue.Item) []string {
	ids := make([]string, 0, len(k.heeded))
	for _, it := range waiting {
		if _, is := k.heeded[it.ID()]; is {
			ids = append(ids, it.ID())
		}
	}
	return ids
}

// passed lists those whose turn comes by now before that of something that they heeded: by queues a
// start or an end elsewhere is enough for that. It looks at the first so many.
func (k *kept) passed(l *line, list []Reservation, depth int) (ids []string) {
	if l.turns == nil || len(k.heeded) == 0 || k.version == l.turns.Version() {
		return nil
	}
	k.version = l.turns.Version()
	behind := byID(list) // what is looked at
	for it := range l.turns.All() {
		id := it.ID()
		delete(behind, id)
		if slices.ContainsFunc(k.heeded[id], func(other string) bool { _, is := behind[other]; return is }) {
			ids = append(ids, id)
		}
		if depth--; depth <= 0 || len(behind) == 0 {
			break
		}
	}
	return ids
}
