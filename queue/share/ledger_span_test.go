package share

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// near requires that two readings differ by rounding only.
func near(t *testing.T, seed uint64, want, got Uint128, format string, args ...any) {
	t.Helper()
	if want.Compare(got) < 0 {
		want, got = got, want
	}
	if off := want.minus(got); off.Hi != 0 || off.Lo > 2+want.shiftRight(48).Lo {
		t.Fatalf("seed %d: %v and %v differ: "+format, append([]any{seed, want, got}, args...)...)
	}
}

// What is charged late is what would have been charged in time, and what is looked up ahead is
// what comes.
func TestLateChargesAndLooksAhead(t *testing.T) {
	t.Parallel()
	const seed = 49
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		halfLife := 1 + r.Int64N(2000)
		start := r.Int64N(1000) - 500
		prompt, err := NewLedger(halfLife, start, 2)
		require.NoError(t, err)
		at, wait := start+r.Int64N(3*halfLife), r.Int64N(40*halfLife)
		amount, rate := 1+r.Int64N(1<<40), r.Int64N(1<<30)
		now := at + wait
		require.NoError(t, prompt.Charge(0, at, amount))
		require.NoError(t, prompt.AddRate(1, at, rate))
		ahead, usage := prompt.TotalBy(1, now, 0, at), prompt.UsageBy(1, now)
		before := prompt.State()
		require.NoError(t, prompt.Advance(now))
		near(t, seed, prompt.Usage(1), usage, "usage of rate %d, %d ticks ahead", rate, wait)
		if prompt.base == before.Base {
			require.Equal(t, prompt.Total(1), ahead)
		}

		late, err := NewLedger(halfLife, now-r.Int64N(2*halfLife), 2)
		require.NoError(t, err)
		require.NoError(t, late.ChargeAt(0, now, at, Uint128{0, uint64(amount)}))
		require.NoError(t, late.ChargeSpan(1, now, at, rate))
		near(t, seed, prompt.Usage(0), late.Usage(0), "%d charged %d ticks late, half-life %d", amount, wait, halfLife)
		near(t, seed, prompt.Usage(1), late.Usage(1), "rate %d from %d ticks ago, half-life %d", rate, wait, halfLife)
		require.Zero(t, late.Rate(1))

		require.ErrorIs(t, late.ChargeAt(0, now, now+1, Uint128{}), ErrTick)
		require.ErrorIs(t, late.ChargeAt(0, now, now, Uint128{1 << 63, 0}), ErrOverflow)
		require.ErrorIs(t, late.ChargeSpan(1, now, now-1, -1), ErrNegative)
	}
}

// An extra rate counts from the tick that is given, for one who has none, too; and looking ahead changes
// nothing.
func TestLookingAheadWithMore(t *testing.T) {
	t.Parallel()
	l, err := NewLedger(1000, 0, 2)
	require.NoError(t, err)
	require.NoError(t, l.AddRate(0, 0, 5))
	require.NoError(t, l.Advance(700))
	before := l.State()
	more, none, late := l.TotalBy(0, 1500, 2, 700), l.TotalBy(-1, 1500, 2, 700), l.TotalBy(0, 1500, 2, 300)
	require.Equal(t, before, l.State())
	require.Equal(t, Uint128{}, l.TotalBy(-1, 1500, 0, 700))

	require.NoError(t, l.AddRate(0, 700, 2))
	require.NoError(t, l.AddRate(1, 700, 2))
	near(t, 0, l.TotalBy(0, 1500, 0, 700), more, "two more from now on")
	near(t, 0, l.TotalBy(1, 1500, 0, 700), none, "two from now on")
	require.Equal(t, int64(7), l.Rate(0))
	require.Equal(t, int64(1000), l.HalfLife())

	early, err := NewLedger(1000, 0, 1)
	require.NoError(t, err)
	require.NoError(t, early.AddRate(0, 0, 5))
	require.NoError(t, early.AddRate(0, 300, 2))
	near(t, 0, early.TotalBy(0, 1500, 0, 300), late, "two more since then")
}
