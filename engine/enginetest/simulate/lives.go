package simulate

import (
	"bytes"
	"errors"
	"slices"

	"github.com/berth-project/berth/engine"
)

// rotate begins a new log where it is time for one.
func (s *sim) rotate() {
	if s.o.Rotate == 0 || s.step < s.rotated+s.o.Rotate {
		return
	}
	before := bytes.Clone(s.log.Bytes())
	s.log.Reset()
	err := s.raw.StartRecording(s.now, engine.NewRecorder(&s.log))
	if errors.Is(err, engine.ErrUnderWay) {
		s.log.Write(before)
		return
	}
	if err != nil {
		s.fail("no recording can begin: %v", err)
		return
	}
	s.result.Lives = append(s.result.Lives, Life{Log: before, Events: s.events})
	s.events, s.rotated = nil, s.step
	s.reach("rotated")
}

// keepLife keeps what the engine was told and did until now.
func (s *sim) keepLife() {
	if s.o.Record {
		s.result.Lives = append(s.result.Lives, Life{Log: bytes.Clone(s.log.Bytes()), Events: slices.Clone(s.events)})
	}
}
