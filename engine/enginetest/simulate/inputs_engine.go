package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// inputNoise changes what is neither a node nor a workload.
func inputNoise(s *sim) string {
	var ch engine.Change
	switch s.rng.IntN(6) {
	case 0:
		ch = engine.PutGroup(&model.Group{ID: "noise", Priority: int32(s.rng.IntN(3))})
	case 1:
		return inputBudget(s)
	case 2:
		ch = engine.PutNamespace(&model.Namespace{Name: "web", Labels: map[string]string{"team": pickOf(s, []string{"x", "y"})}})
	default:
		v := s.raw.View()
		_, group := v.Group("noise")
		_, budget := v.Budget("b0")
		_, namespace := v.Namespace("web")
		switch {
		case group:
			ch = engine.RemoveGroup("noise")
		case budget:
			ch = engine.RemoveBudget("b0")
		case namespace:
			ch = engine.RemoveNamespace("web")
		default:
			return ""
		}
	}
	what := ch.String()
	s.apply(ch)
	return what
}

// inputBudget reports a budget.
func inputBudget(s *sim) string {
	b := s.newBudget()
	s.apply(engine.PutBudget(b))
	s.budgetAt[b.ID] = s.raw.View().Index()
	return fmt.Sprintf("budget %s: %d of %s in %q", b.ID, b.Allowed, b.Selector, b.Namespace)
}

// inputBatch makes several changes in one transaction.
func inputBatch(s *sim) string {
	var changes []engine.Change
	what := "batch:"
	for range 1 + s.rng.IntN(6) {
		switch s.rng.IntN(3) {
		case 0:
			if n := s.newNode(); n != nil {
				s.world.put(n)
				s.forced[n.Name] = true
				changes = append(changes, engine.PutNode(n))
			}
		case 1:
			w := s.newWorkload()
			s.world.book[w.ID] = &booked{spec: w}
			changes = append(changes, engine.Submit(w))
		case 2:
			if row, ok := s.moving(model.Finished); ok && !s.world.book[row.ID].ended {
				s.abandon(row.ID)
				e := s.world.book[row.ID]
				e.lost()
				e.ended = true
				changes = append(changes, engine.Finish(row.ID))
			}
		}
	}
	for i := range changes {
		what += " " + changes[i].String()
	}
	s.apply(changes...)
	return what
}

func inputTick(s *sim) string {
	s.tick()
	return "tick"
}

// tick does what is due, and after that nothing may be due at once: an engine
// with a clock would spin.
func (s *sim) tick() {
	s.raw.Tick(s.now)
	if due, ok := s.raw.NextDue(s.now); ok && !due.After(s.now) {
		s.fail("something is due at once after a tick")
	}
}

func inputJump(s *sim) string {
	jump := time.Duration(s.rng.Int64N(int64(pickOf(s, []time.Duration{2 * time.Second, 15 * time.Second, time.Minute, 20 * time.Minute}))))
	s.now = s.now.Add(jump)
	if s.chance(70) {
		s.tick()
		return fmt.Sprintf("jump by %v and tick", jump)
	}
	return fmt.Sprintf("jump by %v", jump)
}

// inputPermit allows or rejects a workload that waits, in the name of one of
// the plugins that hold it, or of another.
func inputPermit(s *sim) string {
	var list []extpoints.WaitingWorkload
	s.handle.Waiting().Each(func(w extpoints.WaitingWorkload) bool {
		list = append(list, w)
		return true
	})
	w := pickOf(s, list)
	if w == nil {
		return ""
	}
	name := pickOf(s, append(w.PendingPlugins(), w.PendingPlugins()[0], unknownPlugin))
	what := "allow"
	if s.chance(60) {
		w.Allow(name)
	} else {
		w.Reject(name, "turned down from outside")
		what = "reject"
	}
	s.raw.Settle(s.now)
	return fmt.Sprintf("%s %s by %s", what, w.Workload().ID, name)
}

func inputActivate(s *sim) string {
	ids := make([]string, 1+s.rng.IntN(3))
	for i := range ids {
		ids[i] = faults.WorkloadID(s.rng.IntN(s.made + 1))
	}
	s.handle.Activate(ids...)
	s.raw.Settle(s.now)
	return fmt.Sprintf("activate %v", ids)
}

