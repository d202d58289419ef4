package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// borrowed begins a fleet of eight cores, of which six are guaranteed to physics and all are in
// use by ann's jobs in the queue default, of half an hour each; then bob has six jobs in physics.
func borrowed(w *world, physics, others *api.Queue, file string) (anns, bobs []job.ID) {
	w.runs = func(*state.Task) run { return run{lasts: 30 * time.Minute, ends: job.Completed} }
	physics.Name, physics.Guaranteed, others.Name = "physics", cores(6), job.DefaultQueue
	w.do(&state.Command{PutQueue: physics})
	w.do(&state.Command{PutQueue: others})
	anns = w.of("ann", 8, "timeLimit: 1h")
	w.pass(time.Minute)
	require.Equal(w.t, 8, w.running()["ann"])
	return anns, w.of("bob", 6, "queue: physics\ntimeLimit: 1h"+file)
}

// What a queue is guaranteed it takes back only if it says so, and as far as those who have
// it may be displaced.
func TestReclaim(t *testing.T) {
	long := job.Duration(10 * time.Minute)
	for name, test := range map[string]struct {
		physics, others api.Queue
		file            string
		soon, later     int // bob's tasks after a minute and after ten more
	}{
		"never":                               {api.Queue{}, api.Queue{}, "", 0, 0},
		"never, whatever the priority":        {api.Queue{Preempts: true, MaxPriority: 5}, api.Queue{}, "\npriority: 5", 0, 0},
		"any":                                 {api.Queue{Reclaim: api.ReclaimAny}, api.Queue{}, "", 6, 6},
		"those of lower priority, none":       {api.Queue{Reclaim: api.ReclaimLower}, api.Queue{}, "", 0, 0},
		"those of lower priority":             {api.Queue{Reclaim: api.ReclaimLower, MaxPriority: 5}, api.Queue{}, "\npriority: 5", 6, 6},
		"those of a queue of lower priority":  {api.Queue{Reclaim: api.ReclaimLower}, api.Queue{Priority: -5}, "", 6, 6},
		"those who have run for ten minutes":  {api.Queue{Reclaim: api.ReclaimAny}, api.Queue{MinRuntime: long}, "", 0, 6},
		"down to what is protected":           {api.Queue{Reclaim: api.ReclaimAny}, api.Queue{Protected: 100}, "", 4, 4},
		"down to what is protected, a weight": {api.Queue{Reclaim: api.ReclaimAny}, api.Queue{Protected: 100, Weight: 3}, "", 2, 2},
		"down to their guarantee":             {api.Queue{Reclaim: api.ReclaimAny}, api.Queue{Guaranteed: cores(5)}, "", 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, []*api.Registration{node("a", 4), node("b", 4)}, func(w *world) {
				anns, bobs := borrowed(w, &test.physics, &test.others, test.file)
				w.pass(time.Minute)
				require.Equal(t, test.soon, w.running()["bob"], "soon")
				w.pass(10 * time.Minute)
				require.Equal(t, test.later, w.running()["bob"], "later")
				require.Equal(t, 8, w.running()["bob"]+w.running()["ann"])
				w.pass(3 * time.Hour)
				for _, id := range slices.Concat(anns, bobs) {
					require.Equal(t, "COMPLETED", w.states(id), "job %d", id)
				}
				ended := 0
				for r := range w.state.View().RecordsAfter(0) {
					if r.Outcome.State == job.Preempted {
						ended++
						require.Equal(t, "ann", r.Owner)
					}
				}
				require.Equal(t, test.later, ended, "as many as bob got, and each once")
			})
		})
	}
}

