package simulate

import (
	"fmt"
	"time"
)

// oneStep makes one input and checks everything.
func (s *sim) oneStep() {
	s.step++
	s.now = s.now.Add(time.Duration(s.rng.IntN(400)) * time.Millisecond)
	number := s.step
	var what string
	for range 8 {
		in := s.chooseInput()
		if what = in.do(s); what != "" {
			break
		}
	}
	if what == "" {
		what = inputSchedule(s)
	}
	s.note(number, what)
	s.observe()
	s.rotate()
}

// meanwhile lets things happen while a task runs.
func (s *sim) meanwhile() {
	if s.nested || !s.chance(15) {
		return
	}
	s.nested = true
	for range 1 + s.rng.IntN(2) {
		if s.result.Failure == nil {
			s.besideIfHostile(s.oneStep)
		}
	}
	s.nested = false
}

// schedule has the engine make an attempt.
func (s *sim) schedule() bool {
	s.attempting = true
	defer func() { s.attempting = false }()
	before := s.beforeAttempt()
	if !s.raw.Schedule(s.now) {
		s.checkIdle()
		return false
	}
	s.checkTurn(before)
	s.checkHeld(before)
	return true
}

func inputSchedule(s *sim) string {
	return fmt.Sprintf("schedule: %v", s.schedule())
}
