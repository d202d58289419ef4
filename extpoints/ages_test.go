package extpoints

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The answers about ages stay the same between the times that the cycle says, and not at these.
func TestAgesHold(t *testing.T) {
	const seed = 63
	r := rand.New(rand.NewPCG(seed, seed))
	epoch := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	type question struct {
		at  time.Time
		age time.Duration
	}
	ask := func(questions []question, present time.Time) (answers string, after, before time.Time) {
		c := NewCycle(CycleOptions{Now: epoch.Add(time.Hour), Present: present})
		for _, q := range questions {
			answers += map[bool]string{true: "old ", false: "new "}[c.State().TooOld(q.at, q.age)]
		}
		after, before = c.AgesHold()
		return answers, after, before
	}
	for round := range 3000 {
		var questions []question
		for range r.IntN(4) {
			questions = append(questions, question{epoch.Add(time.Duration(r.IntN(41) - 20)), time.Duration(r.IntN(12))})
		}
		present := epoch.Add(time.Duration(r.IntN(61) - 30))
		is, after, before := ask(questions, present)
		for ns := range 121 {
			other := epoch.Add(time.Duration(ns - 60))
			within := (after.IsZero() || other.After(after)) && (before.IsZero() || other.Before(before))
			switch got, _, _ := ask(questions, other); {
			case within && got != is:
				t.Fatalf("seed %d, round %d: %v at %v is %s, and at %v %s", seed, round, questions, present, is, other, got)
			case got == is && (other.Equal(after) || other.Equal(before)):
				t.Fatalf("seed %d, round %d: %v is %s at %v, which is no bound", seed, round, questions, is, other)
			}
		}
	}
}

// What is of another age of the world is old, and numbers do not overflow.
func TestAgesAreLarge(t *testing.T) {
	present := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at     time.Time
		age    time.Duration
		tooOld bool
	}{
		{time.Time{}, time.Hour, true}, {time.Time{}, 0, false}, {time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Hour, true},
		{present.Add(-time.Hour), math.MaxInt64, false}, {present.Add(time.Hour), math.MaxInt64, false},
	} {
		cycle := NewCycle(CycleOptions{Now: present})
		if got := cycle.State().TooOld(c.at, c.age); got != c.tooOld {
			t.Errorf("%v, %v: %v", c.at, c.age, got)
		}
		if after, before := cycle.AgesHold(); !after.IsZero() && !after.Before(present) || !before.IsZero() && !before.After(present) {
			t.Errorf("%v, %v: between %v and %v", c.at, c.age, after, before)
		}
	}
}
