package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Where a reservation goes to somebody else, because only so many have one, those that are left
// move to the earlier time that it kept from them.
func TestRoomOfALostReservationIsUsed(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
	on := func(node, id string, cpu, seconds int) *model.Workload {
		return &model.Workload{
			ID: id, NodeSelector: map[string]string{historyName: node}, Requests: model.Resources{CPU: model.Cores(float64(cpu))},
			Limit: time.Duration(seconds) * time.Second,
		}
	}
	putNode := func(name string, cpu int) engine.Change {
		return engine.PutNode(&model.Node{
			Name: name, Labels: map[string]string{historyName: name}, MaxWorkloads: 100, Allocatable: model.Resources{CPU: model.Cores(float64(cpu))},
		})
	}
	for _, plainly := range []bool{false, true} {
		r, err := engine.NewRaw(engine.Config{
			Profiles: []extpoints.Profile{historyProfile()}, Orchestrator: &world{},
			Backfill: engine.Backfill{Mode: engine.Reservations, Reservations: 2},
		})
		require.NoError(t, err)
		if plainly {
			r.PlanPlainly()
		}
		require.NoError(t, r.Apply(at(0), putNode("n", 10), putNode("m", 1),
			engine.Adopt(on("n", "seven", 7, 50), model.Binding{Node: "n", Since: at(0)}),
			engine.Adopt(on("n", "three", 3, 100), model.Binding{Node: "n", Since: at(0)}),
			engine.Adopt(on("m", "one", 1, 200), model.Binding{Node: "m", Since: at(0)}),
			engine.Submit(on("n", "large", 10, 10)), engine.Submit(on("n", "small", 7, 50)),
		))
		settle(r, at(0))
		require.Equal(t, []string{"large at 1m40s: large on n", "small at 50s: small on n"}, reserved(r.Reservations()))
		require.NoError(t, r.Apply(at(5), engine.Remove("three")))
		settle(r, at(5))
		require.Equal(t, []string{"large at 1m40s: large on n", "small at 50s: small on n"}, reserved(r.Reservations()), "small is in the way")

		urgent := on("m", "urgent", 1, 10)
		urgent.Priority = 1
		require.NoError(t, r.Apply(at(6), engine.Submit(urgent)))
		settle(r, at(6))
		require.Equal(t, []string{"urgent at 3m20s: urgent on m", "large at 50s: large on n"}, reserved(r.Reservations()), "plainly: %v", plainly)
	}
}
