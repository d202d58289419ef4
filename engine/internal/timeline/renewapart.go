package timeline

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// renewal is [Plan.Renew] where all that wait are apart; see [trail] for why it comes to the
// same as looking at all nodes at all moments.
type renewal struct {
	*Plan
	*lanes
	trail *trail
	old   map[string]Reservation
	never map[string]neverFits
	// had are those that have had their turn, done is how many of the first reservations of the last
	// time have, or are there no more.
	had  map[string]bool
	done int
	// changed are the nodes that have changed, in the order in which that was found out;
	// seen is how many of them each reservation has been looked for on.
	changed []string
	seen    []int
}

// renewApart reports whether all that wait are apart. If not it has come to nothing.
func (p *Plan) renewApart(list iter.Seq[*Entity], most int) bool {
	t := &p.timeline.trail
	if !t.apart {
		t.touchAll()
	}
	n := &renewal{Plan: p, lanes: p.lanes(nil), trail: t, old: byID(p.Reservations), never: map[string]neverFits{}, had: map[string]bool{}}
	n.findChanged()
	p.Reservations = make([]Reservation, 0, len(n.old)+1)
	for e := range list {
		if !p.apart(e) {
			return false
		}
		if r, ok := n.renew(e); ok {
			p.Reservations = append(p.Reservations, r)
			n.hold(&r)
		}
		n.had[e.ID()] = true
		if most > 0 && len(p.Reservations) == most {
			break
		}
	}
	n.findLost()
	n.advanceAll()
	for id, f := range n.never {
		f.since = n.changed[f.seen:]
		n.never[id] = f
	}
	t.never = n.never
	return p.allApart()
}

// findChanged notes which nodes have changed.
func (n *renewal) findChanged() {
	t := n.trail
	if n.now.After(t.at) {
		for _, r := range n.timeline.releases[:n.timeline.until(n.now, false)] {
			t.touch(r.Node)
		}
	}
	t.compare(n.Reservations)
	if t.all {
		for i := range n.nodes.Len() {
			t.touch(n.nodes.At(i).Node.Name)
		}
	}
	n.changed = slices.Sorted(maps.Keys(t.nodes))
}

// findLost notes which nodes have changed because something has a reservation there no more:
// others come before it now, or it fits at no time.
func (n *renewal) findLost() {
	for i := range n.Reservations {
		delete(n.old, n.Reservations[i].ID())
	}
	for _, id := range slices.Sorted(maps.Keys(n.old)) {
		lost := n.old[id]
		n.change(&lost)
	}
}

// change notes that something on the nodes of a reservation is different.
func (n *renewal) change(r *Reservation) {
	for _, p := range r.Places {
		n.trail.touch(p.Node)
		n.changed = append(n.changed, p.Node)
	}
}

// renew makes the reservation of something next to those before it.
func (n *renewal) renew(e *Entity) (Reservation, bool) {
	was, had := n.old[e.ID()]
	r := was
	if had && was.same(e) {
		if r.Entity = e; (n.untouched(&r) || n.keepApart(&r)) && !n.inCrowd(&r) {
			if !samePlaces(was.Places, r.Places) {
				n.change(&was)
				n.change(&r)
			}
			return r, true
		}
	}
	if had {
		n.change(&was)
	}
	at, places := n.earliestApart(e)
	if places == nil {
		return r, false
	}
	r = Reservation{Entity: e, At: at, Places: places}
	n.change(&r)
	return r, true
}

// untouched reports whether the reservation can be kept since nothing has changed.
func (n *renewal) untouched(r *Reservation) bool {
	if r.At.Before(n.now) {
		return false
	}
	return !slices.ContainsFunc(r.Places, func(p Place) bool { return n.trail.nodes[p.Node] })
}

// keepApart is keepFromNow.
func (n *renewal) keepApart(r *Reservation) bool {
	r.notBefore(n.now)
	return n.keeps(r, r.At) || n.keepFromNow(r, r.Entity)
}

