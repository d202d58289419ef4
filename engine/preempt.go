package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// preemption is room being made for one workload: the evictions that its
// PostFilter asked for, from the end of that cycle to when the last of them is
// accepted.
//
// All but the last are asked for side by side, and the last when those have been
// accepted: so the workload is held back (see makingRoom) until only one
// departure is to come, and that one will wake it. If any fails the rest are
// left out and the workload is tried again after its backoff, because the
// departure that it would wait for may never come; where the last left without
// one it is activated. The rules are those of kube-scheduler framework/preemption/
// executor.go, 1.37.1, which activates it in both cases, with four additions: a
// last victim that has gone before it was asked counts as one that left without
// a departure to come; nobody is evicted any more when the workload has itself
// gone or got a node, nor asked to leave last of all when the priorities are not
// what they were; and a binding that is called off counts as under way until
// its task is given back.
//
// Where nothing may be scheduled meanwhile ([extpoints.CycleState.AwaitEvictions])
// all are asked for side by side.
type preemption struct {
	by       string               // the workload that room is made for, or the groupKey of a tree of groups
	rank     int32                // the priority of that one, when it was last tried
	standing int32                // that of the last of rest, at that time; see standing
	rest     []extpoints.Eviction // not asked for yet
	waits    []string             // workloads whose evictions are under way
	last     string               // the last workload, once it is asked
	holds    bool                 // nothing is scheduled meanwhile
	failed   bool
	silent   bool // the last left, and no event of that is to come
	updated  bool // the workload has another spec by now
	changed  bool // it is among r.touched
	// left are the victims that something has happened to since it was looked at;
	// all of them were touched where fresh is set.
	left  []string
	fresh bool
	// began is when the first was asked for, by the meter's clock.
	began time.Duration
}

// preemptions are those of an engine.
type preemptions struct {
	byWorkload map[string]*preemption   // that room is made for
	byVictim   map[string][]*preemption // that wait for its eviction
	touched    []*preemption            // that something has happened to
	holding    int                      // how many hold everything up
	forGroups  int                      // how many are for trees of groups
}

// forGroup reports whether room is made for a tree of groups.
func (p *preemption) forGroup() bool { return strings.HasPrefix(p.by, groupKey("")) }

// planRoom takes down which evictions the cycle's PostFilter asked for, before
// the workload goes back to the queue: from now on it is held back.
func (r *Raw) planRoom(by string, s *extpoints.CycleState) {
	asked := s.Evictions()
	if len(asked) == 0 {
		return
	}
	p := r.room.byWorkload[by]
	if p == nil {
		p = &preemption{by: by}
		r.room.byWorkload[by] = p
		if p.forGroup() {
			r.room.forGroups++
		}
	}
	p.rest = append(p.rest, asked...)
	p.rank, _ = r.rankOf(by)
	p.standing = r.standing(p.rest[len(p.rest)-1].ID)
	if s.AwaitsEvictions() && !p.holds {
		p.holds = true
		r.room.holding++
	}
}

// rankOf is the priority of who room is made for, a workload or the groupKey of a
// tree of groups, and whether it may displace others.
func (r *Raw) rankOf(by string) (int32, bool) {
	if root, group := strings.CutPrefix(by, groupKey("")); group {
		g := r.rec.View.Groups().Root(root)
		if g == nil {
			return 0, false
		}
		return g.Priority, r.groupMayPreempt(g)
	}
	row := r.rec.Workload(by)
	if row == nil {
		return 0, false
	}
	return row.Info.Priority, row.Info.MayPreempt()
}

// groupMayPreempt is [extpoints.GroupInfo.MayPreempt] of the members as they are
// now.
func (r *Raw) groupMayPreempt(g *model.Group) bool {
	if g.Preemption != "" {
		return g.Preemption != model.PreemptNever
	}
	groups := r.rec.View.Groups()
	for _, id := range groups.Pending(g.ID) {
		if !r.rec.Workload(id).Info.MayPreempt() {
			return false
		}
	}
	return !slices.ContainsFunc(groups.Children(g.ID), func(child *model.Group) bool { return !r.groupMayPreempt(child) })
}

// standing is the priority that protects a workload: that of its highest group,
// where it is a member of one.
func (r *Raw) standing(id string) int32 {
	row := r.rec.Workload(id)
	if row == nil {
		return 0
	}
	if root := r.rec.View.Groups().Root(row.Info.Group); root != nil {
		return root.Priority
	}
	return row.Info.Priority
}

// outdated reports whether the priorities that the evictions were decided on have
// changed, so that the last of them need not be right any more.
func (r *Raw) outdated(p *preemption) bool {
	rank, may := r.rankOf(p.by)
	return !may || rank < p.rank || r.standing(p.rest[0].ID) > p.standing
}

