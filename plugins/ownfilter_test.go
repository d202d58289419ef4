package plugins_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// licensed is a plugin that keeps a workload to the nodes that have its license.
type licensed struct{}

func newLicensed(extpoints.NoArgs, extpoints.Handle) (licensed, error) { return licensed{}, nil }

func (licensed) Name() string { return "Licensed" }

func (licensed) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if license := w.Labels["license"]; license != "" && node.Node.Labels["license"] != license {
		return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "node(s) had no license")
	}
	return nil
}

func (licensed) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeLabel}},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel}},
	}, nil
}

// TestLicensed has the kit try the plugin out: in random situations in which licenses matter.
func TestLicensed(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: "Licensed", Factory: extpoints.FactoryOf(newLicensed),
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := extpointstest.RandomSituation(r)
			license := func() map[string]string {
				return map[string]string{"license": []string{"", "solver", "mesher"}[r.IntN(3)]}
			}
			s.Workload.Workload.Labels = license()
			for _, n := range s.View.NodeInfos {
				n.Node.Labels = license()
			}
			return s
		},
	})
}

// TestLicensedWakes: what the plugin has rejected is tried again when a node gets the license.
func TestLicensedWakes(t *testing.T) {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, newLicensed, extpoints.NoArgs{})
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	require.NoError(t, err)
	require.NoError(t, raw.Apply(now, engine.PutNode(&model.Node{Name: "n1"}),
		engine.Submit(&model.Workload{ID: "w", Labels: map[string]string{"license": "solver"}})))
	raw.Schedule(now)
	place, _ := raw.Queue("w")
	require.Equal(t, queue.Unschedulable, place.Place)
	now = now.Add(time.Minute)
	require.NoError(t, raw.Apply(now, engine.PutNode(&model.Node{Name: "n1", Labels: map[string]string{"license": "solver"}})))
	place, _ = raw.Queue("w")
	require.Equal(t, queue.Active, place.Place)
}
