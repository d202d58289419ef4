package devicepacking_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/plugins/devicepacking"
)

func TestContract(t *testing.T) {
	for _, policy := range policies {
		t.Run(string(policy), func(t *testing.T) {
			suite := extpointstest.Suite{Name: devicepacking.Name, Factory: extpoints.FactoryOf(devicepacking.New), Args: argsOf(policy, typical)}
			extpointstest.TestPlugin(t, suite)
			suite.Random = randomSituation // where devices matter more
			extpointstest.TestPlugin(t, suite)
		})
	}
}

// The same of Rollout where it learns.
func TestContractOfLearning(t *testing.T) {
	suite := extpointstest.Suite{
		Name: devicepacking.Name, Factory: extpoints.FactoryOf(devicepacking.New),
		Args: devicepacking.Args{Policy: devicepacking.Rollout}, Random: randomSituation,
	}
	extpointstest.TestPlugin(t, suite)
}

// The same where devices are an amount of a resource.
func TestContractOfCounting(t *testing.T) {
	const name = "example.com/gpu"
	counting := func(r *rand.Rand) *extpointstest.Situation {
		s := randomSituation(r)
		var nodes []*extpoints.NodeInfo
		for i := range s.View.Nodes().Len() {
			n := s.View.Nodes().At(i)
			counted := n.Clone()
			node := *n.Node
			node.Allocatable = node.Allocatable.With(name, r.Int64N(40))
			node.Labels = map[string]string{"model": []string{"A", "B"}[r.IntN(2)]}
			counted.SetNode(&node)
			nodes = append(nodes, counted)
		}
		w := *s.Workload.Workload
		w.Requests = w.Requests.With(name, r.Int64N(10))
		return extpointstest.NewSituation(&w, nodes...)
	}
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: devicepacking.Name, Factory: extpoints.FactoryOf(devicepacking.New), Random: counting,
		Args: devicepacking.Args{Policy: devicepacking.Rollout, Resource: name, Units: 4, ModelLabel: "model"},
	})
}

func randomSituation(r *rand.Rand) *extpointstest.Situation {
	var nodes []*extpoints.NodeInfo
	for i := range 1 + r.IntN(4) {
		n := randomNode(r, i%2 == 0)
		n.Node.Name = "n" + strconv.Itoa(i)
		for k := range r.IntN(3) {
			w := randomWorkload(r, 2)
			w.ID = n.Node.Name + "-" + strconv.Itoa(k)
			n.AddWorkload(w)
		}
		nodes = append(nodes, n)
	}
	return extpointstest.NewSituation(randomWorkload(r, 3).Workload, nodes...)
}
