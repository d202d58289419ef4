package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// picky is a Reserve plugin that refuses some workloads only when it is meant: a
// try of the group cannot know.
type picky struct {
	refuses  map[string]bool
	reserved map[string]int
}

func (*picky) Name() string { return "Picky" }

func (p *picky) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	if s.Trial() {
		return nil
	}
	p.reserved[w.ID]++
	if p.refuses[w.ID] {
		return extpoints.NewStatus(extpoints.Unschedulable, "not you")
	}
	return nil
}

func (p *picky) Unreserve(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) {
	p.reserved[w.ID]--
}

func gangOf(t *testing.T, p *picky, minCount int32, ids ...string) *engine.Raw {
	t.Helper()
	cfg := config(&world{})
	use(&cfg, p)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	changes := []engine.Change{node("n1", 10_000), engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: minCount})}
	for _, id := range ids {
		ch := task(id, 100)
		spec(ch).Group = "g"
		changes = append(changes, ch)
	}
	require.NoError(t, r.Apply(epoch, changes...))
	return r
}

func phases(r *engine.Raw, ids ...string) (list []model.Phase) {
	for _, id := range ids {
		row, _ := r.View().Workload(id)
		list = append(list, row.Phase)
	}
	return list
}

// A member that is refused when it is meant is left out, where its group holds
// without it.
func TestAGangGoesOnWithoutAMemberThatReserveRefuses(t *testing.T) {
	p := &picky{refuses: map[string]bool{"b": true}, reserved: map[string]int{}}
	r := gangOf(t, p, 2, "a", "b", "c")
	require.True(t, r.Schedule(epoch))
	require.Equal(t, []model.Phase{model.Assumed, model.Pending, model.Assumed}, phases(r, "a", "b", "c"))
	require.Equal(t, map[string]int{"a": 1, "b": 0, "c": 1}, p.reserved)
	pos, _ := r.Queue("b")
	require.Equal(t, []string{"Picky"}, pos.UnschedulablePlugins)
}

// Where it does not hold, all of them give back what they have, and the group
// backs off.
func TestAGangThatDoesNotHoldGivesEverythingBack(t *testing.T) {
	p := &picky{refuses: map[string]bool{"b": true}, reserved: map[string]int{}}
	r := gangOf(t, p, 3, "a", "b", "c")
	require.True(t, r.Schedule(epoch))
	require.Equal(t, []model.Phase{model.Pending, model.Pending, model.Pending}, phases(r, "a", "b", "c"))
	require.Equal(t, map[string]int{"a": 0, "b": 0, "c": 0}, p.reserved)
	require.False(t, r.Schedule(epoch), "it is tried again at once")

	p.refuses = nil
	later := epoch.Add(10 * time.Second)
	r.Tick(later)
	require.True(t, r.Schedule(later))
	require.Equal(t, []model.Phase{model.Assumed, model.Assumed, model.Assumed}, phases(r, "a", "b", "c"))
}

// A workload that runs already and joins a gang may be the one that was missing.
func TestARunningWorkloadCompletesAGang(t *testing.T) {
	r := gangOf(t, &picky{reserved: map[string]int{}}, 2, "a")
	require.NoError(t, r.Apply(epoch, engine.Adopt(spec(task("b", 100)), model.Binding{Node: "n1"})))
	require.False(t, r.Schedule(epoch))
	joins := spec(task("b", 100))
	joins.Group = "g"
	require.NoError(t, r.Apply(epoch, engine.Update(joins)))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, []model.Phase{model.Assumed}, phases(r, "a"))
}

// alone is a plugin that rejects groups as such where anybody runs.
type alone struct{}

func (alone) Name() string { return "Alone" }

func (alone) PlacementFeasible(s *extpoints.CycleState, _ *extpoints.GroupInfo, _ extpoints.PlacementProgress) *extpoints.Status {
	for _, w := range s.View().Nodes().Get("n1").Workloads {
		if w.Priority == 0 {
			return extpoints.NewStatus(extpoints.Unschedulable, "not alone")
		}
	}
	return nil
}

