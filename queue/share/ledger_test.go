package share

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

func TestExp2IsCloseFromBelow(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 11))
	for n := range 3000 {
		x := r.Uint64()
		switch n {
		case 0:
			x = 0
		case 1:
			x = math.MaxUint64
		}
		exact := pow2(new(big.Float).SetPrec(200).Quo(newFloat().SetUint64(x), newFloat().SetMantExp(newFloat().SetInt64(1), 64)))
		got := newFloat().SetMantExp(newFloat().SetUint64(exp2(x)), -63)
		low := newFloat().Sub(exact, got)
		require.GreaterOrEqual(t, low.Cmp(newFloat().SetMantExp(newFloat().SetInt64(-1), -190)), 0, "seed %d: 2^(%d/2^64) is above", seed, x)
		require.Negative(t, low.Cmp(newFloat().Mul(exact, newFloat().SetMantExp(newFloat().SetInt64(1), -56))), "seed %d: 2^(%d/2^64)", seed, x)
	}
}

func newFloat() *big.Float { return new(big.Float).SetPrec(200) }

// ln2 is to 200 bits and more.
var ln2, _ = newFloat().SetString("0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687")

// pow2 is 2^x by the series of e^(x ln 2), for x from -1 to 1; and by squaring else.
func pow2(x *big.Float) *big.Float {
	if abs := newFloat().Abs(x); abs.Cmp(newFloat().SetInt64(1)) > 0 {
		half := pow2(newFloat().Quo(x, newFloat().SetInt64(2)))
		return half.Mul(half, half)
	}
	y := newFloat().Mul(x, ln2)
	sum, term := newFloat().SetInt64(1), newFloat().SetInt64(1)
	for k := int64(1); k < 80; k++ {
		term.Mul(term, y).Quo(term, newFloat().SetInt64(k))
		sum.Add(sum, term)
	}
	return sum
}

func float(n Uint128) *big.Float {
	f := newFloat().SetUint64(n.Hi)
	return f.SetMantExp(f, 64).Add(f, newFloat().SetUint64(n.Lo))
}

// event is a charge or a change of a rate.
type event struct {
	tick, amount int64
	rate         bool
}

// decayed computes the usage at the tick from all events, straight from the definition.
func decayed(events []event, halfLife, tick int64) *big.Float {
	ago := func(t int64) *big.Float {
		return pow2(newFloat().Quo(newFloat().SetInt64(t-tick), newFloat().SetInt64(halfLife)))
	}
	sum := newFloat()
	for _, e := range events {
		x := newFloat().Mul(newFloat().SetInt64(e.amount), ago(e.tick))
		if e.rate { // from then until now: amount*H/ln 2*(1-2^-(t/H))
			x = newFloat().SetInt64(1)
			x.Sub(x, ago(e.tick)).Mul(x, newFloat().SetInt64(e.amount)).Mul(x, newFloat().SetInt64(halfLife)).Quo(x, ln2)
		}
		sum.Add(sum, x)
	}
	return sum
}

// TestLedgerReadsWhatWasUsed compares with the definition, within the bound that the Ledger states.
func TestLedgerReadsWhatWasUsed(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 12))
	for range 20 {
		halfLife := 1 + r.Int64N(1<<(1+r.IntN(24)))
		tick := r.Int64N(1e12) - 5e11
		l, err := NewLedger(halfLife, tick, 1)
		require.NoError(t, err)
		var events []event
		rate, top, changes, start := int64(0), int64(0), int64(0), tick
		for n := range 40 {
			tick += r.Int64N(halfLife + 2)
			if n%13 == 0 {
				tick += halfLife * r.Int64N(30)
			}
			e := event{tick: tick, amount: r.Int64N(1 << (1 + r.IntN(40))), rate: r.IntN(2) == 0}
			if e.rate {
				if rate > 0 && r.IntN(2) == 0 {
					e.amount = -r.Int64N(rate + 1)
				}
				require.NoError(t, l.AddRate(0, tick, e.amount))
				rate += e.amount
				top, changes = max(top, rate), changes+1
			} else {
				require.NoError(t, l.Charge(0, tick, e.amount))
			}
			events = append(events, e)
			want := decayed(events, halfLife, tick)
			off := newFloat().Sub(float(l.Usage(0)), want)
			bound := newFloat().Mul(want, newFloat().SetMantExp(newFloat().SetInt64(1), -55))
			bound.Add(bound, newFloat().SetFloat64(1+0x1p-23*float64(len(events)+1+int((tick-start)/halfLife/8))))
			bound.Add(bound, newFloat().SetFloat64(0x1p-55*float64(changes+1)*float64(top)*float64(halfLife)))
			require.LessOrEqual(t, newFloat().Abs(off).Cmp(bound), 0, "seed %d: half-life %d, %v instead of %v, bound %v", seed, halfLife, l.Usage(0), want, bound)
		}
	}
}

