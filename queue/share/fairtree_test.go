package share

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

// accountsOf reads accounts and users.
func accountsOf(t *testing.T, a answer) ([]Account, table) {
	names := table{}
	var accounts []Account
	for _, l := range a.lines {
		if l[0] != "account" && l[0] != "user" {
			continue
		}
		n := Account{Name: l[1], Parent: names.at(t, l[2]), Shares: number(t, l[3]), User: l[0] == "user"}
		if n.User {
			n.Usage.Lo = uint64(number(t, l[4]))
		}
		names[n.Name] = len(accounts)
		accounts = append(accounts, n)
	}
	return accounts, names
}

func sixDigits(f float64) string {
	if math.IsInf(f, 1) {
		return "inf"
	}
	return fmt.Sprintf("%.6f", f)
}

func TestKnownFairTrees(t *testing.T) {
	t.Parallel()
	known(t, "fairtree.txt", func(t *testing.T, a answer) {
		accounts, names := accountsOf(t, a)
		standings, err := FairTree(accounts)
		require.NoError(t, err)
		for _, l := range a.all("level") {
			require.Equal(t, l[1], sixDigits(standings[names.at(t, l[0])].Level.Float64()), l[0])
		}
		for _, l := range a.all("rank") {
			require.EqualValues(t, number(t, l[1]), standings[names.at(t, l[0])].Rank, l[0])
		}
		for _, l := range a.all("factor") {
			require.Equal(t, l[1], sixDigits(float64(standings[names.at(t, l[0])].Factor)/float64(One)), l[0])
		}
	})
}

func TestKnownClassicShares(t *testing.T) {
	t.Parallel()
	known(t, "classic.txt", func(t *testing.T, a answer) {
		if sum, ok := a.optional("sum"); ok {
			var terms []Term
			for _, l := range a.all("term") {
				terms = append(terms, Term{Weight: uint32(number(t, l[0])), Factor: uint64(thousandths(t, l[1])) * One / 1000})
			}
			got, parts := Priority(number(t, a.one(t, "base")[0]), terms)
			require.EqualValues(t, number(t, sum[0]), got)
			for i, want := range a.one(t, "parts") {
				require.EqualValues(t, number(t, want), parts[i])
			}
			return
		}
		accounts, names := accountsOf(t, a)
		shares, err := ClassicFairShare(accounts, Uint128{0, uint64(number(t, a.one(t, "total")[0]))}, 1)
		require.NoError(t, err)
		for _, l := range a.all("usage") {
			require.Equal(t, l[1], sixDigits(float64(shares[names.at(t, l[0])].Usage)/float64(One)), l[0])
		}
		for _, l := range a.all("factor") {
			require.Equal(t, l[1], sixDigits(float64(shares[names.at(t, l[0])].Factor)/float64(One)), l[0])
		}
	})
}

func TestPriorityIsCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base int64
		term Term
		want uint32
	}{
		{base: math.MinInt64, term: Term{Weight: 5, Factor: One}, want: 0},
		{base: -3, term: Term{Weight: 5, Factor: One}, want: 2},
		{base: 7, term: Term{Weight: 5, Factor: 3 * One}, want: 12}, // a factor above 1 is 1
		{base: math.MaxInt64, term: Term{Weight: 5, Factor: One}, want: math.MaxUint32},
		{base: math.MaxUint32, term: Term{Weight: 5, Factor: One}, want: math.MaxUint32},
	} {
		got, _ := Priority(c.base, []Term{c.term})
		require.Equal(t, c.want, got, "%+v", c)
	}
}

