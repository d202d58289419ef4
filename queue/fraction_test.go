package queue

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shares are compared exactly, however large the amounts are; the twin is the arithmetic
// of rational numbers.
func TestSharesAreComparedExactly(t *testing.T) {
	s := seeds(t, 1)[0]
	r := rand.New(rand.NewPCG(s, 3))
	amount := func() int64 {
		switch r.IntN(4) {
		case 0:
			return 1 + r.Int64N(4)
		case 1:
			return math.MaxInt64 - r.Int64N(4)
		}
		return 1 + r.Int64N(math.MaxInt64-1)>>r.IntN(60)
	}
	for range 100_000 {
		a, b := share{amount() - 1, amount()}, share{amount() - 1, amount()}
		v, w := 1+r.Int64N(1<<30), 1+r.Int64N(1<<30)
		x := new(big.Rat).Quo(big.NewRat(a.used, a.capacity), big.NewRat(v, 1))
		y := new(big.Rat).Quo(big.NewRat(b.used, b.capacity), big.NewRat(w, 1))
		require.Equal(t, x.Cmp(y), a.compareWeighted(v, b, w), "seed %d (use -seed): %v by %d and %v by %d", s, a, v, b, w)
	}
}

func TestSharesAtTheEdge(t *testing.T) {
	for _, test := range []struct {
		name          string
		a, b          share
		weight, other int64
		want          int
	}{
		{"nothing and nothing", share{0, 5}, share{0, 7}, 1, 1, 0},
		{"a heavier queue has had less", share{1, 2}, share{1, 2}, 2, 1, -1},
		{"without a weight it comes last", share{0, 2}, share{2, 2}, 0, 1, +1},
		{"without weights all are equal", share{1, 2}, share{2, 2}, 0, 0, -1},
		{"of nothing is more than all", share{1, 0}, share{math.MaxInt64, 1}, math.MaxInt64, 1, +1},
		{"of nothing, both", share{1, 0}, share{2, 0}, 1, 1, 0},
	} {
		require.Equal(t, test.want, test.a.compareWeighted(test.weight, test.b, test.other), test.name)
		require.Equal(t, -test.want, test.b.compareWeighted(test.other, test.a, test.weight), test.name)
	}
}

// What is added can be taken away again, also beyond the largest amount.
func TestTotalsDoNotOverflow(t *testing.T) {
	var sum total
	for range 5 {
		sum.add(math.MaxInt64)
	}
	sum.add(7)
	require.Equal(t, int64(math.MaxInt64), sum.amount())
	for range 5 {
		sum.sub(math.MaxInt64)
	}
	require.Equal(t, total{lo: 7}, sum)
}
