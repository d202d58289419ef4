package timeline

import (
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// keeps reports whether a reservation can be kept in its places if it starts at the time, next to
// all others in the lanes. All of it is apart.
func (l *lanes) keeps(r *Reservation, from time.Time) bool {
	for node := range r.eachNode {
		if !l.keepsOn(r, node, from) {
			return false
		}
	}
	return true
}

// keepsOn is keeps on one of the nodes: what is there then must leave room for all that is to be there,
// at the start, and when each of the others on the node starts while it runs.
func (l *lanes) keepsOn(r *Reservation, name string, from time.Time) bool {
	node := l.nodes.Get(name)
	if node == nil || !l.standsOn(r, node, from, from) {
		return false
	}
	until := r.Ends(from)
	for _, o := range l.holds[name] {
		if o.startsWithin(from, until) && o.ID() != r.ID() && !l.standsOn(r, node, from, o.At) {
			return false
		}
	}
	return true
}

// standsOn reports whether the places on the node that are still taken at the moment would do then, one
// after the other, if the reservation starts at the time.
func (l *lanes) standsOn(r *Reservation, node *extpoints.NodeInfo, start, at time.Time) bool {
	info := l.at(node, at, r.ID())
	for _, place := range r.Places {
		if place.Node != node.Node.Name || at.After(start) && !Ends(place.WorkloadInfo, start).After(at) {
			continue
		}
		if will := l.p.probeOf(r.Entity, place); will == nil || !will.Fits(info, start, at) {
			return false
		}
		info.AddWorkload(place.WorkloadInfo)
	}
	return true
}

// probeOf returns that of the member of the entity which is in the place.
func (p *Plan) probeOf(e *Entity, place Place) *Probe {
	if e.Tree == nil {
		return p.probe(e.Info)
	}
	if _, made := p.probes[place.ID]; !made {
		p.apart(e)
	}
	return p.probes[place.ID]
}

// gang is the entity, nil where it is no such tree. It is made once.
func (p *Plan) gang(e *Entity) *gang {
	if e.Tree == nil {
		return nil
	}
	g, made := p.gangs[e.ID()]
	if !made {
		if p.gangs == nil {
			p.gangs = map[string]*gang{}
		}
		list := members(e.Tree)
		if !slices.ContainsFunc(list[1:], func(w *extpoints.WorkloadInfo) bool { return !alike(list[0], w) }) {
			g = &gang{e.ID(), list, p.fit.Needs(p.timeline.view(p.now, p.now), p.now, e)}
		}
		p.gangs[e.ID()] = g
	}
	return g
}

// alike reports whether the filters see no difference between the workloads.
func alike(a, b *extpoints.WorkloadInfo) bool {
	return a.GrantedLimit == b.GrantedLimit && a.AlikeTo(b.Workload)
}

// searchTree is search for a tree at the time of its reservation. All others that are held are in the lanes.
func (p *Plan) searchTree(l *lanes, r *Reservation, held []Reservation) []Place {
	if g := p.gang(r.Entity); g != nil && !l.mayFit(g, r.At) {
		return nil
	}
	places := p.fit.Search(p.at(r.At, held), r.At, r.Entity, func(w *extpoints.WorkloadInfo, node string) *Reservation {
		if l.leavesRoom(r, w, node) {
			return nil
		}
		return r // whichever it is: nobody asks
	})
	if places == nil || !l.keeps(&Reservation{Entity: r.Entity, At: r.At, Places: places}, r.At) {
		return nil // members that are not in the way one by one may be together
	}
	return places
}

// leavesRoom reports whether a member of the reservation that starts with it on the node leaves room for the others
// there that start while it runs.
func (l *lanes) leavesRoom(r *Reservation, w *extpoints.WorkloadInfo, name string) bool {
	node, will, until := l.nodes.Get(name), l.p.probeOf(r.Entity, Place{WorkloadInfo: w}), Ends(w, r.At)
	if will == nil {
		return false // it is apart no more
	}
	for _, o := range l.holds[name] {
		if o.startsWithin(r.At, until) && o.ID() != r.ID() && !will.Fits(l.at(node, o.At, r.ID()), r.At, o.At) {
			return false
		}
	}
	return true
}

// anyFits reports whether there is room for a member on one of the nodes from the moment on, next to all
// others in the lanes.
func (l *lanes) anyFits(g *gang, from time.Time, among []string) bool {
	return slices.ContainsFunc(among, func(name string) bool {
		node := l.nodes.Get(name)
		return node != nil && l.room(g, 1, node, from) > 0
	})
}

// mayFit reports whether there is room for as many members as are needed from the moment on, next to all
// others in the lanes. How many a node has room for depends on that node alone, so without enough
// room there are no places. Where they must go to the nodes of a domain there may be none all the same.
func (l *lanes) mayFit(g *gang, from time.Time) bool {
	left := g.needs
	for i := 0; left > 0 && i < l.nodes.Len(); i++ {
		left -= l.room(g, left, l.nodes.At(i), from)
	}
	return left <= 0
}

// room is for how many of the members, and at most so many, the node has room from the moment on, next
// to all but their own reservation.
func (l *lanes) room(g *gang, most int, node *extpoints.NodeInfo, from time.Time) int {
	n := l.stack(g, min(most, len(g.members)), node, from, from)
	until := Ends(g.members[0], from)
	for _, r := range l.holds[node.Node.Name] {
		if n == 0 {
			return 0
		}
		if r.startsWithin(from, until) && r.ID() != g.id {
			n = l.stack(g, n, node, from, r.At)
		}
	}
	return n
}

// stack is for how many there is room at the moment.
func (l *lanes) stack(g *gang, most int, node *extpoints.NodeInfo, start, at time.Time) int {
	will := l.p.probe(g.members[0])
	if will == nil {
		return most // it is apart no more: a search will tell
	}
	info := l.at(node, at, g.id)
	for i, w := range g.members[:most] {
		if !will.Fits(info, start, at) {
			return i
		}
		info.AddWorkload(w)
	}
	return most
}
