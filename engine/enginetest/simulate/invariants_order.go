package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// moment is what is seen before an attempt, of what has its turn before whom.
type moment struct {
	seen   *observed // no more than the order goes by
	branch *engine.Branch
}

// beforeAttempt looks before an attempt, one time in three; nil where it does not.
func (s *sim) beforeAttempt() *moment {
	s.took = nil
	if s.attempts++; s.attempts%3 != 0 {
		return nil
	}
	v := s.raw.View()
	o := &observed{at: s.now, plansAhead: s.plansAhead, nodes: map[string]*model.Node{}, rows: map[string]model.WorkloadRecord{}, positions: map[string]queue.Position{}}
	if s.o.Queues {
		o.define(v)
		o.remember(s.raw.Queues())
	}
	if o.byApps = s.o.byApps(s.plugins.plan.Seed); o.byApps {
		o.network(&s.world.facts)
	}
	for n := range v.Nodes() {
		o.nodes[n.Name] = n.Node
	}
	for row := range v.Workloads() {
		o.ids = append(o.ids, row.ID)
		o.rows[row.ID] = row
		if pos, queued := s.raw.Queue(row.ID); queued && row.Phase == model.Pending {
			o.positions[row.ID] = pos
		}
	}
	return &moment{o, s.raw.Branch()}
}

// checkTurn: what was given a node in the attempt has taken nothing that a workload whose turn is
// before could have used, unless that one is held back.
func (s *sim) checkTurn(t *moment) {
	if t == nil || len(s.took) == 0 || s.misordered {
		return
	}
	for _, id := range t.seen.ids {
		was, pos := t.seen.positions[id], s.positionOf(id)
		if was.Place != queue.Active || pos.Place != queue.Active || heldBack(&was) || heldBack(&pos) {
			continue
		}
		for _, b := range s.took {
			if b.Workload == id {
				continue
			}
			by, before := t.seen.turnBefore(id, b.Workload, s.o.Queues)
			if !before {
				continue
			}
			s.reach("workload passed by another")
			if s.fitsOn(t.branch, id, b.Node) && !s.wasHeld(t, id, b.Workload) {
				s.fail("%s was put on %s, where %s fits, whose turn is before by %s", b.Workload, b.Node, id, by)
			}
		}
	}
}

func (s *sim) positionOf(id string) queue.Position {
	pos, _ := s.raw.Queue(id)
	return pos
}

// wasHeld reports whether, before the attempt, something was held back in the part that the workload has its turn in
// where its way and the other's part. A hold that began when that was looked at, and was over before the attempt
// was, because something else has become the first there, is seen neither before nor after it.
func (s *sim) wasHeld(t *moment, id, other string) bool {
	if !s.o.Queues {
		return false
	}
	g := sightOf(t.branch.View())
	_, part, _ := t.seen.parting(t.seen.rows[id].Workload, t.seen.rows[other].Workload)
	return slices.ContainsFunc(t.seen.ids, func(id string) bool {
		w := t.seen.rows[id].Workload
		if t.seen.positions[id].Place != queue.Active || !t.seen.isIn(&part, w) {
			return false
		}
		held, err := t.branch.Held(s.now, cmp.Or(g.root(w), id))
		return err == nil && held != nil
	})
}

func heldBack(pos *queue.Position) bool { return pos.Standing != nil && pos.Standing.Held != nil }

// fitsOn reports whether the workload, or its tree of groups, would have a place on the node.
func (s *sim) fitsOn(b *engine.Branch, id, node string) (fits bool) {
	s.quietly(func() {
		b := b.Branch()
		row, _ := b.View().Workload(id)
		if row.Group != "" {
			d, err := b.ScheduleGroup(s.now, row.Group)
			placed, _ := b.View().Workload(id)
			fits = err == nil && d.Root != "" && placed.Node == node
			return
		}
		there := row.Workload.Clone()
		if there.NodeName == "" {
			there.NodeName = node
		}
		if err := b.Apply(s.now, engine.Update(there)); err != nil {
			s.fail("%s cannot be sent to %s on a branch: %v", id, node, err)
			return
		}
		d, err := b.Schedule(s.now, id)
		fits = err == nil && d.Binding.Node == node
	})
	return fits
}

