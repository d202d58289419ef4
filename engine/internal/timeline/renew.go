package timeline

import (
	"iter"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Renew makes the reservations anew, of the first of the list, which is in the order of the
// queue: of at most so many as most says, 0 for all. What never fits has none.
//
// What had a reservation keeps its time where that can be kept next to those before it;
// else, and where it had none, it gets the earliest time that delays none of those
// before it. Then each is moved to an earlier time, in order, where it fits next to all
// others, until none can be moved. So what was promised to one moves later only where
// something else than an early end is the cause: to plan all of them afresh after each
// early end would let one move into the gap in which a later one had its place.
func (p *Plan) Renew(list iter.Seq[*Entity], most int) {
	t := &p.timeline.trail
	t.lost = nil
	before := p.Reservations
	if t.apart = !p.plain && p.renewApart(list, most); !t.apart {
		p.Reservations = before
		p.renewAll(list, most)
	}
	t.renewed(p)
}

// renewAll is Renew by looking at all nodes at all moments.
func (p *Plan) renewAll(list iter.Seq[*Entity], most int) {
	old := byID(p.Reservations)
	p.Reservations = make([]Reservation, 0, len(old)+1)
	for e := range list {
		if r, had := old[e.ID()]; had && r.same(e) && p.keepFromNow(&r, e) && !p.inCrowd(&r) {
			p.Reservations = append(p.Reservations, r)
		} else if at, places := p.earliest(e, p.Reservations, Never); places != nil {
			p.Reservations = append(p.Reservations, Reservation{Entity: e, At: at, Places: places})
		}
		if most > 0 && len(p.Reservations) == most {
			break
		}
	}
	for p.advance() {
	}
}

func byID(list []Reservation) map[string]Reservation {
	by := make(map[string]Reservation, len(list))
	for _, r := range list {
		by[r.ID()] = r
	}
	return by
}

// inCrowd reports whether a reservation leaves one before it, or itself, too little of a quota: then it loses
// its time.
func (p *Plan) inCrowd(r *Reservation) bool {
	_, queue := p.crowded(r.Entity, r.At, p.Reservations)
	if queue != "" {
		p.timeline.trail.lose(r, queue)
	}
	return queue != ""
}

// same reports whether what waits is what the reservation was made for.
func (r *Reservation) same(e *Entity) bool {
	if r.Tree == nil || e.Tree == nil {
		return r.Info == e.Info
	}
	return r.Tree.Group == e.Tree.Group && slices.Equal(members(r.Tree), members(e.Tree))
}

// members lists those of the tree.
func members(g *extpoints.GroupInfo) (list []*extpoints.WorkloadInfo) {
	g.All(func(w *extpoints.WorkloadInfo) bool {
		list = append(list, w)
		return true
	})
	return list
}

// keepFromNow is keep; what should have started is to start now.
func (p *Plan) keepFromNow(r *Reservation, e *Entity) bool {
	r.Entity = e
	r.notBefore(p.now)
	return p.keep(r, p.Reservations)
}

// notBefore has what should have started before the time start then, in the same places.
func (r *Reservation) notBefore(now time.Time) {
	if !r.At.Before(now) {
		return
	}
	r.At, r.Places = now, slices.Clone(r.Places)
	for i := range r.Places {
		w := *r.Places[i].WorkloadInfo
		w.PlacedAt = now
		r.Places[i].WorkloadInfo = &w
	}
}

// advance moves reservations to earlier times, each once at most. It reports whether any
// was.
func (p *Plan) advance() (moved bool) {
	for i := range p.Reservations {
		r := &p.Reservations[i]
		if at, places := p.earliest(r.Entity, p.others(i), r.At); places != nil {
			r.At, r.Places, moved = at, places, true
		}
	}
	return moved
}
