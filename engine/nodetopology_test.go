package engine_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
)

// topologyOf is the report of a node with two zones of 4 cores.
func topologyOf(node string, at time.Time, first, second int64, in ...model.ZoneUse) *model.NodeTopology {
	zone := func(id int, left int64) model.NodeZone {
		return model.NodeZone{ID: id, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: 4000, Available: left}}}
	}
	t := &model.NodeTopology{
		Node: node, At: at, Source: "test", Policy: model.AlignSingleZone, Listed: true,
		Zones: []model.NodeZone{zone(0, first), zone(1, second)}, Uses: in,
	}
	for _, u := range in {
		t.Workloads = append(t.Workloads, u.Workload)
	}
	return t
}

func guaranteed(id string, cpu int64, priority int32) *model.Workload {
	return &model.Workload{ID: id, QoS: model.Guaranteed, Priority: priority, Requests: model.Resources{CPU: cpu}}
}

// aligning is a configuration with the plugin.
func aligning() engine.Config {
	cfg := config(&world{})
	extpoints.Use(&cfg.Profiles[0], noderesourcetopologymatch.New, noderesourcetopologymatch.Args{})
	return cfg
}

// Until a report says where they are, those that were placed count in every zone: on branches,
// in the run, and in its replay.
func TestZonesAreGivenOnce(t *testing.T) {
	t.Parallel()
	log := recording(t, aligning(), func(r *engine.Raw) {
		require.NoError(t, r.Apply(epoch, node("n", 8000), engine.PutObject(topologyOf("n", epoch, 4000, 4000))))
		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, r.Apply(epoch, engine.Submit(guaranteed(id, 2000, 0))))
		}
		plans := r.Branch()
		for _, id := range []string{"a", "b", "c"} {
			plan, err := plans.Schedule(epoch, id)
			require.NoError(t, err)
			require.Equal(t, id != "c", plan.Placed(), "%s on a branch", id)
		}
		settle(r, epoch)
		require.Equal(t, []string{"n", "n", ""}, []string{placeOf(t, r, "a"), placeOf(t, r, "b"), placeOf(t, r, "c")})

		// The node says that both are in the first zone.
		at := epoch.Add(time.Minute)
		use := model.Resources{CPU: 2000}
		require.NoError(t, r.Apply(at, engine.PutObject(topologyOf("n", at, 0, 4000, model.ZoneUse{Workload: "a", Resources: use}, model.ZoneUse{Workload: "b", Resources: use}))))
		at = at.Add(time.Minute)
		r.Tick(at)
		settle(r, at)
		require.Equal(t, "n", placeOf(t, r, "c"), "the report has woken it")
	})
	again, err := engine.Replay(aligning(), bytes.NewReader([]byte(log)))
	require.NoError(t, err)
	require.Equal(t, "n", placeOf(t, again, "c"), "in the replay")
}

// One that is in a report and comes back to the node later may have another zone by then.
func TestZonesOfOneThatComesBack(t *testing.T) {
	t.Parallel()
	r, err := engine.NewRaw(aligning())
	require.NoError(t, err)
	at := epoch.Add(time.Minute)
	require.NoError(t, r.Apply(epoch, node("n", 8000), engine.Adopt(guaranteed("back", 2000, 0), model.Binding{Node: "n", Since: epoch}),
		engine.Adopt(guaranteed("stays", 2000, 0), model.Binding{Node: "n", Since: epoch})))
	require.NoError(t, r.Apply(at, engine.PutObject(topologyOf("n", at, 0, 4000, model.ZoneUse{Workload: "back"}, model.ZoneUse{Workload: "stays"}))))
	at = at.Add(time.Minute)
	// In the first zone 2000 are free now, of which the small one takes some: who comes back has the second.
	require.NoError(t, r.Apply(at, engine.Requeue("back"), engine.Adopt(guaranteed("small", 1000, 0), model.Binding{Node: "n"})))
	settle(r, at)
	require.Equal(t, "n", placeOf(t, r, "back"))
	require.NoError(t, r.Apply(at, engine.Submit(guaranteed("last", 3000, 0))))
	settle(r, at)
	require.Empty(t, placeOf(t, r, "last"), "neither zone has 3000")
}

// A report that changes nothing for a workload leaves it alone.
func TestReportsThatDoNotHelpWakeNobody(t *testing.T) {
	t.Parallel()
	r, err := engine.NewRaw(aligning())
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 8000), engine.PutObject(topologyOf("n", epoch, 1000, 1000)), engine.Submit(guaranteed("w", 2000, 0))))
	settle(r, epoch)
	before, ok := r.Queue("w")
	require.True(t, ok)
	at := epoch
	for range 5 {
		at = at.Add(time.Minute)
		require.NoError(t, r.Apply(at, engine.PutObject(topologyOf("n", at, 1500, 1000))))
		r.Tick(at)
		settle(r, at)
	}
	after, ok := r.Queue("w")
	require.True(t, ok)
	require.Equal(t, before.Attempts, after.Attempts)
}

// Preemption displaces those whose zone is enough, and nobody where that is not known.
func TestPreemptionFreesAZone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uses []model.ZoneUse
		want []string // who is evicted
	}{
		"known":     {[]model.ZoneUse{{Workload: "low-a", Zone: 0, Resources: model.Resources{CPU: 3000}}, {Workload: "low-b", Zone: 1, Resources: model.Resources{CPU: 3000}}}, []string{"low-b"}},
		"not known": {[]model.ZoneUse{{Workload: "low-a", Zone: 0}, {Workload: "low-b", Zone: 1}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := &world{}
			cfg := aligning()
			cfg.Orchestrator = world
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n", 8000), engine.PutObject(topologyOf("n", epoch, 1000, 1000, c.uses...)),
				engine.Adopt(guaranteed("low-a", 3000, 0), model.Binding{Node: "n", Since: epoch.Add(-2 * time.Hour)}),
				engine.Adopt(guaranteed("low-b", 3000, 0), model.Binding{Node: "n", Since: epoch.Add(-time.Hour)}),
				engine.Submit(guaranteed("high", 4000, 10))))
			settle(r, epoch)
			require.Equal(t, c.want, world.evicted)
		})
	}
}
