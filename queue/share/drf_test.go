package share

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

func TestKnownDRF(t *testing.T) {
	t.Parallel()
	known(t, "drf.txt", func(t *testing.T, a answer) {
		if queues := a.all("queue"); queues != nil {
			var keys []Key
			for i, q := range queues {
				f, _ := Dominant([]int64{number(t, q[2])}, []int64{number(t, q[4])}, 1)
				keys = append(keys, Key{Share: f, Sequence: uint64(i), Name: q[0]})
			}
			slices.SortFunc(keys, Key.Compare)
			var order []string
			for _, k := range keys {
				order = append(order, k.Name)
			}
			require.Equal(t, a.one(t, "order"), order)
			return
		}
		capacity := numbers(t, a.one(t, "capacity"))
		var members []Member
		var tasks [][]int64
		counts := map[string]int64{}
		for i, m := range a.all("member") {
			members = append(members, Member{Name: m[0], Sequence: uint64(i), Weight: number(t, m[2]), Used: make([]int64, len(capacity))})
			tasks = append(tasks, numbers(t, m[4:]))
		}
		order, shares := []string{}, []string{}
		_, stops := a.optional("stops")
		fill(members, tasks, capacity, stops, func(i int) {
			order = append(order, members[i].Name)
			counts[members[i].Name]++
			shares = append(shares, showShares(members, capacity))
		})
		require.Equal(t, a.one(t, "order"), order)
		for _, want := range a.all("want") {
			require.Equal(t, number(t, want[1]), counts[want[0]], want[0])
		}
		for i, want := range a.all("shares") {
			require.Equal(t, strings.Join(want, " "), shares[i])
		}
	})
}

// fill gives out tasks until none fits, or if stops is set until the next one does not.
func fill(members []Member, tasks [][]int64, capacity []int64, stops bool, placed func(i int)) {
	left := slices.Clone(capacity)
	for {
		i, ok := Next(members, capacity)
		if !ok {
			return
		}
		for r, v := range tasks[i] {
			members[i].Blocked = members[i].Blocked || v > left[r]
		}
		switch {
		case members[i].Blocked && stops:
			return
		case members[i].Blocked:
			continue
		}
		for r, v := range tasks[i] {
			left[r] -= v
			members[i].Used[r] += v
		}
		placed(i)
	}
}

// showShares has A's shares of each resource first, as the source has them.
func showShares(members []Member, capacity []int64) string {
	var parts []string
	for _, name := range []string{"A", "B"} {
		for _, m := range members {
			if m.Name != name {
				continue
			}
			var of []string
			for r, u := range m.Used {
				of = append(of, strings.TrimSuffix(big.NewRat(u, capacity[r]).String(), "/1"))
			}
			parts = append(parts, strings.Join(of, " "))
		}
	}
	return strings.Join(parts, " | ")
}

func TestDominantOfBadInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		used, capacity []int64
		weight         int64
		want           Fraction
		resource       int
	}{
		"nothing used":                    {used: []int64{0}, capacity: []int64{5}, weight: 1, resource: -1},
		"usage below 0 is none":           {used: []int64{-3, 1}, capacity: []int64{5, 5}, weight: 1, want: Ratio(1, 5), resource: 1},
		"zero capacity does not count":    {used: []int64{9, 1}, capacity: []int64{0, 5}, weight: 1, want: Ratio(1, 5), resource: 1},
		"a capacity below 0 neither":      {used: []int64{9, 1}, capacity: []int64{-1, 5}, weight: 1, want: Ratio(1, 5), resource: 1},
		"weight 0 is last":                {used: []int64{0}, capacity: []int64{5}, want: infinite, resource: -1},
		"a weight below 0 too":            {used: []int64{1}, capacity: []int64{5}, weight: -1, want: infinite, resource: -1},
		"missing resources are not used":  {used: []int64{1}, capacity: []int64{5, 5}, weight: 2, want: Ratio(1, 10), resource: 0},
		"resources that nobody has":       {used: []int64{1, 7}, capacity: []int64{5}, weight: 1, want: Ratio(1, 5), resource: 0},
		"equal shares: the lower index":   {used: []int64{2, 1}, capacity: []int64{10, 5}, weight: 1, want: Ratio(1, 5), resource: 0},
		"the largest numbers do not wrap": {used: []int64{Unlimited}, capacity: []int64{Unlimited}, weight: Unlimited, want: Ratio(1, Unlimited), resource: 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, resource := Dominant(c.used, c.capacity, c.weight)
			require.Zero(t, got.Compare(c.want), got.Float64())
			require.Equal(t, c.resource, resource)
		})
	}
}

