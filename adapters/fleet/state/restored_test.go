package state_test

import (
	"bytes"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// continued is the state with which a fleet goes on from a backup.
func continued(t testing.TB, backup []byte, present state.View, at time.Time) *state.State {
	var next bytes.Buffer
	require.NoError(t, state.Continue(bytes.NewReader(backup), present, at, &next))
	s := state.New(nil)
	require.NoError(t, s.Restore(&next))
	return s
}

// A state that was restored goes on with numbers that nothing had since the backup.
func TestContinue(t *testing.T) {
	was := lively(t)
	made := was.View().Now()
	empty := state.New(nil).View()
	s := continued(t, whole(t, was), empty, made.Add(time.Hour))
	checkRows(t, s.View())
	v := s.View()
	for _, c := range []struct {
		name  string
		job   job.ID
		index int32
	}{
		{"never tried, of an array", 2, 7}, {"waits to be tried again", 2, 2}, {"has ended", 2, 1}, {"never tried", 3, 0},
	} {
		require.Greater(t, v.NextAttempt(c.job, c.index), int32(100_000+3600), c.name)
	}
	require.EqualValues(t, 1, v.NextAttempt(1, 0), "it is under way, and stays so")
	require.Equal(t, was.View().Now().Add(time.Hour), v.Now())

	// Nothing but the numbers counts differently.
	require.Equal(t, was.View().Element(2, 2).Failures, v.Element(2, 2).Failures)
	require.EqualValues(t, 1, v.Element(2, 2).Failures)
	id := job.TaskID{Job: 2, Element: 2, Attempt: v.NextAttempt(2, 2)}
	index := v.Index()
	do := func(c *state.Command) state.Result {
		index++
		c.At = v.Now()
		text, err := c.Encode()
		require.NoError(t, err)
		return s.Apply(index, 1, [][]byte{text})[0].(state.Result)
	}
	refused := do(&state.Command{Place: &state.Place{Task: job.TaskID{Job: 2, Element: 2, Attempt: 2}, Node: "n0"}})
	require.Equal(t, api.CodeConflict, refused.Err.Code, "agents may have seen attempt 2")
	require.Nil(t, do(&state.Command{Place: &state.Place{Task: id, Node: "n0"}}).Err)
	require.False(t, s.View().Task(id).Restored, "it is new")
	do(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{{Task: id, State: job.Failed}}}})
	got, _ := s.View().StateOf(s.View().Job(2), 2)
	require.Equal(t, job.Failed, got, "it has failed twice, and may be tried again once")

	x := job.Spec{Command: []string{"x"}}
	specs := []job.Spec{x.WithDefaults()}
	r := do(&state.Command{Submit: &state.Submit{Specs: specs, Owner: "alice"}})
	require.Greater(t, r.Jobs[0], job.ID(1_000_000+3600*1000))
	require.EqualValues(t, 1, s.View().NextAttempt(r.Jobs[0], 0), "no task had the number of a new job")
}

// Programs are told which try they are, whatever the numbers of attempts: "2 or more" is
// "go on from a checkpoint".
func TestTriesAfterRestore(t *testing.T) {
	was := lively(t)
	s := continued(t, whole(t, was), state.New(nil).View(), was.View().Now())
	for _, c := range []struct {
		name  string
		index int32
		try   int32
	}{{"never tried", 7, 1}, {"failed once", 2, 2}} {
		id := job.TaskID{Job: 2, Element: c.index, Attempt: s.View().NextAttempt(2, c.index)}
		text, err := (&state.Command{Place: &state.Place{Task: id, Node: "n1"}}).Encode()
		require.NoError(t, err)
		require.Nil(t, s.Apply(100+uint64(c.index), 1, [][]byte{text})[0].(state.Result).Err, c.name)
		require.Greater(t, id.Attempt, int32(100_000), c.name)
		require.Equal(t, c.try, s.View().Element(2, c.index).Try(), c.name)
	}
}

