package simulate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// endOfHistory lets everything settle: with nothing failing any more every
// workload that fits is placed, first without, then with the help of the
// queue's timeouts; and when all workloads have gone, nothing is left of them.
func (s *sim) endOfHistory() {
	if s.plugins.faulty() {
		s.keepLife() // the log does not say that the plugin stops
	}
	s.plugins.plan.Off, s.world.reach = true, true
	if s.hostility != nil {
		s.hostility.off = true
	}
	if s.o.Calm != nil {
		s.o.Calm()
	}
	for _, stage := range []func(){s.deliver, s.settleShortly, s.settleFully, s.drain, s.reuse} {
		if s.result.Failure == nil {
			stage()
		}
	}
	if !s.plugins.faulty() {
		s.keepLife()
	}
}

// deliver reports what was not reported yet.
func (s *sim) deliver() {
	s.note(s.step, "the end: everything is reported, nothing fails any more")
	if s.o.Queues {
		s.apply(s.queuesAtFirst(true)...)
	}
	s.tellEverything()
	s.runAll()
	s.tellEverything()
	s.now = s.now.Add(time.Millisecond)
	s.world.calm = s.now
	for _, id := range s.rowsWhere(func(*model.WorkloadRecord) bool { return true }) {
		row, _ := s.row(id)
		e := s.world.book[id]
		switch {
		case e.leaving && row.Phase != model.Finished:
			s.letGo(id)
		case e.unreported && e.node != "" && row.Phase.CanMoveTo(model.Confirmed):
			s.confirm(id, e.node, nil)
		}
		s.observe()
	}
}

// letGo ends a workload that was asked to leave.
func (s *sim) letGo(id string) {
	e := s.world.book[id]
	s.abandon(id)
	s.apply(engine.Finish(id))
	e.lost()
	e.ended = true
}

// finishAll does all tasks, and lets everything go that was asked to.
func (s *sim) finishAll() {
	s.runAll()
	for _, id := range s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Phase == model.Terminating }) {
		if s.result.Failure == nil {
			s.letGo(id)
			s.note(s.step, "finish "+id)
			s.observe()
		}
	}
	s.tellEverything()
}

// runAll does all tasks.
func (s *sim) runAll() {
	for s.result.Failure == nil {
		s.takeTasks()
		if len(s.tasks) == 0 {
			return
		}
		t := s.tasks[0]
		if !t.ran {
			s.work(t)
		}
		s.note(s.step, "do "+t.String()+s.giveBack(t))
		s.observe()
	}
}

// advance lets the engine work on its own until the time.
func (s *sim) advance(until time.Time) {
	for turns := 0; s.result.Failure == nil; turns++ {
		attempts := 0
		for was := s.raw.View().Index(); s.schedule(); was = s.raw.View().Index() {
			if attempts++; attempts > 10000 {
				s.fail("the engine makes one attempt after the other at one moment")
				return
			}
			s.note(s.step, "schedule")
			if s.takeTasks(); s.raw.View().Index() == was && len(s.tasks) == 0 {
				continue // an attempt that has changed nothing
			}
			s.observe()
			s.finishAll()
		}
		due, ok := s.raw.NextDue(s.now)
		if !ok || due.After(until) {
			s.now = until
			return
		}
		if turns > 10000 {
			s.fail("the engine does not come to rest")
		}
		s.now = due
		s.tick()
		s.note(s.step, "tick")
		s.observe()
		s.finishAll()
	}
}

// settleShortly waits out all backoffs, but not the timeout of the unschedulable
// ones: nobody may need that. With a faulty plugin there are some that do.
func (s *sim) settleShortly() {
	s.advance(s.now.Add(45 * time.Second))
	if !s.plugins.faulty() && s.result.Failure == nil {
		s.checkWoken()
	}
}

// allowAll allows whatever waits on permit.
func (s *sim) allowAll() {
	s.handle.Waiting().Each(func(w extpoints.WaitingWorkload) bool {
		for _, plugin := range w.PendingPlugins() {
			w.Allow(plugin)
		}
		return true
	})
	s.raw.Settle(s.now)
	s.note(s.step, "allow all")
	s.observe()
	s.runAll()
}

