package timeline

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Past is what a book has come to, as values that can be written down, for another that goes on from
// it. A plan that is made from nothing may come to other places and times, since this one has kept
// what it promised while others came and went.
type Past struct {
	Tried        []string            `json:",omitempty"` // what waits for room
	Heeded       map[string][]string `json:",omitempty"`
	Due          []string            `json:",omitempty"`
	Promises     map[string]Promise  `json:",omitempty"`
	Causes       []Cause             `json:",omitempty"`
	Reservations []pastReservation   `json:",omitempty"`
	Crowded      map[string]string   `json:",omitempty"`

	Freed, Stale, Loose bool      `json:",omitempty"`
	Renewed             time.Time `json:",omitzero"`
	Until               time.Time `json:",omitzero"` // zero for never
}

// pastReservation is a [Reservation].
type pastReservation struct {
	ID     string
	At     time.Time
	Places []pastPlace
	// Changed: what waits is another by now than what it was made for.
	Changed bool `json:",omitempty"`
}

// pastPlace is a [Place]. What does not change while the workload waits is read again.
type pastPlace struct {
	Workload, Node string
	Shares         []model.DeviceShare `json:",omitempty"`
	GrantedLimit   time.Duration       `json:",omitempty"`
	PlacedAt       time.Time
	Nominated      string `json:",omitempty"`
}

// Past returns it, between attempts. That of a nil book is nil.
func (b *Book) Past() *Past {
	if b == nil {
		return nil
	}
	p := &Past{
		Tried: slices.Sorted(maps.Keys(b.byID)), Heeded: maps.Clone(b.heeded), Due: slices.Clone(b.due),
		Promises: make(map[string]Promise, len(b.promises)), Causes: slices.Clone(b.causes), Crowded: maps.Clone(b.timeline.trail.crowded),
		Freed: b.freed, Stale: b.stale, Loose: b.loose, Renewed: b.renewed, Until: b.until,
	}
	if b.until.Equal(Never) {
		p.Until = time.Time{}
	}
	for id, promise := range b.promises {
		p.Promises[id] = *promise
	}
	for i := range b.reservations {
		p.Reservations = append(p.Reservations, b.pastReservation(&b.reservations[i]))
	}
	return p
}

func (b *Book) pastReservation(r *Reservation) pastReservation {
	e := b.port.Entity(b.byID[r.ID()])
	past := pastReservation{ID: r.ID(), At: r.At, Changed: e == nil || !r.same(e)}
	for _, p := range r.Places {
		past.Places = append(past.Places, pastPlace{p.ID, p.Node, p.Shares, p.GrantedLimit, p.PlacedAt, p.Nominated})
	}
	return past
}

// Resume has a new book go on from the past of another, of the same record. The items are those of its
// queue; what the other had and they have not is gone. A nil book has no past.
func (b *Book) Resume(p *Past, items []*queue.Item) {
	if b == nil || p == nil {
		return
	}
	for _, it := range items {
		if _, tried := slices.BinarySearch(p.Tried, it.ID()); tried {
			b.join(it)
		}
	}
	b.heeded, b.due, b.causes = maps.Clone(p.Heeded), slices.Clone(p.Due), slices.Clone(p.Causes)
	if b.heeded == nil {
		b.heeded = map[string][]string{}
	}
	for id, promise := range p.Promises {
		b.promises[id] = &promise
	}
	for i := range p.Reservations {
		b.reservations = append(b.reservations, b.resumed(&p.Reservations[i]))
	}
	b.timeline.trail.crowded = maps.Clone(p.Crowded)
	b.freed, b.stale, b.loose, b.renewed, b.until = p.Freed, p.Stale, p.Loose, p.Renewed, p.Until
	if b.until.IsZero() && !b.renewed.IsZero() {
		b.until = Never
	}
	for _, id := range p.Tried {
		if b.byID[id] == nil {
			b.drop(id)
		}
	}
}

// resumed is the reservation, of what waits as it is now. Where that is another, or nothing, it is of
// what nothing is the same as: it is not kept when reservations are made anew.
func (b *Book) resumed(past *pastReservation) Reservation {
	r := Reservation{At: past.At}
	if it := b.byID[past.ID]; it != nil && !past.Changed {
		r.Entity = b.port.Entity(it)
	}
	if r.Entity == nil {
		r.Entity = &Entity{Info: &extpoints.WorkloadInfo{Workload: &model.Workload{ID: past.ID}}}
	}
	for _, p := range past.Places {
		w := &model.Workload{ID: p.Workload}
		if row := b.rec.Workload(p.Workload); row != nil {
			w = row.Info.Workload
		}
		info := &extpoints.WorkloadInfo{Workload: w, Shares: p.Shares, GrantedLimit: p.GrantedLimit, PlacedAt: p.PlacedAt, Nominated: p.Nominated}
		r.Places = append(r.Places, Place{info, p.Node})
	}
	return r
}
