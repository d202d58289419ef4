package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// lanes are the nodes one by one, each with what is on it and what is planned for it from
// now on, for workloads that are apart; see [trail].
type lanes struct {
	p     *Plan
	nodes extpoints.Nodes // as they are now
	holds map[string][]*Reservation
	info  *extpoints.NodeInfo // memory
	// states are those of nodes at which many workloads are looked at.
	states map[string]*laneStates
}

// laneStates are what a node is like at each moment that somebody has asked for.
type laneStates struct {
	moments []time.Time // at which room becomes free
	infos   map[time.Time]*extpoints.NodeInfo
}

// lanes makes the lanes of the reservations.
func (p *Plan) lanes(held []Reservation) *lanes {
	l := &lanes{p: p, nodes: p.timeline.view(p.now, p.now).Nodes(), holds: map[string][]*Reservation{}, info: &extpoints.NodeInfo{}, states: map[string]*laneStates{}}
	for i := range held {
		l.hold(&held[i])
	}
	return l
}

// hold adds the reservation to the lanes of its nodes, once to each.
func (l *lanes) hold(r *Reservation) {
	for node := range r.eachNode {
		l.holds[node] = append(l.holds[node], r)
		delete(l.states, node)
	}
}

// drop takes it off them.
func (l *lanes) drop(r *Reservation) {
	for _, place := range r.Places {
		l.holds[place.Node] = slices.DeleteFunc(l.holds[place.Node], func(o *Reservation) bool { return o.ID() == r.ID() })
		delete(l.states, place.Node)
	}
}

// state is the node at a moment with all that is reserved on it, kept for those who ask next.
func (l *lanes) state(node *extpoints.NodeInfo, at time.Time) *extpoints.NodeInfo {
	infos := l.statesOf(node).infos
	info := infos[at]
	if info == nil {
		info = l.at(node, at, "").Clone()
		infos[at] = info
	}
	return info
}

func (l *lanes) statesOf(node *extpoints.NodeInfo) *laneStates {
	s := l.states[node.Node.Name]
	if s == nil {
		s = &laneStates{l.moments(node), map[time.Time]*extpoints.NodeInfo{}}
		l.states[node.Node.Name] = s
	}
	return s
}

// end is when a workload on a node is expected to have ended.
func (p *Plan) end(w *extpoints.WorkloadInfo) time.Time {
	end := Ends(w, w.PlacedAt)
	if end.Before(p.now) {
		if p.timeline.patience > 0 && end.Before(p.now.Add(-p.timeline.patience)) {
			return Never
		}
		return p.now.Add(Overrunning)
	}
	return end
}

// at is the node at a moment, but for what is reserved for the one that is left out. It is
// gone with the next call.
func (l *lanes) at(node *extpoints.NodeInfo, at time.Time, without string) *extpoints.NodeInfo {
	node.CopyTo(l.info)
	for _, w := range node.Workloads {
		if !l.p.end(w).After(at) {
			l.info.RemoveWorkload(w.ID)
		}
	}
	for _, r := range l.holds[node.Node.Name] {
		if r.At.After(at) || r.ID() == without {
			continue
		}
		for _, place := range r.Places {
			if place.Node == node.Node.Name && Ends(place.WorkloadInfo, r.At).After(at) {
				l.info.AddWorkload(place.WorkloadInfo)
			}
		}
	}
	return l.info
}

// fits reports whether the workload fits on the node from the moment on for as long as it
// may run, next to all but its own reservation. Between the beginnings of reservations a
// node only becomes emptier.
func (l *lanes) fits(w *extpoints.WorkloadInfo, will *Probe, node *extpoints.NodeInfo, from time.Time) bool {
	return l.fitsIn(w, will, node, from, func(at time.Time) *extpoints.NodeInfo { return l.at(node, at, w.ID) })
}

// fitsIn is fits on the states of the node.
func (l *lanes) fitsIn(w *extpoints.WorkloadInfo, will *Probe, node *extpoints.NodeInfo, from time.Time, state func(time.Time) *extpoints.NodeInfo) bool {
	if !will.Fits(state(from), from, from) {
		return false
	}
	until := Ends(w, from)
	for _, r := range l.holds[node.Node.Name] {
		if r.startsWithin(from, until) && r.ID() != w.ID && !will.Fits(state(r.At), from, r.At) {
			return false
		}
	}
	return true
}

