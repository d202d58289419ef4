package timeline

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Entity is what waits: a lone workload, or a tree of groups.
type Entity struct {
	// Info is the workload; nil for a tree.
	Info *extpoints.WorkloadInfo
	// Tree are the groups with the members that wait; nil for a lone workload.
	Tree *extpoints.GroupInfo
}

// ID is the workload's, or the highest group's.
func (e *Entity) ID() string {
	if e.Tree != nil {
		return e.Tree.ID
	}
	return e.Info.ID
}

// Ends is when all of it must have ended if it starts at the time.
func (e *Entity) Ends(start time.Time) time.Time {
	if e.Tree == nil {
		return Ends(e.Info, start)
	}
	last := start
	e.Tree.All(func(w *extpoints.WorkloadInfo) bool {
		if end := Ends(w, start); end.After(last) {
			last = end
		}
		return true
	})
	return last
}

// gang is a tree between whose members the filters see no difference.
type gang struct {
	id      string
	members []*extpoints.WorkloadInfo
	// needs is the least number of them that must be placed for it to start.
	needs int
}

// Fitter finds out what fits, by the filters of what waits.
type Fitter interface {
	// From returns the one for a plan that is made at the time.
	From(present time.Time) Fitter
	// Search looks for places on the view, which it leaves as it is, for something
	// that would start at the time. It takes no node that is refused; a nil Refusal
	// refuses none. It returns nil where it does not fit.
	Search(v *snapshot.View, at time.Time, e *Entity, refuse Refusal) []Place
	// Stands reports whether each of the places would do, on the view with those
	// before it taken.
	Stands(v *snapshot.View, at time.Time, e *Entity, places []Place) bool
	// Needs returns the least number of the tree's members that must be placed for it to start; 1
	// where that is not known.
	Needs(v *snapshot.View, at time.Time, e *Entity) int
	// Probe returns what looks at one node at a time for a lone workload. It is nil
	// where what is on other nodes matters, too.
	Probe(v *snapshot.View, at time.Time, w *extpoints.WorkloadInfo) *Probe
}

// Probe looks at a node as it may be at another moment, for a workload that is apart: what
// any filter says of it on a node depends on that node alone.
type Probe struct {
	// Fits reports whether the workload fits at the moment on the node, as that is then, if it
	// has started at the time, which is the moment or before.
	Fits func(node *extpoints.NodeInfo, start, at time.Time) bool
	// Take places the workload that would start at the time on the node, on which it
	// fits; nil where that is refused.
	Take func(node *extpoints.NodeInfo, at time.Time) []Place
	// Timed reports whether some filter has asked what time it is. What it says of a node
	// becomes worse then as time goes on, but where holds begin or end.
	Timed func() bool
	// Apart reports whether the workload was apart at all moments so far.
	Apart func() bool
}

// Refusal returns the reservation that a workload would delay on a node that would do at
// the moment, nil where there is none.
type Refusal func(w *extpoints.WorkloadInfo, node string) *Reservation

// Reservation is when and where something that waits is to start.
type Reservation struct {
	*Entity
	At time.Time
	// Places are where: as the plan has it, which may be moved if it is not pinned.
	Places []Place
	// Held, of one that something would delay, is the quota or limit by which; nil where it is
	// by room.
	Held *queue.Held
}

// Nodes are the places by the workload's ID.
func (r *Reservation) Nodes() map[string]string {
	nodes := make(map[string]string, len(r.Places))
	for _, place := range r.Places {
		nodes[place.ID] = place.Node
	}
	return nodes
}

// eachNode yields each of the nodes once, in the order of the places.
func (r *Reservation) eachNode(yield func(string) bool) {
	for i, place := range r.Places {
		if !slices.ContainsFunc(r.Places[:i], func(o Place) bool { return o.Node == place.Node }) && !yield(place.Node) {
			return
		}
	}
}

// Plan is the reservations of the first of those that wait, at one time.
type Plan struct {
	now time.Time
	fit Fitter
	// pinned reservations keep their places, others only their time.
	pinned bool
	// latest is until when a reservation may be put off for what starts now; nil: none may be.
	latest func(r *Reservation) time.Time
	// plain: it is looked at all nodes every time, which must come to the same; for tests.
	plain    bool
	timeline *Timeline
	probes   map[string]*Probe
	gangs    map[string]*gang
	// crowds returns when the first of the reservations starts that a quota would not let start in
	// time if something started at the time, and the queue; empty where there is none. Nil: never.
	crowds func(e *Entity, at time.Time, held []Reservation) (time.Time, string)
	// Reservations are in the order of those that have one.
	Reservations []Reservation
	// byNode are those with a place on the node; nil where nobody has asked for them.
	byNode map[string][]*Reservation
}

