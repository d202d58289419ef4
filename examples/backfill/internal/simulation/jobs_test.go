package simulation_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
	"github.com/berth-project/berth/examples/backfill/internal/swf"
)

// odd is a log whose jobs do not say everything.
var odd = swf.Log{Jobs: []swf.Job{
	{Number: 9, Submit: 3, Run: 60, Allocated: 4, Requested: 8, Estimate: 600},
	{Number: 1, Submit: 1, Run: 60, Allocated: 4, Requested: -1, Estimate: -1},
	{Number: 2, Submit: 1, Run: 0, Allocated: 9, Requested: 2, Estimate: 0},
	{Number: 3, Submit: 1, Run: -1, Allocated: -1, Requested: 2, Estimate: -1},
	{Number: 4, Submit: 2, Run: 70, Allocated: 9, Requested: 2, Estimate: 50},
	{Number: 5, Submit: 2, Run: 70, Allocated: 0, Requested: -1, Estimate: 50},
}}

// A job is {number, submission, run time, processors, estimate}.
func TestWhatIsReadFromALog(t *testing.T) {
	tests := []struct {
		name    string
		read    func(*swf.Log, int64, bool) (simulation.Workload, error)
		perfect bool
		want    []simulation.Job
		leftOut int
	}{
		{"logged", simulation.Logged, false, []simulation.Job{{9, 3, 60, 8, 600}, {1, 1, 60, 4, 60}, {2, 1, 0, 2, 1}, {4, 2, 70, 2, 50}}, 2},
		{"logged, perfect", simulation.Logged, true, []simulation.Job{{9, 3, 60, 8, 60}, {1, 1, 60, 4, 60}, {2, 1, 0, 2, 1}, {4, 2, 70, 2, 70}}, 2},
		{"ranked", simulation.Ranked, false, []simulation.Job{{1, 1, 60, 4, 60}, {3, 1, 10, 2, -1}, {4, 2, 70, 9, 50}, {9, 3, 60, 8, 600}}, 2},
		{"ranked, perfect", simulation.Ranked, true, []simulation.Job{{1, 1, 60, 4, 60}, {3, 1, 10, 2, 10}, {4, 2, 70, 9, 70}, {9, 3, 60, 8, 60}}, 2},
	}
	for _, test := range tests {
		w, err := test.read(&odd, 16, test.perfect)
		if err != nil || w.Procs != 16 || w.LeftOut != test.leftOut || !reflect.DeepEqual(w.Jobs, test.want) {
			t.Errorf("%s: got %+v, %v", test.name, w, err)
		}
	}
}

// Jobs that can never run are named, not too many of them.
func TestTooLarge(t *testing.T) {
	var log swf.Log
	for i := range int64(12) {
		log.Jobs = append(log.Jobs, swf.Job{Number: i, Run: 1, Requested: 3})
	}
	_, err := simulation.Logged(&log, 2, false)
	if !errors.Is(err, simulation.ErrTooLarge) || strings.Count(err.Error(), "\n") != 10 || !strings.HasSuffix(err.Error(), "\nand 2 more") {
		t.Errorf("got %v", err)
	}
	for _, procs := range []int64{-1, 0, simulation.MaxProcs + 1} {
		if _, err := simulation.Ranked(&log, procs, false); err == nil || errors.Is(err, simulation.ErrTooLarge) {
			t.Errorf("%d processors: got %v", procs, err)
		}
	}
}
