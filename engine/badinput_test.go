package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

func TestConfigListsEveryProblem(t *testing.T) {
	_, err := engine.New(engine.Config{
		PercentageOfNodesToScore: 101,
		Workers:                  -1,
		TieBreak:                 9,
		MaxBindings:              -2,
		Queue:                    queue.Config{InitialBackoff: -1},
	})
	for _, problem := range []string{
		"Profiles: at least one is needed",
		"Registry: is missing",
		"Orchestrator: is missing",
		"PercentageOfNodesToScore: 101 is not in [0, 100]",
		"Workers: -1 is negative",
		"TieBreak: 9 is not one of the constants",
		"MaxBindings: -2 is negative",
		"Queue: queue: InitialBackoff is -1ns, must be more than 0",
	} {
		require.ErrorContains(t, err, problem)
	}
}

func TestProfilesListEveryProblem(t *testing.T) {
	cfg := config(&world{})
	require.NoError(t, cfg.Registry.Register("OtherSort", func(any, extpoints.Handle) (extpoints.Plugin, error) { return otherSort{}, nil }))
	share := int32(200)
	wrong := extpoints.Profile{
		Name:                     "wrong",
		PercentageOfNodesToScore: &share,
		Plugins: extpoints.Plugins{
			MultiPoint: extpoints.PluginSet{Enabled: []extpoints.PluginRef{{Name: "Nonesuch"}, {Name: plugins.PrioritySort}}},
			Score:      extpoints.PluginSet{Enabled: []extpoints.PluginRef{{Name: plugins.ImageLocality, Weight: -1}}},
		},
		Args: map[string]any{plugins.PrioritySort: "nonsense", "Nobody": 1},
	}
	twoSorts := plugins.DefaultProfile()
	twoSorts.Name = "two sorts"
	twoSorts.Plugins.QueueSort.Enabled = []extpoints.PluginRef{{Name: "OtherSort"}}
	noBind := plugins.DefaultProfile()
	noBind.Name = "no bind"
	noBind.Plugins.Bind.Disabled = []string{extpoints.AllPlugins}
	cfg.Profiles = append(cfg.Profiles, wrong, twoSorts, noBind)
	_, err := engine.New(cfg)
	for _, problem := range []string{
		`profile "wrong": percentageOfNodesToScore: 200 is not in [0, 100]`,
		`profile "wrong": multiPoint: plugin "Nonesuch" does not exist`,
		`profile "wrong": score: plugin "ImageLocality": weight -1 is negative`,
		`profile "wrong": initializing plugin "PrioritySort"`,
		`profile "wrong": args: plugin "Nobody" is not enabled`,
		`profile "two sorts": queueSort: exactly one plugin is needed, got 2: [PrioritySort OtherSort]`,
		`profile "no bind": bind: at least one plugin is needed`,
	} {
		require.ErrorContains(t, err, problem)
	}

	cfg = config(&world{})
	cfg.Profiles = append(cfg.Profiles, cfg.Profiles[0], extpoints.Profile{})
	_, err = engine.New(cfg)
	require.ErrorContains(t, err, `Profiles[1].Name: "default-scheduler" is there twice`)
	require.ErrorContains(t, err, `Profiles[2].Name: is empty`)
}

// otherSort is a second order for the queue.
type otherSort struct{}

func (otherSort) Name() string                                      { return "OtherSort" }
func (otherSort) Less(a, b *extpoints.Queued) bool                  { return a.Attempts < b.Attempts }
func (otherSort) PreEnqueue(*model.Workload) (st *extpoints.Status) { return nil }

func TestAllProfilesSortTheQueueAlike(t *testing.T) {
	cfg := config(&world{})
	require.NoError(t, cfg.Registry.Register("OtherSort", func(any, extpoints.Handle) (extpoints.Plugin, error) { return otherSort{}, nil }))
	other := plugins.DefaultProfile()
	other.Name = "other"
	other.Plugins.QueueSort = extpoints.PluginSet{Enabled: []extpoints.PluginRef{{Name: "OtherSort"}}, Disabled: []string{plugins.PrioritySort}}
	cfg.Profiles = append(cfg.Profiles, other)
	_, err := engine.New(cfg)
	require.ErrorContains(t, err, `profile "other": queueSort: all profiles need the same plugin, got "OtherSort" beside "PrioritySort"`)
}

