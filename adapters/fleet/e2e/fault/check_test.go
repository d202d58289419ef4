package fault

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

var noon = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// peace is a story in which all is well: job 1 has completed on n1 at its first
// attempt, job 2 at its second, because the node of the first was lost.
func peace() *story {
	record := func(id job.ID, attempt int32, state job.State, node string, from, to int) api.Record {
		return api.Record{Job: id, Tasks: 1, Attempt: api.Attempt{Attempt: attempt, State: state, Nodes: []string{node}, Placed: at(from), Ended: at(to)}}
	}
	detail := func(id job.ID, name string) api.JobDetail {
		return api.JobDetail{Job: api.Job{ID: id, Name: name, State: job.Completed, Ended: at(9), Elements: 1, Counts: map[job.State]int32{job.Completed: 1}}}
	}
	ran := func(id job.ID, attempt int32, node, end string, from, to int) (job.TaskID, *run) {
		task := job.TaskID{Job: id, Attempt: attempt}
		return task, &run{task: task, node: node, milliCPU: 600, from: at(from), to: at(to), starts: 1, end: end}
	}
	s := &story{
		accepted: []*submission{{key: "a", id: 1}, {key: "b", id: 2}},
		jobs:     map[job.ID]api.JobDetail{1: detail(1, "a"), 2: detail(2, "b")},
		names:    map[string]int{"a": 1, "b": 1},
		records: []api.Record{
			record(1, 1, job.Completed, "n1", 1, 3), record(2, 1, job.NodeFail, "n2", 1, 5), record(2, 2, job.Completed, "n1", 5, 8),
		},
		ledger:   map[job.TaskID]*run{},
		capacity: map[string]int64{"n1": 1000, "n2": 1000},
		hits:     []hit{{node: "n2", from: at(2), to: at(6)}},
	}
	for _, add := range []func() (job.TaskID, *run){
		func() (job.TaskID, *run) { return ran(1, 1, "n1", "done", 1, 3) },
		func() (job.TaskID, *run) { return ran(2, 1, "n2", "", 1, 2) },
		func() (job.TaskID, *run) { return ran(2, 2, "n1", "done", 5, 8) },
	} {
		id, r := add()
		s.ledger[id] = r
	}
	return s
}

