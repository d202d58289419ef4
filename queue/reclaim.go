package queue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Reclaim begins to look for room for the members, all of one queue and principal; see
// [extpoints.Reclaiming]. What is nominated to a node counts as if it ran, and what is
// leaving as if it had left: that which is terminating, or of which leaving says so. It
// looks at everything on the nodes of the view once. Nil where the order is not by queues.
// An engine calls it for its plugins.
func (q *Queue) Reclaim(view extpoints.ClusterView, now time.Time, leaving func(id string) bool, priority int32, members []*extpoints.WorkloadInfo) extpoints.Reclaim {
	if q.tree == nil {
		return nil
	}
	r := &reclaim{loads: &loads{t: q.tree, used: map[*part][]int64{}, absent: map[leafKey]*part{}}, now: now, leaving: leaving, members: members}
	r.own, r.named = r.sideOf(members, priority), r.t.queueOf(keyOf(members[0].Workload))
	q.tree.askers.forget(func(id string) bool { return q.reachable(id) != nil }, 2*len(q.waiting)+64)
	if r.own.queue != nil && reclaims(r.own.queue.queue) {
		r.asker, r.barred = members[0].ID, q.tree.rebounds.until(q.tree.kindOf(members[0].Workload), now)
		q.tree.askers.note(r.asker, r.barred)
	}
	r.foresee(view, members)
	r.add(r.own)
	return r
}

// KeepsRoom reports whether the workload must leave the other, which is nominated to a
// node, its room there whatever their priorities are: where the other is in another queue,
// be it that it names it or that its principal does; and in the same one, if that may displace others.
// What was won by shares was won for a workload of that size. It changes nothing, and may be called side by
// side with itself.
func (q *Queue) KeepsRoom(nominated, from *model.Workload) bool {
	if q.tree == nil {
		return false
	}
	name := q.tree.queueOf(keyOf(nominated))
	return name != q.tree.queueOf(keyOf(from)) || reclaims(q.tree.queues[name])
}

// reclaims reports whether the queue, nil for none, may displace others.
func reclaims(q *model.Queue) bool {
	return q != nil && q.Reclaim != "" && q.Reclaim != model.ReclaimNever
}

// reclaim implements [extpoints.Reclaim].
type reclaim struct {
	*loads
	now     time.Time
	leaving func(id string) bool
	own     *side     // all members together
	asker   string    // the ID of one of them
	barred  time.Time // until when they may displace nobody in other queues; see rebounds
	named   string    // the queue that they are in, empty for none
	members []*extpoints.WorkloadInfo

	offered []extpoints.Leaver
	list    []*candidate // those of the offered who may be displaced, by index
	chosen  []*candidate // in order
}

var _ extpoints.Reclaim = (*reclaim)(nil)

// foresee counts what is about to come and to go.
func (r *reclaim) foresee(view extpoints.ClusterView, members []*extpoints.WorkloadInfo) {
	nodes := view.Nodes()
	for i := range nodes.Len() {
		n := nodes.At(i)
		for _, w := range n.Workloads {
			if r.isLeaving(w) {
				r.remove(r.sideOf([]*extpoints.WorkloadInfo{w}, 0))
			}
		}
		for _, w := range view.Nominated(n.Node.Name) {
			if !slices.ContainsFunc(members, func(m *extpoints.WorkloadInfo) bool { return m.ID == w.ID }) {
				r.add(r.sideOf([]*extpoints.WorkloadInfo{w}, 0))
			}
		}
	}
}

func (r *reclaim) isLeaving(w *extpoints.WorkloadInfo) bool {
	return w.Terminating || r.leaving != nil && r.leaving(w.ID)
}

// Choose implements [extpoints.Reclaim]. The queue that has most beyond what it is entitled
// to gives first; see turns. Those that pass by finalShare come before those, one of each
// queue, that only pass by initialShare. (The rules are those of fair preemption in Kueue,
// pkg/scheduler/preemption/fairsharing, v0.20.0-devel-377: LessThanOrEqualToFinalShare, then
// LessThanInitialShare.)
func (r *reclaim) Choose(list []extpoints.Leaver) []int {
	r.restore()
	r.offered = list
	var offered []*candidate
	for i := range list {
		c := r.candidate(i, &list[i])
		r.list = append(r.list, c)
		switch {
		case c == nil:
		case c.goes:
			r.chosen = append(r.chosen, c)
		default:
			offered = append(offered, c)
		}
	}
	var refused []*candidate
	first := newTurns(r.loads, r.own, offered)
	for c := first.next(); c != nil; c = first.next() {
		if r.take(c, finalShare) {
			continue
		}
		refused = append(refused, c)
		first.again() // the shares have not changed: another one of the same queue
	}
	second := newTurns(r.loads, r.own, refused)
	for c := second.next(); c != nil; c = second.next() {
		r.take(c, initialShare)
		second.leave(c.end)
	}
	indexes := make([]int, len(r.chosen))
	for i, c := range r.chosen {
		indexes[i] = c.index
	}
	return indexes
}

// restore forgets whoever was chosen before.
func (r *reclaim) restore() {
	for _, c := range r.chosen {
		if !c.goes && !c.stays {
			r.add(c.side)
		}
	}
	r.list, r.chosen = nil, nil
}

