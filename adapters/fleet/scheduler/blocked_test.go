package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func reject(b *blocked, id string, priority int32, at time.Time, plugins ...string) {
	b.rejected(engine.RejectedEvent{
		At: at, Code: extpoints.Unschedulable, Plugins: plugins, Workload: &model.Workload{ID: id, Priority: priority},
	})
}

// The first are those that a plain sort by the engine's own order finds, whichever come
// and go, and the one that was promised something is before its equals.
func TestFirstBlocked(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		b, all := newBlocked(), map[string]*extpoints.Queued{}
		for range 1 + r.IntN(200) {
			id, priority := fmt.Sprintf("%d_%d.%d.0", 1+r.IntN(120), r.IntN(2), 1+r.IntN(2)), int32(r.IntN(3))
			if all[id] != nil {
				parsed, err := job.ParseTaskID(id)
				require.NoError(t, err)
				b.forget(parsed)
				delete(all, id)
				continue
			}
			reject(b, id, priority, time.Now())
			all[id] = &extpoints.Queued{Priority: priority, Workload: &model.Workload{ID: id}}
		}
		var want []string
		for id := range all {
			want = append(want, id)
		}
		slices.SortFunc(want, func(x, y string) int {
			if (order{}).Less(all[x], all[y]) {
				return -1
			}
			return 1
		})
		var got []string
		for _, a := range b.first(10, job.TaskID{}, func(*blockedAttempt) bool { return true }) {
			got = append(got, a.workload)
		}
		require.Equal(t, want[:min(10, len(want))], got, "seed %d", seed)
		if len(want) == 0 {
			continue
		}
		last, err := job.ParseTaskID(want[len(want)-1])
		require.NoError(t, err)
		lowest := all[want[len(want)-1]].Priority
		first := b.first(1, last, func(a *blockedAttempt) bool { return a.priority == lowest })
		require.Equal(t, last, first[0].id, "seed %d", seed)
	}
}

// A gang is one attempt. It was kept off if any of its tasks was when it was last tried.
func TestBlockedGang(t *testing.T) {
	b, at := newBlocked(), time.Now()
	kept := func() (n int, is bool) {
		list := b.first(10, job.TaskID{}, func(*blockedAttempt) bool { return true })
		return len(list), list[0].kept
	}
	reject(b, "1_0.1.0", 0, at, backfillName)
	reject(b, "1_0.1.1", 0, at, "NodeResourcesFit")
	n, is := kept()
	require.Equal(t, 1, n)
	require.True(t, is)
	reject(b, "1_0.1.0", 0, at.Add(time.Second), "NodeResourcesFit")
	reject(b, "1_0.1.1", 0, at.Add(time.Second), "NodeResourcesFit")
	_, is = kept()
	require.False(t, is)
}

// What is taken back while the engine tries it is told of once more, and is forgotten
// nevertheless as soon as the engine knows; what is offered again is not.
func TestForgetsWhatIsTakenBackWhileItIsTried(t *testing.T) {
	c, err := New(Config{State: state.New(nil), Term: 1})
	require.NoError(t, err)
	gone, again := job.TaskID{Job: 1, Attempt: 1}, job.TaskID{Job: 2, Attempt: 1}
	offer := func(id job.TaskID) {
		c.change(engine.Change{Submit: &model.Workload{ID: id.String(), Namespace: "x"}})
		c.note(id.String(), offered)
	}
	for _, id := range []job.TaskID{gone, again} {
		offer(id)
		c.tell()
		c.forget(id)
		c.rejected(engine.RejectedEvent{At: time.Now(), Code: extpoints.Unschedulable, Workload: &model.Workload{ID: id.String()}})
	}
	offer(again)
	c.tell()
	require.False(t, c.blocked.has(gone))
	require.True(t, c.blocked.has(again))
	_, _, tried := c.reasons.of(gone, &job.Spec{})
	require.False(t, tried)
	_, _, tried = c.reasons.of(again, &job.Spec{})
	require.True(t, tried)
}