// inputLook asks for explanations and tries things out on branches, none of
// which may change anything.
func inputLook(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(*model.WorkloadRecord) bool { return true }))
	if id == "" {
		return ""
	}
	before, events := s.raw.View().Index(), len(s.events)
	s.quietly(func() {
		s.explain(id)
		b := s.raw.Branch()
		if row, _ := s.row(id); row.Phase == model.Pending {
			_, _ = b.Schedule(s.now, id)
		}
		changes := []engine.Change{engine.Remove(id), engine.PutNode(&model.Node{Name: "new", Allocatable: model.Resources{CPU: 1000}})}
		if err := b.Apply(s.now, changes...); err != nil {
			s.fail("valid changes are refused on a branch: %v", err)
		}
	})
	if s.raw.View().Index() != before || len(s.events) != events {
		s.fail("looking at %s changed something", id)
	}
	return "look at " + id
}

// explain explains a workload; what is said of one that the engine has placed
// must lead to the node where it is.
func (s *sim) explain(id string) {
	row, _ := s.row(id)
	e, err := s.raw.Explain(s.now, id, engine.ExplainOptions{AllFilters: s.chance(50)})
	switch {
	case err != nil:
		s.fail("explain %s: %v", id, err)
		return
	case e.String() == "" || e.Undecided && (row.Phase == model.Pending || e.Node != row.Node):
		s.fail("%s is %v on %q, and is explained as %v", id, row.Phase, row.Node, e)
		return
	case e.Undecided || row.Phase == model.Pending:
		return
	}
	if row.Phase == model.Bound && e.Last != nil {
		s.fail("%s is bound, and its last attempt failed: %+v", id, *e.Last)
	}
	at := slices.IndexFunc(e.Nodes, func(n engine.NodeExplanation) bool { return n.Node == row.Node })
	if e.Node != row.Node || at < 0 || !e.Nodes[at].Feasible || len(e.Ties) > 0 && !slices.Contains(e.Ties, row.Node) {
		s.fail("%s is on %s; the explanation says %s (%s), ties %v, %+v", id, row.Node, e.Node, e.Message, e.Ties, e.Nodes)
	}
}

// inputNonsense makes changes that must be refused, all of them, also the valid
// ones that come along.
func inputNonsense(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(*model.WorkloadRecord) bool { return true }))
	if id == "" {
		return ""
	}
	w, known := s.newWorkload(), &model.Workload{ID: id}
	bad := pickOf(s, []engine.Change{
		{}, engine.Remove("nobody"), engine.RemoveNode("nowhere"), engine.Finish("nobody"), engine.Submit(&model.Workload{}),
		engine.Submit(known), engine.Update(&model.Workload{ID: "nobody"}),
		engine.PutGroup(&model.Group{ID: "odd", Parent: "odd"}), engine.Requeue("nobody"), engine.Adopt(w, model.Binding{}),
		engine.PutNode(&model.Node{Name: ""}), engine.PutNode(&model.Node{Name: "n", Allocatable: model.Resources{CPU: -1}}),
		engine.Confirm(model.Binding{Workload: "nobody", Node: "n0"}), engine.Remove(""), engine.PutBudget(nil),
	})
	before := s.raw.View().Index()
	if err := s.raw.Apply(s.now, engine.Submit(w), bad, engine.Remove(id)); err == nil {
		s.fail("%s is not refused", bad.String())
	}
	if s.raw.Evict(s.now, "nobody", "") == nil {
		s.fail("the eviction of nobody is not refused")
	}
	if s.raw.View().Index() != before {
		s.fail("%s is refused, and changed something", bad.String())
	}
	return "nonsense: " + bad.String()
}

// inputCallOff has the engine give up what is not being bound yet, as one that
// stops does; then it goes on.
func inputCallOff(s *sim) string {
	s.raw.CallOff(s.now, engine.ErrStopped)
	s.handle.Waiting().Each(func(w extpoints.WaitingWorkload) bool {
		s.fail("%s still waits on permit", w.Workload().ID)
		return false
	})
	return "call off"
}

// inputRestart drops the engine and everything that it had handed out, and
// makes a new one that is told what the orchestrator knows.
func inputRestart(s *sim) string {
	s.keepLife()
	s.world.forgetEnded()
	s.start()
	return "restart"
}

// forgetEnded forgets what no engine needs to hear of again.
func (w *simWorld) forgetEnded() {
	for id, e := range w.book {
		if e.ended {
			delete(w.book, id)
		}
	}
}

// inputNominate has somebody else say which node a workload waits for, if any.
func inputNominate(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(*model.WorkloadRecord) bool { return true }))
	if id == "" {
		return ""
	}
	node := ""
	if s.chance(70) {
		node = pickOf(s, s.world.order)
	}
	s.apply(engine.Nominate(id, node))
	pos, _ := s.raw.Queue(id)
	s.nominated[id] = pos.Attempts
	return fmt.Sprintf("nominate %s to %q", id, node)
}
