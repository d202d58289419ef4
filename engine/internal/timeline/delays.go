package timeline

import (
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Delays returns the first reservation that could not be kept if something started now in
// the places, nil where all can, and the reservations as they would be kept. One that is not
// pinned may be kept elsewhere, and one that has slack may be put off.
func (p *Plan) Delays(e *Entity, places []Place) (*Reservation, []Reservation) {
	if !p.plain && p.timeline.trail.apart && p.apart(e) {
		if p.allKeep(e, places) && p.allApart() {
			return nil, p.Reservations
		}
		if delayed, kept := p.delaysApart(e, places); p.allApart() {
			return delayed, kept
		}
	}
	held := make([]Reservation, 1, len(p.Reservations)+1)
	held[0] = Reservation{Entity: e, At: p.now, Places: places}
	ends := e.Ends(p.now)
	harmless := true
	for i := range p.Reservations {
		r := p.Reservations[i]
		if harmless = harmless && !ends.After(r.At); !harmless && !p.stays(&r, held) {
			return &p.Reservations[i], nil
		}
		held = append(held, r)
	}
	return nil, held[1:]
}

// allKeep reports whether it is enough to look at the nodes of the places to see that all
// reservations are kept as they are next to something that would start there now. Where all are
// apart only those on these nodes can be in its way; if one of them is, others may be moved for it,
// and all are looked at.
func (p *Plan) allKeep(e *Entity, places []Place) bool {
	newcomer := &Reservation{Entity: e, At: p.now, Places: places}
	ends := e.Ends(p.now)
	l := p.lanes(nil)
	for node := range newcomer.eachNode {
		l.holds[node] = append(l.holds[node], newcomer)
		for _, r := range p.onNode(node) {
			if ends.After(r.At) && !l.keepsOn(r, node, r.At) {
				return false
			}
			l.holds[node] = append(l.holds[node], r)
		}
	}
	return true
}

// onNode are the reservations with a place on the node, in order.
func (p *Plan) onNode(node string) []*Reservation {
	if p.byNode == nil {
		p.byNode = map[string][]*Reservation{}
		for i := range p.Reservations {
			for name := range p.Reservations[i].eachNode {
				p.byNode[name] = append(p.byNode[name], &p.Reservations[i])
			}
		}
	}
	return p.byNode[node]
}

// delaysApart is Delays where all are apart: only those on the nodes of the places are looked at, and
// on the nodes to which others are moved for it.
func (p *Plan) delaysApart(e *Entity, places []Place) (delayed *Reservation, kept []Reservation) {
	newcomer := Reservation{Entity: e, At: p.now, Places: places}
	l := p.lanes([]Reservation{newcomer})
	kept = slices.Clone(p.Reservations)
	changed := map[string]bool{}
	for node := range newcomer.eachNode {
		changed[node] = true
	}
	ends := e.Ends(p.now)
	harmless := true
	for i := range kept {
		r := &kept[i]
		harmless = harmless && !ends.After(r.At)
		if !harmless && slices.ContainsFunc(r.Places, func(o Place) bool { return changed[o.Node] }) && !l.keeps(r, r.At) {
			if !p.staysApart(l, r, append([]Reservation{newcomer}, kept[:i]...)) {
				return &p.Reservations[i], nil
			}
			for node := range r.eachNode {
				changed[node] = true
			}
		}
		l.hold(r)
	}
	return nil, kept
}

// stays reports whether a reservation can be kept as it is, or moved or put off as far as it may be.
func (p *Plan) stays(r *Reservation, held []Reservation) bool {
	until, has := p.slack(r)
	if !has {
		return p.keep(r, held)
	}
	if p.standsIn(r, p.at(r.At, held), held) {
		return true
	}
	return r.move(p.soonest(r.Entity, held, p.momentsFrom(r.At, until, held)))
}

// staysApart is stays where all are apart and it cannot be kept in its places; the others are in the lanes.
func (p *Plan) staysApart(l *lanes, r *Reservation, held []Reservation) bool {
	until, has := p.slack(r)
	switch {
	case !has:
		return !p.pinned && p.moveApart(l, r, held)
	case r.Tree != nil:
		return p.putOffTree(l, r, until, held)
	}
	at, nodes := l.first(r.Info, p.probe(r.Info), r.At, until.Add(1))
	places := p.takeOne(l, r.Entity, at, nodes, held)
	if places == nil && len(nodes) > 0 { // it is refused what it would need there
		return r.move(p.soonest(r.Entity, held, p.momentsFrom(r.At, until, held)))
	}
	return r.move(at, places)
}

// moveApart moves a reservation to other nodes at the same time, next to those in the lanes, which are
// held. It reports whether it can be.
func (p *Plan) moveApart(l *lanes, r *Reservation, held []Reservation) bool {
	var places []Place
	if r.Tree != nil {
		places = p.searchTree(l, r, held)
	} else {
		places = p.takeOne(l, r.Entity, r.At, l.fitting(r.Info, p.probe(r.Info), r.At), held)
	}
	return r.move(r.At, places)
}

// takeOne places a workload that would start at the moment on one of the nodes on which
// it fits then, the one that a search takes; nil for none.
func (p *Plan) takeOne(l *lanes, e *Entity, at time.Time, nodes []*extpoints.NodeInfo, held []Reservation) []Place {
	switch len(nodes) {
	case 0:
		return nil
	case 1:
		return p.probe(e.Info).Take(l.at(nodes[0], at, e.ID()), at)
	}
	other := &Reservation{Entity: e, At: at} // whichever it is: nobody asks
	fit := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		fit[node.Node.Name] = true
	}
	return p.fit.Search(p.at(at, held), at, e, func(_ *extpoints.WorkloadInfo, node string) *Reservation {
		if fit[node] {
			return nil
		}
		return other
	})
}
