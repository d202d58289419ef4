// Package forecast knows for how long workloads have run, compared with their limits, and draws
// from that for how long others will. It also counts how often forecasts have come true.
package forecast

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// Sizes of a history.
const (
	// kept is how many ends are kept of each class; the oldest goes first, so that what
	// users do now counts.
	kept = 128
	// classes is how many classes there are at most. The one of which nothing has ended for
	// the longest time goes first.
	classes = 1024
	// enough ends say something of a class. Where it has fewer the next wider class is asked.
	enough = 8
)

// whole is the ratio of what has run for its whole limit.
const whole = 1_000_000

// Kind is which workloads are alike: those of one principal in one queue.
type Kind struct{ Queue, Principal string }

// class is some workloads: those of a kind, those in a queue, or all.
type class struct {
	Kind
	level level
}

type level uint8

const (
	ofKind level = iota
	inQueue
	all

	levels
)

// at is the class of the kind at a level. The wider the class the higher is the level.
func (k Kind) at(l level) class {
	switch l {
	case inQueue:
		k.Principal = ""
	case all:
		k = Kind{}
	}
	return class{k, l}
}

// ends are those of a class.
type ends struct {
	ratios []uint32 // of run time to limit, the oldest first; never changed in place
	last   uint64   // the number of the last
}

// History is how long the workloads that have ended last ran.
type History struct {
	noted uint64
	of    map[class]ends
}

// NewHistory returns an empty one.
func NewHistory() *History { return &History{of: map[class]ends{}} }

// Clone returns a copy.
func (h *History) Clone() *History {
	c := &History{noted: h.noted, of: make(map[class]ends, len(h.of))}
	for k, e := range h.of {
		c.of[k] = e
	}
	return c
}

// Len is how many have ended whose run times are known.
func (h *History) Len() int { return int(h.noted) }

// Note takes note of a workload that has ended. What ran past its limit counts as if it had
// ended then: nothing is planned beyond limits.
func (h *History) Note(k Kind, ran, limit time.Duration) {
	h.noted++
	ratio := uint32(whole)
	if ran < limit {
		ratio = uint32(scale(max(ran, 0), whole, limit))
	}
	for l := range levels {
		c := k.at(l)
		if _, known := h.of[c]; !known && len(h.of) == classes {
			h.forgetOldest()
		}
		e := h.of[c]
		e.ratios = append(slices.Clip(e.ratios[max(0, len(e.ratios)+1-kept):]), ratio)
		e.last = h.noted
		h.of[c] = e
	}
}

// forgetOldest forgets the class of which nothing has ended for the longest time. Of one end the
// classes are of three levels, so that none is as old as another of its level.
func (h *History) forgetOldest() {
	var oldest class
	first := true
	for c, e := range h.of {
		if o := h.of[oldest]; first || cmp.Or(cmp.Compare(e.last, o.last), cmp.Compare(c.level, oldest.level)) < 0 {
			oldest, first = c, false
		}
	}
	delete(h.of, oldest)
}

// Draw returns for how long a workload of the kind runs in all that has run for some time. dice
// chooses among those alike that ran longer, in relation to their limits. Where none did it is the limit.
func (h *History) Draw(k Kind, ran, limit time.Duration, dice uint64) time.Duration {
	for l := range levels {
		ratios := h.of[k.at(l)].ratios
		if len(ratios) < enough && l < all {
			continue
		}
		var longer []time.Duration
		for _, r := range ratios {
			if d := scale(limit, time.Duration(r), whole); d > ran {
				longer = append(longer, d)
			}
		}
		if len(longer) > 0 {
			return longer[dice%uint64(len(longer))]
		}
	}
	return limit
}

// scale is d · by / of, for numbers that are not negative, of which by is not above of.
func scale(d, by, of time.Duration) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(by))
	q, _ := bits.Div64(hi, lo, uint64(of))
	return time.Duration(q)
}

// State is a history as it is written down.
type State struct {
	Noted   uint64
	Classes []ClassState // the one of which something has ended last comes last
}

// ClassState is a class of a State.
type ClassState struct {
	Level     uint8
	Queue     string `json:",omitempty"`
	Principal string `json:",omitempty"`
	Last      uint64
	Ratios    []uint32
}

// State returns it.
func (h *History) State() *State {
	s := &State{Noted: h.noted}
	for c, e := range h.of {
		s.Classes = append(s.Classes, ClassState{uint8(c.level), c.Queue, c.Principal, e.last, e.ratios})
	}
	slices.SortFunc(s.Classes, func(a, b ClassState) int {
		return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Level, b.Level))
	})
	return s
}

// Resume makes the history that of the state.
func (h *History) Resume(s *State) {
	h.noted, h.of = s.Noted, make(map[class]ends, len(s.Classes))
	for _, c := range s.Classes {
		h.of[class{Kind{c.Queue, c.Principal}, level(c.Level)}] = ends{c.Ratios, c.Last}
	}
}
