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
			suite := extpointstest.Suite{Name: devicepacking.Name, Factory: devicepacking.New, Args: argsOf(policy, typical)}
			extpointstest.TestPlugin(t, suite)
			suite.Random = randomSituation // where devices matter more
			extpointstest.TestPlugin(t, suite)
		})
	}
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