// NewPlan makes a plan without reservations.
func NewPlan(now time.Time, tl *Timeline, fit Fitter) *Plan {
	return &Plan{now: now, fit: fit.From(now), timeline: tl}
}

// Reserve gives something the earliest reservation that delays none of those before it.
// It reports whether there is one: what never fits has none.
func (p *Plan) Reserve(e *Entity) bool {
	at, places := p.earliest(e, p.Reservations, Never)
	if places == nil {
		return false
	}
	p.Reservations = append(p.Reservations, Reservation{Entity: e, At: at, Places: places})
	return true
}

// earliest is when something first fits next to the reservations, before the time, and
// where.
func (p *Plan) earliest(e *Entity, held []Reservation, before time.Time) (time.Time, []Place) {
	delete(p.timeline.trail.crowded, e.ID())
	for moments := p.moments(held, before); ; {
		at, places := p.soonest(e, held, moments)
		if places == nil {
			return at, nil
		}
		later, queue := p.crowded(e, at, held)
		if queue == "" {
			return at, places
		}
		p.timeline.trail.note(e, queue)
		if !later.Before(before) {
			return time.Time{}, nil
		}
		moments = append([]time.Time{later}, slices.DeleteFunc(moments, func(m time.Time) bool { return !m.After(later) })...)
	}
}

// crowded reports whether something that starts at the time leaves one of the reservations too little
// of a quota, when that starts, and the queue; empty where it does not.
func (p *Plan) crowded(e *Entity, at time.Time, held []Reservation) (time.Time, string) {
	if p.crowds == nil {
		return time.Time{}, ""
	}
	return p.crowds(e, at, held)
}

// soonest is the first of the moments at which something fits next to the reservations, and where.
func (p *Plan) soonest(e *Entity, held []Reservation, moments []time.Time) (time.Time, []Place) {
	if len(moments) == 0 {
		return time.Time{}, nil
	}
	if places := p.search(e, p.at(moments[0], held), moments[0], held); places != nil {
		return moments[0], places
	}
	for _, at := range moments[1:] {
		if places := p.search(e, p.at(at, held), at, held); places != nil {
			return at, places
		}
	}
	return time.Time{}, nil
}

