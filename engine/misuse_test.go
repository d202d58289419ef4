package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// patient is a Permit plugin that waits for longer than it may.
type patient struct{}

func (patient) Name() string { return "Patient" }

func (patient) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return extpoints.NewStatus(extpoints.Wait), time.Hour
}

func TestMisuseIsToldOnce(t *testing.T) {
	floor := func(mode model.SpreadMode) engine.Change {
		w := task("w", 100)
		spec(w).Spread = []model.SpreadConstraint{{TopologyKey: "floor", MaxSkew: 1, Mode: mode, Selector: model.SelectLabels(nil)}}
		return w
	}
	apart := task("w", 100)
	spec(apart).AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{
		{Selector: model.SelectLabels(nil), TopologyKey: "rack"}, {Selector: model.SelectLabels(nil), TopologyKey: model.ByNode},
	}}
	noNode := func(key string) string {
		return `workload "w": no node has a value for topology key "` + key + `": most likely nobody has labelled the nodes; ` +
			"a required constraint fits nowhere, anti-affinity keeps nothing apart, and a preference has no effect"
	}
	for _, c := range []struct {
		name     string
		workload engine.Change
		plugin   extpoints.Plugin
		want     []string
	}{
		{name: "nothing is wrong", workload: task("w", 100)},
		{name: "a required spread", workload: floor(model.SpreadRequired), want: []string{noNode("floor")}},
		{name: "a preferred spread", workload: floor(model.SpreadPreferred), want: []string{noNode("floor")}},
		{name: "anti-affinity", workload: apart, want: []string{noNode("rack")}},
		{name: "a long wait", workload: task("w", 100), plugin: patient{},
			want: []string{`workload "w": plugin Patient wants to wait on Permit for 1h0m0s: it waits for 15m0s, the longest there is`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			cfg := config(&world{})
			cfg.Listener.Misused = func(e engine.MisusedEvent) { said = append(said, e.String()) }
			if c.plugin != nil {
				use(&cfg, c.plugin)
			}
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			apply(t, r, epoch, node("n", 1000), c.workload)
			at := epoch
			for range 3 { // attempts, where it fits nowhere or its wait runs out
				settle(r, at)
				at = at.Add(20 * time.Minute)
				r.Tick(at)
			}
			require.Equal(t, c.want, said)
		})
	}
}
