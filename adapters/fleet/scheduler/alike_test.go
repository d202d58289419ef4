package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model"
)

// The tasks of a gang differ in their numbers alone, so that plans need to look at one of them.
func TestTasksOfAGangAreAlike(t *testing.T) {
	j := &state.Job{ID: 7, Owner: "ada", Spec: &job.Spec{Tasks: 2, Labels: map[string]string{"a": "b"}, TimeLimit: job.Duration(time.Hour)}}
	first := workloadModel(j, &state.Queue{}, job.TaskID{Job: 7, Attempt: 1}, nil)
	second := workloadModel(j, &state.Queue{}, job.TaskID{Job: 7, Attempt: 1, Rank: 1}, nil)
	require.NotEqual(t, first, second)
	require.True(t, first.Data.(model.Alike).AlikeTo(second.Data))
	second.ID, second.Data = first.ID, first.Data
	require.Equal(t, first, second)
	require.False(t, task{limit: time.Hour}.AlikeTo(task{limit: time.Minute}), "what a filter looks at is no difference")
}
