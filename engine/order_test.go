package engine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// handIn submits the workloads in their order: in one batch, or in several at the
// same moment.
func handIn(t *testing.T, r *engine.Raw, rng *rand.Rand, list []engine.Change) {
	t.Helper()
	for len(list) > 0 {
		n := 1 + rng.IntN(len(list))
		require.NoError(t, r.Apply(epoch, list[:n]...))
		list = list[n:]
	}
}

// randomIDs are IDs in no order, as those that others make are.
func randomIDs(rng *rand.Rand, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%016x", rng.Uint64())
	}
	return ids
}

// placed lists those of the workloads that have a node.
func placed(v *engine.View, ids []string) (list []string) {
	for _, id := range ids {
		if row, _ := v.Workload(id); row.Node != "" {
			list = append(list, id)
		}
	}
	return list
}

// Members go in the order in which they came, also when they have failed together,
// on a branch and in a replay.
func TestMembersOfAGroupGoInTheOrderOfArrival(t *testing.T) {
	for _, s := range seeds(t, 40) {
		rng := rand.New(rand.NewPCG(s, 0))
		var log bytes.Buffer
		cfg := config(&world{})
		cfg.Recorder = engine.NewRecorder(&log)
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		gang := func(minCount int32) engine.Change {
			return engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: minCount})
		}
		require.NoError(t, r.Apply(epoch, node("n1", 4000), gang(5)))
		ids := randomIDs(rng, 5)
		var members []engine.Change
		for _, id := range ids {
			w := task(id, 1000)
			spec(w).Group = "g"
			members = append(members, w)
		}
		handIn(t, r, rng, members)
		now := epoch
		for range 1 + rng.IntN(3) { // attempts in vain
			require.True(t, r.Schedule(now), "seed %d", s)
			require.Empty(t, placed(r.View(), ids), "seed %d", s)
			now = now.Add(time.Minute)
			r.Tick(now)
		}
		require.NoError(t, r.Apply(now, gang(4)))
		b := r.Branch()
		_, err = b.ScheduleGroup(now, "g")
		require.NoError(t, err)
		require.Equal(t, ids[:4], placed(b.View(), ids), "seed %d, on a branch", s)
		require.True(t, r.Schedule(now), "seed %d", s)
		require.Equal(t, ids[:4], placed(r.View(), ids), "seed %d", s)

		cfg.Recorder = nil
		again, err := engine.Replay(cfg, &log)
		require.NoError(t, err)
		require.Equal(t, ids[:4], placed(again.View(), ids), "seed %d, in a replay", s)
	}
}

// Workloads of one priority go in the order in which they came, be it in one batch,
// and those that failed together keep their order.
func TestWorkloadsOfOneMomentGoInTheOrderOfArrival(t *testing.T) {
	for _, s := range seeds(t, 40) {
		rng := rand.New(rand.NewPCG(s, 0))
		r := newRaw(t, &world{})
		ids := randomIDs(rng, 2+rng.IntN(20))
		var list []engine.Change
		for _, id := range ids {
			list = append(list, task(id, 1000))
		}
		handIn(t, r, rng, list)
		for r.Schedule(epoch) { // there is no node
		}
		later := epoch.Add(time.Minute)
		fit := 1 + rng.IntN(len(ids))
		require.NoError(t, r.Apply(later, node("n1", int64(fit)*1000)))
		r.Tick(later)
		for r.Schedule(later) {
		}
		require.Equal(t, ids[:fit], placed(r.View(), ids), "seed %d", s)
	}
}
