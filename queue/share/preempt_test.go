package share

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

func TestKnownPreemptions(t *testing.T) {
	t.Parallel()
	known(t, "preempt.txt", func(t *testing.T, a answer) {
		nodes, names := nodesOf(t, a)
		if cohort, ok := a.optional("cohort"); ok {
			nodes = []QuotaNode{{Name: "cohort", Parent: Root}}
			for _, queue := range cohort {
				name, quota, _ := strings.Cut(queue, "=")
				v := vector(t, quota)
				names[name] = len(nodes)
				nodes = append(nodes, QuotaNode{Name: name, Parent: 0, Nominal: v[:1], Weight: append(v, PPM)[1]})
			}
		}
		cells := []int{0}
		if _, two := a.optional("cells"); two {
			cells = []int{0, 0}
		}
		q, err := NewQuota(nodes, cells)
		require.NoError(t, err)
		var running []Running
		for _, l := range a.all("run") {
			w := Running{Name: l[0], Queue: names.at(t, l[1]), Amounts: vector(t, l[2])}
			if len(l) > 3 {
				w.Priority = number(t, l[3])
			}
			require.NoError(t, q.Add(w.Queue, w.Amounts))
			running = append(running, w)
		}
		ask := a.one(t, "ask")
		p := Preemptor{Queue: names.at(t, ask[0]), Amounts: vector(t, ask[1]), Within: LowerPriority, Reclaim: AnyPriority}
		if l, ok := a.optional("rules"); ok {
			p.Fairness = map[string]FairRules{"initial": InitialShare, "final": FinalShare}[l[0]]
		}
		if _, ok := a.optional("reclaim"); ok {
			p.Reclaim = LowerPriority
		}
		want, got := []string{}, []string{}
		for _, l := range a.all("want") {
			want = append(want, strings.Join(l, " "))
		}
		victims, fits, err := q.Victims(p, running)
		require.NoError(t, err)
		for _, v := range victims {
			got = append(got, running[v.Index].Name+" "+[]string{"queue", "reclaimed", "fair"}[v.Reason])
		}
		require.ElementsMatch(t, want, got)
		_, none := a.optional("none")
		require.Equal(t, !none, fits)
	})
}

// TestVictimsPassTheirTestsTogether: whatever was given back, in the order of choice each victim passes
// a test with the same reason, there is room in the end, and each is needed, for the room or for the
// tests of others.
func TestVictimsPassTheirTestsTogether(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 6))
	kept := 0
	for n := range 4000 {
		q, running, p := randomCohort(r)
		if n%2 == 0 {
			q, running, p = randomTree(r)
		}
		victims, fits, err := q.Victims(p, running)
		require.NoError(t, err)
		if !fits || len(victims) == 0 {
			continue
		}
		s := &search{q: q.Fork(), p: p, running: running}
		s.q.add(p.Queue, p.Amounts)
		for _, v := range victims {
			reason, final := s.test(v.Index, FinalShare)
			_, initial := s.test(v.Index, InitialShare)
			require.Equal(t, v.Reason, reason, "seed %d", seed)
			require.True(t, final || initial, "seed %d: %s", seed, running[v.Index].Name)
			s.q.remove(running[v.Index].Queue, running[v.Index].Amounts)
		}
		require.True(t, s.fits(), "seed %d", seed)
		for k, v := range victims {
			s.q.add(running[v.Index].Queue, running[v.Index].Amounts)
			if s.fits() {
				kept++
				needed := slices.ContainsFunc(victims[k+1:], func(v Victim) bool { return v.Reason != InQueue })
				require.True(t, needed, "seed %d: %s is not needed", seed, running[v.Index].Name)
			}
			s.q.remove(running[v.Index].Queue, running[v.Index].Amounts)
		}
	}
	require.Positive(t, kept, "seed %d: no victim is kept because of a test", seed)
}

// randomCohort is a flat cohort of queues that are full, and a preemptor.
func randomCohort(r *rand.Rand) (*Quota, []Running, Preemptor) {
	nodes := []QuotaNode{{Name: "cohort", Parent: Root}}
	queues := 2 + r.IntN(3)
	for i := range queues {
		nodes = append(nodes, QuotaNode{Name: fmt.Sprint("q", i), Parent: 0, Nominal: []int64{r.Int64N(10), r.Int64N(10)}, Weight: PPM * (1 + r.Int64N(2))})
	}
	return fillQuota(r, nodes, func() int { return 1 + r.IntN(queues) })
}

// randomTree is a cohort of three cohorts with two queues each.
func randomTree(r *rand.Rand) (*Quota, []Running, Preemptor) {
	nodes := []QuotaNode{{Name: "top", Parent: Root}}
	for i := range 3 {
		nodes = append(nodes, QuotaNode{Name: fmt.Sprint("c", i), Parent: 0, Nominal: []int64{r.Int64N(4), r.Int64N(4)}, Weight: PPM * (1 + r.Int64N(2))})
	}
	for i := range 6 {
		nodes = append(nodes, QuotaNode{Name: fmt.Sprint("q", i), Parent: 1 + i/2, Nominal: []int64{r.Int64N(8), r.Int64N(8)}, Weight: PPM * r.Int64N(3)})
	}
	return fillQuota(r, nodes, func() int { return 4 + r.IntN(6) })
}

