package share

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

func TestKnownDivisions(t *testing.T) {
	t.Parallel()
	known(t, "division.txt", func(t *testing.T, a answer) {
		capacity := Capacity{Amount: thousandths(t, a.one(t, "capacity")[0]), Unit: 1000}
		if l, ok := a.optional("memory"); ok {
			capacity.Memory = uint64(thousandths(t, l[0])) * One / 1000
		}
		var claims []Claim
		for i, l := range a.all("claim") {
			c := Claim{
				Name: l[0], Sequence: uint64(i), Deserved: thousandths(t, l[1]), Weight: number(t, l[2]),
				Priority: number(t, l[3]), Limit: thousandths(t, l[4]), Request: thousandths(t, l[5]),
			}
			if len(l) > 6 {
				c.Usage = uint64(thousandths(t, l[6])) * One / 1000
			}
			claims = append(claims, c)
		}
		d, err := Divide(capacity, claims)
		require.NoError(t, err)
		var want []int64
		for _, s := range a.one(t, "shares") {
			want = append(want, thousandths(t, s))
		}
		require.Equal(t, want, d.Shares)
		require.Equal(t, thousandths(t, a.one(t, "rest")[0]), d.Rest)
		if l, ok := a.optional("oversold"); ok {
			require.Equal(t, thousandths(t, l[0]), d.Oversold)
		} else {
			require.Zero(t, d.Oversold)
		}
	})
}

func guarantee(capacity Capacity, c Claim) int64 {
	if c.Deserved == Unlimited {
		return min(capacity.Amount, c.Request, c.Limit)
	}
	return min(c.Deserved, c.Request, c.Limit)
}

// rationalDivide divides straight from the definition, with fractions, and slowly.
func rationalDivide(capacity Capacity, claims []Claim) []int64 {
	shares, rest := make([]int64, len(claims)), capacity.Amount
	guaranteed := func(c Claim) int64 { return guarantee(capacity, c) }
	all := make([]int, len(claims))
	oversold, sum := false, int64(0)
	for i, c := range claims {
		all[i] = i
		sum += guaranteed(c)
	}
	oversold = sum > rest
	// handUnits gives what is left of each offer, a unit at most, the largest cut first.
	handUnits := func(cuts map[int]*big.Rat, most func(i int) int64) {
		order := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return cuts[i] == nil })
		slices.SortStableFunc(order, func(a, b int) int { return cuts[b].Cmp(cuts[a]) })
		for _, i := range order {
			give := min(max(1, capacity.Unit), most(i)-shares[i], rest)
			shares[i], rest = shares[i]+give, rest-give
		}
	}
	down := func(x *big.Rat) int64 {
		unit := big.NewInt(max(1, capacity.Unit))
		n := new(big.Int).Quo(x.Num(), x.Denom())
		return n.Quo(n, unit).Mul(n, unit).Int64()
	}
	if oversold {
		cuts := map[int]*big.Rat{}
		for i, c := range claims {
			offer := big.NewRat(guaranteed(c), 1)
			offer.Mul(offer, big.NewRat(capacity.Amount, sum))
			shares[i] = down(offer)
			cuts[i] = offer.Sub(offer, big.NewRat(shares[i], 1))
		}
		for _, s := range shares {
			rest -= s
		}
		handUnits(cuts, func(i int) int64 { return guaranteed(claims[i]) })
		return shares
	}
	for i, c := range claims {
		shares[i], rest = guaranteed(c), rest-guaranteed(c)
	}
	most := func(i int) int64 { return min(claims[i].Request, claims[i].Limit) }
	for priority := int64(9); priority >= 0; priority-- {
		for again := true; again && rest > 0; {
			again = false
			weights, parts, total := int64(0), map[int]*big.Rat{}, new(big.Rat)
			wanting := func(i int) bool { return claims[i].Priority == priority && most(i) > shares[i] && claims[i].Weight > 0 }
			for i, c := range claims {
				if wanting(i) {
					weights += c.Weight
				}
			}
			for i, c := range claims {
				if !wanting(i) {
					continue
				}
				w := big.NewRat(c.Weight, weights)
				u := new(big.Rat).SetFrac64(int64(c.Usage), int64(One))
				u.Sub(w, u).Mul(u, new(big.Rat).SetFrac64(int64(capacity.Memory), int64(One)))
				if w.Add(w, u).Sign() > 0 {
					parts[i] = w
					total.Add(total, w)
				}
			}
			cuts, given := map[int]*big.Rat{}, int64(0)
			for _, i := range all {
				if parts[i] == nil {
					continue
				}
				offer := new(big.Rat).Mul(new(big.Rat).Quo(parts[i], total), big.NewRat(rest, 1))
				want := most(i) - shares[i]
				order := big.NewRat(want, 1).Cmp(offer)
				if order <= 0 {
					shares[i], given, again = shares[i]+want, given+want, again || order < 0
					continue
				}
				give := down(offer)
				shares[i], given = shares[i]+give, given+give
				cuts[i] = offer.Sub(offer, big.NewRat(give, 1))
			}
			rest -= given
			if !again {
				handUnits(cuts, most)
			}
		}
	}
	return shares
}

