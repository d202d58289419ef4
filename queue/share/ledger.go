package share

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	// guard is how many bits of a total are below one unit of what is charged.
	guard = 24
	// epochHalvings is after how many half-lives the unit of the totals is changed.
	epochHalvings = 8
	// longestHalfLife is 2^40 ticks, so that the products below fit.
	longestHalfLife = 1 << 40
	// mostTotal leaves room for running work on top of what was charged.
	mostTotal = 1 << 62 // of the upper 64 bits
	// inverseLn2 is 1/ln 2 in units of 2^-63.
	inverseLn2 = 0xb8aa3b295c17f0bc
)

// Ledger keeps what principals (users, accounts, queues) have used, decayed: after one
// half-life a charge counts half. Time is in ticks of any length, which are arguments and
// never go back.
//
// Nothing is decayed as time goes by. Totals are kept in a unit that shrinks: a charge at
// tick t is added as amount*2^(t/half-life), so that ratios and order need no arithmetic, and
// a reading is one division. After some half-lives all totals are divided by a power of two at
// once. Running work accrues at a rate, continuously, in closed form: a principal is touched
// only when its rate changes.
//
// Errors: a reading differs from the true value by at most one part in 2^55, 2^-23 for each
// charge and for each eight half-lives, 2^-55*rate*half-life for each change of a rate and for
// running work, and is then rounded down.
//
// The same calls give the same bits, however often a Ledger is read. It is for one
// goroutine. Use NewLedger.
type Ledger struct {
	halfLife uint64
	base     int64   // the tick at which totals have their unit
	tick     int64   // of the last call
	whole    uint    // half-lives from base to tick, below epochHalvings
	factor   uint64  // 2^ of the rest, in units of 2^-63
	accrued  Uint128 // what a rate of 1 adds from base to tick, in units of 2^-64
	entries  []ledgerEntry
	by       lookAhead // of TotalBy
}

// lookAhead is what a rate of 1 adds up to a tick, and what it adds before another, so that both are
// found once for many principals.
type lookAhead struct {
	base, tick, from int64
	accrued, before  Uint128
}

type ledgerEntry struct {
	total Uint128 // in units of 2^-guard at base
	rate  uint64
	since Uint128 // accrued, as far as the total has it
}

// NewLedger makes a ledger that begins at a tick, for principals that are numbered from 0
// up. A half-life below 1 tick or above 2^40 is an error: there is none that stands for no
// decay, or for no memory.
func NewLedger(halfLife, tick int64, principals int) (*Ledger, error) {
	if halfLife < 1 || halfLife > longestHalfLife {
		return nil, fmt.Errorf("share: a half-life of %d ticks is not between 1 and %d: %w", halfLife, int64(longestHalfLife), ErrHalfLife)
	}
	if principals < 0 {
		return nil, fmt.Errorf("share: %d principals: %w", principals, ErrNegative)
	}
	return &Ledger{halfLife: uint64(halfLife), base: tick, tick: tick, factor: 1 << 63, entries: make([]ledgerEntry, principals)}, nil
}

// AddPrincipal adds one more principal, which has used nothing, and returns its number.
func (l *Ledger) AddPrincipal() int {
	l.entries = append(l.entries, ledgerEntry{})
	return len(l.entries) - 1
}

// Tick returns the tick of the last call that changed the time.
func (l *Ledger) Tick() int64 { return l.tick }

// Advance sets the time, to which the readings refer. It is an error if it goes back.
func (l *Ledger) Advance(tick int64) error {
	if tick < l.tick {
		return fmt.Errorf("share: tick %d is before %d: %w", tick, l.tick, ErrTick)
	}
	if tick == l.tick {
		return nil
	}
	if epochs := uint64(tick-l.base) / l.halfLife / epochHalvings; epochs > 0 {
		l.renew(epochs)
	}
	l.tick = tick
	l.setFactor(uint64(tick - l.base))
	return nil
}

// renew moves the base on, each time by epochHalvings half-lives. After 20 times every total
// is what its rate keeps it at, and does not change any more.
func (l *Ledger) renew(epochs uint64) {
	for range min(epochs, 20) {
		l.setFactor(epochHalvings * l.halfLife)
		for i := range l.entries {
			e := &l.entries[i]
			l.settle(e)
			e.total, e.since = e.total.shiftRight(epochHalvings), Uint128{}
		}
		l.accrued = Uint128{}
	}
	l.base += int64(epochs * epochHalvings * l.halfLife)
}

// setFactor computes what depends on the ticks since the base, at most epochHalvings
// half-lives: 2^(ticks/H), and the integral of it, (2^(ticks/H)-1)*H/ln 2.
func (l *Ledger) setFactor(ticks uint64) {
	l.whole = uint(ticks / l.halfLife)
	fraction, _ := bits.Div64(ticks%l.halfLife, 0, l.halfLife)
	l.factor = exp2(fraction)
	grown := Uint128{l.factor >> (64 - l.whole), l.factor << l.whole}.minus(Uint128{0, 1 << 63})
	l.accrued = wideOf128(grown).times(l.halfLife).times(inverseLn2).shiftRight(63 + 63 - 64).low()
}

// settle adds to the total what accrued.
func (l *Ledger) settle(e *ledgerEntry) { e.accrue(l.accrued) }

// accrue adds to the total what the rate adds up to a later moment.
func (e *ledgerEntry) accrue(accrued Uint128) {
	if e.rate > 0 {
		e.total, _ = e.total.Plus(wideOf128(accrued.minus(e.since)).times(e.rate).shiftRight(64 - guard).low())
	}
	e.since = accrued
}

