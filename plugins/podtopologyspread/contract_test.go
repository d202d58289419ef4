package podtopologyspread

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

func TestContract(t *testing.T) {
	for name, args := range someArgs {
		t.Run(name, func(t *testing.T) {
			extpointstest.TestPlugin(t, extpointstest.Suite{
				Name: Name, Factory: extpoints.FactoryOf(New), Args: args,
				Random: func(r *rand.Rand) *extpointstest.Situation { return world{}.situation(r) },
				Without: map[string]string{
					"Extensions": "as in the reference, they count what is on its way out, and what a selector without requirements selects",
				},
			})
		})
	}
}

// All of the contract, where the situations are such that the reference keeps
// it.
func TestContractWhole(t *testing.T) {
	for name, args := range someArgs {
		t.Run(name, func(t *testing.T) {
			extpointstest.TestPlugin(t, extpointstest.Suite{
				Name: Name, Factory: extpoints.FactoryOf(New), Args: args,
				Random: func(r *rand.Rand) *extpointstest.Situation { return world{tame: true}.situation(r) },
			})
		})
	}
}
