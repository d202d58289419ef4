package queue

import (
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// isMember reports whether the workload is to be placed with its group.
func (q *Queue) isMember(w *extpoints.WorkloadInfo) bool {
	return w.Group != "" && q.cfg.AsGroups[w.Profile]
}

// root returns the highest group above a group with members, nil where not all
// are there.
func (q *Queue) root(id string) *model.Group {
	groups := q.cfg.Groups()
	if g := groups.Get(id); g == nil || g.Composite {
		return nil
	}
	return groups.Root(id)
}

// treeOf returns the item of the workload's tree if it waits, else nil.
func (q *Queue) treeOf(w *extpoints.WorkloadInfo) *Item {
	if !q.isMember(w) {
		return nil
	}
	if root := q.root(w.Group); root != nil {
		if it := q.byRoot[root.ID]; it != nil && it.place != InFlight {
			return it
		}
	}
	return nil
}

// reachable returns the item that the workload waits as or with, nil where it is
// in no place that it can be called from. One in flight has its tree, if that
// waits.
func (q *Queue) reachable(id string) *Item {
	if it := q.waiting[id]; it != nil {
		if it.leaf != nil {
			return q.treeOf(it.Info)
		}
		return it
	}
	if f := q.inFlight.byID[id]; f != nil {
		return q.treeOf(f.flight.latest)
	}
	return nil
}

// addMember puts a member that waits nowhere with its tree.
func (q *Queue) addMember(m *Item, why cause) {
	l := q.leaves[m.Workload.Group]
	if l == nil {
		l = &leaf{id: m.Workload.Group}
		q.leaves[l.id] = l
		if root := q.root(l.id); root != nil {
			l.entity = q.plant(root, m)
		}
	}
	l.count++
	m.leaf, m.entity = l, l.entity
	it := l.entity
	switch {
	case it == nil:
		q.seq++
		m.seq = q.seq
		l.incomplete = append(l.incomplete, m)
		q.seatMember(m, Incomplete, why)
	case it.place == InFlight:
		q.seq++
		m.seq = q.seq
		it.joining = append(it.joining, m)
		q.seatMember(m, Joining, why)
	case it.place == None:
		it.insert(m)
		it.refresh()
		q.launchAlone(it, m, why)
	default:
		q.take(it)
		it.insert(m)
		it.refresh()
		if it.place == Active && q.cfg.Compat == extpoints.Improved {
			q.joinActive(it, m, why)
			return
		}
		q.rejoin(it, why)
	}
}

// joinActive is rejoin for an active tree that has one more member: the others have
// passed the gates.
func (q *Queue) joinActive(it, m *Item, why cause) {
	if q.passMember(it, m) {
		q.toActive(it, why, skipGates)
		return
	}
	q.park(it, why)
}

// launchAlone lets a tree in that waits because of one member. One that has come
// back from a failed attempt, its binding above all, backs off as it would if it
// were no member: else one that always fails would be tried all the time. (As it
// is in kube-scheduler scheduling_queue.go addPodGroupMember, 1.37.1.)
func (q *Queue) launchAlone(it, m *Item, why cause) {
	if q.cfg.Compat == extpoints.Improved {
		it.UnschedulableCount, it.ConsecutiveErrors = m.UnschedulableCount, m.ConsecutiveErrors
		it.BackoffExpiration = q.expiration(it)
	}
	q.requeue(it, afterBackoff, why)
}

// plant returns the item of a tree, which is as old as the member where there
// was none.
func (q *Queue) plant(root *model.Group, m *Item) *Item {
	it := q.byRoot[root.ID]
	if it == nil {
		it = &Item{ActiveAt: m.ActiveAt}
		it.Group = root
		it.Timestamp, it.arrival, it.AddedAt = m.Timestamp, m.arrival, m.AddedAt
		it.submitted = m.submitted
		q.byRoot[root.ID] = it
	}
	return it
}

// forget ends the item of a tree that has no members.
func (q *Queue) forget(it *Item) {
	q.turns.release(it)
	q.items[it.place]--
	q.items[None]++
	it.place = None
	delete(q.byRoot, it.ID())
}

// rejoin puts the item of a tree that has been taken out, for its members have
// changed, where it was, or where the gates let it go if none of them is known
// to hold it. (kube-scheduler scheduling_queue.go addToPodGroupIfExists,
// 1.37.1.)
func (q *Queue) rejoin(it *Item, why cause) {
	switch {
	case len(it.Members) == 0:
		q.forget(it)
	case it.place == Active:
		q.requeue(it, immediately, why)
	case it.place == Backoff || it.place == ErrorBackoff || it.Gate == nil:
		q.requeue(it, afterBackoff, why)
	default:
		q.requeue(it, skip, why)
	}
}

// part takes a member away from those it waits with; a tree that waits must have
// been taken out.
func (q *Queue) part(m *Item) {
	same := func(o *Item) bool { return o == m }
	switch it := m.entity; {
	case it == nil:
		m.leaf.incomplete = slices.DeleteFunc(m.leaf.incomplete, same)
	case it.place == InFlight:
		it.joining = slices.DeleteFunc(it.joining, same)
	default:
		it.Members = slices.DeleteFunc(it.Members, same)
		it.refresh()
		q.ungate(it, m)
	}
	q.unleaf(m)
}

// ungate forgets the gate of a tree that the member held which has left it: others
// may hold it now, for other plugins with other events.
func (q *Queue) ungate(it, m *Item) {
	if it.gated == m {
		it.GatingPlugin, it.Gate, it.gated = "", nil, nil
		m.GatingPlugin, m.Gate = "", nil
	}
}

// unleaf ends a member's waiting.
func (q *Queue) unleaf(m *Item) {
	if m.leaf.count--; m.leaf.count == 0 {
		delete(q.leaves, m.leaf.id)
	}
	m.leaf = nil
}

// dropMember takes a waiting member out of the queue for good.
func (q *Queue) dropMember(m *Item, now time.Time) {
	it, why := m.entity, labelled(Deleted, now)
	waits := it != nil && it.place != InFlight
	if waits {
		q.take(it)
	}
	q.part(m)
	q.seatMember(m, None, why)
	if waits {
		q.rejoin(it, why)
	}
}

// launch begins the flight of a tree that has been popped, and reports whether
// it has members left that are not in flight already.
func (q *Queue) launch(it *Item, why cause) bool {
	members := make([]*Item, 0, len(it.Members))
	for _, m := range it.Members {
		m.Attempts++
		q.unleaf(m)
		if q.inFlight.adopt(m) {
			q.seatMember(m, None, labelled(discarded, why.at))
			continue
		}
		members = append(members, m)
	}
	if it.Members = members; len(members) == 0 {
		q.forget(it)
		return false
	}
	it.growTree(q.cfg.Groups())
	for _, m := range it.Members {
		if m.ActiveAt.IsZero() { // it is since a Delete, which is given no time
			m.ActiveAt = why.at
		}
		q.inFlight.start(m)
	}
	if it.ActiveAt.IsZero() {
		it.ActiveAt = why.at
	}
	q.settle(it, InFlight, why)
	return true
}

// each calls f for the leaves at and below a group, in so many levels.
func (q *Queue) each(groups GroupTrees, id string, levels int, f func(*leaf)) {
	if l := q.leaves[id]; l != nil {
		f(l)
	}
	if levels > 1 {
		for _, child := range groups.Children(id) {
			q.each(groups, child.ID, levels-1, f)
		}
	}
}

// takeOut takes the members of a leaf away from where they wait, and returns
// them in order. A tree that waits must have been taken out.
func (q *Queue) takeOut(l *leaf) []*Item {
	list := &l.incomplete
	if it := l.entity; it != nil {
		list = &it.Members
		if it.place == InFlight {
			list = &it.joining
		}
	}
	var own, others []*Item
	for _, m := range *list {
		if m.leaf != l {
			others = append(others, m)
			continue
		}
		own = append(own, m)
		m.leaf, m.entity = nil, nil
		if l.entity != nil {
			q.ungate(l.entity, m)
		}
	}
	*list = others
	if l.entity != nil && l.entity.place != InFlight {
		l.entity.refresh()
	}
	delete(q.leaves, l.id)
	return own
}
