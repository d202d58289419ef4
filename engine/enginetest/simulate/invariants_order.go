package simulate

import (
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
			if b.Workload == id || !t.seen.turnBefore(id, b.Workload, s.o.Queues) {
				continue
			}
			s.reach("workload passed by another")
			if s.fitsOn(t.branch, id, b.Node) {
				s.fail("%s was put on %s, where %s fits, whose turn is before", b.Workload, b.Node, id)
			}
		}
	}
}

func (s *sim) positionOf(id string) queue.Position {
	pos, _ := s.raw.Queue(id)
	return pos
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

// turnBefore reports whether one has its turn before another for certain: there are orders that
// go by more than can be seen here.
func (o *observed) turnBefore(id, other string, byQueues bool) bool {
	a, b := o.rows[id], o.rows[other]
	switch {
	case a.Group != "" && a.Group == b.Group:
		return false
	case byQueues && (a.Queue != b.Queue || a.Principal != b.Principal):
		return o.partBefore(a.Workload, b.Workload, o.lineOf(id, true), o.lineOf(other, true))
	}
	return o.lineOf(id, byQueues).before(o.lineOf(other, byQueues))
}
