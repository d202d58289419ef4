package timeline

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// trail is what has changed since reservations were last made anew, so that not all of them
// need be looked at again.
//
// # Why that is enough
//
// A workload is apart where what any filter says of it on a node depends on that node
// alone: where no plugin has active PreFilterExtensions, and no extender filters. Where
// all that wait are apart, whether a reservation can be kept depends on its own nodes,
// and it can be moved to an earlier time only on a node on which something has changed
// since it could not be: a node is the same function of time as before where nothing
// has come there or left it, where no reservation has come or gone, and where nothing
// runs over. Where filters ask for the time that goes for the moments between the beginnings and
// ends of holds: as time goes on, what they say of a node becomes worse. At these moments the
// nodes of the holds are looked at. Where a filter asks for the time and there are no holds, it is
// not known when it changes its mind, and all is looked at.
//
// That goes for a tree of groups, too, but for where it can be moved to: its members are
// placed one after the other, each where the first will do, so it is looked for on all nodes. Where
// its members are alike it is looked for only at moments at which one of them fits on a node that has
// changed, and all nodes together have room for as many as it needs: a node on which none fits is
// never chosen, and of members that are alike it makes no difference which goes where.
type trail struct {
	nodes map[string]bool // that have changed
	all   bool            // any may have
	// apart: all that wait are, as of when reservations were last made.
	apart bool
	made  []Reservation // as they were then
	at    time.Time     // when that was
	// crowded has, by ID, those that start later than they fit, since another with a reservation
	// would have too little of a quota, and the queue that it is of.
	crowded map[string]string
	// lost has, by ID, those that lost their time to a quota when reservations were last made, and the queue.
	lost map[string]string
	// never fit, by ID.
	never map[string]neverFits
}

// neverFits is what fitted at no time next to those before it.
type neverFits struct {
	*extpoints.WorkloadInfo
	// seen is how many nodes had changed when that was found out, since those that have changed
	// from then on, while the other reservations were made.
	seen  int
	since []string
	// rank is how many had a reservation before it.
	rank int
}

// touch notes that something on the node is different.
func (t *trail) touch(node string) {
	if t.nodes == nil {
		t.nodes = map[string]bool{}
	}
	t.nodes[node] = true
}

// note notes that something is to start later than it fits.
func (t *trail) note(e *Entity, queue string) {
	if t.crowded == nil {
		t.crowded = map[string]string{}
	}
	t.crowded[e.ID()] = queue
}

// lose notes that the reservation has lost its time to the quota of the queue.
func (t *trail) lose(r *Reservation, queue string) {
	if t.lost == nil {
		t.lost = map[string]string{}
	}
	t.lost[r.ID()] = queue
}

// touchAll notes that anything may be different.
func (t *trail) touchAll() { t.all = true }

// touchPlaces notes it of all nodes of the reservation.
func (t *trail) touchPlaces(r *Reservation) {
	for _, p := range r.Places {
		t.touch(p.Node)
	}
}

// compare notes it of all nodes on which there were other reservations when they were last made.
func (t *trail) compare(now []Reservation) {
	before := make(map[string]*Reservation, len(t.made))
	for i := range t.made {
		before[t.made[i].ID()] = &t.made[i]
	}
	for i := range now {
		r := &now[i]
		old := before[r.ID()]
		if old != nil && old.At.Equal(r.At) && samePlaces(old.Places, r.Places) {
			delete(before, r.ID())
			continue
		}
		t.touchPlaces(r)
	}
	for _, old := range before {
		t.touchPlaces(old)
	}
}

// samePlaces reports whether two reservations are on the same nodes.
func samePlaces(a, b []Place) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].ID != b[i].ID || a[i].Node != b[i].Node {
			return false
		}
	}
	return true
}

// renewed begins anew.
func (t *trail) renewed(p *Plan) {
	clear(t.nodes)
	t.all, t.made, t.at = false, p.Reservations, p.now
}
