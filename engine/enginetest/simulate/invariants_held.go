package simulate

import (
	"cmp"
)

// checkHeld: of what was given a node in the attempt a branch from before it says that nothing holds it
// back, and of what a quota or a limit did hold back that something does.
func (s *sim) checkHeld(t *moment) {
	if t == nil || !s.o.Queues {
		return
	}
	for _, b := range s.took {
		if held := s.heldOn(t, b.Workload); held != "" {
			s.fail("%s was given a node, and on a branch it was held back: %s", b.Workload, held)
		}
	}
	for _, id := range t.seen.ids {
		pos := t.seen.positions[id]
		if !heldBack(&pos) || pos.Standing.Held.Workload != cmp.Or(pos.Group, id) {
			continue
		}
		s.reach("workload held back on a branch")
		// What is used over time decays, and nothing is told of that before it is enough.
		if s.heldOn(t, id) == "" && !pos.Standing.Held.Seconds {
			s.fail("%s is held back, and on a branch it is not: %s", id, pos.Standing.Held)
		}
	}
}

// heldOn says what holds the workload back on the branch of the moment, with its tree of groups where it
// waits with one; empty for nothing.
func (s *sim) heldOn(t *moment, id string) (what string) {
	s.quietly(func() {
		pos := t.seen.positions[id]
		held, err := t.branch.Held(s.now, cmp.Or(pos.Group, id))
		if err != nil {
			s.fail("what holds %s back: %v", id, err)
		} else if held != nil {
			what = held.String()
		}
	})
	return what
}
