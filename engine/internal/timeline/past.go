package timeline

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/queue"
)

// Past is what a book has come to, for another that goes on from it. A plan that is made from nothing may
// come to other places and times, since this one has kept what it promised while others came and went.
type Past struct {
	tried        map[string]bool // what waits for room
	heeded       map[string][]string
	due          []string
	promises     map[string]Promise
	causes       []Cause
	reservations []Reservation
	rejected     []rejected
	crowded      map[string]string

	freed, stale, loose bool
	renewed, until      time.Time
}

// Past returns it, between attempts. That of a nil book is nil.
func (b *Book) Past() *Past {
	if b == nil {
		return nil
	}
	p := &Past{
		tried: map[string]bool{}, heeded: maps.Clone(b.heeded), due: slices.Clone(b.due), promises: map[string]Promise{}, causes: slices.Clone(b.causes),
		reservations: slices.Clone(b.reservations), rejected: slices.Clone(b.rejected), crowded: maps.Clone(b.timeline.trail.crowded),
		freed: b.freed, stale: b.stale, loose: b.loose, renewed: b.renewed, until: b.until,
	}
	for id := range b.byID {
		p.tried[id] = true
	}
	for id, promise := range b.promises {
		p.promises[id] = *promise
	}
	return p
}

// Resume has a new book go on from the past of another, of the same record. The items are those of its
// queue; what the other had and they have not is gone. A nil book has no past.
func (b *Book) Resume(p *Past, items []*queue.Item) {
	if b == nil {
		return
	}
	for _, it := range items {
		if p.tried[it.ID()] {
			b.join(it)
		} else {
			b.leave(it.ID())
		}
	}
	b.heeded, b.due, b.causes = maps.Clone(p.heeded), slices.Clone(p.due), slices.Clone(p.causes)
	b.reservations, b.rejected, b.timeline.trail.crowded = slices.Clone(p.reservations), slices.Clone(p.rejected), maps.Clone(p.crowded)
	b.freed, b.stale, b.loose, b.renewed, b.until = p.freed, p.stale, p.loose, p.renewed, p.until
	for id, promise := range p.promises {
		b.promises[id] = &promise
	}
	for id := range p.tried {
		if b.byID[id] == nil {
			b.drop(id)
		}
	}
}
