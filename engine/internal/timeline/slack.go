package timeline

import (
	"slices"
	"time"
)

// slack is until when a reservation may be put off, and whether that is later than it is planned.
func (p *Plan) slack(r *Reservation) (until time.Time, has bool) {
	if p.latest == nil {
		return r.At, false
	}
	until = p.latest(r)
	return until, until.After(r.At)
}

// putOffTree is staysApart for a tree with slack.
func (p *Plan) putOffTree(l *lanes, r *Reservation, until time.Time, held []Reservation) bool {
	for _, at := range p.momentsFrom(r.At, until, held) {
		if places := p.searchTree(l, &Reservation{Entity: r.Entity, At: at}, held); places != nil {
			return r.move(at, places)
		}
	}
	return false
}

// momentsFrom are when something may have room, from the one moment to the other.
func (p *Plan) momentsFrom(at, until time.Time, held []Reservation) []time.Time {
	list := p.moments(held, until.Add(1))
	return append([]time.Time{at}, slices.DeleteFunc(list, func(m time.Time) bool { return !m.After(at) })...)
}
