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
		Queue:                    queue.Timing{InitialBackoff: -1},
		Order:                    engine.OrderByQueues,
		Backfill:                 engine.Backfill{Mode: engine.Reservations, Depth: -1, Every: -1, Overrun: -1, ShortestFirst: true, Slack: true, Pinned: true},
	})
	for _, problem := range []string{
		"Profiles: at least one is needed",
		"Orchestrator: is missing",
		"PercentageOfNodesToScore: 101 is not in [0, 100]",
		"Workers: -1 is negative",
		"TieBreak: 9 is not one of the constants",
		"MaxBindings: -2 is negative",
		"Queue: InitialBackoff is -1ns, must be more than 0",
		"Backfill.Reservations: 0 is less than 1",
		"Backfill.Depth: -1 is negative",
		"Backfill.Every: -1ns is negative",
		"Backfill.Overrun: -1ns is negative",
		"Backfill.Slack does not go with Pinned: what keeps its place cannot be put off",
		"Backfill.Slack does not go with Order by queues, where another comes first after each start",
		"Backfill.ShortestFirst does not go with Order by queues, which is by shares",
	} {
		require.ErrorContains(t, err, problem)
	}
}

func TestProfilesListEveryProblem(t *testing.T) {
	cfg := config(&world{})
	share := int32(200)
	wrong := extpoints.Profile{
		Name:                     "wrong",
		PercentageOfNodesToScore: &share,
		Plugins: []extpoints.Entry{
			{Name: "Nonesuch"},
			{Name: plugins.PrioritySort, New: plugins.Default()[plugins.PrioritySort], Args: "nonsense"},
			{Name: plugins.ImageLocality, New: plugins.Default()[plugins.ImageLocality], Weight: -1},
		},
	}
	wrong.Remove("Nobody")
	twoSorts := engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}}
	twoSorts.Profiles[0].Name = "two sorts"
	use(&twoSorts, otherSort{})
	noBind := plugins.DefaultProfile()
	noBind.Name = "no bind"
	noBind.Remove(plugins.DefaultBinder)
	cfg.Profiles = append(cfg.Profiles, wrong, twoSorts.Profiles[0], noBind)
	_, err := engine.New(cfg)
	for _, problem := range []string{
		`profile "wrong": percentageOfNodesToScore: 200 is not in [0, 100]`,
		`profile "wrong": plugin "Nonesuch": has no function that makes it`,
		`profile "wrong": plugin "ImageLocality": weight -1 is negative`,
		`profile "wrong": plugin "PrioritySort": arguments of type string, want extpoints.NoArgs`,
		`profile "wrong": remove plugin "Nobody": the profile has none of the name`,
		`profile "two sorts": QueueSort: exactly one plugin is needed, got 2: [PrioritySort OtherSort]`,
		`profile "no bind": Bind: at least one plugin is needed`,
	} {
		require.ErrorContains(t, err, problem)
	}

	cfg = config(&world{})
	cfg.Profiles = append(cfg.Profiles, cfg.Profiles[0], extpoints.Profile{})
	_, err = engine.New(cfg)
	require.ErrorContains(t, err, `Profiles[1].Name: "default-scheduler" is listed twice`)
	require.ErrorContains(t, err, `Profiles[2].Name: is empty`)
}

// otherSort is a second order for the queue.
type otherSort struct{}

func (otherSort) Name() string                                      { return "OtherSort" }
func (otherSort) Less(a, b *extpoints.Queued) bool                  { return a.Attempts < b.Attempts }
func (otherSort) PreEnqueue(*model.Workload) (st *extpoints.Status) { return nil }

func TestAllProfilesSortTheQueueAlike(t *testing.T) {
	cfg, other := config(&world{}), config(&world{})
	other.Profiles[0].Name = "other"
	use(&other, otherSort{}, extpoints.InPlaceOf(plugins.PrioritySort))
	cfg.Profiles = append(cfg.Profiles, other.Profiles...)
	_, err := engine.New(cfg)
	require.ErrorContains(t, err, `profile "other": QueueSort: all profiles need the same plugin, got "OtherSort" beside "PrioritySort"`)
}

func TestApplyIsAllOrNothingAndListsEveryProblem(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100)))
	index := r.View().Index()

	less := task("less", -1)
	spec(less).Requests.Memory = -1
	err := r.Apply(epoch,
		task("good", 100),
		task("a", 100),
		less,
		node("bad", -5),
		engine.Remove("nobody"),
		engine.RemoveNode("nowhere"),
		engine.Update(&model.Workload{ID: "nobody"}),
		engine.Adopt(nil, model.Binding{}),
		engine.Adopt(&model.Workload{ID: "x"}, model.Binding{}),
		engine.Confirm(model.Binding{Workload: "nobody", Node: "n1"}),
		engine.Change{},
	)
	require.ErrorIs(t, err, engine.ErrExists)
	require.ErrorIs(t, err, engine.ErrNotFound)
	require.ErrorIs(t, err, model.ErrInvalid)
	var change *engine.ChangeError
	require.ErrorAs(t, err, &change)
	require.Equal(t, 1, change.Index)
	for _, problem := range []string{
		`change 1, submit "a"`,
		`change 2, submit "less": workload "less": requests.cpu: -1 is less than 0`,
		`requests.memory: -1 is less than 0`,
		`change 3, put node "bad"`,
		`change 4, remove "nobody"`,
		`change 5, remove node "nowhere"`,
		`change 6, update "nobody"`,
		`change 7, adopt: engine.Adopt needs a workload`,
		`change 8, adopt "x": engine.Adopt needs a workload, and a binding with the name of its node`,
		`change 9, confirm "nobody"`,
		`change 10: it is the zero Change`,
	} {
		require.ErrorContains(t, err, problem)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 10)

	require.Equal(t, index, r.View().Index(), "nothing is half applied")
	_, ok := r.View().Workload("good")
	require.False(t, ok)
	settle(r, epoch)
	require.Equal(t, 1, count(r.View(), model.Bound), "and the engine goes on")
}

func TestIllegalMovesAreRefused(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100)))
	require.ErrorContains(t, r.Evict(epoch, "a", "?"), "it is on no node")
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, engine.Finish("a")))
	require.Error(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "a", Node: "n1"})))
	require.NoError(t, r.Apply(epoch, engine.Remove("a")))
}

func TestUpdatesAreCheckedToo(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, task("a", 100)))
	err := r.Apply(epoch, engine.Update(&model.Workload{ID: "a", Requests: model.Resources{CPU: -1}}))
	require.ErrorIs(t, err, model.ErrInvalid)
}