// settleFully waits until every workload was tried again, and wants all placed
// that fit and that Permit does not hold back, those apart that wait for one that
// it does. A group that fits may need several tries, because it may be placed in
// several ways, and not all of them leave enough room.
func (s *sim) settleFully() {
	s.allowAll()
	s.advance(s.now.Add(8 * time.Minute))
	for range 3 {
		if s.checkAtRest(false) {
			s.advance(s.now.Add(8 * time.Minute))
		}
	}
	s.checkAtRest(true)
}

// checkAtRest reports whether a group would fit; the last time it must not.
func (s *sim) checkAtRest(last bool) (again bool) {
	s.observe()
	g := sightOf(s.raw.View())
	for _, id := range s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Phase == model.Pending }) {
		pos, _ := s.raw.Queue(id)
		if gated := pos.Place == queue.Gated; gated && !s.awaitsDeparture(&pos) || pos.Place == queue.Incomplete {
			s.checkGate(g, id)
			continue
		}
		node := s.fits(id)
		if node == "" || s.turnedDown(&pos) || s.awaitsArrival(&pos) {
			continue
		}
		if row, _ := s.row(id); row.Group != "" && !last {
			again = true
			continue
		}
		s.fail("at rest %s is %v because of %v, and would fit on %s", id, pos.Place, pos.UnschedulablePlugins, node)
	}
	return again
}

// drain removes everything and wants nothing left.
func (s *sim) drain() {
	ids := s.rowsWhere(func(*model.WorkloadRecord) bool { return true })
	s.rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for chunk := range slices.Chunk(ids, 6) {
		var changes []engine.Change
		for _, id := range chunk {
			s.abandon(id)
			delete(s.world.book, id)
			changes = append(changes, engine.Remove(id))
		}
		s.note(s.step, fmt.Sprintf("remove %v", chunk))
		s.gone = append(s.gone, chunk...)
		s.apply(changes...)
		s.observe()
	}
	s.runAll()
	if got, want := s.raw.QueueCounts(), (queue.Counts{}); got != want {
		s.fail("all is gone, and the queue has %+v", got)
	}
	for _, id := range s.gone {
		if pos, ok := s.raw.Queue(id); ok {
			s.fail("%s is gone, and %v in the queue", id, pos.Place)
		}
	}
	if r := s.plugins.rounds; len(r.Open()) > 0 {
		s.fail("all is gone, and reserved is %v", r.Open())
	}
}

// reuse gives IDs of some that have gone to new workloads: the engine must
// remember nothing about them.
func (s *sim) reuse() {
	n := &model.Node{Name: "spare", Allocatable: model.Resources{CPU: 1 << 40}}
	s.world.put(n)
	s.apply(engine.PutNode(n))
	slices.Sort(s.gone)
	s.gone = slices.Compact(s.gone)
	s.rng.Shuffle(len(s.gone), func(i, j int) { s.gone[i], s.gone[j] = s.gone[j], s.gone[i] })
	again := s.gone[:min(len(s.gone), 12)]
	for _, id := range again {
		w := &model.Workload{ID: id, Requests: model.Resources{CPU: 1}, NodeName: n.Name}
		s.world.book[id] = &booked{spec: w}
		s.note(s.step, "submit a new "+id)
		s.apply(engine.Submit(w))
		pos, _ := s.raw.Queue(id)
		if e, err := s.raw.Explain(s.now, id, engine.ExplainOptions{}); err != nil || e.Last != nil {
			s.fail("the engine knows %+v (%v) of a new workload", e.Last, err)
		}
		if pos.Place != queue.Active || pos.Attempts != 0 || pos.UnschedulableCount != 0 {
			s.fail("a new workload is %+v", pos)
		}
	}
	s.observe()
	s.advance(s.now.Add(time.Minute))
	for _, id := range again {
		s.evicting = ""
		if err := s.raw.Evict(s.now, id, "the end"); err != nil || s.evicting != id {
			s.fail("the eviction of a new %s is not asked for: %v", id, err)
		}
	}
	s.runAll()
}

// tellEverything has the world come to rest, and tells the engine of it.
func (s *sim) tellEverything() {
	for range 3 {
		if s.tend() == "" && len(s.world.facts.untold) == 0 {
			return
		}
		for _, ref := range sortedRefs(maps.Keys(s.world.facts.untold), nil) {
			if what := s.tellOf(ref); what != "" && s.result.Failure == nil {
				s.note(s.step, "told:"+what)
			}
		}
		s.observe()
	}
}
