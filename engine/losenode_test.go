package engine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// stranded are the IDs of the workloads on nodes that nobody knows.
func stranded(r *engine.Raw) (ids []string) {
	for w := range r.View().Stranded() {
		ids = append(ids, w.ID)
	}
	return ids
}

// A workload may be reported before its node; one whose node is removed and that nobody
// requeues would stay there for ever, and can be seen.
func TestWorkloadsOnNodesThatNobodyKnowsAreSeen(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, task("c", 1), running("b", "n1", 1), running("a", "n1", 1),
		engine.Confirm(model.Binding{Workload: "c", Node: "n2"}), engine.Terminate("a")))
	require.Equal(t, []string{"b", "c", "a"}, stranded(r))
	for range r.View().Stranded() {
		break // which must be possible
	}
	require.NoError(t, r.Apply(epoch, node("n1", 10), node("n2", 10)))
	require.Empty(t, stranded(r))
	require.NoError(t, r.Apply(epoch, engine.RemoveNode("n1")))
	require.Equal(t, []string{"b", "a"}, stranded(r))
	require.NoError(t, r.Apply(epoch, engine.LoseNode("n2"), engine.Requeue("b"), engine.Finish("a")))
	require.Empty(t, stranded(r))
}

// LoseNode decides as the changes do that it stands for, and its listeners hear the same.
func TestLoseNodeIsItsSingleChanges(t *testing.T) {
	foreign := func(id string) *model.Workload { return &model.Workload{ID: id, Profile: "of somebody else"} }
	tell := func(changes ...engine.Change) (events []string, phases []string) {
		cfg := config(&world{})
		cfg.Listener = engine.Listener{
			Enqueued:  func(e engine.QueuedEvent) { events = append(events, "enqueued "+e.ID) },
			Gated:     func(e engine.QueuedEvent) { events = append(events, "gated "+e.ID+" by "+e.Plugin) },
			Confirmed: func(e engine.PlacedEvent) { events = append(events, "confirmed "+e.Workload.ID) },
			Removed:   func(e engine.LeavingEvent) { events = append(events, "removed "+e.Workload.ID) },
		}
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n1", 1000), running("confirmed", "n1", 1), running("leaving", "n1", 1),
			engine.Terminate("leaving"), engine.Adopt(foreign("foreign"), model.Binding{Node: "n1"}), task("assumed", 1)))
		require.True(t, r.Schedule(epoch))
		binding := r.NextTask()
		require.NoError(t, r.Apply(epoch, changes...))
		binding.Run(t.Context())
		r.Finish(epoch, binding)
		require.NoError(t, r.Apply(epoch, node("n2", 1000)))
		settle(r, epoch)
		for _, id := range []string{"assumed", "confirmed", "foreign", "leaving"} {
			phases = append(phases, phaseOf(r, id))
		}
		return events, phases
	}
	events, phases := tell(engine.LoseNode("n1"))
	require.Equal(t, []string{"Bound@n2", "Bound@n2", "Pending", "Finished"}, phases)
	wanted, same := tell(engine.RemoveNode("n1"), engine.Requeue("assumed"), engine.Requeue("confirmed"),
		engine.Requeue("foreign"), engine.Finish("leaving"))
	require.Equal(t, same, phases)
	require.Equal(t, wanted, events)
}

// A drained node is closed, what is on it is asked to leave, and a node that is put
// open again takes workloads. On a branch it is only closed.
func TestDrainClosesTheNodeAndEvicts(t *testing.T) {
	w := &world{}
	r := newRaw(t, w)
	labelled := node("n1", 1000)
	nodeOf(labelled).Labels = map[string]string{"a": "b"}
	require.NoError(t, r.Apply(epoch, labelled, running("a", "n1", 1), running("b", "n1", 1)))
	branch := r.Branch()
	require.NoError(t, branch.Apply(epoch, engine.Drain("n1", "new disks")))
	require.Nil(t, r.NextTask())
	n, _ := branch.View().Node("n1")
	require.True(t, n.Node.Unschedulable)

	require.NoError(t, r.Apply(epoch, engine.Drain("n1", "new disks"), task("late", 1)))
	n, _ = r.View().Node("n1")
	require.True(t, n.Node.Unschedulable)
	require.Equal(t, "b", n.Node.Labels["a"], "all else stays")
	require.False(t, nodeOf(labelled).Unschedulable, "what was handed in does not change")
	var asked []string
	for e := r.NextTask(); e != nil; e = r.NextTask() {
		e.Run(t.Context())
		r.Finish(epoch, e)
		asked = append(asked, e.Workload().ID)
	}
	require.Equal(t, []string{"a", "b"}, slices.Sorted(slices.Values(asked)))
	require.Equal(t, "Terminating@n1", phaseOf(r, "a"))
	settle(r, epoch)
	require.Equal(t, "Pending", phaseOf(r, "late"))
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))
	settle(r, epoch)
	require.Equal(t, "Bound@n1", phaseOf(r, "late"))
}
