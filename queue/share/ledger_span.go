package share

import (
	"fmt"
	"math/bits"
)

// ChargeAt is Charge of what was used at an earlier tick, and has decayed since. A tick before
// that of the ledger's beginning is as good as any other. It is an error if it is to come.
func (l *Ledger) ChargeAt(principal int, tick, at int64, amount Uint128) error {
	if at > tick {
		return fmt.Errorf("share: a charge as of tick %d, at %d: %w", at, tick, ErrTick)
	}
	age := uint64(tick - at)
	whole, rest := age/l.halfLife, age%l.halfLife
	factor := uint64(1) << 63
	if rest > 0 {
		part, _ := bits.Div64(rest, 0, l.halfLife)
		factor = exp2(-part) // 2^-(whole+part) = 2^(1-part) / 2^(whole+1)
		whole++
	}
	if whole > 128 {
		amount, whole = Uint128{}, 0
	}
	return l.charge(principal, tick, wideOf128(amount).times(factor).shiftRight(63+uint(whole)).low())
}

// ChargeSpan charges what somebody has used who used so much in each tick from an earlier one
// on, up to the tick, and has changed no rate.
func (l *Ledger) ChargeSpan(principal int, tick, from, rate int64) error {
	span, err := NewLedger(int64(l.halfLife), from, 1)
	if err != nil {
		return err
	}
	if err := span.AddRate(0, from, rate); err != nil {
		return err
	}
	if err := span.Advance(tick); err != nil {
		return err
	}
	return l.charge(principal, tick, span.Usage(0))
}

// Rate returns what the principal uses in each tick.
func (l *Ledger) Rate(principal int) int64 { return int64(l.entries[principal].rate) }

// HalfLife returns the half-life, in ticks.
func (l *Ledger) HalfLife() int64 { return int64(l.halfLife) }

// Renewed returns the tick as of which the unit of the totals is. Totals of before and after it
// cannot be compared.
func (l *Ledger) Renewed() int64 { return l.base }

// Renews returns the tick from which on they will have another unit, eight half-lives after Renewed.
func (l *Ledger) Renews() int64 { return l.base + int64(epochHalvings*l.halfLife) }

// TotalBy returns what Total will be at a later tick, in the unit that it has now, if until then
// no rate changes, and the principal uses extra in each tick besides, from a tick on that may be over, but
// not before Renewed. Below 0 principal is one that has used nothing.
func (l *Ledger) TotalBy(principal int, tick, extra, from int64) Uint128 {
	if l.by.base != l.base || l.by.tick != tick {
		l.by = lookAhead{base: l.base, tick: tick, accrued: l.accruedBy(max(tick, l.tick)), from: l.base}
	}
	var e ledgerEntry
	if principal >= 0 {
		e = l.entries[principal]
	}
	e.accrue(l.by.accrued)
	if extra > 0 {
		if l.by.from != from {
			l.by.from, l.by.before = from, l.accruedBy(max(from, l.base))
		}
		more := ledgerEntry{rate: uint64(extra), since: l.by.before}
		more.accrue(l.by.accrued)
		e.total, _ = e.total.Plus(more.total)
	}
	return e.total
}

// accruedBy is what a rate of 1 adds from the base to the tick.
func (l *Ledger) accruedBy(tick int64) Uint128 {
	at := Ledger{halfLife: l.halfLife}
	at.setFactor(uint64(tick - l.base))
	return at.accrued
}

// UsageBy returns what Usage will be at a later tick if no rate changes until then.
func (l *Ledger) UsageBy(principal int, tick int64) Uint128 {
	then := *l
	then.entries = []ledgerEntry{l.entries[principal]}
	if tick > l.tick {
		then.Advance(tick) // it does not go back
	}
	return then.Usage(0)
}