// line is by what a workload, or its tree of groups, stands in a line of its own.
type line struct {
	priority int32
	since    time.Time // zero: not known
}

func (l line) before(o line) bool {
	if l.priority != o.priority {
		return l.priority > o.priority
	}
	return !l.since.IsZero() && !o.since.IsZero() && l.since.Before(o.since)
}

// lineOf is how the workload stands in a line by priority and time.
func (o *observed) lineOf(id string, byQueues bool) line {
	row, pos := o.rows[id], o.positions[id]
	switch {
	case row.Group != "":
		return line{priority: row.Priority} // which is that of the tree
	case byQueues:
		return line{row.Priority, pos.AddedAt}
	}
	return line{row.Priority, pos.Timestamp}
}

// byLine is the order of those that stand in one line.
const byLine model.OrderPolicy = "its line"

// turnBefore reports whether one has its turn before another for certain, and by what: there are orders
// that go by more than can be seen here.
func (o *observed) turnBefore(id, other string, byQueues bool) (by model.OrderPolicy, before bool) {
	a, b := o.rows[id], o.rows[other]
	switch {
	case a.Group != "" && a.Group == b.Group:
		return byLine, false
	case o.byApps:
		return byLine, o.appBefore(&a, &b)
	case byQueues && (a.Queue != b.Queue || a.Principal != b.Principal):
		return o.partBefore(a.Workload, b.Workload, o.lineOf(id, true), o.lineOf(other, true))
	}
	return byLine, o.lineOf(id, byQueues).before(o.lineOf(other, byQueues))
}

// partBefore reports whether the part of the one workload has its turn before that of the other for
// certain, where their ways part, and by which policy.
func (o *observed) partBefore(a, b *model.Workload, lineA, lineB line) (policy model.OrderPolicy, before bool) {
	above, x, y := o.parting(a, b)
	policy = cmp.Or(above.Policy, model.OrderShare)
	px, py := x.priority(), y.priority()
	switch {
	case policy == model.OrderFIFO:
		return policy, o.allActive(&x, func(l line) bool { return !l.since.IsZero() && l.since.Before(lineB.since) })
	case px != py:
		return policy, px > py
	case policy == model.OrderPriority && x.queue == nil: // what goes first in it is not behind a
		return policy, lineA.before(lineB)
	case policy == model.OrderPriority:
		return policy, o.allActive(&x, func(l line) bool { return l.before(lineB) })
	case o.plansAhead && o.othersWait(&x, a):
		return policy, false
	case policy == model.OrderUsage:
		return policy, o.hadLessBefore(above, &x, &y)
	}
	return policy, o.hadLess(&x, &y)
}

// parting is where the ways of two workloads part: the queue above, and the part of it that each is in.
func (o *observed) parting(a, b *model.Workload) (above *model.Queue, x, y portion) {
	partsA, partsB := o.partsOf(a), o.partsOf(b)
	above, i := &model.Queue{}, 0
	for ; partsA[i].queue != nil && partsA[i].queue == partsB[i].queue; i++ {
		above = partsA[i].queue
	}
	return above, partsA[i], partsB[i]
}

// othersWait reports whether anything else than the workload, and those of its group, waits in the part. Where the
// engine plans ahead the part is charged for those that have their turn before the workload, whether they start or not.
func (o *observed) othersWait(p *portion, w *model.Workload) bool {
	return slices.ContainsFunc(o.ids, func(id string) bool {
		row, pos := o.rows[id], o.positions[id]
		waits := pos.Place != queue.None && pos.Place != queue.Gated
		return waits && id != w.ID && (w.Group == "" || row.Group != w.Group) && o.isIn(p, row.Workload)
	})
}

// allActive reports whether it is so of all active ones in the part, so that it is of its first, whatever
// goes first in it.
func (o *observed) allActive(p *portion, is func(line) bool) bool {
	for _, id := range o.ids {
		if o.positions[id].Place == queue.Active && o.isIn(p, o.rows[id].Workload) && !is(o.lineOf(id, true)) {
			return false
		}
	}
	return true
}