func TestFairTreeTies(t *testing.T) {
	t.Parallel()
	usage := func(n uint64) Uint128 { return Uint128{0, n} }
	for name, c := range map[string]struct {
		accounts []Account
		ranks    string
	}{
		"a user with an account has the rank of its best user": {
			accounts: []Account{
				{Name: "acct", Parent: Root, Shares: 1}, {Name: "u", Parent: Root, Shares: 1, User: true, Usage: usage(10)},
				{Name: "x", Parent: 0, Shares: 1, User: true, Usage: usage(3)}, {Name: "y", Parent: 0, Shares: 1, User: true, Usage: usage(7)},
			},
			ranks: "u3 x3 y1",
		},
		"equal accounts compete as one list": {
			accounts: []Account{
				{Name: "A", Parent: Root, Shares: 1}, {Name: "B", Parent: Root, Shares: 1},
				{Name: "a1", Parent: 0, Shares: 1, User: true, Usage: usage(2)}, {Name: "a2", Parent: 0, Shares: 1, User: true, Usage: usage(8)},
				{Name: "b1", Parent: 1, Shares: 1, User: true, Usage: usage(4)}, {Name: "b2", Parent: 1, Shares: 1, User: true, Usage: usage(6)},
			},
			ranks: "a14 a21 b13 b22",
		},
		"no shares come last, used or not": {
			accounts: []Account{
				{Name: "n", Parent: Root, User: true}, {Name: "m", Parent: Root, Shares: 1, User: true, Usage: usage(9)},
			},
			ranks: "m2 n1",
		},
		"nothing used at all: all are equal": {
			accounts: []Account{
				{Name: "n", Parent: Root, Shares: 1, User: true}, {Name: "m", Parent: Root, Shares: 9, User: true},
			},
			ranks: "n2 m2",
		},
		"an account without users does not count": {
			accounts: []Account{
				{Name: "empty", Parent: Root, Shares: 1}, {Name: "m", Parent: Root, Shares: 9, User: true},
			},
			ranks: "m1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			standings, err := FairTree(c.accounts)
			require.NoError(t, err)
			got := map[string]bool{}
			for i, s := range standings {
				if c.accounts[i].User {
					got[fmt.Sprint(c.accounts[i].Name, s.Rank)] = true
				}
			}
			for _, want := range strings.Fields(c.ranks) {
				require.True(t, got[want], "want %s of %v", want, got)
			}
		})
	}
}

func TestFairTreeRefuses(t *testing.T) {
	t.Parallel()
	_, err := FairTree([]Account{
		{Name: "a", Parent: 9, Shares: -1}, {Name: "u", Parent: Root, User: true}, {Name: "v", Parent: 1, User: true},
	})
	for _, want := range []error{ErrParent, ErrNegative, ErrUser} {
		require.ErrorIs(t, err, want)
	}
	most := Uint128{math.MaxUint64, math.MaxUint64}
	_, err = FairTree([]Account{{Name: "u", Parent: Root, User: true, Usage: most}, {Name: "v", Parent: Root, User: true, Usage: most}})
	require.ErrorIs(t, err, ErrOverflow)
	_, err = ClassicFairShare([]Account{{Name: "u", Parent: Root, User: true, Usage: Uint128{0, 5}}}, Uint128{0, 4}, 0)
	require.ErrorIs(t, err, ErrOverflow)
	require.ErrorIs(t, err, ErrWeight)
}

// TestFairTreeOrder: the account decides first. Of two users, the one whose ancestor has the higher
// level where their ways part has the higher rank; levels are computed as rationals.
func TestFairTreeOrder(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	for range 200 {
		accounts := []Account{{Name: "root", Parent: Root, Shares: 1}}
		for i := 1; i < 30; i++ {
			parent := r.IntN(min(i, 8))
			for accounts[parent].User {
				parent = accounts[parent].Parent
			}
			a := Account{Name: fmt.Sprint(i), Parent: parent, Shares: 1 + r.Int64N(1<<40), User: i >= 8 || r.IntN(3) == 0}
			if a.User {
				a.Usage = product(r.Uint64(), r.Uint64N(1<<30))
			}
			accounts = append(accounts, a)
		}
		standings, err := FairTree(accounts)
		require.NoError(t, err)
		level := func(n int) *big.Rat {
			shares, used := new(big.Int), new(big.Int)
			for i, a := range accounts {
				if a.Parent == accounts[n].Parent {
					shares.Add(shares, big.NewInt(a.Shares))
					used.Add(used, wideOf128(standings[i].Usage).int())
				}
			}
			mine := wideOf128(standings[n].Usage).int()
			return new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(accounts[n].Shares), used), mine.Mul(mine, shares))
		}
		levels := make([]*big.Rat, len(accounts))
		for n := range accounts {
			if standings[n].Usage != (Uint128{}) {
				levels[n] = level(n)
			}
		}
		path := func(n int) (p []int) {
			for ; n != Root; n = accounts[n].Parent {
				p = append([]int{n}, p...)
			}
			return p
		}
		for a := range accounts {
			for b := range accounts {
				if a == b || !accounts[a].User || !accounts[b].User {
					continue
				}
				x, y := path(a), path(b)
				k := 0
				for x[k] == y[k] {
					k++
				}
				if i, j := levels[x[k]], levels[y[k]]; i != nil && j != nil && i.Cmp(j) > 0 {
					require.Greater(t, standings[a].Rank, standings[b].Rank, "seed %d: %d over %d", seed, a, b)
				}
			}
		}
	}
}