// rat is a fraction the slow way; nil is infinite.
func rat(f Fraction) *big.Rat {
	if f.Infinite() {
		return nil
	}
	if f.Zero() {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(f.num.int(), f.den.int())
}

func TestFractionsCompareAsRationals(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	random := func() Fraction {
		f := Fraction{}
		for range 1 + r.IntN(2) {
			f.num = f.num.times(r.Uint64N(5))
			f.num[0] += r.Uint64() >> r.UintN(64)
			f.den[0] += r.Uint64() >> r.UintN(64)
			if r.IntN(2) == 0 {
				f.num, f.den = f.num.times(r.Uint64()>>r.UintN(64)), f.den.times(r.Uint64()>>r.UintN(64))
			}
		}
		return f
	}
	for n := range 5000 {
		f, g := random(), random()
		if n%7 == 0 { // equal, in other numbers
			k := r.Uint64() >> 1
			g = Fraction{f.num.times(k), f.den.times(k)}
		}
		x, y := rat(f), rat(g)
		want := 0
		switch {
		case x != nil && y != nil:
			want = x.Cmp(y)
		case x != nil:
			want = -1
		case y != nil:
			want = 1
		}
		require.Equal(t, want, f.Compare(g), "seed %d: %v %v", seed, f, g)
		require.Equal(t, -want, g.Compare(f), "seed %d", seed)
	}
}

// TestDRFSharingIncentive: with equal weights and endless demand, nobody who could have run all
// tasks of an equal part of the cluster has a dominant share below that of the part, but for one
// task of each, as tasks are not divided.
func TestDRFSharingIncentive(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 300 {
		n := 2 + r.IntN(4)
		capacity := []int64{1000 + r.Int64N(2000), 1000 + r.Int64N(2000)}
		members, tasks := make([]Member, n), make([][]int64, n)
		for i := range members {
			members[i] = Member{Name: fmt.Sprint(i), Weight: 1, Used: []int64{0, 0}}
			tasks[i] = []int64{r.Int64N(20), 1 + r.Int64N(20)}
		}
		fill(members, tasks, capacity, false, func(int) {})
		var used [2]int64
		for i, m := range members {
			share, _ := Dominant(m.Used, capacity, 1)
			one, _ := Dominant(tasks[i], capacity, 1)
			used[0], used[1] = used[0]+m.Used[0], used[1]+m.Used[1]
			least := new(big.Rat).Sub(big.NewRat(1, int64(n)), rat(one))
			for k := range tasks {
				other, _ := Dominant(tasks[k], capacity, 1)
				least.Sub(least, rat(other))
			}
			require.GreaterOrEqual(t, rat(share).Cmp(least), 0, "seed %d: member %d of %d has %v", seed, i, n, share.Float64())
		}
		require.LessOrEqual(t, used[0], capacity[0], "seed %d", seed)
		require.LessOrEqual(t, used[1], capacity[1], "seed %d", seed)
	}
}

func TestKnownHierarchies(t *testing.T) {
	t.Parallel()
	known(t, "hdrf.txt", func(t *testing.T, a answer) {
		capacity := numbers(t, a.one(t, "capacity"))
		names := table{}
		var nodes []HierarchyNode
		for _, l := range a.lines {
			if l[0] != "leaf" && l[0] != "group" {
				continue
			}
			b := HierarchyNode{Name: l[1], Parent: names.at(t, l[2]), Sequence: uint64(len(nodes)), Weight: 1}
			if l[0] == "leaf" {
				b.Wants, b.Used = numbers(t, l[3:]), make([]int64, len(capacity))
			}
			names[b.Name] = len(nodes)
			nodes = append(nodes, b)
		}
		counts := make([]int64, len(nodes))
		for {
			h, err := NewHierarchy(nodes, capacity)
			require.NoError(t, err)
			n, ok := h.Next()
			if !ok {
				break
			}
			counts[n]++
			for r, v := range nodes[n].Wants {
				nodes[n].Used[r] += v
			}
		}
		for _, want := range a.all("want") {
			require.Equal(t, number(t, want[1]), counts[names.at(t, want[0])], want[0])
		}
	})
}

// rationalHierarchy computes shares without rounding, straight from the definition; saturated and
// blocked are taken from the other one.
func rationalHierarchy(h *Hierarchy, capacity []int64, n int) (vector []*big.Rat, share *big.Rat) {
	vector, share = make([]*big.Rat, len(capacity)), new(big.Rat)
	for r := range vector {
		vector[r] = new(big.Rat)
		if len(h.children[n]) == 0 && capacity[r] > 0 {
			vector[r].SetFrac64(h.nodes[n].Used[r], capacity[r])
		}
	}
	weighted := func(c int, s *big.Rat) *big.Rat { return new(big.Rat).Quo(s, big.NewRat(h.nodes[c].Weight, 1)) }
	var lowest *big.Rat
	shares := map[int]*big.Rat{}
	vectors := map[int][]*big.Rat{}
	for _, c := range h.children[n] {
		vectors[c], shares[c] = rationalHierarchy(h, capacity, c)
		if w := weighted(c, shares[c]); !h.blocked[c] && (lowest == nil || w.Cmp(lowest) < 0) {
			lowest = w
		}
	}
	for _, c := range h.children[n] {
		for r, x := range vectors[c] {
			if w := weighted(c, shares[c]); !h.blocked[c] && w.Sign() > 0 {
				x = new(big.Rat).Mul(x, new(big.Rat).Quo(lowest, w))
			}
			vector[r].Add(vector[r], x)
		}
	}
	for r, x := range vector {
		if h.counts[r] && x.Cmp(share) > 0 {
			share = x
		}
	}
	return vector, share
}

func TestHierarchiesAreCloseToRationals(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 3))
	for range 200 {
		capacity := []int64{1 + r.Int64N(1e9), 1 + r.Int64N(1e15)}
		nodes := []HierarchyNode{{Name: "0", Parent: Root, Weight: 1}}
		for i := 1; i < 12; i++ {
			nodes = append(nodes, HierarchyNode{
				Name: fmt.Sprint(i), Parent: r.IntN(min(i, 4)), Weight: 1 + r.Int64N(3),
				Used: []int64{r.Int64N(capacity[0]/10 + 1), r.Int64N(capacity[1]/10 + 1)}, Wants: []int64{r.Int64N(3), 1},
			})
		}
		h, err := NewHierarchy(nodes, capacity)
		require.NoError(t, err)
		_, exact := rationalHierarchy(h, capacity, 0)
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(h.Share(0)), new(big.Int).Lsh(big.NewInt(1), 32))
		bound := big.NewRat(12*3*3*3*3, 1<<32) // 12 nodes, weights up to 3, four floors below the top
		off := new(big.Rat).Sub(exact, got)
		require.LessOrEqual(t, off.Abs(off).Cmp(bound), 0, "seed %d: %v, exactly %v", seed, got.FloatString(12), exact.FloatString(12))
	}
}

