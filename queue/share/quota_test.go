package share

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

// nodesOf reads lines "node name parent nominal... [borrow=] [lend=] [weight=]".
func nodesOf(t *testing.T, a answer) ([]QuotaNode, table) {
	names := table{}
	var nodes []QuotaNode
	for _, l := range a.all("node") {
		o, p := options(l), plain(l)
		n := QuotaNode{Name: p[0], Parent: names.at(t, p[1]), Nominal: numbers(t, p[2:]), Weight: PPM}
		if v, ok := o["borrow"]; ok {
			n.Borrow = vector(t, v)
		}
		if v, ok := o["lend"]; ok {
			n.Lend = vector(t, v)
		}
		if v, ok := o["weight"]; ok {
			n.Weight = number(t, v)
		}
		names[n.Name] = len(nodes)
		nodes = append(nodes, n)
	}
	return nodes, names
}

func TestKnownQuotas(t *testing.T) {
	t.Parallel()
	known(t, "quota.txt", func(t *testing.T, a answer) {
		nodes, names := nodesOf(t, a)
		q, err := NewQuota(nodes, []int{0})
		require.NoError(t, err)
		for _, l := range a.all("node") {
			if v, ok := options(l)["use"]; ok {
				require.NoError(t, q.Add(names.at(t, l[0]), vector(t, v)))
			}
		}
		for _, want := range a.all("want") {
			n := names.at(t, want[0])
			require.Equal(t, number(t, want[1]), q.Available(n, 0), want[0])
			require.Equal(t, number(t, want[2]), q.Potential(n, 0), want[0])
		}
	})
}

func TestKnownBorrowedShares(t *testing.T) {
	t.Parallel()
	known(t, "borrowed.txt", func(t *testing.T, a answer) {
		for _, l := range a.all("print") {
			b := Borrowed{ratio: Ratio(number(t, l[0]), 1000)}
			if !b.ratio.Zero() {
				b.weighted = Fraction{b.ratio.num, b.ratio.den.times(uint64(number(t, l[1])))}
			}
			require.Equal(t, l[2], b.String())
		}
		names, ok := a.optional("cells")
		if !ok {
			return
		}
		resources, kinds := []int{}, table{}
		for _, c := range names {
			if _, ok := kinds[c]; !ok {
				kinds[c] = len(kinds)
			}
			resources = append(resources, kinds[c])
		}
		nodes, of := nodesOf(t, a)
		q, err := NewQuota(nodes, resources)
		require.NoError(t, err)
		for _, l := range a.all("use") {
			require.NoError(t, q.Add(of.at(t, l[0]), numbers(t, l[1:])))
		}
		requests := map[string][]int64{}
		for _, l := range a.all("request") {
			requests[l[0]] = numbers(t, l[1:])
		}
		for _, l := range a.all("share") {
			got := q.Share(of.at(t, l[0]), requests[l[0]])
			require.Equal(t, number(t, l[1]), got.Permille(), l[0])
			if len(l) > 2 {
				require.Equal(t, kinds[l[2]], got.Resource)
			} else {
				require.Equal(t, -1, got.Resource)
			}
		}
		for _, l := range a.all("borrows") {
			f, o := q.Fork(), options(l)
			n := of.at(t, l[0])
			require.NoError(t, f.Add(n, vector(t, o["use"])))
			require.Equal(t, l[3], fmt.Sprint(f.Borrows(n, vector(t, o["request"]))), l)
		}
	})
}

// randomQuota is a tree of one or two cells, of depth 4 at most.
func randomQuota(r *rand.Rand, cells []int) ([]QuotaNode, *Quota) {
	limit := func() (v []int64) {
		if r.IntN(2) == 0 {
			return nil
		}
		for range cells {
			v = append(v, r.Int64N(15))
		}
		return v
	}
	nodes := []QuotaNode{{Name: "0", Parent: Root, Weight: PPM}}
	for i := 1; i < 10; i++ {
		n := QuotaNode{Name: fmt.Sprint(i), Parent: r.IntN(min(i, 4)), Borrow: limit(), Lend: limit(), Weight: PPM * r.Int64N(3)}
		for range cells {
			n.Nominal = append(n.Nominal, r.Int64N(20))
		}
		nodes = append(nodes, n)
	}
	q, err := NewQuota(nodes, cells)
	if err != nil {
		panic(err)
	}
	return nodes, q
}

