package simulation_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
	"github.com/berth-project/berth/examples/backfill/internal/swf"
)

var long = flag.Bool("long", false, "run all of the published cases, and not one of each kind")

// data is the folder of the published logs. It skips the test where there is none.
func data(t *testing.T, folder string) string {
	t.Helper()
	root := os.Getenv("BERTH_DATA")
	if root == "" {
		t.Skip("BERTH_DATA is not set: it names the folder that has the published logs in easy/, rlscheduler/ and swf/")
	}
	return filepath.Join(root, folder)
}

func load(t *testing.T, file string) *swf.Log {
	t.Helper()
	log, err := swf.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// The published average bounded slowdowns of the priority functions without and with
// backfill, to two decimals: the mean of ten windows of 1,024 jobs (RLScheduler, SC'20). Under
// -short it is one number of twenty.
func TestPublishedPriorities(t *testing.T) {
	starts := []int{1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085}
	const window = 1024
	tests := []struct {
		folder, file string
		want         map[simulation.Priority][2]string
	}{
		{"rlscheduler", "lublin_256.swf.gz", map[simulation.Priority][2]string{
			simulation.FCFS:   {"7273.77", "235.82"},
			simulation.WFP3:   {"19753.53", "133.87"},
			simulation.UNICEP: {"22274.74", "307.23"},
			simulation.SJF:    {"277.35", "73.31"},
			simulation.F1:     {"258.37", "75.07"},
		}},
		{"swf", "SDSC-SP2-1998-4.2-cln.swf.gz", map[simulation.Priority][2]string{
			simulation.FCFS:   {"1727.54", "1595.12"},
			simulation.WFP3:   {"3000.88", "1083.12"},
			simulation.UNICEP: {"1848.45", "548.01"},
			simulation.SJF:    {"2680.55", "2167.84"},
			simulation.F1:     {"1232.06", "1098.22"},
		}},
	}
	for _, test := range tests {
		log := load(t, filepath.Join(data(t, test.folder), test.file))
		w, err := simulation.Ranked(log, log.Procs, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, priority := range simulation.Priorities() {
			for i, backfill := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", test.file, priority, backfill), func(t *testing.T) {
					if !*long && (test.folder != "rlscheduler" || priority != simulation.F1 || !backfill) {
						t.Skip("one of twenty is run without -long, which CI gives")
					}
					t.Parallel()
					var runs []simulation.Summary
					for _, start := range starts {
						part := simulation.Workload{Procs: w.Procs, Jobs: w.Jobs[start : start+window]}
						outcomes, err := simulation.Prioritize(context.Background(), part, priority, backfill)
						if err != nil {
							t.Fatal(err)
						}
						runs = append(runs, simulation.Summarize(part, outcomes))
					}
					got := fmt.Sprintf("%.2f", simulation.Mean(runs).Slowdown)
					if want := test.want[priority][i]; got != want {
						t.Errorf("average bounded slowdown %s, want %s", got, want)
					}
				})
			}
		}
	}
}

// The published outputs of EASY with estimates by users, with perfect ones, and with
// perfect ones and the shortest candidates first (SC'15): every job waits as long as it
// does there, and is backfilled where it is there. A file is both the log and the answer.
// Under -short it is one of them.
func TestPublishedBackfill(t *testing.T) {
	variants := []struct {
		name     string
		perfect  bool
		backfill simulation.Backfill
	}{
		{"easy", false, simulation.EASY},
		{"easyclair", true, simulation.EASY},
		{"sjbfclair", true, simulation.EASYShortest},
	}
	for _, log := range []string{"KTH-SP2", "SDSC-SP2"} {
		for _, v := range variants {
			t.Run(log+"/"+v.name, func(t *testing.T) {
				folder := data(t, "easy")
				if !*long && (log != "KTH-SP2" || v.name != "sjbfclair") {
					t.Skip("one of six is run without -long, which CI gives")
				}
				t.Parallel()
				answer := load(t, filepath.Join(folder, log+"."+v.name+".swf.gz"))
				w, err := simulation.Logged(answer, answer.Procs, v.perfect)
				if err != nil {
					t.Fatal(err)
				}
				outcomes, err := simulation.Plan(context.Background(), w, v.backfill)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, answer.Jobs, outcomes)
				t.Logf("average bounded slowdown %.4f", simulation.Summarize(w, outcomes).Slowdown)
			})
		}
	}
}

// compare counts the jobs that differ and names the first one.
func compare(t *testing.T, want []swf.Job, got []simulation.Outcome) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d jobs, want %d", len(got), len(want))
	}
	waits, marks, first := 0, 0, -1
	for i, o := range got {
		if o.Wait != want[i].Wait {
			waits++
			if first < 0 || want[i].Submit < want[first].Submit {
				first = i
			}
		}
		if o.Backfilled != want[i].Backfilled {
			marks++
		}
	}
	if waits > 0 {
		t.Errorf("%d of %d jobs wait for another time; the first to come is job %d, submitted at %d: it waits %d, want %d",
			waits, len(want), want[first].Number, want[first].Submit, got[first].Wait, want[first].Wait)
	}
	if marks > 0 {
		t.Errorf("%d of %d jobs are backfilled here and not there, or the other way round", marks, len(want))
	}
}