// moments are when room becomes free before the time: now, by releases, by the ends of
// reservations, and by holds that begin or end.
func (p *Plan) moments(held []Reservation, before time.Time) []time.Time {
	list := append(p.timeline.moments(p.now), p.boundaries()...)
	for i := range held {
		for _, place := range held[i].Places {
			if end := Ends(place.WorkloadInfo, held[i].At); end.Before(Never) && end.After(p.now) {
				list = append(list, end)
			}
		}
	}
	list = slices.DeleteFunc(list, func(at time.Time) bool { return !at.Before(before) })
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// boundaries are when holds begin or end from now on, in order.
func (p *Plan) boundaries() (list []time.Time) {
	for _, b := range p.bounds().after(p.now) {
		list = append(list, b.at)
	}
	return list
}

// bounds are when holds begin or end, by node.
func (p *Plan) bounds() *bounds {
	tl := p.timeline
	if tl.bounds == nil {
		v := tl.view(p.now, p.now)
		tl.bounds = boundsOf(v.Holds(), v.Nodes())
	}
	return tl.bounds
}

// Boundaries are when holds begin or end after the time, in order, each once.
func Boundaries(holds []*model.Hold, after time.Time) []time.Time {
	var list []time.Time
	for _, h := range holds {
		for _, at := range [...]time.Time{h.From, h.Until} {
			if at.After(after) {
				list = append(list, at)
			}
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// at is the view as it will be, with the reservations that are under way by then.
func (p *Plan) at(at time.Time, held []Reservation) *snapshot.View {
	v := p.timeline.view(p.now, at)
	if len(held) == 0 {
		return v
	}
	t := v.Trial()
	for i := range held {
		if r := &held[i]; !r.At.After(at) {
			for _, place := range r.Places {
				if Ends(place.WorkloadInfo, r.At).After(at) {
					occupy(t, place)
				}
			}
		}
	}
	return t.Branch()
}

// search looks for places on the view for something that starts at the time, next to the
// reservations that begin before it ends.
func (p *Plan) search(e *Entity, v *snapshot.View, at time.Time, held []Reservation) []Place {
	ends := e.Ends(at)
	if !startsWithin(held, at, ends) {
		return p.fit.Search(v, at, e, nil)
	}
	places := p.fit.Search(v, at, e, func(w *extpoints.WorkloadInfo, node string) *Reservation {
		started := &extpoints.WorkloadInfo{Workload: w.Workload, GrantedLimit: w.GrantedLimit, PlacedAt: at}
		return p.inTheWay(&Entity{Info: w}, []Place{{started, node}}, at, Ends(w, at), held)
	})
	if places == nil || e.Tree != nil && p.inTheWay(e, places, at, ends, held) != nil {
		return nil // members that are not in the way one by one may be together
	}
	return places
}

// startsWithin reports whether any reservation begins after the one moment and before the
// other.
func startsWithin(held []Reservation, after, before time.Time) bool {
	return slices.ContainsFunc(held, func(r Reservation) bool { return r.startsWithin(after, before) })
}

// startsWithin reports whether it begins after the one moment and before the other.
func (r *Reservation) startsWithin(after, before time.Time) bool {
	return r.At.After(after) && r.At.Before(before)
}

// inTheWay returns the first reservation that begins between the moments beside which
// something in these places does not fit, nil where there is none.
func (p *Plan) inTheWay(e *Entity, places []Place, from, until time.Time, held []Reservation) *Reservation {
	for i := range held {
		at := held[i].At
		if held[i].startsWithin(from, until) && !p.fit.Stands(p.at(at, held), at, e, running(places, from, at)) {
			return &held[i]
		}
	}
	return nil
}

// running are those of the places that are still taken at the moment by what has started from then on:
// members of a tree may end one after the other.
func running(places []Place, from, at time.Time) []Place {
	if len(places) == 1 {
		return places
	}
	return slices.DeleteFunc(slices.Clone(places), func(p Place) bool { return !Ends(p.WorkloadInfo, from).After(at) })
}

// probe returns the workload's, which is made once.
func (p *Plan) probe(w *extpoints.WorkloadInfo) *Probe {
	probe, made := p.probes[w.ID]
	if !made {
		if p.probes == nil {
			p.probes = map[string]*Probe{}
		}
		probe = p.fit.Probe(p.timeline.view(p.now, p.now), p.now, w)
		p.probes[w.ID] = probe
	}
	return probe
}

// allApart reports whether the workloads that were looked at alone could be: all of them are apart
// at all moments, and what depends on the time does so by holds.
func (p *Plan) allApart() bool {
	for _, probe := range p.probes {
		if probe != nil && (!probe.Apart() || probe.Timed() && p.bounds().holds == 0) {
			return false
		}
	}
	return true
}

// apart reports whether all of it is; see [trail].
func (p *Plan) apart(e *Entity) bool {
	if e.Tree == nil {
		return e.Info.Nominated == "" && p.probe(e.Info) != nil
	}
	apart := true
	e.Tree.All(func(w *extpoints.WorkloadInfo) bool {
		apart = w.Nominated == "" && p.probe(w) != nil
		return apart
	})
	return apart
}

// keep reports whether a reservation can be kept next to others, and moves it where it must.
func (p *Plan) keep(r *Reservation, held []Reservation) bool {
	v := p.at(r.At, held)
	if p.standsIn(r, v, held) {
		return true
	}
	if p.pinned {
		return false
	}
	return r.move(r.At, p.search(r.Entity, v, r.At, held))
}

// standsIn reports whether a reservation can be kept in its places next to others on the view of its time.
func (p *Plan) standsIn(r *Reservation, v *snapshot.View, held []Reservation) bool {
	return p.fit.Stands(v, r.At, r.Entity, r.Places) && p.inTheWay(r.Entity, r.Places, r.At, r.Ends(r.At), held) == nil
}

// move gives the reservation another time and places, if there are any.
func (r *Reservation) move(at time.Time, places []Place) bool {
	if places == nil {
		return false
	}
	r.At, r.Places = at, places
	return true
}
