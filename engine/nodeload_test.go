package engine_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/holds"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
	"github.com/berth-project/berth/plugins/peaks"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// loadPlugins are the plugins that go by measured load, each with the load of two nodes of
// which it prefers "good", which comes second by name and has no other advantage.
var loadPlugins = []struct {
	name      string
	use       func(*extpoints.Profile)
	good, bad model.ResourceLoad
}{
	{targetloadpacking.Name, loadPlugin(targetloadpacking.New, targetloadpacking.Args{}),
		model.ResourceLoad{Name: model.CPU, Average: 30}, model.ResourceLoad{Name: model.CPU, Average: 1}},
	{loadvariationriskbalancing.Name, loadPlugin(loadvariationriskbalancing.New, loadvariationriskbalancing.Args{}),
		model.ResourceLoad{Name: model.CPU, Average: 30, StdDev: 1}, model.ResourceLoad{Name: model.CPU, Average: 30, StdDev: 30}},
	{lowriskovercommitment.Name, loadPlugin(lowriskovercommitment.New, lowriskovercommitment.Args{}),
		model.ResourceLoad{Name: model.CPU, Average: 5, StdDev: 2}, model.ResourceLoad{Name: model.CPU, Average: 60, StdDev: 10}},
	{loadawarescheduling.Name, loadPlugin(loadawarescheduling.New, loadawarescheduling.Args{AllowExpired: true}),
		model.ResourceLoad{Name: model.CPU, Average: 10}, model.ResourceLoad{Name: model.CPU, Average: 90}},
	{peaks.Name, loadPlugin(peaks.New, peaks.Args{Models: map[string]peaks.PowerModel{"a-bad": {K1: 100, K2: .02}, "good": {K1: 100, K2: .02}}}),
		model.ResourceLoad{Name: model.CPU, Average: 10}, model.ResourceLoad{Name: model.CPU, Average: 70}},
}

// loadPlugin adds the plugin to a profile, with more weight than all others have.
func loadPlugin[A any, P extpoints.Plugin](make func(A, extpoints.Handle) (P, error), args A) func(*extpoints.Profile) {
	return func(p *extpoints.Profile) { extpoints.Use(p, make, args, extpoints.Weight(1000)) }
}

// loadOf is the report of a node.
func loadOf(node string, at time.Time, r model.ResourceLoad) engine.Change {
	return engine.PutObject(&model.NodeLoad{Node: node, At: at, Source: "test", Resources: []model.ResourceLoad{r}})
}

// onTwo are the nodes, and what runs on each.
func onTwo() (list []engine.Change) {
	for _, name := range []string{"a-bad", "good"} {
		w := &model.Workload{ID: "on-" + name, Requests: model.Resources{CPU: 1000}, UsageLimits: model.Resources{CPU: 2000}}
		list = append(list, node(name, 10000), engine.Adopt(w, model.Binding{Node: name, Since: epoch.Add(-time.Hour)}))
	}
	return list
}

func placeOf(t *testing.T, r *engine.Raw, id string) string {
	t.Helper()
	w, ok := r.View().Workload(id)
	require.True(t, ok)
	return w.Node
}

// Each plugin decides by the last report. Without one, and with one that is old, a node is the
// last that is taken, whatever the report says; a replay decides as the run did.
func TestNodesByMeasuredLoad(t *testing.T) {
	t.Parallel()
	for _, p := range loadPlugins {
		for name, c := range map[string]struct {
			loads []engine.Change
			want  string
		}{
			"both measured":          {[]engine.Change{loadOf("a-bad", epoch, p.bad), loadOf("good", epoch, p.good)}, "good"},
			"only the bad one":       {[]engine.Change{loadOf("a-bad", epoch, p.bad)}, "a-bad"},
			"the good one is old":    {[]engine.Change{loadOf("a-bad", epoch, p.bad), loadOf("good", epoch.Add(-time.Hour), p.good)}, "a-bad"},
			"of a node not there":    {[]engine.Change{loadOf("nowhere", epoch, p.bad), loadOf("good", epoch, p.good)}, "good"},
			"the last report counts": {[]engine.Change{loadOf("good", epoch, p.bad), loadOf("a-bad", epoch, p.good), loadOf("a-bad", epoch, p.bad), loadOf("good", epoch, p.good)}, "good"},
			"a report was taken back": {[]engine.Change{loadOf("a-bad", epoch, p.bad), loadOf("good", epoch, p.good),
				engine.RemoveObject(model.ObjectRef{Kind: model.NodeLoadKind, ID: "good"})}, "a-bad"},
		} {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				if p.name == loadawarescheduling.Name && c.want == "a-bad" {
					// The filter lets nobody onto a node that is this busy.
					c.want = "good"
				}
				cfg := func() engine.Config {
					cfg := config(&world{})
					p.use(&cfg.Profiles[0])
					return cfg
				}
				log := recording(t, cfg(), func(r *engine.Raw) {
					require.NoError(t, r.Apply(epoch, append(onTwo(), c.loads...)...))
					require.NoError(t, r.Apply(epoch, engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: 500}})))
					plan, err := r.Branch().Schedule(epoch, "w")
					require.NoError(t, err)
					require.Equal(t, c.want, plan.Binding.Node, "on a branch")
					settle(r, epoch)
					require.Equal(t, c.want, placeOf(t, r, "w"))
				})
				again, err := engine.Replay(cfg(), bytes.NewReader([]byte(log)))
				require.NoError(t, err)
				require.Equal(t, c.want, placeOf(t, again, "w"), "in the replay")
			})
		}
	}
}

