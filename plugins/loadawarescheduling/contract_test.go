package loadawarescheduling

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		OneSided: map[string]string{"Filter": "no node has loads here; TestContractAmongLoads", "Score": "no node has loads here; TestContractAmongLoads"},
	})
}

// TestContractAmongLoads is the contract among loads, with the default arguments and others.
// The hints see what is there after the change.
func TestContractAmongLoads(t *testing.T) {
	for name, args := range map[string]Args{
		"default":    {},
		"any age":    {KeepExpired: true, Thresholds: map[string]int64{model.CPU: 50}},
		"aggregated": {Aggregated: &Aggregated{Thresholds: map[string]int64{model.CPU: 65, model.Memory: 65}, Filter: Measure{Type: "p95"}, Score: Measure{Type: "p95"}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := extpointstest.NewHandle()
			extpointstest.TestPlugin(t, extpointstest.Suite{
				Name: Name, Factory: extpoints.FactoryOf(New), Args: args, Rounds: 1000,
				Handle: func() extpoints.Handle { return h },
				Random: extpointstest.RandomLoadSituation,
				Change: func(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
					c := extpointstest.RandomLoadChange(r, s)
					if c != nil {
						h.Cluster = c.After.View
					}
					return c
				},
			})
		})
	}
}
