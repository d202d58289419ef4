package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// What keeping room costs in a large fleet: 5,000 nodes with 20 tasks each, and 100,000
// attempts that wait. A look is made once a second at most, and less often the longer it
// takes; see reserveShare.
func BenchmarkLook(b *testing.B) {
	for name, tasks := range map[string]int32{"fits later": 4000, "never fits": 6000} {
		b.Run(name, func(b *testing.B) {
			r := largeFleet(b, tasks)
			b.ResetTimer()
			for range b.N {
				r.seen = seen{again: true}
				r.look()
			}
			b.StopTimer()
			require.Equal(b, tasks == 4000, r.current != nil)
		})
	}
}

// What keeping room costs a cycle, for each node that something is kept on.
func BenchmarkKeptNode(b *testing.B) {
	n := extpoints.NewNodeInfo(&model.Node{Name: "n", Allocatable: model.Resources{CPU: 64_000}})
	for i := range 20 {
		n.AddWorkload(&extpoints.WorkloadInfo{Workload: limited(fmt.Sprintf("%d_0.1.0", i+1), time.Hour), PlacedAt: time.Now()})
	}
	r := &reservation{parts: map[string]int64{"n": 1}, prefix: "99_0.1."}
	r.want.Requests.CPU = 1000
	w, now := limited("100_0.1.0", time.Hour), time.Now()
	for range b.N {
		r.holds(n, w, now)
	}
}

// limited is a workload with a limit.
func limited(id string, limit time.Duration) *model.Workload {
	return &model.Workload{ID: id, Namespace: "ann", Requests: model.Resources{CPU: 3000}, Labels: map[string]string{
		limitLabel: wholeSeconds(job.Duration(limit)),
	}}
}

// largeFleet is a reserver of a full fleet, and fifty gangs that wait with so many tasks.
func largeFleet(b *testing.B, tasks int32) *reserver {
	s := state.New(func(state.Changed) {})
	c, err := New(Config{State: s, Propose: nil, Term: 1})
	require.NoError(b, err)
	var specs []job.Spec
	for range 50 {
		spec := job.Spec{Command: []string{"x"}, Tasks: tasks, Resources: job.Resources{CPU: 60_000}}
		specs = append(specs, spec.WithDefaults())
	}
	array, err := job.ParseArray("0-99999")
	require.NoError(b, err)
	rest := job.Spec{Command: []string{"x"}, Array: array}
	specs = append(specs, rest.WithDefaults())
	for i, cmd := range []*state.Command{
		{PutQueue: &state.Queue{Name: job.DefaultQueue, MaxQueued: -1}}, {Submit: &state.Submit{Specs: specs, Owner: "ann"}},
	} {
		cmd.At = time.Now()
		text, err := cmd.Encode()
		require.NoError(b, err)
		require.Nil(b, s.Apply(uint64(i+1), 1, [][]byte{text})[0].(state.Result).Err)
	}

	var changes []engine.Change
	for i := range 5000 {
		name := fmt.Sprint("n", i)
		changes = append(changes, engine.Change{PutNode: &model.Node{Name: name, Allocatable: model.Resources{CPU: 64_000}}})
		for k := range 20 {
			w := limited(fmt.Sprintf("%d_0.1.0", 1_000_000+i*20+k), time.Duration(i*k)*time.Second)
			changes = append(changes, engine.Change{Adopt: &engine.Placement{Workload: w, Node: name, Since: time.Now()}})
		}
	}
	for id := range 50 {
		changes = append(changes, engine.Change{Submit: &model.Workload{
			ID: fmt.Sprintf("%d_0.1.0", id+1), Namespace: "ann", Requests: model.Resources{CPU: 60_000}}})
	}
	require.NoError(b, c.eng.Apply(changes...))
	for i := range 100_000 {
		id := fmt.Sprintf("51_%d.1.0", i)
		if i < 50 {
			id = fmt.Sprintf("%d_0.1.0", i+1)
		}
		c.blocked.rejected(engine.RejectedEvent{At: time.Now(), Code: extpoints.Unschedulable, Workload: &model.Workload{ID: id}})
	}
	return &reserver{state: s, eng: c.eng, blocked: c.blocked, keeper: c.keeper, passed: map[job.ID]time.Time{}}
}
