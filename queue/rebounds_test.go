package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

// Whoever is displaced for another queue may not displace others for a while; each time
// that it has done so and lost it again, for twice as long. It is tried again then.
func TestRebounds(t *testing.T) {
	t.Parallel()
	r := newOneRoom(t, 2, &model.Queue{Name: "a", Reclaim: model.ReclaimAny}, &model.Queue{Name: "b", Reclaim: model.ReclaimAny})
	r.run(at("b1", "b", 1, 0))
	r.run(at("b2", "b", 1, 0))
	w, other := at("w", "a", 1, 0), at("v", "b", 1, 0)
	wins := func(after time.Duration) bool {
		victims, _ := r.makeRoom(runStart.Add(after), w)
		return len(victims) > 0
	}
	require.True(t, wins(0))
	r.q.Displaced(runStart, w.Workload, other.Workload)
	require.False(t, wins(time.Second-1))
	due, ok := r.q.NextDue(runStart)
	require.True(t, ok)
	require.Equal(t, runStart.Add(time.Second), due)
	require.True(t, wins(time.Second))
	alike := at("w-again", "a", 1, 0)
	victims, _ := r.makeRoom(runStart, alike)
	require.Empty(t, victims, "one like it, under another name")

	r.q.Displaced(runStart, w.Workload, other.Workload)
	require.True(t, wins(time.Second), "it has not won anything in between")
	for n := range 3 {
		r.q.Displaced(runStart, other.Workload, w.Workload)
		r.q.Displaced(runStart, w.Workload, other.Workload)
		require.False(t, wins(2*time.Second<<n-1))
		require.True(t, wins(2*time.Second<<n))
	}
	later := runStart.Add(2 * time.Hour)
	r.q.Displaced(later, w.Workload, other.Workload)
	require.True(t, wins(2*time.Hour+time.Second), "long after that it begins anew")

	same := at("x", "a", 3, 0)
	r.q.Displaced(later, same.Workload, w.Workload)
	require.Zero(t, r.q.tree.rebounds.until(r.q.tree.kindOf(same.Workload), later), "in its own queue it does not count")
}
