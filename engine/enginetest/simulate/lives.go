package simulate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
)

// rotate begins a new log where it is time for one.
func (s *sim) rotate() {
	if s.o.Rotate == 0 || s.step < s.rotated+s.o.Rotate {
		return
	}
	before, cut, unreplayable := bytes.Clone(s.log.Bytes()), s.cut, s.unreplayable
	s.log.Reset()
	s.cut, s.unreplayable = false, false
	err := s.raw.StartRecording(s.now, s.newRecorder())
	if err != nil {
		s.log.Write(before)
		s.cut, s.unreplayable = s.cut || cut, s.unreplayable || unreplayable
		if !errors.Is(err, engine.ErrUnderWay) {
			s.fail("no recording can begin: %v", err)
		}
		return
	}
	if !unreplayable {
		s.result.Lives = append(s.result.Lives, Life{Log: before, Events: s.events, Cut: cut || s.cut || s.unreplayable, plan: s.plan})
	}
	s.events, s.rotated, s.plan = nil, s.step, s.plugins.plan.Clone()
	s.reach("rotated")
}

// records reports whether the inputs and the events are written down.
func (s *sim) records() bool { return s.o.Record || s.o.Replay != NoReplay }

// newRecorder makes one for the present log.
func (s *sim) newRecorder() *engine.Recorder {
	if s.hostility == nil {
		return engine.NewRecorder(&s.log)
	}
	return engine.NewRecorder(faults.Surroundings(s.hostility.at).Writer("the recorder", &s.log))
}

// keepLife keeps what the engine was told and did until now.
func (s *sim) keepLife() {
	if s.records() && !s.unreplayable {
		s.result.Lives = append(s.result.Lives, Life{Log: bytes.Clone(s.log.Bytes()), Events: slices.Clone(s.events), Cut: s.cut, plan: s.plan})
	}
}

// replayLives wants each engine of the history to do the same in a replay.
func (s *sim) replayLives() {
	if s.o.Replay == NoReplay || s.result.Failure != nil {
		return
	}
	for i := range s.result.Lives {
		if problem := s.result.replay(&s.result.Lives[i], []int{1, 2, 16}[i%3]); problem != "" {
			s.fail("log %d of %d, replayed: %s", i+1, len(s.result.Lives), problem)
		}
	}
	if !s.o.Record {
		s.result.Lives = nil // they are large
	}
}

// replay replays a log, and says what is not as it was; empty for nothing.
func (r *Result) replay(l *Life, workers int) string {
	if l.Cut && len(l.Log) == 0 {
		return ""
	}
	var events []string
	var log bytes.Buffer
	cfg := r.config(l.plan, &events)
	cfg.Recorder, cfg.Workers = engine.NewRecorder(&log), workers
	if _, err := engine.Replay(cfg, bytes.NewReader(l.Log)); err != nil {
		return err.Error()
	}
	want := l.Events
	if l.Cut {
		want = want[:min(len(want), len(events))]
	}
	if problem := difference(want, events); problem != "" {
		return "events: " + problem
	}
	if problem := difference(strings.Split(string(l.Log), "\n"), strings.Split(log.String(), "\n")); problem != "" {
		return "log: " + problem
	}
	return ""
}

// difference is the first between two lists; empty for none.
func difference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			return fmt.Sprintf("line %d is %s, and should not be", i, got[i])
		case i >= len(got):
			return fmt.Sprintf("line %d is missing: %s", i, want[i])
		case got[i] != want[i]:
			return fmt.Sprintf("line %d is %s, and should be %s", i, got[i], want[i])
		}
	}
	return ""
}
