package devicepacking_test

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/plugins/devicepacking"
)

// The plugin, as it packs the workloads of a cluster whose users mostly ask for
// half a GPU, sometimes for two, and now and then for none.
func ExampleArgs() {
	plugin, err := devicepacking.New(devicepacking.Args{
		Policy: devicepacking.FGD,
		Typical: []devicepacking.Typical{
			{CPU: 4000, Share: 500, Count: 1, Weight: 0.6},
			{CPU: 16000, Share: 1000, Count: 2, Weight: 0.3},
			{CPU: 1000, Weight: 0.1},
		},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	half := workload(4000, ask(1, 500))
	for _, node := range []*extpoints.NodeInfo{node(32000, 1000, 1000), node(32000, 500, 1000)} {
		score, _ := plugin.(extpoints.ScorePlugin).Score(cycle(1), half, node)
		fmt.Println(node.DeviceFree, score)
	}
	// Output:
	// [1000 1000] 40
	// [500 1000] 54
}

// Rollout without Typical learns what workloads will ask for. Before it has seen any it expects
// some of everything, so CPU beside idle devices is kept.
func ExampleArgs_learned() {
	plugin, err := devicepacking.New(devicepacking.Args{Policy: devicepacking.Rollout}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := workload(8000) // no devices
	nodes := []*extpoints.NodeInfo{node(16000, 1000, 1000), node(16000)}
	nodes[0].Node.Name, nodes[1].Node.Name = "gpus", "none"
	s := extpoints.NewCycle(extpoints.CycleOptions{View: extpointstest.NewView(nodes...)}).State()
	plugin.(extpoints.PreScorePlugin).PreScore(s, w, nodes)
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		scores[i], _ = plugin.(extpoints.ScorePlugin).Score(s, w, n)
	}
	plugin.(extpoints.ScoreNormalizer).NormalizeScore(s, w, nodes, scores)
	fmt.Println(nodes[0].Node.Name, scores[0], nodes[1].Node.Name, scores[1])
	// Output: gpus 0 none 100
}