// Whatever is wrong is found.
func TestCheck(t *testing.T) {
	require.NoError(t, errors.Join(peace().check()...))
	second := job.TaskID{Job: 2, Attempt: 2}
	for name, x := range map[string]struct {
		spoil func(*story)
		says  string
	}{
		"a job is lost":                     {func(s *story) { delete(s.jobs, 1) }, "job 1 (a) was accepted, and is not there"},
		"a job was made twice":              {func(s *story) { s.names["a"] = 2 }, "there are 2 jobs of it"},
		"a job comes from nowhere":          {func(s *story) { s.names["c"] = 1 }, "nobody submitted"},
		"a job is another one":              {func(s *story) { s.jobs[1] = s.jobs[2] }, "was accepted as a, and is b"},
		"a job has not ended":               {func(s *story) { j := s.jobs[1]; j.Ended = time.Time{}; s.jobs[1] = j }, "has not ended"},
		"a job failed":                      {func(s *story) { s.jobs[1].Counts[job.Failed] = 1 }, "1 elements are FAILED"},
		"a mistaken job has completed":      {func(s *story) { s.accepted[0].mistaken = true }, "1 elements are COMPLETED (it is mistaken: true)"},
		"a node starts nothing":             {func(s *story) { s.hits, s.records[1].State, s.lacking = nil, job.BootFail, []string{"n1"} }, "was not hit, and is BOOT_FAIL"},
		"a job was cancelled unasked":       {func(s *story) { s.jobs[1].Counts[job.Cancelled] = 1 }, "nobody asked for it"},
		"an element is missing":             {func(s *story) { s.jobs[1].Counts[job.Completed] = 0 }, "has 1 elements, and the states of 0"},
		"a job was given up too early":      {func(s *story) { s.jobs[1].Counts[job.NodeFail] = 1 }, "after 0 lost attempts"},
		"an attempt is recorded twice":      {func(s *story) { s.records = append(s.records, s.records[0]) }, "recorded twice"},
		"an attempt is not recorded":        {func(s *story) { s.records = append(s.records[:1], s.records[2]) }, "attempt 2_0.1.0 was not recorded"},
		"an attempt ended that was not hit": {func(s *story) { s.hits[0].to = at(0) }, "was not hit, and is NODE_FAIL"},
		"another node was hit":              {func(s *story) { s.hits[0].node = "n1" }, "was not hit, and is NODE_FAIL"},
		"its agent was killed while it ran": {func(s *story) { s.hits[0].starting = true }, "was not hit, and is NODE_FAIL"},
		"another attempt's shim was killed": {func(s *story) { s.hits[0] = hit{attempt: second} }, "was not hit, and is NODE_FAIL"},
		"a cancelled job goes on":           {func(s *story) { s.accepted[1].cancelledAt = at(4) }, "attempt 2_0.2.0 was placed at 12:00:05.000"},
		"a task was started twice":          {func(s *story) { s.ledger[second].starts = 2 }, "was started 2 times"},
		"a task ran elsewhere":              {func(s *story) { s.ledger[second].node = "n2" }, "was placed on [n1]"},
		"a task ran that nobody knows": {func(s *story) {
			s.ledger[job.TaskID{Job: 7, Attempt: 1}] = &run{node: "n1", starts: 1}
		}, "do not know the attempt"},
		"a task is said to have completed and was killed": {func(s *story) { s.ledger[second].end = "" }, "said to have completed"},
		"a task is said to have completed and never ran":  {func(s *story) { delete(s.ledger, second) }, "said to have completed"},
		"what was given up has run": {func(s *story) {
			s.records[1].State, s.records[1].Placed = job.Requeued, time.Time{}
		}, "given up before it began"},
		"a node is over its capacity": {func(s *story) { s.ledger[second].from = at(2) }, "node n1 has 1000 thousandths of a core"},
	} {
		t.Run(name, func(t *testing.T) {
			s := peace()
			x.spoil(s)
			require.ErrorContains(t, errors.Join(s.check()...), x.says)
		})
	}
}

// One after the other is not at once.
func TestCheckCapacityOneAfterTheOther(t *testing.T) {
	s := peace()
	s.ledger[job.TaskID{Job: 2, Attempt: 2}].from = at(3)
	require.NoError(t, errors.Join(s.check()...))
}

func TestParseRun(t *testing.T) {
	const id = "17_3.2.1"
	lines := func(whats ...string) (text string) {
		for i, what := range whats {
			text += what + " " + id + " n1 500 " + string('1'+rune(i)) + "\n"
		}
		return text
	}
	for text, want := range map[string]run{
		lines("start", "alive", "done"): {starts: 1, end: "done", to: time.Unix(0, 3)},
		lines("start", "alive"):         {starts: 1, to: time.Unix(0, 2)},
		lines("start", "stopped"):       {starts: 1, end: "stopped", to: time.Unix(0, 2)},
		lines("start", "start"):         {starts: 2, to: time.Unix(0, 2)},
	} {
		r, err := parseRun(id, text)
		require.NoError(t, err)
		want.task, want.node, want.milliCPU, want.from = job.TaskID{Job: 17, Element: 3, Attempt: 2, Rank: 1}, "n1", 500, time.Unix(0, 1)
		require.Equal(t, &want, r)
	}
	r, err := parseRun(id, "")
	require.NoError(t, err)
	require.Nil(t, r, "killed before it wrote")
	for _, bad := range []string{"start\n", "start 17_3.2.0 n1 500 1\n", lines("start") + "alive " + id + " n2 500 9\n", lines("start")[:5]} {
		_, err := parseRun(id, bad)
		require.Error(t, err, bad)
	}
}