// TestQuotaIsConserved: Add and Remove, in any order, leave what follows from what is used: the
// usage of a node is its own and what its children use beyond what they keep. What is available can be
// added, and nothing is available of what was added up to it.
func TestQuotaIsConserved(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 5))
	for range 200 {
		nodes, q := randomQuota(r, []int{0, 0})
		used := make([][]int64, len(nodes))
		for i := range used {
			used[i] = []int64{0, 0}
		}
		for range 40 {
			n, c := r.IntN(len(nodes)), r.IntN(2)
			v := []int64{0, 0}
			if r.IntN(2) == 0 {
				v[c] = r.Int64N(10)
				require.NoError(t, q.Add(n, v))
				used[n][c] += v[c]
			} else if used[n][c] > 0 {
				v[c] = r.Int64N(used[n][c] + 1)
				require.NoError(t, q.Remove(n, v))
				used[n][c] -= v[c]
			}
			for c := range 2 {
				for n := range nodes {
					require.Equal(t, spilled(q, used, n, c), q.Usage(n, c), "seed %d: node %d", seed, n)
				}
			}
		}
		n := r.IntN(len(nodes))
		if free := q.Available(n, 0); free > 0 {
			require.NoError(t, q.Add(n, []int64{free, 0}))
			require.Zero(t, q.Available(n, 0), "seed %d", seed)
		}
	}
}

// spilled computes usage anew, from below.
func spilled(q *Quota, used [][]int64, n, c int) int64 {
	sum := used[n][c]
	for _, child := range q.children[n] {
		sum += max(0, spilled(q, used, child, c)-q.own[child][c])
	}
	return sum
}

// TestBorrowedSharesCompareAsRationals compares with shares computed from the definition.
func TestBorrowedSharesCompareAsRationals(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 15))
	for range 300 {
		cells := []int{0, 1, 0}
		nodes, q := randomQuota(r, cells)
		for range 20 {
			require.NoError(t, q.Add(r.IntN(len(nodes)), []int64{r.Int64N(20), r.Int64N(20), r.Int64N(20)}))
		}
		exact := func(n int) (ratio, weighted *big.Rat) {
			ratio = new(big.Rat)
			for resource := 0; nodes[n].Parent != Root && resource < 2; resource++ {
				over, lendable := int64(0), int64(0)
				for c, of := range cells {
					if of == resource {
						over += max(0, q.Usage(n, c)-q.subtree[n][c])
						lendable += q.Potential(nodes[n].Parent, c)
					}
				}
				if lendable > 0 && big.NewRat(over, lendable).Cmp(ratio) > 0 {
					ratio = big.NewRat(over, lendable)
				}
			}
			if nodes[n].Weight > 0 {
				weighted = new(big.Rat).Quo(ratio, big.NewRat(nodes[n].Weight, PPM))
			} else if ratio.Sign() == 0 {
				weighted = ratio
			}
			return ratio, weighted
		}
		for a := range nodes {
			for b := range nodes {
				ratioA, shareA := exact(a)
				ratioB, shareB := exact(b)
				want := 0
				switch {
				case shareA == nil && shareB == nil:
					want = ratioA.Cmp(ratioB)
				case shareA == nil:
					want = 1
				case shareB == nil:
					want = -1
				default:
					want = shareA.Cmp(shareB)
				}
				require.Equal(t, want, q.Share(a, nil).Compare(q.Share(b, nil)), "seed %d: %d and %d", seed, a, b)
			}
		}
	}
}

func TestQuotaRefuses(t *testing.T) {
	t.Parallel()
	_, err := NewQuota([]QuotaNode{
		{Name: "a", Parent: 5, Nominal: []int64{1, 2}}, {Name: "b", Parent: Root, Nominal: []int64{-1}, Weight: -1},
		{Name: "c", Parent: Root, Nominal: []int64{mostAmount}}, {Name: "d", Parent: Root, Nominal: []int64{1}},
	}, []int{0})
	for _, want := range []error{ErrParent, ErrLength, ErrNegative, ErrWeight, ErrOverflow} {
		require.ErrorIs(t, err, want)
	}
	q, err := NewQuota([]QuotaNode{{Name: "a", Parent: Root, Nominal: []int64{5}}}, []int{0})
	require.NoError(t, err)
	require.ErrorIs(t, q.Add(1, nil), ErrNode)
	require.ErrorIs(t, q.Add(0, []int64{-1}), ErrNegative)
	require.ErrorIs(t, q.Remove(0, []int64{1}), ErrNegative)
	require.NoError(t, q.Add(0, []int64{mostAmount}))
	require.ErrorIs(t, q.Add(0, []int64{1}), ErrOverflow)
	require.Equal(t, mostAmount, int(q.Usage(0, 0)), "what failed is not counted")
}