// TestLedgerDoesNotDependOnReadings: advancing and reading in between changes no bit, nor does storing.
func TestLedgerDoesNotDependOnReadings(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 13))
	for range 200 {
		halfLife := 1 + r.Int64N(1000)
		quiet, err := NewLedger(halfLife, 0, 3)
		require.NoError(t, err)
		busy, err := NewLedger(halfLife, 0, 3)
		require.NoError(t, err)
		tick := int64(0)
		for range 50 {
			next := tick + r.Int64N(2*halfLife)
			for tick < next && r.IntN(4) > 0 {
				tick += r.Int64N(next - tick + 1)
				require.NoError(t, busy.Advance(tick))
				busy.Usage(r.IntN(3))
				if r.IntN(4) == 0 {
					busy, err = RestoreLedger(busy.State())
					require.NoError(t, err)
				}
			}
			tick = next
			p, amount := r.IntN(3), r.Int64N(1e9)
			for _, l := range []*Ledger{quiet, busy} {
				if amount%2 == 0 {
					require.NoError(t, l.Charge(p, tick, amount))
				} else {
					require.NoError(t, l.AddRate(p, tick, amount))
				}
			}
			for p := range 3 {
				require.Equal(t, quiet.Total(p), busy.Total(p), "seed %d", seed)
				require.Equal(t, quiet.Usage(p), busy.Usage(p), "seed %d", seed)
			}
		}
	}
}

// TestLedgerKeepsRatios: time alone changes no order.
func TestLedgerKeepsRatios(t *testing.T) {
	t.Parallel()
	l, err := NewLedger(10, 0, 2)
	require.NoError(t, err)
	require.NoError(t, l.Charge(0, 0, 1e15))
	require.NoError(t, l.Charge(1, 0, 1e15-1))
	for _, tick := range []int64{1, 9, 10, 79, 80, 81, 170} {
		require.NoError(t, l.Advance(tick))
		require.Equal(t, 1, l.Compare(0, 1), "tick %d", tick)
	}
}

// TestLedgerAfterAges: after a very long time charges are forgotten, and a rate is at rate*H/ln 2.
func TestLedgerAfterAges(t *testing.T) {
	t.Parallel()
	for _, halfLife := range []int64{1, 7, 604800} {
		l, err := NewLedger(halfLife, math.MinInt64, 2)
		require.NoError(t, err)
		require.NoError(t, l.Charge(0, math.MinInt64, math.MaxInt64))
		require.NoError(t, l.AddRate(1, math.MinInt64, 1e6))
		steps, err := RestoreLedger(l.State())
		require.NoError(t, err)
		for n := range int64(40) { // as renew does at most
			require.NoError(t, steps.Advance(math.MinInt64+(n+1)*8*halfLife))
		}
		require.NoError(t, l.Advance(math.MaxInt64))
		require.Equal(t, Uint128{}, l.Usage(0))
		want, _ := newFloat().Quo(newFloat().SetInt64(1e6*halfLife), ln2).Uint64()
		require.InDelta(t, float64(want), float64(l.Usage(1).Lo), 1)
		require.InDelta(t, float64(want), float64(steps.Usage(1).Lo), 1)
	}
}

func TestLedgerRefuses(t *testing.T) {
	t.Parallel()
	for _, h := range []int64{0, -1, longestHalfLife + 1} {
		_, err := NewLedger(h, 0, 1)
		require.ErrorIs(t, err, ErrHalfLife, h)
	}
	l, err := NewLedger(longestHalfLife, 100, 1)
	require.NoError(t, err)
	require.ErrorIs(t, l.Advance(99), ErrTick)
	require.ErrorIs(t, l.Charge(0, 99, 1), ErrTick)
	require.ErrorIs(t, l.Charge(1, 100, 1), ErrPrincipal)
	require.ErrorIs(t, l.Charge(0, 100, -1), ErrNegative)
	require.ErrorIs(t, l.AddRate(0, 100, -1), ErrNegative)
	require.ErrorIs(t, l.AddRate(0, 100, math.MinInt64), ErrNegative)
	require.ErrorIs(t, l.AddRate(0, 100, math.MaxInt64), ErrOverflow)
	require.Equal(t, Uint128{}, l.Usage(0), "nothing was charged")
	require.Equal(t, 1, l.AddPrincipal())

	charges := 0
	for err = nil; err == nil && charges < 1<<20; charges++ {
		err = l.Charge(0, 100+7*longestHalfLife, math.MaxInt64)
	}
	require.NoError(t, err, "a million of the largest charges fit")

	state := l.State()
	state.Tick = state.Base - 1
	_, err = RestoreLedger(state)
	require.ErrorIs(t, err, ErrTick)
	state = l.State()
	state.Entries[0].Total.Hi = math.MaxUint64
	_, err = RestoreLedger(state)
	require.ErrorIs(t, err, ErrOverflow)
}

