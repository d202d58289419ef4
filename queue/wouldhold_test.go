package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// A queue says what would hold back what does not wait in it, and is the same afterwards. One that inherits
// from it knows what it remembers of limits on what is used over time, and nothing else.
func TestWouldHold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	byQueues := func() *queue.Queue {
		q, err := queue.New(queue.Timing{}, extpoints.Improved, queue.Hooks{
			ByQueues: true, Less: func(a, b *extpoints.Queued) bool { return a.Timestamp.Before(b.Timestamp) },
		})
		require.NoError(t, err)
		for _, o := range []model.Object{
			&model.Queue{Name: "a", Max: map[string]int64{model.CPU: 3000}},
			&model.Limit{Name: "budget", Queue: "a", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 100_000},
		} {
			q.DefinitionChanged(nil, o)
		}
		return q
	}
	of := func(id string, cpu int64) *model.Workload {
		return &model.Workload{ID: id, Queue: "a", Requests: model.Resources{CPU: cpu}, Limit: 10 * time.Second}
	}
	says := func(q *queue.Queue, now time.Time, want string, group *model.Group, members ...*model.Workload) {
		t.Helper()
		got, counts, levels := "", q.Counts(), q.Levels(now)
		if held := q.WouldHold(now, group, members...); held != nil {
			got = held.String()
		}
		require.Equal(t, want, got)
		require.Equal(t, counts, q.Counts())
		if len(levels) > 0 { // the definitions had been carried out before
			require.Equal(t, levels, q.Levels(now))
		}
	}

	q, runs, gang := byQueues(), of("runs", 2000), &model.Group{ID: "gang"}
	q.Charge(now, now, now.Add(10*time.Second), runs)
	says(q, now, "", nil, of("w", 1000))
	says(q, now, `queue "a": max: "w" asks for 500m cpu too much now`, nil, of("w", 1500))
	says(q, now, `queue "a": max: "w" asks for 500m cpu too much, whatever else runs`, nil, of("w", 3500))
	says(q, now, `queue "a": max: "gang" asks for 1000m cpu too much now`, gang, of("x", 1000), of("y", 1000))
	says(q, now, "", gang)

	now = now.Add(10 * time.Second)
	q.Discharge(now, runs)
	next := byQueues()
	next.Inherit(q)
	says(next, now, "", nil, of("w", 3000))
	now = now.Add(time.Second)
	busy := &model.Workload{ID: "busy", Queue: "a", Requests: model.Resources{CPU: 1000}, Limit: 60 * time.Second}
	next.Charge(now, now, now.Add(time.Minute), busy)
	says(next, now, `limit "budget": "w" asks for 2000m cpu-seconds too much now`, nil, of("w", 2200)) // 20,000 were used
	says(q, now, "", nil, of("w", 2200))

	plain, err := queue.New(queue.Timing{}, extpoints.Improved, queue.Hooks{Less: func(a, b *extpoints.Queued) bool { return false }})
	require.NoError(t, err)
	plain.Inherit(q)
	says(plain, now, "", nil, of("w", 5000))
}

// What others do not lend holds back until they have used it up, be it on a node that has gone: also what would be
// refused if it came now, since all that is left is theirs.
func TestWouldHoldWhatOthersKeep(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	q, err := queue.New(queue.Timing{}, extpoints.Improved, queue.Hooks{
		ByQueues: true, Less: func(a, b *extpoints.Queued) bool { return a.Timestamp.Before(b.Timestamp) },
	})
	require.NoError(t, err)
	q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 6000}})
	q.DefinitionChanged(nil, &model.Queue{Name: "a", Guaranteed: map[string]int64{model.CPU: 4000}, Lend: map[string]int64{model.CPU: 0}})
	q.DefinitionChanged(nil, &model.Queue{Name: "b"})
	w := &model.Workload{ID: "w", Queue: "b", Requests: model.Resources{CPU: 5000}}
	require.Equal(t, `queue "b": what is left is guaranteed to queue "a": "w" asks for 3000m cpu too much, whatever else runs`,
		q.WouldHold(now, nil, w).String())
	q.Charge(now, now, now.Add(time.Hour), &model.Workload{ID: "lost", Queue: "a", Requests: model.Resources{CPU: 8000}})
	require.Nil(t, q.WouldHold(now, nil, w))
	absent := &model.Workload{ID: "x", Queue: "nowhere", Requests: model.Resources{CPU: 1}}
	require.NotEmpty(t, q.WouldHold(now, nil, absent).Absent)
}
