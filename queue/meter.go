package queue

import (
	"math"
	"math/bits"

	ledgers "github.com/berth-project/berth/queue/share"
)

// meter is what has been used of a limit on resource-seconds, in units of the resource times
// milliseconds, and what those that run may yet use of it.
type meter struct {
	ledger *ledgers.Ledger // of one; nil where nothing is given back
	spent  ledgers.Uint128 // where there is no ledger, up to at
	rate   int64           // what is used in each millisecond, likewise
	at     int64
	// planned is what those may use that run now, of which the time limit is known.
	planned []planned
	byID    map[string]int // of planned
	// told: it is said that the limit is reached.
	told  bool
	reach int64 // when it will be, as of asOf
	asOf  int64
}

// planned is that a workload may use so much in each millisecond until its time limit.
type planned struct {
	id     string
	n, end int64
}

func newMeter(halfLife, tick int64) *meter {
	m := &meter{at: tick, byID: map[string]int{}, asOf: never}
	if halfLife > 0 {
		m.ledger = newLedger(halfLife, tick)
		m.ledger.AddPrincipal()
	}
	return m
}

// halfLife is 0 where nothing is given back.
func (m *meter) halfLife() int64 {
	if m.ledger == nil {
		return 0
	}
	return m.ledger.HalfLife()
}

// used is what has been used by a time, if until then nothing begins or ends.
func (m *meter) used(tick int64) ledgers.Uint128 {
	if m.ledger != nil {
		return m.ledger.UsageBy(0, tick)
	}
	hi, lo := bits.Mul64(uint64(m.rate), uint64(max(tick-m.at, 0)))
	sum, _ := m.spent.Plus(ledgers.Uint128{Hi: hi, Lo: lo})
	return sum
}

// set says what is used from now on in each millisecond.
func (m *meter) set(tick, rate int64) {
	m.asOf = never
	if m.ledger != nil {
		setRate(m.ledger, 0, tick, min(rate, mostRate(m.ledger)))
		return
	}
	m.spent, m.at, m.rate = m.used(tick), max(tick, m.at), rate
}

// add adds what was used at a time, and has decayed since.
func (m *meter) add(tick, at int64, used ledgers.Uint128) {
	m.asOf = never
	if m.ledger != nil {
		_ = m.ledger.ChargeAt(0, tick, at, used) // what is too much stays at the most that there can be
		return
	}
	m.spent, _ = m.spent.Plus(used)
}

// addLate adds what somebody has used who used so much in each millisecond from a time on.
func (m *meter) addLate(tick, since, n int64) {
	switch {
	case since >= tick, n == 0:
	case m.ledger != nil:
		_ = m.ledger.ChargeSpan(0, tick, since, n) // what is too much stays at the most that there can be
	default:
		hi, lo := bits.Mul64(uint64(n), uint64(tick-since))
		m.add(tick, tick, ledgers.Uint128{Hi: hi, Lo: lo})
	}
}

// left is what those that run may yet use.
func (m *meter) left(tick int64) (sum total) {
	for _, p := range m.planned {
		if p.end > tick {
			hi, lo := bits.Mul64(uint64(p.n), uint64(p.end-tick))
			sum.plus(total{hi, lo})
		}
	}
	return sum
}

// plan notes that the workload may use so much in each millisecond until its time limit.
func (m *meter) plan(w charged, n int64) {
	m.drop(w.ID)
	if n > 0 {
		m.byID[w.ID] = len(m.planned)
		m.planned = append(m.planned, planned{w.ID, n, w.end})
	}
}

// drop forgets the workload.
func (m *meter) drop(id string) {
	i, known := m.byID[id]
	if !known {
		return
	}
	last := len(m.planned) - 1
	m.planned[i] = m.planned[last]
	m.byID[m.planned[i].id] = i
	m.planned = m.planned[:last]
	delete(m.byID, id)
}

// seconds are resource-seconds, rounded up.
func seconds(n ledgers.Uint128) int64 {
	if n.Hi >= 1000 {
		return math.MaxInt64
	}
	q, rest := bits.Div64(n.Hi, n.Lo, 1000)
	if rest > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(q)
}

// first finds the first time from one on at which the condition holds, which then goes on to
// hold; never where that is more than forever.
func first(from int64, holds func(int64) bool) int64 {
	step := int64(1)
	for !holds(from + step) {
		if step > longest {
			return never
		}
		step *= 2
	}
	low, high := from+step/2, from+step // not at low, unless that is from; at high
	for low+1 < high {
		if middle := low + (high-low)/2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// longest is more milliseconds than anything takes.
const longest = 200 * 365 * 24 * 3600 * 1000
