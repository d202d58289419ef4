package simulate_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
)

// byteSource makes choices of bytes. Each byte is one choice, in a place of its
// own: what a byte means does not depend on those before it.
type byteSource struct {
	data []byte
	at   uint64
}

func (s *byteSource) Uint64() uint64 {
	x := s.at << 8
	if s.at < uint64(len(s.data)) {
		x |= uint64(s.data[s.at])
	}
	s.at++
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// FuzzHistory takes the choices of a history from bytes: about four of them for
// each step.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("a short one"), false)
	f.Add(bytes.Repeat([]byte("some more of it, "), 20), true)
	f.Fuzz(func(t *testing.T, data []byte, faulty bool) {
		if len(data) > 2000 {
			return
		}
		o := simulate.Options{Steps: 1 + len(data)/4, Nodes: 4, Plugins: simulate.MoodGood, Source: &byteSource{data: data}}
		if faulty {
			o.Plugins = simulate.MoodFaulty
		}
		simulate.Run(t, 1, o)
	})
}

// FuzzReplay gives any bytes to a replay: it may refuse them, and must neither
// panic nor hang. What it takes, up to where it ends, it must take again, to the same
// end and without a divergence.
func FuzzReplay(f *testing.F) {
	base := simulate.Run(f, 1, simulate.Options{Steps: 1, Plugins: simulate.MoodGood, Record: true})
	header, _, _ := bytes.Cut(base.Lives[0].Log, []byte("\n"))
	for seed := range uint64(12) {
		r := simulate.Run(f, seed, simulate.Options{Steps: 12, Nodes: 2, Record: true, Rotate: 5})
		for _, life := range r.Lives {
			f.Add(life.Log) // that may begin with a state
			_, inputs, _ := bytes.Cut(life.Log, []byte("\n"))
			f.Add(slices.Concat(header, []byte("\n"), inputs))
			f.Add(life.Log[:len(life.Log)*2/3])
		}
	}
	for _, line := range []string{
		"{}",
		`{"Apply":[{}]}`,
		`{"At":"2026-03-01T00:00:00Z","Finish":{"Task":1}}`,
		`{"Commands":[{"Allow":"w"},{"Activate":["w"]}],"Answers":[{"Plugin":{"Number":1,"Code":1}},{}]}`,
	} {
		f.Add([]byte(line))
		f.Add(fmt.Appendf(nil, "%s\n%s", header, line))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		if len(log) > 1<<16 {
			return
		}
		var once, again bytes.Buffer
		var events, eventsAgain []string
		cfg := base.Config(&events)
		cfg.Recorder = engine.NewRecorder(&once)
		r, err := engine.Replay(cfg, bytes.NewReader(log))
		if errors.Is(err, engine.ErrNoHeader) {
			return
		}
		if r == nil {
			t.Fatalf("there is no engine: %v", err)
		}
		cfg = base.Config(&eventsAgain)
		cfg.Recorder = engine.NewRecorder(&again)
		if _, err := engine.Replay(cfg, bytes.NewReader(once.Bytes())); err != nil {
			t.Fatalf("what was recorded is refused: %v", err)
		}
		if !bytes.Equal(once.Bytes(), again.Bytes()) || len(events) != len(eventsAgain) {
			t.Fatalf("recorded\n%s\nand then\n%s", once.Bytes(), again.Bytes())
		}
	})
}
