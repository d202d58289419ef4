package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// queueOf is the queue that the workload is in, empty for none.
func (s *sim) queueOf(w *model.Workload) string {
	if list := s.queuesAbove(w); len(list) > 0 {
		return list[0].Name
	}
	return w.Queue
}

// acrossQueues reports whether one would be displaced for another queue.
func (s *sim) acrossQueues(by, victim *model.Workload) bool {
	return s.o.Queues && s.queueOf(by) != s.queueOf(victim)
}

// checkReclaim checks what a workload, or the members of a tree of groups, would displace
// now in other queues; see checkLosers, and checkReturn for one workload.
func (s *sim) checkReclaim(by []*model.Workload, rank int32, victims []extpoints.Eviction) {
	if !s.o.Queues || len(by) == 0 {
		return
	}
	var lost []model.WorkloadRecord
	for _, e := range victims {
		v, _ := s.row(e.ID)
		if !s.acrossQueues(by[0], v.Workload) {
			if s.rank(&v) >= rank {
				s.fail("%s would displace %s (%d) of its own queue", by[0].ID, v.ID, s.rank(&v))
			}
			continue
		}
		s.reach("victim in another queue")
		s.checkWilling(by[0], rank, &v)
		if v.Phase != model.Terminating {
			lost = append(lost, v)
		}
	}
	s.checkLosers(by, lost, victims)
}

// checkWilling: the queue of the one may displace the other, which has run long enough.
func (s *sim) checkWilling(by *model.Workload, rank int32, v *model.WorkloadRecord) {
	var policy model.ReclaimPolicy
	mine := s.queuesAbove(by)
	if len(mine) > 0 {
		policy = mine[0].Reclaim
	}
	if policy != model.ReclaimAny && (policy != model.ReclaimLower || s.rank(v) >= rank) {
		s.fail("%s (%d) would displace %s (%d) of another queue, and the policy of its own is %q", by.ID, rank, v.ID, s.rank(v), policy)
	}
	for _, q := range s.losing(mine, v.Workload) {
		if ran := s.now.Sub(v.PlacedAt); v.Phase != model.Terminating && !v.PlacedAt.IsZero() && ran < q.MinRuntime && v.Group == "" {
			s.fail("%s would displace %s, which has run for %v, and in queue %s it may for %v", by.ID, v.ID, ran, q.Name, q.MinRuntime)
		}
	}
}

// losing are the queues of the workload up to where its way parts from the one given.
func (s *sim) losing(mine []*model.Queue, w *model.Workload) []*model.Queue {
	theirs := s.queuesAbove(w)
	for i, q := range theirs {
		if slices.ContainsFunc(mine, func(m *model.Queue) bool { return m.Name == q.Name }) {
			return theirs[:i]
		}
	}
	return theirs
}

// checkLosers: each queue that loses something had more than it is guaranteed, and with
// one of those that it loses it still would have, of everything that is asked for, that
// this one uses, and that is guaranteed.
func (s *sim) checkLosers(by []*model.Workload, lost []model.WorkloadRecord, victims []extpoints.Eviction) {
	var asked model.Resources
	for _, w := range by {
		charge(&asked, w)
	}
	mine := s.queuesAbove(by[0])
	g := sightOf(s.raw.View())
	for _, v := range lost {
		for _, q := range s.losing(mine, v.Workload) {
			use := s.useIn(q.Name, victims)
			if !slices.ContainsFunc(lost, func(last model.WorkloadRecord) bool {
				return slices.Contains(namesOf(s.queuesAbove(last.Workload)), q.Name) && overWith(q, &use, &asked, s.leavingWith(g, &last))
			}) {
				s.fail("%s would displace %s, and queue %s has no more than it is guaranteed", by[0].ID, v.ID, q.Name)
			}
		}
	}
}

func namesOf(list []*model.Queue) (names []string) {
	for _, q := range list {
		names = append(names, q.Name)
	}
	return names
}

// leavingWith is what the workload uses, or all who would have to leave with it.
func (s *sim) leavingWith(g *sight, w *model.WorkloadRecord) *model.Resources {
	whole := g.wholeOf(w.Workload)
	var sum model.Resources
	charge(&sum, w.Workload)
	for _, id := range sortedKeys(g.rows) {
		if o := g.rows[id]; whole != "" && id != w.ID && isPlaced(&o) && g.below(o.Workload, whole) {
			charge(&sum, o.Workload)
		}
	}
	return &sum
}

// charge adds what queues count of the workload: resources, and of each class of devices how much it asks for.
func charge(sum *model.Resources, w *model.Workload) {
	sum.Add(&w.Requests)
	for i := range w.Devices {
		d := &w.Devices[i]
		sum.Set(d.Class, sum.Get(d.Class)+d.Total())
	}
}

// overWith reports whether the queue would have more than it is guaranteed with what one
// more uses.
func overWith(q *model.Queue, use, asked, more *model.Resources) (over bool) {
	for _, r := range asked.Names() {
		if asked.Get(r) == 0 || more.Get(r) == 0 {
			continue
		}
		if own := q.Guaranteed[r]; own > 0 && use.Get(r)+more.Get(r) <= own {
			return false
		}
		over = over || use.Get(r)+more.Get(r) > q.Guaranteed[r]
	}
	return over
}

// useIn is what is used in the queue when the victims, and all who leave anyway, have gone and those have
// come who are nominated.
func (s *sim) useIn(queue string, victims []extpoints.Eviction) (use model.Resources) {
	for row := range s.raw.View().Workloads() {
		counts := isPlaced(&row) && row.Phase != model.Terminating || row.Phase == model.Pending && row.Nominated != ""
		gone := slices.ContainsFunc(victims, func(e extpoints.Eviction) bool { return e.ID == row.ID })
		if counts && !gone && slices.Contains(namesOf(s.queuesAbove(row.Workload)), queue) {
			charge(&use, row.Workload)
		}
	}
	return use
}

// checkReturn: with the workload where the room is made, and those of other queues gone who
// would leave for it, none of these could displace it, if it were to come back at once.
func (s *sim) checkReturn(id, node string, victims []extpoints.Eviction) {
	w, _ := s.row(id)
	var back []*model.Workload
	b := s.raw.Branch()
	for _, e := range victims {
		v, _ := s.row(e.ID)
		if s.acrossQueues(w.Workload, v.Workload) && v.Group == "" && v.Phase != model.Terminating {
			back = append(back, v.Workload)
		}
		if b.Apply(s.now, engine.Remove(e.ID)) != nil {
			return
		}
	}
	if d, err := b.Schedule(s.now, id); err != nil || d.Binding.Node != node {
		return // something else is nominated there
	}
	for _, v := range back {
		try := b.Branch()
		again := v.Clone()
		again.ID += "/back"
		again.NodeName = ""
		if try.Apply(s.now, engine.Submit(again)) != nil {
			continue
		}
		d, err := try.Schedule(s.now, again.ID)
		s.reach("victim tried to come back")
		if err == nil && slices.ContainsFunc(d.Evictions, func(e extpoints.Eviction) bool { return e.ID == id }) {
			s.fail("%s would displace %s, which could displace it at once", id, v.ID)
		}
	}
}
