package simulation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
)

// waits are those of the outcomes.
func waits(outcomes []simulation.Outcome) []int64 {
	list := make([]int64, len(outcomes))
	for i, o := range outcomes {
		list[i] = o.Wait
	}
	return list
}

// Small cases whose answer can be seen at once. A job is {number, submission, run time,
// processors, estimate}.
func TestPlan(t *testing.T) {
	tests := []struct {
		name     string
		jobs     []simulation.Job // on 4 processors
		backfill simulation.Backfill
		want     []int64
	}{
		{"what ends in time may overtake", []simulation.Job{{1, 0, 5, 3, 5}, {2, 0, 1, 4, 1}, {3, 0, 5, 1, 5}}, simulation.EASY, []int64{0, 5, 0}},
		{"what ends later may not", []simulation.Job{{1, 0, 5, 3, 5}, {2, 0, 1, 4, 1}, {3, 0, 6, 1, 6}}, simulation.EASY, []int64{0, 5, 6}},
		{"unless it leaves enough", []simulation.Job{{1, 0, 5, 3, 5}, {2, 0, 1, 3, 1}, {3, 0, 6, 1, 6}}, simulation.EASY, []int64{0, 5, 0}},
		{"in order nobody overtakes", []simulation.Job{{1, 0, 5, 3, 5}, {2, 0, 1, 4, 1}, {3, 0, 5, 1, 5}}, simulation.None, []int64{0, 5, 6}},
		{"candidates in order", []simulation.Job{{1, 0, 5, 3, 5}, {2, 0, 1, 1, 1}, {3, 0, 1, 4, 1}, {4, 0, 4, 1, 4}, {5, 0, 3, 1, 3}}, simulation.EASY, []int64{0, 0, 5, 1, 6}},
		{"the shortest candidate first", []simulation.Job{{1, 0, 5, 3, 5}, {2, 0, 1, 1, 1}, {3, 0, 1, 4, 1}, {4, 0, 4, 1, 4}, {5, 0, 3, 1, 3}}, simulation.EASYShortest, []int64{0, 0, 5, 6, 1}},
		{"an early end is used at once", []simulation.Job{{1, 0, 2, 4, 9}, {2, 1, 1, 4, 1}}, simulation.EASY, []int64{0, 1}},
		{"a job may outrun its estimate", []simulation.Job{{1, 0, 9, 4, 2}, {2, 1, 1, 4, 1}, {3, 1, 1, 1, 1}}, simulation.EASY, []int64{0, 8, 9}},
		{"the order is that of the numbers", []simulation.Job{{2, 0, 5, 4, 5}, {1, 0, 3, 4, 3}}, simulation.EASY, []int64{3, 0}},
		{"a job may take no time", []simulation.Job{{1, 0, 0, 4, 1}, {2, 0, 0, 4, 1}}, simulation.EASY, []int64{0, 0}},
		{"at its planned end a job is gone", []simulation.Job{{1, 0, 5, 4, 5}, {2, 5, 1, 4, 1}}, simulation.None, []int64{0, 0}},
		{"no jobs", nil, simulation.EASY, []int64{}},
	}
	for _, test := range tests {
		got := waits(planned(t, simulation.Workload{Procs: 4, Jobs: test.jobs}, test.backfill))
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: waits %v, want %v", test.name, got, test.want)
		}
	}
}

// With reservations for all and perfect estimates, no job waits longer because of one
// that comes later.
func TestConservativeKeepsTimes(t *testing.T) {
	for seed := range uint64(10) {
		w := draw(rand.New(rand.NewPCG(seed, 2)), 30, true)
		all := planned(t, w, simulation.Conservative)
		w.Jobs = w.Jobs[:15]
		for i, o := range planned(t, w, simulation.Conservative) {
			if all[i].Wait != o.Wait {
				t.Errorf("seed %d: job %d waits %d, and %d without the jobs after the 15th", seed, i+1, all[i].Wait, o.Wait)
			}
		}
	}
}

func TestParseBackfill(t *testing.T) {
	for _, good := range []string{"none", "easy", "easy-sjf", "conservative", "k=1", "k=40"} {
		if b, err := simulation.ParseBackfill(good); err != nil || string(b) != good {
			t.Errorf("%q: got %q, %v", good, b, err)
		}
	}
	for _, bad := range []string{"", "EASY", "k", "k=", "k=0", "k=-1", "k=x", "k=99999999999999999999", "easy "} {
		if b, err := simulation.ParseBackfill(bad); err == nil {
			t.Errorf("%q: got %q", bad, b)
		}
		w := simulation.Workload{Procs: 1, Jobs: []simulation.Job{{1, 0, 1, 1, 1}}}
		if _, err := simulation.Plan(context.Background(), w, simulation.Backfill(bad)); err == nil {
			t.Errorf("%q: it ran", bad)
		}
	}
}

func ExampleSummarize() {
	w := simulation.Workload{Procs: 2, Jobs: []simulation.Job{
		{Submit: 10, Run: 20, Procs: 2}, {Submit: 10, Run: 5, Procs: 1},
	}}
	s := simulation.Summarize(w, []simulation.Outcome{{}, {Wait: 20}})
	fmt.Println(s.Slowdown, s.MeanWait, s.Utilisation) // (20/20 + 25/10) / 2, (20*2 + 5*1) / (25*2)
	// Output: 1.75 10 0.9
}
