package devices_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/plugins/devices"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: devices.Name, Factory: extpoints.FactoryOf(devices.New)})
}

// TestContractWithDevices is tried where devices matter more: several requests,
// several models and classes, claims of workloads that hold nothing.
func TestContractWithDevices(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: devices.Name, Factory: extpoints.FactoryOf(devices.New), Random: randomSituation})
}

func randomSituation(r *rand.Rand) *extpointstest.Situation {
	var nodes []*extpoints.NodeInfo
	for i := range 1 + r.IntN(4) {
		n := randomNode(r, 5)
		n.Node.Name = "n" + strconv.Itoa(i)
		if r.IntN(2) == 0 {
			n.AddWorkload(workload("claims"+strconv.Itoa(i), randomRequests(r, 2)...))
		}
		nodes = append(nodes, n)
	}
	return extpointstest.NewSituation(workload("w", randomRequests(r, 3)...).Workload, nodes...)
}
