package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
	"github.com/berth-project/berth/plugins/peaks"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// useReports adds the plugins that go by what is reported of nodes to the profiles. Reports are
// too old after some steps of a history, if they are not renewed.
func useReports(profiles []extpoints.Profile) {
	const age = 25 * time.Second
	models := map[string]peaks.PowerModel{}
	for i := range 100 {
		models[fmt.Sprintf("n%03d", i)] = peaks.PowerModel{K1: -50, K2: -0.01 * float64(1+i%3)}
	}
	first, second := &profiles[0], &profiles[1]
	extpoints.Use(first, noderesourcetopologymatch.New, noderesourcetopologymatch.Args{MaxAge: age}, extpoints.Weight(2))
	extpoints.Use(first, loadawarescheduling.New, loadawarescheduling.Args{MaxAge: 2 * age}, extpoints.Weight(3))
	extpoints.Use(first, peaks.New, peaks.Args{Models: models, MaxAge: age}, extpoints.Weight(1))
	extpoints.Use(second, noderesourcetopologymatch.New, noderesourcetopologymatch.Args{Strategy: noderesourcetopologymatch.LeastNUMANodes}, extpoints.Weight(1))
	extpoints.Use(second, targetloadpacking.New, targetloadpacking.Args{MaxAge: age}, extpoints.Weight(2))
	extpoints.Use(second, loadvariationriskbalancing.New, loadvariationriskbalancing.Args{MaxAge: age / 2}, extpoints.Weight(3))
	extpoints.Use(second, lowriskovercommitment.New, lowriskovercommitment.Args{MaxAge: age}, extpoints.Weight(1))
}

// measured has the workload say what is asked of reports.
func (h *fastHistory) measured(w *model.Workload) {
	if h.one(2) {
		w.QoS = model.Guaranteed
	}
	if h.one(4) {
		w.UsageLimits = model.Resources{CPU: 2 * w.Requests.CPU}
	}
	if h.one(4) {
		half := model.Resources{CPU: w.Requests.CPU / 2, Memory: w.Requests.Memory / 2}
		w.Containers = []model.Container{{Name: "a", Requests: half}, {Name: "b", Requests: half, Startup: h.one(2)}}
	}
}

// report is that a report comes of a node, which may not be there, or, if it may, goes.
func (h *fastHistory) report(mayGo bool) engine.Change {
	name, at := fmt.Sprintf("n%03d", h.r.IntN(h.nodes)), h.now.Add(time.Duration(h.r.IntN(9)-6)*time.Second)
	if mayGo && h.one(10) {
		kind := model.NodeLoadKind
		if h.one(2) {
			kind = model.NodeTopologyKind
		}
		if _, there := h.raw.View().Object(model.ObjectRef{Kind: kind, ID: name}); there {
			return engine.RemoveObject(model.ObjectRef{Kind: kind, ID: name})
		}
	}
	if h.one(2) {
		return engine.PutObject(&model.NodeLoad{Node: name, At: at, Resources: []model.ResourceLoad{
			{Name: model.CPU, Average: float64(h.r.IntN(80)), StdDev: float64(h.r.IntN(20))}, {Name: model.Memory, Average: float64(h.r.IntN(100))},
		}})
	}
	t := &model.NodeTopology{Node: name, At: at, Policy: model.AlignSingleZone, Scope: model.AlignWorkload}
	if h.one(2) {
		t.Scope = model.AlignContainer
	}
	for id := range 2 {
		left := int64(h.r.IntN(5)) * 200
		t.Zones = append(t.Zones, model.NodeZone{ID: id, Resources: []model.ZoneResource{
			{Name: model.CPU, Allocatable: 1000, Available: left}, {Name: model.Memory, Allocatable: 2 << 30, Available: left << 21},
		}})
	}
	return engine.PutObject(t)
}

// What is remembered of a node holds until another report of it comes, or until the one that is
// there is too old.
func TestFastPathGoesByReports(t *testing.T) {
	profile := plugins.DefaultProfile()
	profile.Plugins = slices.Clone(profile.Plugins)
	extpoints.Use(&profile, loadawarescheduling.New, loadawarescheduling.Args{MaxAge: time.Minute}, extpoints.Weight(100))
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: &world{}})
	require.NoError(t, err)
	now, count := epoch, 0
	goes := func(want string, changes ...engine.Change) {
		t.Helper()
		require.NoError(t, raw.Apply(now, changes...))
		for range 3 {
			id := fmt.Sprint("w", count)
			count++
			require.NoError(t, raw.Apply(now, engine.Submit(&model.Workload{ID: id, Requests: model.Resources{CPU: 1}})))
			require.True(t, raw.Schedule(now))
			w, ok := raw.View().Workload(id)
			require.True(t, ok)
			require.Equal(t, want, w.Node, id)
		}
	}
	load := func(node string, percent float64) engine.Change {
		return engine.PutObject(&model.NodeLoad{Node: node, At: now, Resources: []model.ResourceLoad{{Name: model.CPU, Average: percent}, {Name: model.Memory, Average: percent}}})
	}
	goes("n0", node("n0", 1_000_000), node("n1", 1_000_000), load("n0", 10), load("n1", 50))
	// Each time what is said of the node that nothing was placed on must be another.
	goes("n1", load("n1", 5))
	goes("n1", load("n1", 60), engine.RemoveObject(model.ObjectRef{Kind: model.NodeLoadKind, ID: "n0"}))
	goes("n1", load("n1", 20), load("n0", 50))
	now = now.Add(time.Minute)
	goes("n1", load("n1", 60))
	require.Greater(t, raw.FastAnswers(), 10)
}