// at advances the time and returns the entry, settled.
func (l *Ledger) at(principal int, tick int64) (*ledgerEntry, error) {
	if principal < 0 || principal >= len(l.entries) {
		return nil, fmt.Errorf("share: principal %d is none of %d: %w", principal, len(l.entries), ErrPrincipal)
	}
	if err := l.Advance(tick); err != nil {
		return nil, err
	}
	e := &l.entries[principal]
	l.settle(e)
	return e, nil
}

// Charge adds an amount that was used at the tick. Nothing is charged if there is an error: the
// amount is below 0 or the total becomes too large (that takes more than 2^93 as decayed
// today), time goes back, no such principal. The time may have moved on all the same.
func (l *Ledger) Charge(principal int, tick, amount int64) error {
	if amount < 0 {
		return fmt.Errorf("share: a charge of %d: %w", amount, ErrNegative)
	}
	return l.charge(principal, tick, Uint128{0, uint64(amount)})
}

// charge adds an amount that was used at the tick.
func (l *Ledger) charge(principal int, tick int64, amount Uint128) error {
	e, err := l.at(principal, tick)
	if err != nil {
		return err
	}
	added := wideOf128(amount).times(l.factor).shiftRight(63 - guard - l.whole)
	total, _ := e.total.Plus(added.low())
	if added[2]|added[3] != 0 || total.Hi >= mostTotal {
		return fmt.Errorf("share: the usage of principal %d: %w", principal, ErrOverflow)
	}
	e.total = total
	return nil
}

// AddRate changes what the principal uses in each tick from now on: by what a workload uses
// when it starts, and by as much less when it ends. Nothing is changed if there is an error:
// the rate becomes negative or too large (2^92 divided by the half-life), time goes back, no such
// principal. The time may have moved on all the same.
func (l *Ledger) AddRate(principal int, tick, change int64) error {
	e, err := l.at(principal, tick)
	if err != nil {
		return err
	}
	rate := int64(e.rate)
	if change < 0 && rate < -change || change == math.MinInt64 {
		return fmt.Errorf("share: the rate of principal %d, %d, and %d: %w", principal, rate, change, ErrNegative)
	}
	if change > math.MaxInt64-rate || product(uint64(rate+change), l.halfLife).shiftRight(92) != (Uint128{}) {
		return fmt.Errorf("share: the rate of principal %d, %d, and %d: %w", principal, rate, change, ErrOverflow)
	}
	e.rate = uint64(rate + change)
	return nil
}

// Usage returns what the principal has used, decayed to the tick of the last call, and rounded
// down.
func (l *Ledger) Usage(principal int) Uint128 {
	total := l.Total(principal)
	// total*2^63/factor, of which only the bits above the unit are wanted
	hi, rest := bits.Div64(0, total.Hi, l.factor)
	lo, rest := bits.Div64(rest, total.Lo, l.factor)
	last, _ := bits.Div64(rest, 0, l.factor)
	// hi, lo and last are the quotient times 2^64: one bit more than wanted
	return wide{last, lo, hi}.shiftRight(1 + guard + l.whole).low()
}

// Total returns what the principal has used in the ledger's own unit, which is the same for
// all principals until the time changes: for ratios and order, as in FairTree.
func (l *Ledger) Total(principal int) Uint128 {
	e := l.entries[principal]
	l.settle(&e)
	return e.total
}

// Compare returns -1, 0 or 1 as a has used less than, as much as or more than b.
func (l *Ledger) Compare(a, b int) int { return l.Total(a).Compare(l.Total(b)) }

// LedgerState is a ledger as data, to be stored.
type LedgerState struct {
	HalfLife int64         // in ticks, from 1 to 2^40
	Base     int64         // the tick at which totals have their unit
	Tick     int64         // of the last call
	Entries  []LedgerEntry // by number of the principal
}

// LedgerEntry is one principal of a LedgerState.
type LedgerEntry struct {
	Total Uint128 // what was charged, in the ledger's own unit at Base
	Rate  int64   // what it uses in each tick
	Since Uint128 // up to where Total has what accrued by the rate
}

// State returns the ledger as data. A ledger that was restored from it goes on with the same
// bits.
func (l *Ledger) State() LedgerState {
	s := LedgerState{HalfLife: int64(l.halfLife), Base: l.base, Tick: l.tick, Entries: make([]LedgerEntry, len(l.entries))}
	for i, e := range l.entries {
		s.Entries[i] = LedgerEntry{Total: e.total, Rate: int64(e.rate), Since: e.since}
	}
	return s
}

// RestoreLedger makes a ledger from the data of State. It is an error if that cannot be a
// ledger's.
func RestoreLedger(s LedgerState) (*Ledger, error) {
	l, err := NewLedger(s.HalfLife, s.Base, len(s.Entries))
	if err != nil {
		return nil, err
	}
	if s.Tick < s.Base || uint64(s.Tick-s.Base) >= epochHalvings*l.halfLife {
		return nil, fmt.Errorf("share: tick %d is not in the epoch that begins at %d: %w", s.Tick, s.Base, ErrTick)
	}
	if err := l.Advance(s.Tick); err != nil {
		return nil, err
	}
	for i, e := range s.Entries {
		if err := l.AddRate(i, s.Tick, e.Rate); err != nil {
			return nil, err
		}
		if e.Total.Hi >= 2*mostTotal || e.Since.Compare(l.accrued) > 0 {
			return nil, fmt.Errorf("share: the usage of principal %d: %w", i, ErrOverflow)
		}
		l.entries[i].total, l.entries[i].since = e.Total, e.Since
	}
	return l, nil
}