// moments are when room becomes free on the node, from now on, and when holds begin or end.
func (l *lanes) moments(node *extpoints.NodeInfo) []time.Time {
	list := []time.Time{l.p.now}
	add := func(at time.Time) {
		if at.After(l.p.now) && at.Before(Never) {
			list = append(list, at)
		}
	}
	for _, w := range node.Workloads {
		add(l.p.end(w))
	}
	for _, at := range l.p.bounds().of[node.Node.Name] {
		add(at)
	}
	for _, r := range l.holds[node.Node.Name] {
		for _, place := range r.Places {
			if place.Node == node.Node.Name {
				add(Ends(place.WorkloadInfo, r.At))
			}
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// sooner is when the workload first fits on one of the nodes before the time, and on which
// of them; none where it does not.
func (l *lanes) sooner(w *extpoints.WorkloadInfo, will *Probe, among []string, before time.Time) (at time.Time, nodes []*extpoints.NodeInfo) {
	for _, name := range among {
		node := l.nodes.Get(name)
		if node == nil || slices.Contains(nodes, node) {
			continue
		}
		state := func(at time.Time) *extpoints.NodeInfo { return l.state(node, at) }
		if slices.ContainsFunc(l.holds[name], func(r *Reservation) bool { return r.ID() == w.ID }) {
			state = func(at time.Time) *extpoints.NodeInfo { return l.at(node, at, w.ID) }
		}
		for _, from := range l.statesOf(node).moments {
			if !from.Before(before) && (len(nodes) == 0 || from.After(at)) {
				break
			}
			if !l.fitsIn(w, will, node, from, state) {
				continue
			}
			if len(nodes) == 0 || from.Before(at) {
				at, nodes = from, nil
			}
			nodes, before = append(nodes, node), from
			break
		}
	}
	return at, nodes
}

// fitting are the nodes on which the workload fits from the moment on.
func (l *lanes) fitting(w *extpoints.WorkloadInfo, will *Probe, at time.Time) (list []*extpoints.NodeInfo) {
	for i := range l.nodes.Len() {
		if node := l.nodes.At(i); l.fits(w, will, node, at) {
			list = append(list, node)
		}
	}
	return list
}

// first is when the workload first fits on any node from the moment on, and on which. At that moment each
// is looked at, and at each later one those that something leaves.
func (l *lanes) first(w *extpoints.WorkloadInfo, will *Probe, from, before time.Time) (time.Time, []*extpoints.NodeInfo) {
	now := from
	list := l.fitting(w, will, now)
	next := l.leaves()
	for len(list) == 0 {
		at, nodes := next()
		if len(nodes) == 0 || !at.Before(before) {
			break
		}
		if !at.After(from) {
			continue
		}
		now = at
		for i, name := range nodes {
			node := l.nodes.Get(name)
			if node != nil && !slices.Contains(nodes[:i], name) && l.fits(w, will, node, now) {
				list = append(list, node)
			}
		}
	}
	return now, list
}

// leaves returns what tells, moment by moment, which nodes something leaves: by releases,
// and by the ends of reservations, and where holds begin or end. It tells of no nodes
// when there are no more.
func (l *lanes) leaves() func() (time.Time, []string) {
	type leave struct {
		at   time.Time
		node string
	}
	tl, now := l.p.timeline, l.p.now
	from := tl.until(now, false)
	var others []leave
	for _, r := range tl.overrun(now) {
		others = append(others, leave{now.Add(Overrunning), r.Node})
	}
	for node, holds := range l.holds {
		for _, r := range holds {
			for _, place := range r.Places {
				if end := Ends(place.WorkloadInfo, r.At); place.Node == node && end.Before(Never) && end.After(now) {
					others = append(others, leave{end, node})
				}
			}
		}
	}
	slices.SortFunc(others, func(a, b leave) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.node, b.node)) })
	bounds := l.p.bounds().after(now)
	releases := tl.releases[max(from, tl.until(now, true)):]
	var nodes []string
	return func() (time.Time, []string) {
		for len(bounds) > 0 && len(bounds[0].nodes) == 0 {
			bounds = bounds[1:]
		}
		at := Never
		if len(releases) > 0 {
			at = releases[0].at
		}
		if len(others) > 0 && others[0].at.Before(at) {
			at = others[0].at
		}
		if len(bounds) > 0 && bounds[0].at.Before(at) {
			at = bounds[0].at
		}
		nodes = nodes[:0]
		for ; at.Before(Never) && len(releases) > 0 && releases[0].at.Equal(at); releases = releases[1:] {
			nodes = append(nodes, releases[0].Node)
		}
		for ; len(others) > 0 && others[0].at.Equal(at); others = others[1:] {
			nodes = append(nodes, others[0].node)
		}
		for ; len(bounds) > 0 && bounds[0].at.Equal(at) && at.Before(Never); bounds = bounds[1:] {
			nodes = append(nodes, bounds[0].nodes...)
		}
		return at, nodes
	}
}