// fillQuota runs workloads in the queues until most is used.
func fillQuota(r *rand.Rand, nodes []QuotaNode, queue func() int) (*Quota, []Running, Preemptor) {
	q, err := NewQuota(nodes, []int{0, 1})
	if err != nil {
		panic(err)
	}
	var running []Running
	for i := range 25 {
		w := Running{Name: fmt.Sprint("w", i), Queue: queue(), Amounts: []int64{1 + r.Int64N(4), r.Int64N(4)}, Priority: r.Int64N(3)}
		if q.fits(w.Queue, w.Amounts) {
			q.add(w.Queue, w.Amounts)
			running = append(running, w)
		}
	}
	p := Preemptor{
		Queue: queue(), Amounts: []int64{1 + r.Int64N(6), r.Int64N(6)}, Priority: r.Int64N(3),
		Within: LowerPriority, Reclaim: AnyPriority,
	}
	return q, running, p
}

// TestPreemptionIsNotReversed: in a flat cohort, a workload that was exchanged for one of another
// queue cannot have that exchange reversed.
func TestPreemptionIsNotReversed(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 7))
	exchanges := map[Reason]int{}
	for range 6000 {
		q, running, p := randomCohort(r)
		victims, fits, err := q.Victims(p, running)
		require.NoError(t, err)
		if !fits || len(victims) != 1 || victims[0].Reason == InQueue {
			continue
		}
		exchanges[victims[0].Reason]++
		lost := running[victims[0].Index]
		q.remove(lost.Queue, lost.Amounts)
		q.add(p.Queue, p.Amounts)
		running = append(without(running, []Running{lost}), Running{Name: "new", Queue: p.Queue, Amounts: p.Amounts, Priority: p.Priority})
		back := Preemptor{Queue: lost.Queue, Amounts: lost.Amounts, Priority: lost.Priority, Within: LowerPriority, Reclaim: AnyPriority}
		victims, _, err = q.Victims(back, running)
		require.NoError(t, err)
		require.False(t, len(victims) == 1 && running[victims[0].Index].Name == "new", "seed %d: %s comes back", seed, lost.Name)
	}
	require.Positive(t, exchanges[FairShare], "seed %d", seed)
	require.Positive(t, exchanges[Reclaimed], "seed %d", seed)
}

// TestPreemptionMakesSharesMoreEqual: with one resource in a flat cohort, each decision with a victim
// in another queue lowers the shares, sorted from the highest down. So no circle of such
// decisions is possible.
func TestPreemptionMakesSharesMoreEqual(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 9))
	decisions := 0
	for range 3000 {
		q, running, p := randomCohort(r)
		for i, w := range running {
			q.remove(w.Queue, []int64{0, w.Amounts[1]})
			running[i].Amounts = []int64{w.Amounts[0], 0}
		}
		p.Amounts[1] = 0
		victims, _, err := q.Victims(p, running)
		require.NoError(t, err)
		if !slices.ContainsFunc(victims, func(v Victim) bool { return v.Reason != InQueue }) {
			continue
		}
		decisions++
		before := descending(q)
		for _, v := range victims {
			q.remove(running[v.Index].Queue, running[v.Index].Amounts)
		}
		q.add(p.Queue, p.Amounts)
		require.Negative(t, slices.CompareFunc(descending(q), before, Borrowed.Compare), "seed %d", seed)
	}
	require.Greater(t, decisions, 100, "seed %d", seed)
}

func without(running, gone []Running) []Running {
	return slices.DeleteFunc(running, func(w Running) bool {
		return slices.ContainsFunc(gone, func(g Running) bool { return g.Name == w.Name })
	})
}

// descending has the shares of the queues, the highest first.
func descending(q *Quota) (shares []Borrowed) {
	for _, n := range q.children[0] {
		shares = append(shares, q.Share(n, nil))
	}
	slices.SortFunc(shares, func(a, b Borrowed) int { return b.Compare(a) })
	return shares
}

// TestVictimsDoNotDependOnTheirOrder: not on the order in which workloads are listed.
func TestVictimsDoNotDependOnTheirOrder(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 8))
	for range 300 {
		q, running, p := randomTree(r)
		names := func(running []Running) (s []string) {
			victims, _, err := q.Victims(p, running)
			require.NoError(t, err)
			for _, v := range victims {
				s = append(s, running[v.Index].Name)
			}
			return s
		}
		want := names(running)
		r.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
		require.Equal(t, want, names(running), "seed %d", seed)
	}
}

func TestVictimsRefuses(t *testing.T) {
	t.Parallel()
	q, err := NewQuota([]QuotaNode{{Name: "top", Parent: Root}, {Name: "a", Parent: 0, Nominal: []int64{3}}}, []int{0})
	require.NoError(t, err)
	_, _, err = q.Victims(Preemptor{Queue: 0, Amounts: []int64{1}}, []Running{{Name: "w", Queue: 1, Amounts: []int64{1}}, {Name: "v", Queue: 7}})
	require.ErrorIs(t, err, ErrNode)
	require.ErrorIs(t, err, ErrNegative, "w is not counted")
	victims, fits, err := q.Victims(Preemptor{Queue: 1, Amounts: []int64{3}}, nil)
	require.NoError(t, err)
	require.True(t, fits)
	require.Empty(t, victims)
}
