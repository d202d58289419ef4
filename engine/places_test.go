package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// doorkeeper has everything wait on Permit for so long.
type doorkeeper struct{ wait time.Duration }

func (*doorkeeper) Name() string { return "Doorkeeper" }

func (d *doorkeeper) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return extpoints.NewStatus(extpoints.Wait), d.wait
}

// A workload that has a node waits in a place as much as one that has none: on Permit,
// for its binding, and for one that is no longer wanted.
func TestWhatHasANodeWaitsInAPlace(t *testing.T) {
	later := epoch.Add(time.Second)
	for _, c := range []struct {
		name   string
		permit bool
		then   []engine.Change // while it waits on Permit, or is being bound

		want   queue.Position
		counts queue.Counts
		node   string // that Explain names
	}{
		{
			name: "on permit", permit: true,
			want:   queue.Position{Place: queue.Permit, Node: "b", Since: epoch, Until: epoch.Add(time.Minute), Permit: []string{"Doorkeeper"}, Attempts: 1, AddedAt: epoch, Timestamp: epoch},
			counts: queue.Counts{Permit: 1}, node: "b",
		},
		{
			name: "being bound", want: queue.Position{Place: queue.Binding, Node: "b", Since: epoch},
			counts: queue.Counts{Binding: 1}, node: "b",
		},
		{
			name: "requeued", then: []engine.Change{engine.Requeue("u")},
			want:   queue.Position{Place: queue.OldBinding, Node: "b", Since: later},
			counts: queue.Counts{OldBinding: 1},
		},
		{
			name: "on a node that is lost", then: []engine.Change{node("c", 1000), engine.LoseNode("b")},
			want:   queue.Position{Place: queue.OldBinding, Node: "b", Since: later},
			counts: queue.Counts{OldBinding: 1},
		},
		{
			name: "removed and handed in again", then: []engine.Change{engine.Remove("u"), task("u", 100)},
			want:   queue.Position{Place: queue.OldBinding, Node: "b", Since: later},
			counts: queue.Counts{OldBinding: 1},
		},
		{
			name: "requeued on permit", permit: true, then: []engine.Change{engine.Requeue("u")},
			want:   queue.Position{Place: queue.Active, AddedAt: later, Timestamp: later},
			counts: queue.Counts{Active: 1}, node: "b",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(&world{})
			if c.permit {
				use(&cfg, &doorkeeper{time.Minute})
			}
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("b", 1000), task("u", 100)))
			require.True(t, r.Schedule(epoch))
			old := r.NextTask()
			require.NoError(t, r.Apply(later, c.then...))

			c.want.ID = "u"
			got, ok := r.Queue("u")
			require.True(t, ok)
			require.Equal(t, c.want, got)
			require.Equal(t, c.counts, r.QueueCounts())
			e, err := r.Explain(later, "u", engine.ExplainOptions{})
			require.NoError(t, err)
			require.Equal(t, &c.want, e.Waiting)
			require.Equal(t, c.node, e.Node)
			if c.counts.OldBinding > 0 {
				require.Equal(t, `an earlier binding to node "b" was cancelled and has not returned`, e.Message)
				require.Equal(t, []engine.Reason{{Text: e.Message}}, e.Reasons)
				require.False(t, r.Schedule(later), "it must not run twice")
			}
			if old == nil {
				return
			}
			old.Run(t.Context())
			r.Finish(later, old)
			settle(r, later)
			require.Zero(t, r.QueueCounts())
			_, ok = r.Queue("u")
			require.False(t, ok)
			require.Equal(t, 1, count(r.View(), model.Bound))
		})
	}
}

// A wait on Permit of no time, or of less, is over when the time is looked at next: the plugin has rejected it then.
func TestAWaitOfNoTimeIsOverAtOnce(t *testing.T) {
	for _, wait := range []time.Duration{0, -time.Hour} {
		cfg := config(&world{})
		use(&cfg, &doorkeeper{wait})
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("b", 1000), task("u", 100)))
		require.True(t, r.Schedule(epoch))
		require.Equal(t, queue.Counts{Permit: 1}, r.QueueCounts(), wait)
		due, ok := r.NextDue(epoch)
		require.True(t, ok)
		require.False(t, due.After(epoch), wait)

		r.Tick(epoch)
		got, ok := r.Queue("u")
		require.True(t, ok)
		require.NotEqual(t, queue.Permit, got.Place, wait)
		require.Equal(t, []string{"Doorkeeper"}, got.UnschedulablePlugins, wait)
		require.Nil(t, r.NextTask())
	}
}

// What waits for an old binding, and leaves before that has returned, waits no more.
func TestNobodyIsLeftToWaitForAnOldBinding(t *testing.T) {
	for name, leave := range map[string]engine.Change{
		"removed":             engine.Remove("u"),
		"finished":            engine.Finish("u"),
		"seen on another one": engine.Confirm(model.Binding{Workload: "u", Node: "c"}),
		"told to go":          engine.Terminate("u"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			require.NoError(t, r.Apply(epoch, node("b", 1000), task("u", 100)))
			require.True(t, r.Schedule(epoch))
			old := r.NextTask()
			require.NoError(t, r.Apply(epoch, engine.Requeue("u")))
			require.NoError(t, r.Apply(epoch, leave))
			require.Zero(t, r.QueueCounts())
			_, ok := r.Queue("u")
			require.False(t, ok)
			old.Run(t.Context())
			r.Finish(epoch, old)
			require.Zero(t, r.QueueCounts())
		})
	}
}
