package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// limited is a workload that runs for at most the seconds.
func limited(id string, cpu int64, seconds int) *model.Workload {
	return &model.Workload{ID: id, Requests: model.Resources{CPU: cpu}, Limit: time.Duration(seconds) * time.Second}
}

func after(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// A promise is moved to a later time only for a cause, which it names.
func TestAPromiseIsMovedForACause(t *testing.T) {
	for _, c := range []struct {
		name  string
		then  []engine.Change
		at    int
		want  int // the new start, 0 for none
		cause engine.PromiseCause
		said  string
	}{
		{"nothing", nil, 5, 10, engine.PromiseCause{}, ""},
		{"an early end of another", []engine.Change{engine.Finish("longer")}, 5, 10, engine.PromiseCause{}, ""},
		{
			"a limit has passed", nil, 12, 13, engine.PromiseCause{Reason: engine.LimitPassed, Name: "long"},
			`"long" runs on although its limit has passed`,
		},
		{
			"a limit is raised", []engine.Change{engine.Update(limited("long", 600, 30))}, 5, 30,
			engine.PromiseCause{Reason: engine.LimitMoved, Name: "long"}, `"long" must end later than was known`,
		},
		{
			"another goes before it", []engine.Change{engine.Submit(&model.Workload{
				ID: "urgent", Requests: model.Resources{CPU: 1000}, Limit: 7 * time.Second, Priority: 1})}, 5, 0,
			engine.PromiseCause{Reason: engine.SomethingAhead, Name: "urgent"}, `"urgent" goes before it`,
		},
		{
			"a node is lost", []engine.Change{engine.LoseNode("n")}, 5, 0,
			engine.PromiseCause{Reason: engine.NodeChanged, Name: "n"}, `node "n" is gone or has changed`,
		},
		{
			"it asks for more", []engine.Change{engine.Update(limited("waits", 1000, 5))}, 5, 20,
			engine.PromiseCause{Reason: engine.ItselfChanged, Name: "waits"}, `it was changed itself ("waits")`,
		},
		{
			"somebody else places one", []engine.Change{engine.Adopt(limited("alien", 100, 40), model.Binding{Node: "n", Since: after(5)})}, 5, 20,
			engine.PromiseCause{Reason: engine.PlacedOutside, Name: "alien"}, `"alien" was placed by somebody else`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(&world{})
			cfg.Backfill.Mode = engine.EASY
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n", 1000),
				engine.Adopt(limited("long", 600, 10), model.Binding{Node: "n", Since: epoch}),
				engine.Adopt(limited("longer", 100, 20), model.Binding{Node: "n", Since: epoch}),
				engine.Submit(limited("waits", 900, 5))))
			settle(r, epoch)
			p, ok := r.Promise("waits")
			require.True(t, ok)
			require.Equal(t, engine.Promise{First: after(10), Current: after(10), Nodes: map[string]string{"waits": "n"}}, p)

			require.NoError(t, r.Apply(after(c.at), c.then...))
			settle(r, after(c.at))
			p, ok = r.Promise("waits")
			require.True(t, ok)
			require.Equal(t, after(10), p.First, "what was said first is kept")
			if c.want == 0 {
				require.Zero(t, p.Current)
			} else {
				require.Equal(t, after(c.want), p.Current)
			}
			if c.said == "" {
				require.Empty(t, p.Causes)
				return
			}
			require.Contains(t, p.Causes, c.cause)
			require.Equal(t, c.said, c.cause.String())
			require.Equal(t, after(c.at), p.MovedAt)
		})
	}
}

// An explanation says how many go before a workload, and when it is to start.
func TestExplainSaysWhenItIsToStart(t *testing.T) {
	cfg := config(&world{})
	cfg.Backfill.Mode = engine.EASY
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), engine.Adopt(limited("runs", 600, 10), model.Binding{Node: "n", Since: epoch}),
		engine.Submit(limited("first", 900, 5)), engine.Submit(limited("second", 400, 60))))
	settle(r, epoch)
	first, err := r.Explain(epoch, "first", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Zero(t, first.Ahead)
	require.Equal(t, after(10), first.Promise.Current)
	second, err := r.Explain(epoch, "second", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, second.Ahead)
	require.Nil(t, second.Promise, "EASY promises something to the first only")
	require.Contains(t, second.Last.Message, `would delay "first", which is to start at 2026-01-01T00:00:10Z`)
	require.Equal(t, []string{"Backfill"}, second.Last.Plugins)
	require.Equal(t, []string{"first", "second"}, r.Waiting())
}

