package state_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// What older servers have written to their logs is read, also where it would be refused
// by now: output in a task's own folder, a variable of Slurm.
func TestCommandsOfBefore(t *testing.T) {
	s := state.New(nil)
	for i, text := range []string{
		`{"at":"2026-01-30T15:04:05Z","by":"user/ann","submit":{"specs":[{"name":"x","queue":"default","command":["x"],"env":{"SLURM_JOB_ID":"1"},` +
			`"output":"out-%j","resources":{"cpu":"1"},"tasks":1,"killGrace":"30s","retry":{"on":["failed"],"backoff":"10s","maxBackoff":"10m"}}],"owner":"ann"}}`,
		`{"at":"2026-01-30T15:04:06Z","by":"user/ann","cancel":{"job":1,"reason":"enough","state":"CANCELLED"}}`,
	} {
		r := s.Apply(uint64(i+1), 1, [][]byte{[]byte(text)})[0].(state.Result)
		require.Nil(t, r.Err)
	}
	j := s.View().Job(1)
	require.Equal(t, "out-%j", j.Spec.Output)
	require.Equal(t, job.Cancelled, j.State())
	require.Equal(t, "enough", j.CancelReason)
	require.Equal(t, picture(t, s), picture(t, restored(t, s)))
}