// What was just placed counts before it was measured: many workloads that come at once do not
// all go where it was cool when the last report came.
func TestJustPlacedCounts(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	loadPlugin(loadawarescheduling.New, loadawarescheduling.Args{})(&cfg.Profiles[0])
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	cool, warm := model.ResourceLoad{Name: model.CPU, Average: 10}, model.ResourceLoad{Name: model.CPU, Average: 30}
	require.NoError(t, r.Apply(epoch, node("a", 10000), node("b", 10000), loadOf("a", epoch, cool), loadOf("b", epoch, warm)))
	require.NoError(t, r.Apply(epoch, tasks(6, 1000)...))
	settle(r, epoch)
	on := map[string]int{}
	for row := range r.View().WorkloadsIn(model.Bound) {
		on[row.Node]++
	}
	require.Equal(t, map[string]int{"a": 4, "b": 2}, on)
}

// aware is an engine whose only node is too busy for a workload.
func aware(t *testing.T, backfill engine.Backfill) *engine.Raw {
	t.Helper()
	cfg := config(&world{})
	cfg.Backfill = backfill
	loadPlugin(loadawarescheduling.New, loadawarescheduling.Args{})(&cfg.Profiles[0])
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	hot := model.ResourceLoad{Name: model.CPU, Average: 90}
	require.NoError(t, r.Apply(epoch, node("n", 10000), loadOf("n", epoch, hot), task("w", 1000)))
	settle(r, epoch)
	require.Empty(t, placeOf(t, r, "w"))
	return r
}

// A report wakes a workload where it helps, and leaves it alone where it does not.
func TestLoadWakes(t *testing.T) {
	t.Parallel()
	r := aware(t, engine.Backfill{})
	attempts := func() int {
		pos, ok := r.Queue("w")
		require.True(t, ok)
		return pos.Attempts
	}
	before := attempts()
	at := epoch
	for range 5 {
		at = at.Add(time.Minute)
		require.NoError(t, r.Apply(at, loadOf("n", at, model.ResourceLoad{Name: model.CPU, Average: 91})))
		r.Tick(at)
		settle(r, at)
	}
	require.Equal(t, before, attempts(), "as hot as it was")
	at = at.Add(time.Minute)
	require.NoError(t, r.Apply(at, loadOf("n", at, model.ResourceLoad{Name: model.CPU, Average: 20})))
	r.Tick(at)
	settle(r, at)
	require.Equal(t, "n", placeOf(t, r, "w"))
}

// That reports of today are old tomorrow keeps nothing from being planned for tomorrow, and
// nothing is planned for a node that is too busy now.
func TestPlansGoByTheLoadOfThePresent(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Backfill = engine.Backfill{Mode: engine.Conservative}
	// A filter that goes by the time, so that the plan asks for each time anew.
	extpoints.Use(&cfg.Profiles[0], holds.New, extpoints.NoArgs{})
	loadPlugin(loadawarescheduling.New, loadawarescheduling.Args{})(&cfg.Profiles[0])
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	cool := model.ResourceLoad{Name: model.CPU, Average: 10}
	far := &model.Hold{Name: "far", From: epoch.Add(100 * time.Hour), Nodes: []string{"other"}}
	require.NoError(t, r.Apply(epoch, engine.PutObject(far), node("n", 10000), loadOf("n", epoch, cool)))
	require.NoError(t, r.Apply(epoch, engine.Submit(&model.Workload{ID: "first", Requests: model.Resources{CPU: 10000}, UsageLimits: model.Resources{CPU: 1000}, Limit: time.Hour})))
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, engine.Submit(&model.Workload{ID: "next", Requests: model.Resources{CPU: 1000}, Limit: time.Hour})))
	settle(r, epoch)
	promise, ok := r.Promise("next")
	require.True(t, ok)
	require.Equal(t, epoch.Add(time.Hour), promise.Current)

	_, ok = aware(t, engine.Backfill{Mode: engine.Conservative}).Promise("w")
	require.False(t, ok)
}
