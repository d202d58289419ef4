package extpointstest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// zoned is a plugin that wants every workload in zone a.
type zoned struct{}

func newZoned(extpoints.NoArgs, extpoints.Handle) (zoned, error) { return zoned{}, nil }

func (zoned) Name() string { return "Zoned" }

func (zoned) Filter(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if node.Node.Zone != "a" {
		return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "node(s) were not in zone a")
	}
	return nil
}

// The whole test of a plugin's contract. Tests of what it decides come beside it.
func ExampleTestPlugin() {
	_ = func(t *testing.T) {
		extpointstest.TestPlugin(t, extpointstest.Suite{Name: "Zoned", Factory: extpoints.FactoryOf(newZoned)})
	}
}

// Situations in which zones matter, and changes of zones: the kit makes others besides.
func ExampleSuite() {
	zone := func(r *rand.Rand) string { return []string{"a", "b"}[r.IntN(2)] }
	_ = func(t *testing.T) {
		extpointstest.TestPlugin(t, extpointstest.Suite{
			Name: "Zoned", Factory: extpoints.FactoryOf(newZoned),
			Random: func(r *rand.Rand) *extpointstest.Situation {
				return extpointstest.NewSituation(&model.Workload{ID: "w"}, extpointstest.NodeWith(&model.Node{Name: "n", Zone: zone(r)}))
			},
			Change: func(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
				return extpointstest.ChangeNode(s, 0, func(n *model.Node) { n.Zone = zone(r) })
			},
		})
	}
}

// A workload and two nodes, to ask a plugin about by hand.
func ExampleNewSituation() {
	s := extpointstest.NewSituation(&model.Workload{ID: "w"},
		extpointstest.NodeWith(&model.Node{Name: "n1", Zone: "a"}),
		extpointstest.NodeWith(&model.Node{Name: "n2", Zone: "b"}),
	)
	state := s.State()
	for _, node := range s.View.NodeInfos {
		fmt.Println(node.Node.Name, zoned{}.Filter(state, s.Workload, node))
	}
	// Output:
	// n1 Success
	// n2 UnschedulableAndUnresolvable: node(s) were not in zone a
}