// makeRoom does what PostFilter asked for, when the workload is back in the
// queue: what happens now may wake it.
func (r *Raw) makeRoom(now time.Time, by string, s *extpoints.CycleState) {
	for _, id := range s.Unnominations() {
		r.unnominate(now, id)
	}
	p := r.room.byWorkload[by]
	if p == nil || len(p.rest) == 0 {
		return
	}
	if r.meter != nil && p.began == 0 {
		p.began = r.meter.Clock()
	}
	first := p.rest
	if !p.holds {
		first = p.rest[:len(p.rest)-1]
	}
	p.rest = p.rest[len(first):]
	for _, e := range first {
		r.displace(now, p, e)
	}
	r.touch(p)
}

// unnominate takes the nomination of a waiting workload back, and wakes those
// that may use the room it was kept.
func (r *Raw) unnominate(now time.Time, id string) {
	before := r.rec.Workload(id)
	if before.NominatedTo() == "" {
		return
	}
	tx := r.rec.Begin()
	if err := tx.Nominate(id, ""); err != nil {
		tx.Abort()
		return
	}
	r.listener.Unnominated(UnnominatedEvent{At: now, Workload: before.Info.Workload, Node: before.Info.Nominated})
	r.commit(now, tx)
}

// displace asks for one eviction.
func (r *Raw) displace(now time.Time, p *preemption, e extpoints.Eviction) {
	r.evict(now, e.ID, e.Reason, p.by)
	if r.displacing(e.ID) && !slices.Contains(p.waits, e.ID) {
		p.waits = append(p.waits, e.ID)
		r.room.byVictim[e.ID] = append(r.room.byVictim[e.ID], p)
	}
}

// touch makes proceed look at the preemption, and at all of its victims.
func (r *Raw) touch(p *preemption) {
	p.fresh = true
	r.touchVictim(p)
}

// touchVictim makes proceed look at the preemption and at these victims: there may
// be thousands of others.
func (r *Raw) touchVictim(p *preemption, victims ...string) {
	p.left = append(p.left, victims...)
	if !p.changed {
		p.changed = true
		r.room.touched = append(r.room.touched, p)
	}
}

// changed is told of everything that happens to a workload or its eviction.
func (r *Raw) changed(victim string) {
	for _, p := range r.room.byVictim[victim] {
		r.touchVictim(p, victim)
	}
}

// followRoom looks whether a change is about a victim, or ends the preemption
// because the workload that room is made for needs none any more.
func (r *Raw) followRoom(before, after *store.Workload) {
	if len(r.room.byWorkload) == 0 {
		return
	}
	id := rowID(before, after)
	r.changed(id)
	p := r.room.byWorkload[id]
	if p != nil && (before == nil || after == nil || after.Phase != model.Pending || before.CreateIndex != after.CreateIndex) {
		r.endRoom(p)
	} else if p != nil && before.Info.Workload != after.Info.Workload {
		p.updated = true
	}
	r.followGroupRoom(before, after)
}

// followGroupRoom looks after the preemptions for trees of groups when a member of
// any group comes, goes or changes.
func (r *Raw) followGroupRoom(before, after *store.Workload) {
	same := before != nil && after != nil && before.Phase == after.Phase && before.Info.Workload == after.Info.Workload
	if r.room.forGroups == 0 || same {
		return
	}
	for _, row := range []*store.Workload{before, after} {
		if row != nil && row.Info.Group != "" {
			r.checkGroupRoom(row.Info.Group)
		}
	}
}

// checkGroupRoom ends the preemptions for trees of groups in which no member waits
// for a node any more, or whose highest group is not there as such. The one for the
// tree that the changed group is in, if there is one, is told that the tree is not
// what it was when it was tried.
func (r *Raw) checkGroupRoom(changed string) {
	groups := r.rec.View.Groups()
	of := groups.Root(changed)
	for _, key := range slices.Sorted(maps.Keys(r.room.byWorkload)) {
		id, group := strings.CutPrefix(key, groupKey(""))
		if !group {
			continue
		}
		p := r.room.byWorkload[key]
		if root := groups.Root(id); root == nil || root.ID != id || r.firstPending(id) == "" {
			r.endRoom(p)
			continue
		}
		p.updated = p.updated || of == nil || of.ID == id
	}
}

// firstPending is a member of the tree below the group that waits for a node;
// empty where there is none.
func (r *Raw) firstPending(group string) string {
	groups := r.rec.View.Groups()
	if pending := groups.Pending(group); len(pending) > 0 {
		return pending[0]
	}
	for _, child := range groups.Children(group) {
		if id := r.firstPending(child.ID); id != "" {
			return id
		}
	}
	return ""
}

func rowID(before, after *store.Workload) string {
	if after != nil {
		return after.Info.ID
	}
	return before.Info.ID
}

// calledOff is told of a victim whose binding was called off: it has gone
// without a departure that could still be observed.
func (r *Raw) calledOff(victim string) {
	for _, p := range r.room.byVictim[victim] {
		p.silent = p.silent || p.last == victim
		r.touchVictim(p, victim)
	}
}