// For whom a task was ended is said of the job that waits again, also by the next leader, and
// its history keeps it. One that is not to be requeued stays ended.
func TestWordsOfReclaim(t *testing.T) {
	in(t, []*api.Registration{node("a", 2)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 30 * time.Minute, ends: job.Completed} }
		w.do(&state.Command{PutQueue: &api.Queue{Name: "physics", Guaranteed: cores(2), Reclaim: api.ReclaimAny}})
		anns := w.of("ann", 1, "timeLimit: 1h")
		once := w.of("ann", 1, "timeLimit: 1h\nnoRequeue: true")[0]
		w.pass(time.Minute)
		bobs := w.of("bob", 1, "queue: physics\nresources: {cpu: 2}\ntimeLimit: 1h")[0]
		w.pass(500 * time.Millisecond)
		require.Equal(t, "COMPLETING COMPLETING PENDING", w.states(anns[0], once, bobs))
		require.Contains(t, w.explains(bobs).Message, "others are asked to leave node a for it; ")
		w.pass(time.Minute)
		require.Equal(t, "PENDING PREEMPTED RUNNING", w.states(anns[0], once, bobs))
		const why = "it gives room back to queue physics, for job 3"
		check := func() {
			t.Helper()
			require.Equal(t, "0 of 1 nodes fit: not enough cpu free (1); its last attempt was ended: "+why, w.explains(anns[0]).Message)
		}
		check()
		w.lead()
		w.pass(time.Minute)
		check()
		for _, id := range []job.ID{anns[0], once} {
			r := w.state.View().LastRecord(id, 0)
			require.Equal(t, job.Preempted, r.Outcome.State)
			require.Equal(t, why, r.Outcome.Message)
		}
		w.pass(2 * time.Hour)
		require.Equal(t, "COMPLETED PREEMPTED COMPLETED", w.states(anns[0], once, bobs))
	})
}

// A queue that reclaims preempts in itself, as one that preempts does, and a gang that loses a task to
// another queue loses all.
func TestReclaimInTheQueueAndOfGangs(t *testing.T) {
	in(t, []*api.Registration{node("a", 4)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 30 * time.Minute, ends: job.Completed} }
		w.do(&state.Command{PutQueue: &api.Queue{Name: "physics", Guaranteed: cores(4), Reclaim: api.ReclaimAny, MaxPriority: 5}})
		gang := w.of("ann", 1, "tasks: 4\ntimeLimit: 1h")[0]
		w.pass(time.Minute)
		low := w.of("bob", 1, "queue: physics\nresources: {cpu: 3}\ntimeLimit: 1h")[0]
		w.pass(time.Minute)
		require.Equal(t, "PENDING RUNNING", w.states(gang, low))
		high := w.of("eve", 1, "queue: physics\npriority: 5\nresources: {cpu: 4}\ntimeLimit: 1h")[0]
		w.pass(time.Minute)
		require.Equal(t, "PENDING PENDING RUNNING", w.states(gang, low, high))
		require.Equal(t, "it gives room back to queue physics, for job 2", w.state.View().LastRecord(gang, 0).Outcome.Message)
		require.Equal(t, "it makes room for job 3, which has a higher priority", w.state.View().LastRecord(low, 0).Outcome.Message)
	})
}

// What a queue makes of its jobs holds for those that wait already, from the moment that it is said.
func TestChangedQueueOfJobsThatWait(t *testing.T) {
	in(t, []*api.Registration{node("a", 4), node("b", 4, "fast=yes")}, func(w *world) {
		anns, bobs := borrowed(w, &api.Queue{}, &api.Queue{}, "")
		w.pass(time.Minute)
		require.Zero(t, w.running()["bob"])
		w.do(&state.Command{PutQueue: &api.Queue{Name: "physics", Guaranteed: cores(6), Reclaim: api.ReclaimAny, Nodes: []job.Constraint{job.Constraint{Label: "fast"}.WithDefaults()}}})
		w.pass(time.Minute)
		require.Equal(t, 4, w.running()["bob"], "those that fit on the nodes of the queue")
		w.do(&state.Command{PutQueue: &api.Queue{Name: "physics", Guaranteed: cores(6), Reclaim: api.ReclaimAny}})
		w.pass(time.Minute)
		require.Equal(t, 6, w.running()["bob"])
		w.pass(3 * time.Hour)
		for _, id := range slices.Concat(anns, bobs) {
			require.Equal(t, "COMPLETED", w.states(id), "job %d", id)
		}
	})
}
