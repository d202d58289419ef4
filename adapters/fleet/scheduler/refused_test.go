package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// What the engine would refuse is told to who asks why the job waits.
func TestWhatTheEngineRefusesIsSaid(t *testing.T) {
	in(t, two(), func(w *world) {
		spec := job.Spec{Command: []string{"x"}, Constraints: []job.Constraint{{Label: "", Operator: "Like"}}}
		id := w.do(&state.Command{Submit: &state.Submit{Specs: []job.Spec{spec.WithDefaults()}, Owner: "ann"}}).Jobs[0]
		other := w.submit("")[0]
		w.pass(10 * time.Second)
		v := w.state.View()
		_, message := w.leader.Why(v, v.Job(id), 0)
		require.Contains(t, message, "the scheduler refuses it")
		require.Equal(t, "PENDING RUNNING", w.states(id, other))
	})
}
