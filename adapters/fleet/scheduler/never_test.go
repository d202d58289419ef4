package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// What can never start is cancelled where the job asks for it, with a sentence that
// names the dependency, and nothing else is.
func TestKillOnInvalidDep(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(k *state.Task) run {
			if k.ID.Job == 1 {
				return run{lasts: time.Minute, ends: job.Failed, code: 1}
			}
			return run{lasts: time.Minute, ends: job.Completed}
		}
		ids := w.submit("name: bad",
			"after: [{kind: afterok, job: '+0'}]\nkillOnInvalidDep: true",
			"after: [{kind: afterok, job: '+0'}]",
			"after: [{kind: afternotok, job: '+0'}]\nkillOnInvalidDep: true",
			"after: [{kind: afterok, job: '+1'}]\nkillOnInvalidDep: true", // it waits for one that is cancelled
			"after: [{kind: afterok, job: '+0'}]\nkillOnInvalidDep: true\nhold: true",
			"after: [{kind: afterok, job: '+0'}]\nkillOnInvalidDep: true\narray: 0-99999")
		w.pass(30 * time.Second)
		require.Equal(t, "RUNNING PENDING PENDING PENDING PENDING PENDING PENDING", w.states(ids...))
		w.pass(3 * time.Minute)
		require.Equal(t, "FAILED CANCELLED PENDING COMPLETED CANCELLED CANCELLED CANCELLED", w.states(ids...))
		v := w.state.View()
		require.Equal(t, "job 1 is FAILED, so afterok:1 can never be met", v.Job(ids[1]).CancelReason)
		require.Equal(t, "job 2 is CANCELLED, so afterok:2 can never be met", v.Job(ids[4]).CancelReason)
		require.EqualValues(t, 100_000, v.Job(ids[6]).Counts.Of(job.Cancelled))

		late := w.submit("after: [{kind: afterok, job: '1'}]\nkillOnInvalidDep: true")
		w.pass(time.Second)
		require.Equal(t, "CANCELLED", w.states(late...))
	})
}

// Without it the job waits on, and goes on when what it waits for is tried again.
func TestNeverIsNotForEver(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(k *state.Task) run {
			if k.ID.Job == 1 && k.ID.Attempt == 1 {
				return run{lasts: time.Minute, ends: job.Failed, code: 1}
			}
			return run{lasts: time.Minute, ends: job.Completed}
		}
		ids := w.submit("name: bad", "after: [{kind: afterok, job: '+0'}]")
		w.pass(10 * time.Minute)
		require.Equal(t, "FAILED PENDING", w.states(ids...))
		require.Equal(t, job.ReasonNever, w.why(ids[1]))
		w.do(&state.Command{Requeue: &state.Select{Job: ids[0]}})
		w.pass(10 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED", w.states(ids...))
	})
}

// Of an array only those elements are cancelled whose own dependency cannot be met: one
// that failed, some that were cancelled before they had rows, and one there is not. What
// runs goes on.
func TestKillOnInvalidDepOfElements(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(k *state.Task) run {
			if k.ID.Job == 1 && k.ID.Element == 2 {
				return run{lasts: time.Minute, ends: job.Failed, code: 1}
			}
			return run{lasts: time.Minute, ends: job.Completed}
		}
		const small = "resources: {cpu: 0.1}\n"
		first := w.submit(small + "array: 0-9%4")[0]
		second := w.submit(small + "array: 0-9,12%1\nafter: [{kind: aftercorr, job: '1'}]\nkillOnInvalidDep: true")[0]
		third := w.submit(small + "array: 0-9\nafter: [{kind: aftercorr, job: '1'}]")[0]
		w.pass(time.Second)
		states := func(id job.ID) map[job.State]int32 { return w.state.View().Job(id).Counts.ByState() }
		require.EqualValues(t, 1, states(second)[job.Cancelled], "there is no element 12")
		require.Equal(t, "job 1 has no element 12, so aftercorr:1 can never be met", w.state.View().Job(second).CancelReason)

		w.pass(65 * time.Second) // 0 to 3 have ended
		require.EqualValues(t, 2, states(second)[job.Cancelled])
		require.Equal(t, "element 2 of job 1 is FAILED, so aftercorr:1 can never be met", w.state.View().Job(second).CancelReason)
		require.EqualValues(t, 1, states(second)[job.Running])

		some, err := job.ParseIndexes("8-9")
		require.NoError(t, err)
		w.do(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: first, Elements: &some}, State: job.Cancelled}})
		w.pass(5 * time.Second)
		require.EqualValues(t, 4, states(second)[job.Cancelled], "though none may start: one runs, and the array allows no more")
		require.Equal(t, "the elements of the same indices have not completed, so aftercorr:1 can never be met", w.state.View().Job(second).CancelReason)

		w.pass(30 * time.Minute)
		require.Equal(t, map[job.State]int32{job.Cancelled: 4, job.Completed: 7}, states(second))
		require.Equal(t, map[job.State]int32{job.Pending: 3, job.Completed: 7}, states(third))
	})
}

// What runs is left alone when the rest of its array can never start.
func TestKillOnInvalidDepLeavesWhatRuns(t *testing.T) {
	in(t, two(), func(w *world) {
		fails := false
		w.runs = func(k *state.Task) run {
			if k.ID.Job == 1 && fails {
				return run{lasts: time.Second, ends: job.Failed, code: 1}
			}
			return run{lasts: time.Minute, ends: job.Completed}
		}
		first := w.submit("name: first")[0]
		w.pass(2 * time.Minute)
		second := w.submit("array: 0-9%1\nafter: [{kind: afterok, job: '1'}]\nkillOnInvalidDep: true")[0]
		w.pass(time.Second)
		require.Len(t, w.where(), 1)
		fails = true
		w.do(&state.Command{Requeue: &state.Select{Job: first}})
		w.pass(30 * time.Second)
		require.Equal(t, map[job.State]int32{job.Cancelled: 9, job.Running: 1}, w.state.View().Job(second).Counts.ByState())
		w.pass(time.Minute)
		require.Equal(t, map[job.State]int32{job.Cancelled: 9, job.Completed: 1}, w.state.View().Job(second).Counts.ByState())
	})
}

// A cancellation that was not recorded is proposed again, by the next leader too.
func TestKillOnInvalidDepAfterChangeOfLeader(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: time.Minute, ends: job.Failed, code: 1} }
		ids := w.submit("name: bad", "after: [{kind: afterok, job: '+0'}]\nkillOnInvalidDep: true")
		w.pass(30 * time.Second)
		w.stop()
		w.pass(2 * time.Minute) // the agent reports, and nobody leads
		require.Equal(t, "FAILED PENDING", w.states(ids...))
		w.stop = nil
		w.lead()
		w.pass(time.Second)
		require.Equal(t, "FAILED CANCELLED", w.states(ids...))
	})
}