// candidate is what is offered, nil where it may not be displaced whatever the shares are:
// in another queue not within the time for which it, or a queue above it, lets it run.
func (r *reclaim) candidate(index int, l *extpoints.Leaver) *candidate {
	first := l.Workloads[0]
	for _, w := range l.Workloads {
		if keyOf(w.Workload) != keyOf(first.Workload) {
			return nil // it was not placed by queues
		}
	}
	c := &candidate{side: r.sideOf(l.Workloads, l.Priority), index: index, size: len(l.Workloads)}
	c.since = l.Since
	c.inOwn = r.t.queueOf(keyOf(first.Workload)) == r.named // also where it is not there
	if c.inOwn && c.priority >= r.own.priority || !c.inOwn && (!r.barred.IsZero() || !r.own.willing(c.priority)) {
		return nil
	}
	c.end = endOf(c.side)
	c.goes = !slices.ContainsFunc(l.Workloads, func(w *extpoints.WorkloadInfo) bool { return !r.isLeaving(w) })
	if c.inOwn || c.goes {
		return c
	}
	_, j, ok := parting(r.own, c.side)
	if !ok {
		return nil
	}
	var until time.Duration
	for _, p := range c.path[:j+1] {
		if p.queue != nil {
			until = max(until, p.queue.MinRuntime)
		}
	}
	if r.now.Sub(c.since) < until {
		r.t.askers.earlier(r.asker, c.since.Add(until))
		return nil
	}
	return c
}

// take chooses the candidate if it passes.
func (r *reclaim) take(c *candidate, rule shareRule) bool {
	if !c.inOwn {
		if c.by = r.may(r.own, c.side, rule); c.by == none {
			return false
		}
	}
	c.rule = rule
	r.remove(c.side)
	r.chosen = append(r.chosen, c)
	return true
}

// Spare implements [extpoints.Reclaim].
func (r *reclaim) Spare(index int) bool {
	c := r.list[index]
	if c.goes || c.stays {
		return true
	}
	at := slices.Index(r.chosen, c)
	var later []*candidate
	for _, l := range r.chosen[at+1:] {
		if !l.stays && !l.goes {
			later = append(later, l)
			r.add(l.side)
		}
	}
	r.add(c.side)
	pass := true
	for _, l := range later {
		pass = pass && (l.inOwn || r.may(r.own, l.side, l.rule) == l.by)
		r.remove(l.side)
	}
	if c.stays = pass; !pass {
		r.remove(c.side)
	}
	return pass
}

// Yields implements [extpoints.Reclaim].
func (r *reclaim) Yields(nominated *extpoints.WorkloadInfo) bool {
	return nominated.Priority < r.own.priority && r.t.queueOf(keyOf(nominated.Workload)) == r.named && !reclaims(r.t.queues[r.named])
}

// Lasts implements [extpoints.Reclaim]: it lets each of those who would be displaced look
// for room in turn, with the members placed and the others gone, among the members and those
// who were offered and stay. Whoever it would have to choose then is as good as displaced.
// For how long a workload runs at least does not count: it only puts that off.
func (r *reclaim) Lasts() bool {
	var there []extpoints.Leaver
	for _, m := range r.members {
		there = append(there, extpoints.Leaver{Workloads: []*extpoints.WorkloadInfo{m}, Priority: r.own.priority, Since: r.now})
	}
	for i := range r.offered {
		if c := r.list[i]; c == nil || c.stays || !slices.Contains(r.chosen, c) {
			there = append(there, r.offered[i])
		}
	}
	var asked []*candidate
	for _, c := range r.chosen {
		if c.goes || c.stays || c.inOwn || !c.willing(r.own.priority) || slices.ContainsFunc(asked, c.like) {
			continue
		}
		asked = append(asked, c)
		back := &reclaim{loads: r.loads, now: r.now.Add(forEver), leaving: r.leaving, own: c.side, named: r.t.queueOf(c.path[0].leaf.key)}
		r.add(c.side)
		chosen := back.Choose(there)
		back.restore()
		r.remove(c.side)
		if slices.ContainsFunc(chosen, func(i int) bool { return i < len(r.members) }) {
			return false
		}
	}
	return true
}

// forEver is longer than anything has to run at least.
const forEver = 200 * 365 * 24 * time.Hour

// kindOf says what workloads have in common that are alike: who is displaced comes back under
// another name in some clusters.
func (t *tree) kindOf(w *model.Workload) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%q %q %d", w.Queue, w.Principal, w.Priority)
	for _, a := range t.needs(nil, w) {
		fmt.Fprintf(&s, " %s:%d", t.names[a.resource], a.n)
	}
	return s.String()
}

// Displaced tells that the workload is to be displaced for the other. An engine tells so
// of all evictions that are to make room; those in one queue do not count.
func (q *Queue) Displaced(now time.Time, w, by *model.Workload) {
	t := q.tree
	if t == nil || t.queueOf(keyOf(w)) == t.queueOf(keyOf(by)) {
		return
	}
	if t.rebounds == nil {
		t.rebounds = rebounds{}
	}
	t.rebounds.forget(now, 4*len(t.leaves)+64)
	t.rebounds.lost(t.kindOf(w), now)
	t.rebounds.won(t.kindOf(by))
}
