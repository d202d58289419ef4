package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

func nominate(id, node string) engine.Change {
	return engine.Nominate(id, node)
}

// A workload goes where somebody else has nominated it to, though another node is
// better.
func TestANominationFromOutsideIsLookedAtFirst(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 5000), task("w", 500), nominate("w", "n1")))
	w, _ := r.View().Workload("w")
	require.Equal(t, "n1", w.Nominated)
	require.True(t, r.Schedule(epoch))
	w, _ = r.View().Workload("w")
	require.Equal(t, "n1", w.Node)
	require.NoError(t, r.Apply(epoch, nominate("w", "n2")), "it does not wait any more")
	w, _ = r.View().Workload("w")
	require.Equal(t, "n1", w.Node)
	require.ErrorContains(t, r.Apply(epoch, nominate("nobody", "n2")), `nominate "nobody"`)
}

// The room is kept for it, and when the nomination is taken back those that had to
// leave it that room are woken.
func TestANominationFromOutsideKeepsRoom(t *testing.T) {
	r := newRaw(t, &world{})
	w := urgent("w", 600)
	spec(w).Gates = []string{"later"}
	require.NoError(t, r.Apply(epoch, node("n1", 1000), w, nominate("w", "n1"), task("small", 600)))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, []model.Phase{model.Pending}, phases(r, "small"))

	require.NoError(t, r.Apply(epoch, nominate("w", "")))
	p, _ := r.Queue("small")
	require.Equal(t, queue.Backoff, p.Place)
	later := epoch.Add(time.Minute)
	r.Tick(later)
	require.True(t, r.Schedule(later))
	require.Equal(t, []model.Phase{model.Assumed}, phases(r, "small"))
}

// When it asks for less than room is kept for, or matters less, those that had to leave it that room are
// woken, too.
func TestANominationKeepsLessRoom(t *testing.T) {
	for name, change := range map[string]func(*model.Workload){
		"requests": func(w *model.Workload) { w.Requests.CPU = 100 },
		"priority": func(w *model.Workload) { w.Priority = -1 },
	} {
		r := newRaw(t, &world{})
		w := urgent("w", 600)
		spec(w).Gates = []string{"later"}
		require.NoError(t, r.Apply(epoch, node("n1", 1000), w, nominate("w", "n1"), task("small", 600)))
		require.True(t, r.Schedule(epoch))

		less := spec(w).Clone()
		change(less)
		require.NoError(t, r.Apply(epoch, engine.Update(less)))
		p, _ := r.Queue("small")
		require.Equal(t, queue.Backoff, p.Place, name)
	}
}
