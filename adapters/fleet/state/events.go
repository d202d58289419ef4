package state

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// DefaultEvents is how many events are remembered.
const DefaultEvents = 1 << 16

// Events are what happened most recently, the same on every server that has applied
// the same commands since it started. All methods may be called by any goroutine.
type Events struct {
	mu    sync.Mutex
	ring  []api.Event // grows up to most, then begins again at next
	next  int
	most  int
	news  chan struct{} // closed when there are more
	first string        // events up to this ID are gone; empty: none was dropped
}

func newEvents(most int) *Events { return &Events{most: most, news: make(chan struct{})} }

// add appends events.
func (v *Events) add(events []api.Event) {
	if len(events) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range events {
		if len(v.ring) < v.most {
			v.ring = append(v.ring, e)
			continue
		}
		v.first = v.ring[v.next].ID
		v.ring[v.next] = e
		v.next = (v.next + 1) % v.most
	}
	close(v.news)
	v.news = make(chan struct{})
}

// After returns the events after the ID, oldest first, whether some of them are gone,
// and a channel that is closed when there are more. Empty stands for the beginning.
func (v *Events) After(id string) (events []api.Event, missed bool, more <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	older, newer := v.ring[v.next:], v.ring[:v.next]
	// Only what is wanted is copied: those who follow call this at every change, and
	// changes wait for the lock.
	if i := firstAfter(older, id); i < len(older) {
		events = slices.Concat(older[i:], newer)
	} else {
		events = slices.Clone(newer[firstAfter(newer, id):])
	}
	return events, v.first != "" && CompareEvents(id, v.first) < 0, v.news
}

// firstAfter is the place of the first event after the ID.
func firstAfter(events []api.Event, id string) int {
	i, _ := slices.BinarySearchFunc(events, id, func(e api.Event, id string) int {
		if CompareEvents(e.ID, id) <= 0 {
			return -1
		}
		return 1
	})
	return i
}

// Last is the ID of the last event, empty where there was none.
func (v *Events) Last() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.ring) == 0 {
		return v.first
	}
	return v.ring[(v.next+len(v.ring)-1)%len(v.ring)].ID
}

// IsEvent reports whether a text has the form of an event's ID.
func IsEvent(id string) bool {
	_, number := splitEvent(id)
	return number >= 0
}

// CompareEvents is the order of events' IDs. What is no ID comes first.
func CompareEvents(a, b string) int {
	ai, an := splitEvent(a)
	bi, bn := splitEvent(b)
	if ai != bi {
		if ai < bi {
			return -1
		}
		return 1
	}
	return cmp.Compare(an, bn)
}

func splitEvent(id string) (index uint64, number int) {
	i, n, _ := strings.Cut(id, ".")
	index, err := strconv.ParseUint(i, 10, 64)
	if err != nil {
		return 0, -1
	}
	number, err = strconv.Atoi(n)
	if err != nil || number < 0 {
		return index, -1
	}
	return index, number
}

// restart forgets all events; the next has a larger ID than the given one.
func (v *Events) restart(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ring, v.next, v.first = nil, 0, id
	close(v.news)
	v.news = make(chan struct{})
}
