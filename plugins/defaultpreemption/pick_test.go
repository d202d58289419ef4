package defaultpreemption

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

func victimsOf(violations int, list ...*extpoints.WorkloadInfo) *extpoints.Victims {
	return &extpoints.Victims{Workloads: list, BudgetViolations: violations}
}

// chosen is the index of the candidate that is picked.
func chosen(t testing.TB, args Args, seed uint64, list ...*extpoints.Victims) int {
	t.Helper()
	p, err := New(args, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	candidates := make([]candidate, len(list))
	for i := range list {
		candidates[i] = candidate{node("n", 1), i, list[i]}
	}
	s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: extpointstest.NewView(), Now: now, Seed: seed}).State()
	return p.pick(s, candidates).place
}

func TestCriteria(t *testing.T) {
	low := int32(math.MinInt32)
	for _, c := range []struct {
		name string
		list []*extpoints.Victims
		want int
	}{
		{"a single one", []*extpoints.Victims{victimsOf(3, on("a", 1, 0, 1))}, 0},
		{"fewest violations, whatever else",
			[]*extpoints.Victims{victimsOf(1, on("a", 1, 0, 1)), victimsOf(0, on("b", 9, 0, 1), on("c", 9, 0, 1))}, 1},
		{"least highest priority, whatever the sum",
			[]*extpoints.Victims{victimsOf(0, on("a", 9, 0, 1)), victimsOf(0, on("b", 8, 0, 1), on("c", 8, 0, 1))}, 1},
		{"least sum of priorities",
			[]*extpoints.Victims{victimsOf(0, on("a", 9, 0, 1), on("b", 7, 0, 1)), victimsOf(0, on("c", 9, 0, 1), on("d", 6, 0, 1))}, 1},
		{"negative priorities are above none: fewer victims are less",
			[]*extpoints.Victims{victimsOf(0, on("a", -5, 0, 1), on("b", -5, 0, 1)), victimsOf(0, on("c", -5, 0, 1))}, 1},
		{"fewest victims, where the lowest priority there is adds nothing",
			[]*extpoints.Victims{victimsOf(0, on("a", low, 0, 9), on("b", low, 0, 9)), victimsOf(0, on("c", low, 0, 9))}, 1},
		{"latest start",
			[]*extpoints.Victims{victimsOf(0, on("a", 9, 0, 5)), victimsOf(0, on("b", 9, 0, 4))}, 1},
		{"the earliest start among those of the highest priority counts",
			[]*extpoints.Victims{victimsOf(0, on("a", 9, 0, 2), on("b", 9, 0, 8), on("c", 1, 0, 1)), victimsOf(0, on("d", 9, 0, 6), on("e", 9, 0, 7), on("f", 1, 0, 99))}, 1},
		{"wherever the highest is in the list",
			[]*extpoints.Victims{victimsOf(0, on("a", 1, 0, 1), on("b", 9, 0, 8)), victimsOf(0, on("c", 1, 0, 9), on("d", 9, 0, 7))}, 1},
		{"no start time is now",
			[]*extpoints.Victims{victimsOf(0, on("a", 9, 0, 1)), victimsOf(0, on("b", 9, 0, 0))}, 1},
		{"nothing left: the first",
			[]*extpoints.Victims{victimsOf(0, on("a", 9, 0, 2)), victimsOf(0, on("b", 9, 0, 1)), victimsOf(0, on("c", 9, 0, 1))}, 1},
	} {
		if got := chosen(t, Args{}, 1, c.list...); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// By the seed each of the best gets its turn, and the same seed the same one.
func TestTieBreak(t *testing.T) {
	list := []*extpoints.Victims{victimsOf(0, on("a", 2, 0, 1)), victimsOf(0, on("b", 1, 0, 1)), victimsOf(0, on("c", 1, 0, 1)), victimsOf(0, on("d", 1, 0, 1))}
	count := make([]int, len(list))
	for seed := range uint64(3000) {
		i := chosen(t, Args{TieBreak: RandomNode}, seed, list...)
		if again := chosen(t, Args{TieBreak: RandomNode}, seed, list...); again != i {
			t.Fatalf("seed %d: %d, and then %d", seed, i, again)
		}
		count[i]++
		if got := chosen(t, Args{}, seed, list...); got != 1 {
			t.Fatalf("seed %d: the first of the best is %d, not 1", seed, got)
		}
	}
	if count[0] != 0 || slices.Min(count[1:]) < 900 {
		t.Errorf("the ties are broken %v times", count)
	}
}

// twinOf compares two candidates by the list of their numbers.
func better(a, b *extpoints.Victims) bool {
	for i := range criteria {
		x, y := numbers(a)[i], numbers(b)[i]
		if x != y {
			return x < y
		}
	}
	return false
}

// numbers are what must be small, the first first.
func numbers(v *extpoints.Victims) []float64 {
	highest, sum := int32(math.MinInt32), 0.0
	for _, w := range v.Workloads {
		highest = max(highest, w.Priority)
		sum += float64(w.Priority) + 1<<31
	}
	earliest := math.Inf(1)
	for _, w := range v.Workloads {
		if w.Priority == highest {
			at := w.PlacedAt
			if at.IsZero() {
				at = now
			}
			earliest = min(earliest, float64(at.Sub(now)/time.Minute))
		}
	}
	return []float64{float64(v.BudgetViolations), float64(v.Workloads[0].Priority), sum, float64(len(v.Workloads)), -earliest}
}

func TestPickAgainstTwin(t *testing.T) {
	const seed = 5
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 5000 {
		list := make([]*extpoints.Victims, 1+random.IntN(6))
		for i := range list {
			var victims works
			for range 1 + random.IntN(3) {
				victims = append(victims, on("v", int32(random.IntN(3)-1), 0, random.IntN(3)))
			}
			list[i] = victimsOf(random.IntN(2), victims...)
		}
		want := 0
		for i := range list {
			if better(list[i], list[want]) {
				want = i
			}
		}
		if got := chosen(t, Args{}, 1, list...); got != want {
			t.Fatalf("seed %d, round %d: %d, want %d", seed, round, got, want)
		}
	}
}