// A branch says when what waits would fit, one next to the other, whatever the engine
// itself plans.
func TestWhenFits(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n", 4000), engine.Adopt(limited("r1", 3000, 5), model.Binding{Node: "n", Since: epoch})))
	b := r.Branch()
	require.NoError(t, b.Apply(epoch, engine.Submit(limited("j1", 2000, 5)), engine.Submit(limited("j2", 3000, 2)), engine.Submit(limited("j3", 2000, 3)),
		engine.Submit(limited("j4", 1000, 7)), engine.Submit(limited("j5", 1000, 5)), task("huge", 5000)))
	index := b.View().Index()
	fits, err := b.WhenFits(epoch, "j1", "j2", "j3", "j4", "j5", "huge")
	require.NoError(t, err)
	for i, want := range []int{5, 10, 5, 8, 0} {
		require.Equal(t, after(want), fits[i].At, fits[i].ID)
		require.Equal(t, map[string]string{fits[i].ID: "n"}, fits[i].Nodes)
	}
	require.Equal(t, engine.Fit{ID: "huge"}, fits[5], "it never fits")
	require.Equal(t, index, b.View().Index(), "the branch stays as it is")

	_, err = b.WhenFits(epoch, "nobody")
	require.ErrorIs(t, err, engine.ErrNotFound)
	_, err = b.WhenFits(epoch, "r1")
	require.ErrorContains(t, err, "not Pending")
}

// A gang fits when there is room for all of it.
func TestWhenAGroupFits(t *testing.T) {
	r := newRaw(t, &world{})
	member := func(id string) engine.Change {
		w := limited(id, 600, 20)
		w.Group = "g"
		return engine.Submit(w)
	}
	require.NoError(t, r.Apply(epoch, node("a", 1000), node("b", 1000),
		engine.Adopt(limited("x", 500, 10), model.Binding{Node: "a", Since: epoch}),
		engine.Adopt(limited("y", 500, 30), model.Binding{Node: "b", Since: epoch}),
		engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2}), member("m1"), member("m2")))
	fits, err := r.Branch().WhenFits(epoch, "g")
	require.NoError(t, err)
	require.Equal(t, after(30), fits[0].At)
	require.Equal(t, map[string]string{"m1": "a", "m2": "b"}, fits[0].Nodes)
}

// What has run over for too long is planned as if it never ended: nothing is kept for
// those who wait for its room.
func TestWhatRunsOverForTooLongNeverEnds(t *testing.T) {
	cfg := config(&world{})
	cfg.Backfill = engine.Backfill{Mode: engine.EASY, Overrun: 5 * time.Second}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), engine.Adopt(limited("stuck", 600, 10), model.Binding{Node: "n", Since: epoch}),
		engine.Submit(limited("first", 900, 5)), engine.Submit(limited("second", 300, 1000))))
	for _, c := range []struct {
		at, want int // the start that the first is promised
		started  bool
	}{{0, 10, false}, {10, 10, false}, {12, 13, false}, {15, 16, false}, {16, 0, true}} {
		r.Tick(after(c.at))
		settle(r, after(c.at))
		p, ok := r.Promise("first")
		require.True(t, ok, c.at)
		if c.want == 0 {
			require.Zero(t, p.Current)
		} else {
			require.Equal(t, after(c.want), p.Current, c.at)
		}
		w, _ := r.View().Workload("second")
		require.Equal(t, c.started, w.Node != "", "at %d s", c.at)
	}
}

// What goes before something, and asks for less now, may start where that was to: it is the cause.
func TestPromiseMovesForWhatAsksForLess(t *testing.T) {
	t.Parallel()
	member := func(id string, cpu int64) *model.Workload {
		w := limited(id, cpu, 15)
		w.Group = "first"
		return w
	}
	for name, c := range map[string]struct{ submit, update []engine.Change }{
		"a workload": {
			[]engine.Change{engine.Submit(limited("first", 2000, 15))},
			[]engine.Change{engine.Update(limited("first", 1000, 15))},
		},
		"a member of a gang": {
			[]engine.Change{
				engine.PutGroup(&model.Group{ID: "first", Policy: model.Gang, MinCount: 2}),
				engine.Submit(member("one", 500)), engine.Submit(member("two", 1500)),
			},
			[]engine.Change{engine.Update(member("two", 500))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := engine.NewRaw(engine.Config{
				Profiles: []extpoints.Profile{historyProfile()}, Orchestrator: &world{}, Backfill: engine.Backfill{Mode: engine.Conservative},
			})
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n", 2000),
				engine.Adopt(limited("short", 1000, 10), model.Binding{Node: "n", Since: epoch}),
				engine.Adopt(limited("long", 1000, 20), model.Binding{Node: "n", Since: epoch})))
			require.NoError(t, r.Apply(epoch, c.submit...))
			settle(r, epoch)
			require.NoError(t, r.Apply(epoch, engine.Submit(limited("behind", 1000, 10))))
			settle(r, epoch)
			p, _ := r.Promise("behind")
			require.Equal(t, after(10), p.Current)

			require.NoError(t, r.Apply(after(1), c.update...))
			settle(r, after(1))
			p, _ = r.Promise("first")
			require.Equal(t, after(10), p.Current)
			p, _ = r.Promise("behind")
			require.Equal(t, after(20), p.Current)
			require.Equal(t, []engine.PromiseCause{{Reason: engine.SomethingAhead, Name: "first"}}, p.Causes)
		})
	}
}