// earliestApart is earliest, at any time.
func (n *renewal) earliestApart(e *Entity) (time.Time, []Place) {
	if e.Tree != nil {
		return n.earliestTree(e, n.Reservations, Never, nil)
	}
	will := n.probe(e.Info)
	if f := n.trail.never[e.ID()]; f.WorkloadInfo == e.Info && !n.trail.all && n.allBefore(f.rank) {
		if _, nodes := n.sooner(e.Info, will, slices.Concat(f.since, n.changed), Never); len(nodes) == 0 {
			n.never[e.ID()] = neverFits{WorkloadInfo: e.Info, seen: len(n.changed), rank: len(n.Reservations)}
			return time.Time{}, nil
		}
	}
	at, nodes := n.first(e.Info, will, n.now, Never)
	if len(nodes) == 0 {
		n.never[e.ID()] = neverFits{WorkloadInfo: e.Info, seen: len(n.changed), rank: len(n.Reservations)}
		return time.Time{}, nil
	}
	return n.take(e, at, nodes, n.Reservations, Never)
}

// earliestTree is earliest for a tree, all of which is in the lanes but for itself. Where its members are
// alike, moments without enough room are passed over, and those at which none of them fits on
// one of the nodes; nil are any.
func (n *renewal) earliestTree(e *Entity, held []Reservation, before time.Time, among []string) (time.Time, []Place) {
	g := n.gang(e)
	if g == nil || n.crowds != nil {
		return n.earliest(e, held, before)
	}
	for _, at := range n.Plan.moments(held, before) {
		if among != nil && !n.anyFits(g, at, among) {
			continue
		}
		if places := n.searchTree(n.lanes, &Reservation{Entity: e, At: at}, held); places != nil {
			return at, places
		}
	}
	return time.Time{}, nil
}

// allBefore reports whether all that came before something the last time, which are so many, come before
// it again: by queues it may have passed some.
func (n *renewal) allBefore(rank int) bool {
	made := n.trail.made
	for ; n.done < rank; n.done++ {
		id := made[n.done].ID()
		if _, there := n.old[id]; there && !n.had[id] {
			return false
		}
	}
	return true
}

// take places a workload on one of the nodes at a moment before which it fits nowhere.
func (n *renewal) take(e *Entity, at time.Time, nodes []*extpoints.NodeInfo, held []Reservation, before time.Time) (time.Time, []Place) {
	places := n.takeOne(n.lanes, e, at, nodes, held)
	if places == nil {
		return n.earliest(e, held, before) // it is refused what it would need there
	}
	if _, queue := n.crowded(e, at, held); queue != "" {
		return n.earliest(e, held, before)
	}
	delete(n.trail.crowded, e.ID())
	return at, places
}

// advanceAll is advance, as often as any was moved.
func (n *renewal) advanceAll() {
	n.lanes = n.Plan.lanes(n.Reservations)
	n.seen = make([]int, len(n.Reservations))
	for moved := true; moved; {
		moved = false
		for i := range n.Reservations {
			moved = n.advanceOne(i) || moved
		}
	}
}

// advanceOne moves a reservation to an earlier time, if it can be. It reports whether it was.
func (n *renewal) advanceOne(i int) bool {
	r := &n.Reservations[i]
	among := n.changed[n.seen[i]:]
	n.seen[i] = len(n.changed)
	crowded := n.trail.crowded[r.ID()] != ""
	if len(among) == 0 && !crowded {
		return false
	}
	var at time.Time
	var places []Place
	switch {
	case crowded:
		at, places = n.earliest(r.Entity, n.others(i), r.At)
	case r.Tree != nil:
		at, places = n.earliestTree(r.Entity, n.others(i), r.At, among)
	default:
		first, nodes := n.sooner(r.Info, n.probe(r.Info), among, r.At)
		if len(nodes) == 0 {
			return false
		}
		at, places = n.take(r.Entity, first, nodes, n.others(i), r.At)
	}
	if places == nil {
		return false
	}
	n.drop(r)
	n.change(r)
	r.At, r.Places = at, places
	n.hold(r)
	return true
}

// others are all reservations but one.
func (p *Plan) others(i int) []Reservation {
	return slices.Delete(slices.Clone(p.Reservations), i, i+1)
}