// evictionFailed is told of a victim that stays. The other evictions for the same
// workload are of no use then, unless somebody else wants them too.
func (r *Raw) evictionFailed(victim string) {
	for _, p := range r.room.byVictim[victim] {
		r.touchVictim(p, victim)
		if p.failed {
			continue
		}
		p.failed, p.rest = true, nil
		for _, other := range p.waits {
			if t := r.evicting[other]; t != nil && t.evict.by == p.by && !t.evict.asked && len(r.room.byVictim[other]) == 1 {
				t.stop(fmt.Errorf("called off, because the eviction of workload %q failed", victim))
			}
		}
	}
}

// proceed takes the preemptions to which something has happened one step
// further. It is called at the end of every input.
func (r *Raw) proceed(now time.Time) {
	for len(r.room.touched) > 0 {
		p := r.room.touched[0]
		r.room.touched = r.room.touched[1:]
		p.changed = false
		if r.room.byWorkload[p.by] == p {
			r.advance(now, p)
		}
	}
}

func (r *Raw) advance(now time.Time, p *preemption) {
	p.waits = slices.DeleteFunc(p.waits, func(victim string) bool {
		if !p.fresh && !slices.Contains(p.left, victim) || r.displacing(victim) {
			return false
		}
		r.forgetVictim(victim, p)
		return true
	})
	p.left, p.fresh = p.left[:0], false
	switch {
	case len(p.waits) > 0:
	case len(p.rest) > 0 && r.outdated(p):
		p.rest, p.failed = nil, true
		r.touch(p)
	case len(p.rest) > 0:
		last := p.rest[0]
		p.rest, p.last = nil, last.ID
		r.displace(now, p, last)
		row := r.rec.Workload(last.ID)
		p.silent = row.TakesRoomOn() == ""
		r.touch(p)
	default:
		r.endRoom(p)
		r.tellRoomMade(p)
		r.roomMade(now, p)
	}
}

// roomMade wakes the workload where no departure will. One whose victims would
// not go must not try again at once, as the reference lets it: that would go on
// for as long as they refuse.
func (r *Raw) roomMade(now time.Time, p *preemption) {
	waiter := p.by
	root, group := strings.CutPrefix(p.by, groupKey(""))
	if group {
		waiter = r.firstPending(root)
	}
	row := r.rec.Workload(waiter)
	switch {
	case row == nil:
	case p.failed:
		r.queue.Retry(now, waiter, queue.EvictionFailed)
	case p.silent:
		r.activate(now, []string{waiter})
	case p.updated:
		// It was held back when it changed. What it waits for now need not be the
		// departure that is to come.
		r.queue.Move(now, &extpoints.Change{Event: queue.WorkloadDemandsChanged, NewWorkload: row.Info}, nil)
	case group && !r.cfg.ReferenceWakeUps && !r.anyRejected(root):
		// No plugin that rejected a member waits for the departure: the tree was
		// turned down as such. Out of its gate it is glad of any event.
		r.queue.Retry(now, waiter, queue.RoomMade)
	}
}

// anyRejected reports whether a member of the tree below the group waits for an
// event of any plugin but the one that gates it.
func (r *Raw) anyRejected(group string) bool {
	groups := r.rec.View.Groups()
	rejected := func(id string) bool {
		pos, _ := r.queue.Position(id)
		others := func(plugin string) bool { return plugin != pos.GatingPlugin }
		return len(pos.PendingPlugins) > 0 || slices.ContainsFunc(pos.UnschedulablePlugins, others)
	}
	return slices.ContainsFunc(groups.Pending(group), rejected) ||
		slices.ContainsFunc(groups.Children(group), func(child *model.Group) bool { return r.anyRejected(child.ID) })
}

func (r *Raw) endRoom(p *preemption) {
	delete(r.room.byWorkload, p.by)
	if p.forGroup() {
		r.room.forGroups--
	}
	for _, victim := range p.waits {
		r.forgetVictim(victim, p)
	}
	if p.holds {
		r.room.holding--
	}
}

func (r *Raw) forgetVictim(victim string, p *preemption) {
	list := slices.DeleteFunc(r.room.byVictim[victim], func(q *preemption) bool { return q == p })
	if len(list) == 0 {
		delete(r.room.byVictim, victim)
	} else {
		r.room.byVictim[victim] = list
	}
}

// makingRoom reports whether the workload, or the tree of groups that it is a
// member of, must wait for evictions: it is what
// [extpoints.Preemption.UnderWay] says. It looks at the victims as they are, so
// that the departure of the last one finds the way open.
func (r *Raw) makingRoom(id string) bool {
	p := r.room.byWorkload[id]
	if p == nil && r.room.forGroups > 0 {
		p = r.roomForGroupOf(id)
	}
	return p != nil && (len(p.rest) > 0 || slices.ContainsFunc(p.waits, r.displacing))
}

// roomForGroupOf is the room being made for the tree of groups that the workload is a
// member of, nil where there is none.
func (r *Raw) roomForGroupOf(id string) *preemption {
	row := r.rec.Workload(id)
	if row == nil || row.Info.Group == "" {
		return nil
	}
	root := r.rec.View.Groups().Root(row.Info.Group)
	if root == nil {
		return nil
	}
	return r.room.byWorkload[groupKey(root.ID)]
}
