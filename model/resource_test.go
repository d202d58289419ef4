package model_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestResourcesGetAndSet(t *testing.T) {
	var r Resources
	for i, name := range []string{CPU, Memory, EphemeralStorage, "licences", "fpga", ""} {
		if r.Get(name) != 0 {
			t.Errorf("%q of nothing is %d", name, r.Get(name))
		}
		r.Set(name, int64(i)+1)
		r.Set(name, int64(i)+10)
	}
	want := Resources{CPU: 10, Memory: 11, EphemeralStorage: 12, Scalars: []Scalar{{"licences", 13}, {"fpga", 14}, {"", 15}}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, want %+v", r, want)
	}
	if r.Get(Memory) != 11 || r.Get("fpga") != 14 || r.Scalar("fpga") != 14 {
		t.Errorf("Get does not return what was set: %+v", r)
	}
	if r.Scalar(CPU) != 0 {
		t.Error("Scalar should not look at the fields")
	}
}

// TestResourcesArithmetic: each resource for itself, a scalar on one side only
// counts as 0 on the other, and amounts stop at the limits of int64.
func TestResourcesArithmetic(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	scalar := func(name string, amount int64) Resources { return Resources{Scalars: []Scalar{{name, amount}}} }
	tests := []struct {
		about           string
		a, b, sum, diff Resources
	}{
		{"nothing", Resources{}, Resources{}, Resources{}, Resources{}},
		{"fields",
			Resources{CPU: 5, Memory: 6, EphemeralStorage: 7}, Resources{CPU: 1, Memory: 2, EphemeralStorage: 3},
			Resources{CPU: 6, Memory: 8, EphemeralStorage: 10}, Resources{CPU: 4, Memory: 4, EphemeralStorage: 4}},
		{"below zero",
			Resources{CPU: 1}, Resources{CPU: 2},
			Resources{CPU: 3}, Resources{CPU: -1}},
		{"same scalar", scalar("x", 5), scalar("x", 2), scalar("x", 7), scalar("x", 3)},
		{"scalar on the left", scalar("x", 5), Resources{}, scalar("x", 5), scalar("x", 5)},
		{"scalar on the right", Resources{}, scalar("x", 5), scalar("x", 5), scalar("x", -5)},
		{"scalar of zero stays", Resources{}, scalar("x", 0), scalar("x", 0), scalar("x", 0)},
		{"two scalars", scalar("x", 5), scalar("y", 2),
			Resources{Scalars: []Scalar{{"x", 5}, {"y", 2}}}, Resources{Scalars: []Scalar{{"x", 5}, {"y", -2}}}},
		{"largest",
			Resources{CPU: most, Memory: most}, Resources{CPU: 1, Memory: most},
			Resources{CPU: most, Memory: most}, Resources{CPU: most - 1}},
		{"largest scalar", scalar("x", most), scalar("x", most), scalar("x", most), scalar("x", 0)},
		{"smallest",
			Resources{CPU: least, Memory: -2}, Resources{CPU: -1, Memory: most},
			Resources{CPU: least, Memory: most - 2}, Resources{CPU: least + 1, Memory: least}},
		{"largest difference",
			Resources{CPU: most, Memory: 0}, Resources{CPU: -1, Memory: least},
			Resources{CPU: most - 1, Memory: least}, Resources{CPU: most, Memory: most}},
		{"smallest scalar", scalar("x", least), scalar("x", 1), scalar("x", least+1), scalar("x", least)},
	}
	for _, tt := range tests {
		sum, diff := tt.a.Clone(), tt.a.Clone()
		sum.Add(&tt.b)
		diff.Sub(&tt.b)
		if !reflect.DeepEqual(sum, tt.sum) {
			t.Errorf("%s: %+v + %+v = %+v, want %+v", tt.about, tt.a, tt.b, sum, tt.sum)
		}
		if !reflect.DeepEqual(diff, tt.diff) {
			t.Errorf("%s: %+v - %+v = %+v, want %+v", tt.about, tt.a, tt.b, diff, tt.diff)
		}
	}
}

// TestResourcesSubUndoesAdd holds for valid amounts whose sum is an int64.
func TestResourcesSubUndoesAdd(t *testing.T) {
	r := seeded(t)
	for range 5000 {
		a, b := modeltest.RandomResources(r), modeltest.RandomResources(r)
		sum := a.Clone()
		sum.Add(&b)
		saturated := false
		for _, name := range slices.Concat(sum.Names(), []string{CPU, Memory, EphemeralStorage}) {
			saturated = saturated || a.Get(name) > math.MaxInt64-b.Get(name)
			if sum.Get(name) < a.Get(name) || sum.Get(name) < b.Get(name) {
				t.Fatalf("%s shrank: %+v + %+v = %+v", name, a, b, sum)
			}
		}
		if saturated {
			continue
		}
		sum.Sub(&b)
		for _, name := range slices.Concat(sum.Names(), []string{CPU, Memory, EphemeralStorage}) {
			if sum.Get(name) != a.Get(name) {
				t.Fatalf("%s: %+v + %+v - %+v = %+v", name, a, b, b, sum)
			}
		}
	}
}

func TestResourcesWithAndClone(t *testing.T) {
	r := Resources{CPU: 1, Scalars: []Scalar{{"x", 1}}}
	if with := r.With("x", 2).With(CPU, 3).With("y", 4); with.Scalar("x") != 2 || with.CPU != 3 || with.Scalar("y") != 4 {
		t.Errorf("With lost something: %+v", with)
	}
	clone := r.Clone()
	clone.Set("x", 9)
	if !reflect.DeepEqual(r, Resources{CPU: 1, Scalars: []Scalar{{"x", 1}}}) {
		t.Errorf("a copy changed the original: %+v", r)
	}
}

func TestResourcesIsZeroAndNames(t *testing.T) {
	tests := []struct {
		r     Resources
		zero  bool
		names []string
	}{
		{Resources{}, true, nil},
		{Resources{CPU: 1}, false, []string{CPU}},
		{Resources{Memory: -1}, false, []string{Memory}},
		{Resources{EphemeralStorage: 1, CPU: 1}, false, []string{CPU, EphemeralStorage}},
		{Resources{Scalars: []Scalar{{"x", 0}}}, true, []string{"x"}},
		{Resources{Memory: 1, Scalars: []Scalar{{"y", 0}, {"b", 1}}}, false, []string{Memory, "b", "y"}},
	}
	for _, tt := range tests {
		if got := tt.r.IsZero(); got != tt.zero {
			t.Errorf("%+v is zero: %v", tt.r, got)
		}
		if got := tt.r.Names(); !slices.Equal(got, tt.names) {
			t.Errorf("names of %+v: %v, want %v", tt.r, got, tt.names)
		}
	}
}

// seeded returns a source of random numbers whose seed is in the test's log.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := modeltest.Seed(t)
	return rand.New(rand.NewPCG(seed, 0))
}