func randomClaims(r *rand.Rand) (Capacity, []Claim) {
	capacity := Capacity{Amount: r.Int64N(200), Unit: r.Int64N(12), Memory: r.Uint64N(2 * One)}
	var claims []Claim
	for i := range 1 + r.IntN(6) {
		c := Claim{
			Name: fmt.Sprint(i), Sequence: uint64(i), Priority: r.Int64N(3), Deserved: r.Int64N(40), Weight: r.Int64N(4),
			Limit: Unlimited, Request: r.Int64N(100), Usage: r.Uint64N(One),
		}
		if r.IntN(4) == 0 {
			c.Deserved = Unlimited
		}
		if r.IntN(2) == 0 {
			c.Limit = r.Int64N(80)
		}
		claims = append(claims, c)
	}
	return capacity, claims
}

// TestDivisionIsThatOfFractions compares with the slow way, and what holds of every division.
func TestDivisionIsThatOfFractions(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 10))
	for range 4000 {
		capacity, claims := randomClaims(r)
		d, err := Divide(capacity, claims)
		require.NoError(t, err)
		require.Equal(t, rationalDivide(capacity, claims), d.Shares, "seed %d: %+v %+v", seed, capacity, claims)
		sum := d.Rest
		for i, c := range claims {
			sum += d.Shares[i]
			require.LessOrEqual(t, d.Shares[i], min(c.Request, c.Limit), "seed %d: more than asked for", seed)
			if d.Oversold == 0 {
				require.GreaterOrEqual(t, d.Shares[i], guarantee(capacity, c), "seed %d: less than guaranteed", seed)
			}
		}
		require.Equal(t, capacity.Amount, sum, "seed %d", seed)
		require.GreaterOrEqual(t, d.Rest, int64(0), "seed %d", seed)
		// whoever would take more has had it before a lower priority had anything over what it deserves
		for i, c := range claims {
			if capacity.Memory != 0 || c.Weight == 0 || d.Shares[i] == min(c.Request, c.Limit) || d.Oversold > 0 {
				continue
			}
			require.Zero(t, d.Rest, "seed %d: something is left that is wanted", seed)
			for k, lower := range claims {
				if lower.Priority < c.Priority {
					require.LessOrEqual(t, d.Shares[k], lower.Deserved, "seed %d: a lower priority has what a higher wants", seed)
				}
			}
		}
	}
}

func TestDivideRefuses(t *testing.T) {
	t.Parallel()
	_, err := Divide(Capacity{Amount: -1}, []Claim{{Name: "a", Request: -1}, {Name: "b", Weight: -1}})
	require.ErrorIs(t, err, ErrNegative)
	require.ErrorIs(t, err, ErrWeight)
	d, err := Divide(Capacity{Amount: 5}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 5, d.Rest)
	most := Claim{Deserved: Unlimited, Limit: Unlimited, Request: Unlimited, Weight: Unlimited}
	d, err = Divide(Capacity{Amount: Unlimited}, []Claim{most, most, most})
	require.NoError(t, err)
	require.Equal(t, int64(Unlimited), d.Shares[0]+d.Shares[1]+d.Shares[2])
	require.Equal(t, int64(Unlimited), d.Oversold)
}

func TestKnownReclaims(t *testing.T) {
	t.Parallel()
	known(t, "reclaim.txt", func(t *testing.T, a answer) {
		names := table{}
		var tree []DivisionNode
		for _, l := range a.all("queue") {
			n := DivisionNode{Name: l[0], Parent: names.at(t, l[1]), NonPreemptible: []int64{0}}
			n.Deserved, n.Share, n.Allocated = numbers(t, l[2:3]), numbers(t, l[3:4]), numbers(t, l[4:5])
			if len(l) > 5 {
				n.NonPreemptible = numbers(t, l[5:6])
			}
			names[n.Name] = len(tree)
			tree = append(tree, n)
		}
		wants := a.one(t, "wants")
		var victims []Reclaimee
		for _, l := range a.all("victim") {
			victims = append(victims, Reclaimee{Queue: names.at(t, l[0]), Amounts: numbers(t, l[1:])})
		}
		got, err := CanReclaim(tree, Reclaimer{Queue: names.at(t, wants[0]), Amounts: numbers(t, wants[1:2]), Preemptible: len(wants) < 3}, victims)
		require.NoError(t, err)
		require.Equal(t, a.one(t, "answer")[0] == "yes", got)
	})
}

func TestCanReclaimRefuses(t *testing.T) {
	t.Parallel()
	one := []int64{1}
	_, err := CanReclaim([]DivisionNode{
		{Name: "a", Parent: 4, Deserved: one, Share: one, Allocated: one, NonPreemptible: []int64{-1}},
		{Name: "b", Parent: Root, Share: one},
	}, Reclaimer{Queue: 9, Amounts: one}, nil)
	for _, want := range []error{ErrParent, ErrNode, ErrNegative, ErrLength} {
		require.ErrorIs(t, err, want)
	}
	tree := []DivisionNode{{Name: "a", Parent: Root, Deserved: one, Share: one, Allocated: one, NonPreemptible: one}}
	can, err := CanReclaim(tree, Reclaimer{Amounts: one, Preemptible: true}, []Reclaimee{{Amounts: one}})
	require.NoError(t, err)
	require.False(t, can, "nothing is reclaimed from the own queue")
}
