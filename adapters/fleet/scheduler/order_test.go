package scheduler_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model/modeltest"
)

// placed is when the job got its nodes the last time, zero if it never did.
func (w *world) placed(id job.ID) time.Time {
	v := w.state.View()
	if e := v.Element(id, 0); e != nil && e.State != job.Pending {
		for k := range v.AttemptTasks(job.TaskID{Job: id, Attempt: e.Attempt}) {
			return k.Placed
		}
	}
	if r := v.LastRecord(id, 0); r != nil {
		return r.Placed
	}
	return time.Time{}
}

// Under load, with many tasks and few places, and more that come all the time: of those that
// wait the first by priority goes, also where it was tried often and others have only just come.
func TestPriorityIsStrictUnderLoad(t *testing.T) {
	in(t, []*api.Registration{node("a", 2), node("b", 2), node("c", 2)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 300 * time.Millisecond, ends: job.Completed} }
		of := func(count int, more string) []job.ID {
			return w.submit(slices.Repeat([]string{"resources: {cpu: '0.5'}\ntimeLimit: 1m" + more}, count)...)
		}
		var low []job.ID
		for range 6 {
			low = append(low, of(100, "")...)
		}
		w.pass(time.Second)
		accepted := time.Now()
		high := of(30, "\npriority: 100")
		for range 4 {
			w.pass(500 * time.Millisecond)
			low = append(low, of(100, "")...)
		}
		w.pass(time.Minute)
		var last time.Time
		for _, id := range high {
			if at := w.placed(id); at.After(last) {
				last = at
			}
		}
		require.Less(t, last.Sub(accepted), 2*time.Second)
		was := time.Time{}
		for _, id := range low {
			at := w.placed(id)
			require.False(t, at.After(accepted) && at.Before(last), "job %d started while one of priority 100 waited", id)
			require.False(t, at.Before(was), "job %d started before one of a smaller number", id)
			was = at
		}
	})
}

// A gang that needs all places waits until those have ended that run: none of its equals
// passes it from when it is the first that waits.
func TestEqualsDoNotPassAGang(t *testing.T) {
	seed := modeltest.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	in(t, []*api.Registration{node("a", 4), node("b", 4)}, func(w *world) {
		lasting(w)
		equals := func(count int) []job.ID {
			var files []string
			for range count {
				files = append(files, fmt.Sprintf("name: %dms\ntimeLimit: 1m", 1000+random.IntN(3000)))
			}
			return w.submit(files...)
		}
		before := equals(100)
		gang := w.submit("name: 2s\ntimeLimit: 1m\ntasks: 4\nresources: {cpu: 2}")[0]
		after := equals(100)
		w.pass(5 * time.Minute)
		started, free := w.placed(gang), time.Time{}
		require.NotZero(t, started, "seed %d", seed)
		for _, id := range before {
			require.True(t, w.placed(id).Before(started), "seed %d: job %d", seed, id)
			if end := w.state.View().Job(id).Ended; end.After(free) {
				free = end
			}
		}
		require.Less(t, started.Sub(free), time.Second, "seed %d", seed)
		for _, id := range after {
			require.False(t, w.placed(id).Before(started), "seed %d: job %d passed the gang", seed, id)
		}
	})
}

// By queues, too, what is listed first starts first, though all of it was tried before and waits
// for room.
func TestOrderIsThatOfStarts(t *testing.T) {
	in(t, []*api.Registration{node("a", 4)}, func(w *world) {
		w.do(&state.Command{PutQueue: &api.Queue{Name: "light", Weight: 1}})
		w.do(&state.Command{PutQueue: &api.Queue{Name: "heavy", Weight: 3}})
		w.runs = func(k *state.Task) run {
			if w.state.View().Job(k.ID.Job).Owner == "zoe" {
				return run{lasts: 30 * time.Second, ends: job.Completed}
			}
			return run{lasts: time.Hour, ends: job.Completed}
		}
		w.of("zoe", 1, "timeLimit: 1m\nresources: {cpu: 4}")
		w.pass(time.Second)
		w.of("ann", 6, "timeLimit: 1h\nqueue: light")
		w.of("bob", 6, "timeLimit: 1h\nqueue: heavy")
		w.pass(10 * time.Second)
		turns, waiting := w.leader.Order(w.state.View(), func(string) bool { return true }, 50)
		require.Equal(t, 12, waiting)
		first := map[string]int{}
		for i, turn := range turns {
			require.Equal(t, i+1, turn.Place)
			if i < 4 {
				first[turn.Owner]++
			}
		}
		require.Equal(t, map[string]int{"ann": 1, "bob": 3}, first)
		w.pass(time.Minute)
		for i, turn := range turns {
			require.Equal(t, i < 4, !w.placed(turn.Job).IsZero(), "job %d of place %d", turn.Job, turn.Place)
		}
	})
}