// A group for which room was made is tried when there is, also where no plugin
// has rejected a member and so none waits for the departure.
func TestAGroupTurnedDownAsSuchIsTriedWhenItsRoomIsThere(t *testing.T) {
	cfg := config(&world{})
	use(&cfg, alone{})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	w := urgent("w", 10_000)
	spec(w).Group = "g"
	require.NoError(t, r.Apply(epoch, node("n1", 10_000), running("v", "n1", 100),
		engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10}), w))
	require.True(t, r.Schedule(epoch))
	evict := r.NextTask()
	require.Equal(t, "v", evict.Workload().ID)
	pos, _ := r.Queue("w")
	require.Equal(t, queue.Gated, pos.Place)

	evict.Run(t.Context())
	r.Finish(epoch, evict)
	tryAt := func(after time.Duration) {
		r.Tick(epoch.Add(after))
		r.Schedule(epoch.Add(after))
	}
	tryAt(10 * time.Second) // in vain, as v has not left
	require.Equal(t, []model.Phase{model.Pending}, phases(r, "w"))
	require.NoError(t, r.Apply(epoch.Add(20*time.Second), engine.Remove("v")))
	tryAt(40 * time.Second)
	require.Equal(t, []model.Phase{model.Assumed}, phases(r, "w"))
}

// What a plan says of a group is what the engine does.
func TestBranchScheduleGroup(t *testing.T) {
	r := gangOf(t, &picky{reserved: map[string]int{}}, 2, "a", "b")
	b := r.Branch()
	d, err := b.ScheduleGroup(epoch, "g")
	require.NoError(t, err)
	require.True(t, d.Placed)
	require.Len(t, d.Members, 2)
	for _, m := range d.Members {
		require.Equal(t, "n1", m.Binding.Node)
		require.Equal(t, 1, m.Feasible)
	}
	placed, _ := b.View().Workload("a")
	require.Equal(t, "n1", placed.Node)
	require.Equal(t, []model.Phase{model.Pending, model.Pending}, phases(r, "a", "b"), "the engine is as it was")

	small := r.Branch()
	require.NoError(t, small.Apply(epoch, engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: 150}})))
	d, err = small.ScheduleGroup(epoch, "g")
	require.NoError(t, err)
	require.False(t, d.Placed)
	require.Contains(t, d.Message, "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining")
	require.Contains(t, d.Message, "No preemption victims found for incoming preemptor")
	_, err = r.Branch().ScheduleGroup(epoch, "nothing")
	require.ErrorIs(t, err, engine.ErrNotFound)
}

// Only a profile with a plugin that generates placements speaks of placements.
func TestGroupsWithoutPlacements(t *testing.T) {
	const why = "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
	for generator, want := range map[string]string{
		plugins.TopologyPlacementGenerator: "group is unschedulable, 0/1 placements are available, first placement status: " + why,
		"":                                 why,
	} {
		var told engine.GroupEvent
		cfg := config(&world{})
		if generator == "" {
			cfg.Profiles[0].Remove(plugins.TopologyPlacementGenerator)
		}
		cfg.Listener.Decided = func(e engine.GroupEvent) { told = e }
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		changes := []engine.Change{node("n", 200), engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 3})}
		for _, id := range []string{"a", "b", "c"} {
			ch := task(id, 100)
			spec(ch).Group = "g"
			changes = append(changes, ch)
		}
		require.NoError(t, r.Apply(epoch, changes...))
		require.True(t, r.Schedule(epoch))
		require.Equal(t, want+", group preemption: No preemption victims found for incoming preemptor", told.Message)
	}
}

// The event of a group that is rejected names the plugin which did.
func TestGroupEventsNameThePlugin(t *testing.T) {
	for _, c := range []struct {
		name  string
		group model.Group
		cpu   int64
		want  string
	}{
		{"room for two of three", model.Group{ID: "g", Policy: model.Gang, MinCount: 3}, 200, plugins.GangScheduling},
		{"no node with the label", model.Group{ID: "g", Policy: model.Gang, MinCount: 1, TopologyKey: "rack"}, 1000, plugins.TopologyPlacementGenerator},
		{"room", model.Group{ID: "g", Policy: model.Gang, MinCount: 3}, 1000, ""},
	} {
		var events []engine.GroupEvent
		cfg := config(&world{})
		cfg.Listener.Decided = func(e engine.GroupEvent) { events = append(events, e) }
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		changes := []engine.Change{node("n", c.cpu), engine.PutGroup(&c.group)}
		for _, id := range []string{"a", "b", "c"} {
			ch := task(id, 100)
			spec(ch).Group = "g"
			changes = append(changes, ch)
		}
		require.NoError(t, r.Apply(epoch, changes...))
		require.True(t, r.Schedule(epoch))
		require.Len(t, events, 1)
		require.Equal(t, c.want, events[0].Plugin, "%s: %s", c.name, events[0].Message)
		require.Equal(t, c.want == "", events[0].Code == extpoints.Success, c.name)
	}
}