func TestKnownUsage(t *testing.T) {
	t.Parallel()
	known(t, "usage.txt", func(t *testing.T, a answer) {
		for _, l := range a.all("used") {
			var used, weights []int64
			weight := int64(0)
			into := &used
			want := ""
			for i := 0; i < len(l); i++ {
				switch l[i] {
				case "weights":
					into = &weights
				case "weight":
					weight = number(t, l[i+1])
					i++
				case "=":
					want = l[i+1]
					i++
				default:
					sum := int64(0)
					for part := range strings.SplitSeq(l[i], "+") {
						sum += number(t, part)
					}
					*into = append(*into, sum)
				}
			}
			got := WeightedUsage(used, weights, weight)
			if want == "inf" {
				require.True(t, got.Infinite())
			} else {
				require.Zero(t, got.Compare(Ratio(number(t, want), 1)), "%v", got.Float64())
			}
		}
		for _, l := range a.all("constant") {
			average := averages(t, number(t, l[0]), number(t, l[2]))
			if l[3] == "never" {
				for n := int64(0); n < 40*number(t, l[2]); n += 97 {
					require.LessOrEqual(t, average(n), float64(number(t, l[5])), l)
				}
			} else {
				require.InDelta(t, float64(number(t, l[6])), average(number(t, l[4])), 1, l)
			}
		}
		for _, l := range a.all("grows") {
			average, before := averages(t, number(t, l[0]), number(t, l[2])), 0.0
			for n := range number(t, l[4]) {
				now := average(n + 1)
				require.Greater(t, now, before)
				before = now
			}
		}
		for _, l := range a.all("part") {
			got := 1 - float64(halving(mulDiv(uint64(number(t, l[0])), One, uint64(number(t, l[2])))))/float64(One)
			want, err := strconv.ParseFloat(l[4], 64)
			require.NoError(t, err)
			require.InDelta(t, want, got, 1e-9)
		}
	})
}

// averages returns the moving average of a constant rate that begins at 0.
func averages(t *testing.T, rate, halfLife int64) func(tick int64) float64 {
	l, err := NewLedger(halfLife, 0, 1)
	require.NoError(t, err)
	require.NoError(t, l.AddRate(0, 0, rate))
	return func(tick int64) float64 {
		require.NoError(t, l.Advance(tick))
		usage, _ := float(l.Usage(0)).Float64()
		return usage * math.Ln2 / float64(halfLife)
	}
}

func TestKnownBills(t *testing.T) {
	t.Parallel()
	known(t, "billing.txt", func(t *testing.T, a answer) {
		var tariffs []Tariff
		for _, l := range a.all("tariff") {
			kind := map[string]Kind{"node": NodeResource, "device": DeviceResource, "global": GlobalResource}[l[0]]
			tariffs = append(tariffs, Tariff{Kind: kind, Price: number(t, l[1]), Per: number(t, l[2])})
		}
		for _, l := range a.all("bill") {
			rule := map[string]BillingRule{"sum": BillSum, "max": BillMax, "maxanddevices": BillMaxAndDevices}[l[0]]
			b, err := NewBilling(rule, tariffs)
			require.NoError(t, err)
			got, err := b.Bill(numbers(t, l[1:len(l)-2]))
			require.NoError(t, err)
			require.Equal(t, number(t, l[len(l)-1]), got, l)
		}
		for _, l := range a.all("usage") {
			ledger, err := NewLedger(7, 0, 1)
			require.NoError(t, err)
			for _, amount := range numbers(t, l[:len(l)-2]) {
				require.NoError(t, ledger.Charge(0, 0, amount))
			}
			require.Equal(t, l[len(l)-1], ledger.Usage(0).String())
		}
	})
}

func TestBillsAreExact(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 14))
	for range 500 {
		var tariffs []Tariff
		var amounts []int64
		exact := new(big.Rat)
		for range 1 + r.IntN(5) {
			tariff := Tariff{Price: r.Int64N(1000), Per: 1 + r.Int64N(3000)}
			tariffs, amounts = append(tariffs, tariff), append(amounts, r.Int64N(1e12))
			x := big.NewRat(tariff.Price, tariff.Per)
			exact.Add(exact, x.Mul(x, big.NewRat(amounts[len(amounts)-1], 1)))
		}
		b, err := NewBilling(BillSum, tariffs)
		require.NoError(t, err)
		got, err := b.Bill(amounts)
		require.NoError(t, err)
		require.Equal(t, new(big.Int).Quo(exact.Num(), exact.Denom()).Int64(), got, "seed %d", seed)
	}
}

func TestBillingRefuses(t *testing.T) {
	t.Parallel()
	_, err := NewBilling(BillSum, []Tariff{{Price: -1, Per: 1}, {Per: 0}, {Price: 1, Per: math.MaxInt64}, {Price: 1, Per: math.MaxInt64 - 1}})
	require.ErrorIs(t, err, ErrWeight)
	require.ErrorIs(t, err, ErrOverflow)
	b, err := NewBilling(BillSum, []Tariff{{Price: math.MaxInt64, Per: 1}})
	require.NoError(t, err)
	for amounts, want := range map[*[]int64]error{{-1}: ErrNegative, {1, 1}: ErrLength, {2}: ErrOverflow} {
		_, err = b.Bill(*amounts)
		require.ErrorIs(t, err, want, fmt.Sprint(*amounts))
	}
}
