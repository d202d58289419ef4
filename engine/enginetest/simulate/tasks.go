package simulate

import (
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// takeTasks takes every task that is ready.
func (s *sim) takeTasks() {
	for t := s.raw.NextTask(); t != nil; t = s.raw.NextTask() {
		st := &simTask{task: t, id: t.Workload().ID}
		if b, binds := t.Binding(); binds {
			st.node, st.decided = b.Node, b.Decided
			s.drawPlans(st)
		} else if c := t.Claim(); c != nil {
			st.releases = c.ID
		} else {
			st.evicts = true
			row, _ := s.row(st.id)
			st.node, st.placed = row.Node, row.PlacedAt
		}
		if s.hostility != nil && s.chance(10) {
			st.hangs = s.now.Add(time.Duration(s.rng.Int64N(int64(time.Hour))))
		}
		s.tasks = append(s.tasks, st)
	}
}

// asked are the objects that the orchestrator is asked for: not what room is left.
func asked(decided model.Objects) model.Objects {
	return slices.DeleteFunc(slices.Clone(decided), func(o model.Object) bool { return model.RefOf(o).Kind == model.StorageCapacityKind })
}

// draw makes the plans of a task.
func (s *sim) drawPlans(t *simTask) {
	for i := range t.plans {
		if s.world.reach {
			t.plans[i] = binderPlan{}
			continue
		}
		t.plans[i] = binderPlan{
			unreachable: s.chance(12), certain: s.chance(50), partly: s.chance(8), lost: s.chance(s.ifScarce(30, 8)), late: s.chance(30),
			unmade: s.chance(15), takenBack: s.chance(50), notReady: s.chance(5),
		}
	}
}

// abandon notes that the engine must no longer want the binding of the workload
// that is under way.
func (s *sim) abandon(id string) {
	for _, t := range s.tasks {
		if t.id == id && t.binds() && !t.abandoned {
			t.abandoned = true
		}
	}
}

// stop notes that the engine wants the binding of the workload ended that is
// under way.
func (s *sim) stop(id string) {
	if row, _ := s.row(id); row.Phase != model.Assumed {
		return
	}
	for _, t := range s.tasks {
		if t.id == id && t.binds() && !t.abandoned {
			t.stopped = true
		}
	}
}

// interruptIf is abandon for a workload in one of the phases.
func (s *sim) interruptIf(id string, phases ...model.Phase) {
	if row, ok := s.row(id); ok && slices.Contains(phases, row.Phase) {
		s.abandon(id)
	}
}
