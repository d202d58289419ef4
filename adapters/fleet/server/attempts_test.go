package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Of a job of many elements those attempts are shown that ended last, however many there
// were and wherever they are.
func TestLastAttempts(t *testing.T) {
	t.Parallel()
	s := state.New(nil)
	index := uint64(0)
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	do := func(c *state.Command) {
		index++
		c.At = begin.Add(time.Duration(index) * time.Second)
		text, err := c.Encode()
		require.NoError(t, err)
		r := s.Apply(index, 1, [][]byte{text})[0].(state.Result)
		require.Nil(t, r.Err, "%s", text)
	}
	const elements = 3000
	spec := job.Spec{Command: []string{"x"}, Array: indexes(t, fmt.Sprintf("0-%d", elements-1))}
	do(&state.Command{Register: &api.Registration{Node: "n1", Machine: api.Machine{CPU: 1000}}})
	do(&state.Command{Submit: &state.Submit{Specs: []job.Spec{spec.WithDefaults()}, Owner: "alice"}})
	for i := range elements {
		// The last to run are in the middle.
		id := job.TaskID{Job: 1, Element: int32((i + elements/2) % elements), Attempt: 1}
		do(&state.Command{Place: &state.Place{Task: id, Node: "n1"}})
		do(&state.Command{Report: &state.Report{Node: "n1", Tasks: []api.Report{{Task: id, State: job.Completed}}}})
	}
	last := lastAttempts(s.View().RecordsOf(1))
	require.Len(t, last, api.MaxAttemptsShown)
	for i, rec := range last {
		require.EqualValues(t, elements/2-api.MaxAttemptsShown+i, rec.Element)
	}
}