// A picture that an older program restored says nothing of the jobs that were there:
// numbers of all jobs go on above what it left out, as they did.
func TestOldRestoredPicture(t *testing.T) {
	was := lively(t)
	text := whole(t, continued(t, whole(t, was), state.New(nil).View(), was.View().Now()))
	since := regexp.MustCompile(`,"since":[0-9]+`)
	require.Regexp(t, since, string(text))
	s := state.New(nil)
	require.NoError(t, s.Restore(bytes.NewReader(since.ReplaceAll(text, nil))))
	require.Greater(t, s.View().NextAttempt(2_000_000, 0), int32(100_000))
}

// The same backup may be restored again, later on: what was used in between is left out.
func TestContinueTwice(t *testing.T) {
	backup := whole(t, lively(t))
	made := lively(t).View().Now()
	first := continued(t, backup, state.New(nil).View(), made.Add(time.Hour)).View()
	again := func(present state.View, at time.Time) (int32, job.ID) {
		s := continued(t, backup, present, at)
		x := job.Spec{Command: []string{"x"}}
		specs := []job.Spec{x.WithDefaults()}
		text, err := (&state.Command{Submit: &state.Submit{Specs: specs}}).Encode()
		require.NoError(t, err)
		return s.View().NextAttempt(2, 7), s.Apply(1000, 1, [][]byte{text})[0].(state.Result).Jobs[0]
	}
	attempt, id := again(state.New(nil).View(), made.Add(2*time.Hour))
	require.GreaterOrEqual(t, attempt-first.NextAttempt(2, 7), int32(3600))
	require.GreaterOrEqual(t, id, job.ID(1_000_000+2*3600*1000))
	// By a clock that went back the state that is given up says what was used.
	attempt, id = again(first, made.Add(-time.Hour))
	require.Greater(t, attempt, first.NextAttempt(2, 7)+100_000-1)
	require.Greater(t, id, job.ID(2_000_000))
}

// Attempts that were incomplete begin anew: they may have been completed otherwise.
func TestContinueIncomplete(t *testing.T) {
	was := lively(t)
	text, err := (&state.Command{At: was.View().Now(), Requeue: &state.Select{Job: 1}}).Encode()
	require.NoError(t, err)
	was.Apply(50, 1, [][]byte{text})
	for _, id := range []string{"1_0.1.0", "1_0.1.1"} {
		k := was.View().Task(task(t, id))
		text, err := (&state.Command{Report: &state.Report{Node: k.Node, Tasks: []api.Report{{Task: k.ID, State: job.Cancelled}}}}).Encode()
		require.NoError(t, err)
		was.Apply(51, 1, [][]byte{text})
	}
	text, err = (&state.Command{At: was.View().Now(), Place: &state.Place{Task: task(t, "1_0.2.0"), Node: "n0"}}).Encode()
	require.NoError(t, err)
	require.Nil(t, was.Apply(53, 1, [][]byte{text})[0].(state.Result).Err)
	e := was.View().Element(1, 0)
	require.Equal(t, job.Starting, e.State)

	v := continued(t, whole(t, was), state.New(nil).View(), was.View().Now()).View()
	checkRows(t, v)
	e = v.Element(1, 0)
	require.Equal(t, job.Pending, e.State)
	require.Greater(t, v.NextAttempt(1, 0), int32(100_000))
	require.Zero(t, e.Failures+e.Losses)
	for k := range v.Tasks() {
		require.True(t, k.Restored, "%s", k.ID)
	}
	require.NotEmpty(t, slices.Collect(v.Tasks()))
}

// What is no backup is refused, and nothing is written.
func TestContinueRefuses(t *testing.T) {
	good := whole(t, lively(t))
	var out bytes.Buffer
	err := state.Continue(bytes.NewReader(good[:len(good)/2]), state.New(nil).View(), time.Now(), &out)
	require.ErrorIs(t, err, state.ErrPicture)
	require.Zero(t, out.Len())
}