// TestHierarchySaturation: a resource of which no next piece fits counts in no share, and a leaf
// whose next piece does not fit is blocked, as is a group of such leaves.
func TestHierarchySaturation(t *testing.T) {
	t.Parallel()
	h, err := NewHierarchy([]HierarchyNode{
		{Name: "group", Parent: Root, Weight: 1},
		{Name: "cpu", Parent: 0, Weight: 1, Used: []int64{9, 0}, Wants: []int64{3, 0}},
		{Name: "idle", Parent: 0, Weight: 1, Used: []int64{0, 1}},
		{Name: "gpu", Parent: Root, Weight: 1, Used: []int64{0, 4}, Wants: []int64{0, 2}},
		{Name: "elsewhere", Parent: Root, Weight: 1, Used: []int64{0, 0}, Wants: []int64{0, 1}, Blocked: true},
	}, []int64{10, 8})
	require.NoError(t, err)
	require.True(t, h.Blocked(0))
	require.True(t, h.Blocked(4))
	require.Zero(t, h.Share(1), "1 of 10 is left, and nobody can use it")
	require.Equal(t, One/8, h.Share(0), "of the resource that is not saturated")
	require.Equal(t, One/2, h.Share(3))
	n, ok := h.Next()
	require.True(t, ok)
	require.Equal(t, 3, n)
}

func TestHierarchyRefuses(t *testing.T) {
	t.Parallel()
	_, err := NewHierarchy([]HierarchyNode{
		{Name: "a", Parent: 7, Weight: 1}, {Name: "b", Parent: Root}, {Name: "c", Parent: Root, Weight: 1, Used: []int64{-1}, Wants: []int64{1, 1}},
	}, []int64{4})
	for _, want := range []error{ErrParent, ErrWeight, ErrNegative, ErrLength} {
		require.ErrorIs(t, err, want)
	}
	_, err = NewHierarchy([]HierarchyNode{{Name: "a", Parent: 1, Weight: 1}, {Name: "b", Parent: 0, Weight: 1}}, nil)
	require.ErrorIs(t, err, ErrCycle)
}
