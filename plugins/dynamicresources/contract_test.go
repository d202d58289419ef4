package dynamicresources

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

func TestContract(t *testing.T) {
	const why = "no workload has claims here; TestContractWithDevices"
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		OneSided: map[string]string{"PreEnqueue": why, "Filter": why, "Score": why},
	})
}

// TestContractWithDevices is tried where devices matter. The handle knows the
// cluster of the last situation.
func TestContractWithDevices(t *testing.T) {
	h := extpointstest.NewHandle()
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New), Handle: func() extpoints.Handle { return h }, Rounds: 500,
		OneSided: map[string]string{"Score": "few claims have alternatives, and few of these tell nodes apart"},
		Random: func(r *rand.Rand) *extpointstest.Situation {
			for {
				s := randomSituation(r)
				h.Cluster = s.View
				p, _ := New(Args{}, h)
				// Errors are what broken pools make of some requests; the
				// contract is about the rest.
				if !fails(p, s) {
					return s
				}
			}
		},
		Change: func(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
			c := randomChange(r, s)
			h.Cluster = c.After.View
			return c
		},
	})
}

// fails reports whether a point ends with an error.
func fails(p *DynamicResources, s *extpointstest.Situation) bool {
	state := s.State()
	if _, status := p.PreFilter(state, s.Workload); status.Code() == extpoints.Error {
		return true
	}
	for _, n := range s.View.NodeInfos {
		if p.Filter(state, s.Workload, n).Code() == extpoints.Error {
			return true
		}
	}
	return false
}
