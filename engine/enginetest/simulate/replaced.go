package simulate

import (
	"errors"
	"slices"

	"github.com/berth-project/berth/engine"
)

// hostileStep makes a step. If the engine breaks the next one takes over.
func (s *sim) hostileStep() {
	s.besideIfHostile(s.oneStep)
	if s.saidBroken && s.broken == 0 {
		s.fail("the engine has said that it is broken to what it called, and not to the listener")
	}
	for s.broken > 0 && s.result.Failure == nil {
		s.besideIfHostile(s.replaceBroken)
	}
}

// replaceBroken checks that a broken engine says so, and makes a new one that is told what the
// orchestrator knows.
func (s *sim) replaceBroken() {
	times := s.broken
	s.broken, s.saidBroken, s.nested, s.attempting, s.current = 0, false, false, false, nil
	if times > 1 {
		s.fail("the listener was told %d times that the engine is broken", times)
	}
	s.hostility.spare(s.checkBroken)
	told := slices.Collect(s.raw.View().Changes())
	cfg := simConfig(s.plugins.fresh(), s.o)
	cfg.Orchestrator = deafWorld{}
	raw, err := engine.NewRaw(cfg)
	if err == nil {
		err = raw.Apply(s.now, told...)
	}
	if err != nil {
		s.fail("a new engine is told what the broken one knows, and says %v", err)
	}
	s.reach("engine broken and replaced")
	s.note(s.step, "the engine is broken, and is replaced")
	s.keepLife()
	s.world.forgetEnded()
	s.start()
	s.observe()
}

// checkBroken checks that all that would change the engine is refused, and that it may be read.
func (s *sim) checkBroken() {
	for name, err := range s.tryAll() {
		if !errors.Is(err, engine.ErrBroken) {
			s.fail("the engine is broken, and %s says %v", name, err)
		}
	}
	s.raw.QueueCounts()
	s.raw.Branch()
}
