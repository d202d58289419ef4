package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	ledgers "github.com/berth-project/berth/queue/share"
)

// pastState is a [history] as values that can be written down.
type pastState struct {
	Tick   int64
	Books  []bookState  `json:",omitempty"`
	Meters []meterState `json:",omitempty"`
}

type bookState struct {
	Queue   string
	Ledger  ledgers.LedgerState
	Entries []entry
}

type meterState struct {
	Limit     string
	Principal string               `json:",omitempty"`
	Ledger    *ledgers.LedgerState `json:",omitempty"`
	Spent     ledgers.Uint128      // where there is no ledger, up to At
	Rate, At  int64
	Told      bool `json:",omitempty"`
}

// state returns the history; nil where there is none.
func (h *history) state() *pastState {
	if len(h.books)+len(h.meters) == 0 {
		return nil
	}
	s := &pastState{Tick: h.tick}
	for _, name := range slices.Sorted(maps.Keys(h.books)) {
		b := h.books[name]
		s.Books = append(s.Books, bookState{name, b.ledger.State(), slices.Clone(b.list)})
	}
	s.Meters = h.meterStates()
	return s
}

// meterStates are those of all meters, by the names of the limits.
func (h *history) meterStates() (list []meterState) {
	byName := func(a, b gaugeKey) int {
		return cmp.Or(cmp.Compare(a.limit, b.limit), cmp.Compare(a.principal, b.principal))
	}
	for _, key := range slices.SortedFunc(maps.Keys(h.meters), byName) {
		m := h.meters[key]
		next := meterState{key.limit, key.principal, nil, m.spent, m.rate, m.at, m.told}
		if m.ledger != nil {
			ledger := m.ledger.State()
			next.Ledger = &ledger
		}
		list = append(list, next)
	}
	return list
}

// resumeHistory has the queue remember what another did. What it is told of definitions and
// charges is to be the same; so nothing is charged for it twice.
func (q *Queue) resumeHistory(s *pastState) error {
	t := q.tree
	if t != nil {
		t.late = nil
	}
	if s == nil {
		return nil
	}
	t.tick = s.Tick
	for i := range s.Books {
		of := &s.Books[i]
		ledger, err := ledgers.RestoreLedger(of.Ledger)
		if err == nil && len(of.Entries) != len(of.Ledger.Entries) {
			err = fmt.Errorf("%d entries for %d principals", len(of.Entries), len(of.Ledger.Entries))
		}
		if err != nil {
			return fmt.Errorf("queue: what queue %q remembers: %w", of.Queue, err)
		}
		for _, e := range of.Entries {
			if e.Resource != "" {
				t.numberOf(e.Resource)
			}
		}
		t.books[of.Queue] = bookOf(ledger, of.Entries)
	}
	for i := range s.Meters {
		if err := t.resumeMeter(&s.Meters[i]); err != nil {
			return err
		}
	}
	t.stale = true
	return nil
}

// resumeMeter has the history go on with the meter.
func (h *history) resumeMeter(of *meterState) error {
	m := newMeter(0, of.At)
	m.spent, m.rate, m.told = of.Spent, of.Rate, of.Told
	if of.Ledger != nil {
		ledger, err := ledgers.RestoreLedger(*of.Ledger)
		if err == nil && len(of.Ledger.Entries) != 1 {
			err = fmt.Errorf("it is for %d", len(of.Ledger.Entries))
		}
		if err != nil {
			return fmt.Errorf("queue: what limit %q remembers: %w", of.Limit, err)
		}
		m.ledger = ledger
	}
	h.meters[gaugeKey{of.Limit, of.Principal}] = m
	return nil
}
