package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// dataOf is the Data of a workload with the ID of a task.
func dataOf(id string) task {
	parsed, err := job.ParseTaskID(id)
	if err != nil {
		panic(err)
	}
	return task{id: parsed}
}

// What is taken back while the engine tries it is told of once more, and is forgotten
// nevertheless as soon as the engine knows; what is offered again is not.
func TestForgetsWhatIsTakenBackWhileItIsTried(t *testing.T) {
	c, err := New(Config{State: state.New(nil), Term: 1})
	require.NoError(t, err)
	gone, again := job.TaskID{Job: 1, Attempt: 1}, job.TaskID{Job: 2, Attempt: 1}
	offer := func(id job.TaskID) {
		c.change(engine.Submit(&model.Workload{ID: id.String(), Data: dataOf(id.String()), Namespace: "x"}))
		c.note(id.String(), offered)
	}
	for _, id := range []job.TaskID{gone, again} {
		offer(id)
		c.tell()
		c.forget(id)
		c.rejected(engine.RejectedEvent{At: time.Now(), Code: extpoints.Unschedulable, Workload: &model.Workload{ID: id.String(), Data: dataOf(id.String())}})
	}
	offer(again)
	c.tell()
	_, _, tried := c.reasons.of(gone, &job.Spec{})
	require.False(t, tried)
	_, _, tried = c.reasons.of(again, &job.Spec{})
	require.True(t, tried)
}