func TestApplyIsAllOrNothingAndListsEveryProblem(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100), engine.Change{PutGroup: &model.Group{ID: "groups", Composite: true}}))
	index := r.View().Index()

	lost := task("lost", 100)
	lost.Submit.Profile, lost.Submit.Group, lost.Submit.NodeName = "no profile", "groups", "no node"
	lost.Submit.Requests.Memory = -1
	err := r.Apply(epoch,
		task("good", 100),
		task("a", 100),
		lost,
		node("bad", -5),
		engine.Change{Remove: "nobody"},
		engine.Change{RemoveNode: "nowhere"},
		engine.Change{Update: &model.Workload{ID: "nobody"}},
		engine.Change{Adopt: &engine.Placement{}},
		engine.Change{Adopt: &engine.Placement{Workload: &model.Workload{ID: "x"}}},
		engine.Change{Confirm: &model.Binding{Workload: "nobody", Node: "n1"}},
		engine.Change{},
		engine.Change{Remove: "a", Finish: "a"},
	)
	require.ErrorIs(t, err, engine.ErrExists)
	require.ErrorIs(t, err, engine.ErrNotFound)
	require.ErrorIs(t, err, model.ErrInvalid)
	var change *engine.ChangeError
	require.ErrorAs(t, err, &change)
	require.Equal(t, 1, change.Index)
	for _, problem := range []string{
		`change 1, submit "a"`,
		`change 2, submit "lost"`,
		`there is no profile "no profile"`,
		`group: "groups" is a group of groups`,
		`there is no node "no node"`,
		`change 3, put node "bad"`,
		`change 4, remove "nobody"`,
		`change 5, remove node "nowhere"`,
		`change 6, update "nobody"`,
		`change 7, adopt "": there is no workload`,
		`change 8, adopt "x": workload "x": there is no node`,
		`change 9, confirm "nobody"`,
		`change 10, an empty change: it says nothing`,
		`change 11, 2 changes in one: it says more than one thing`,
	} {
		require.ErrorContains(t, err, problem)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 14)

	require.Equal(t, index, r.View().Index(), "nothing is half applied")
	_, ok := r.View().Workload("good")
	require.False(t, ok)
	settle(r, epoch)
	require.Equal(t, 1, count(r.View(), model.Bound), "and the engine goes on")
}

func TestIllegalMovesAreRefused(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100)))
	require.Error(t, r.Apply(epoch, engine.Change{Requeue: "a"}), "it is pending already")
	require.ErrorContains(t, r.Evict(epoch, "a", "?"), "it is on no node")
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, engine.Change{Finish: "a"}))
	require.Error(t, r.Apply(epoch, engine.Change{Confirm: &model.Binding{Workload: "a", Node: "n1"}}))
	require.NoError(t, r.Apply(epoch, engine.Change{Remove: "a"}))
}

func TestUpdatesAreCheckedToo(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, task("a", 100)))
	err := r.Apply(epoch, engine.Change{Update: &model.Workload{ID: "a", Profile: "?", Requests: model.Resources{CPU: -1}}})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, `there is no profile "?"`)
}

// A workload that is being bound may have to wait again, so that no update may
// give it a profile that there is not.
func TestAnUpdateWhileBindingNeedsAProfile(t *testing.T) {
	r := newRaw(t, &world{})
	w := task("w", 1)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), w))
	require.True(t, r.Schedule(epoch))
	lost := *w.Submit
	lost.Profile = "nonesuch"
	require.ErrorContains(t, r.Apply(epoch, engine.Change{Update: &lost}), `workload "w": profile: there is no profile "nonesuch"`)
}
