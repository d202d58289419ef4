package devicepacking_test

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/devicepacking"
)

// A profile that packs the workloads of a cluster whose users mostly ask for
// half a GPU, sometimes for two, and now and then for none.
func ExampleArgs() {
	profile := extpoints.Profile{
		Name: "packing",
		Plugins: extpoints.Plugins{MultiPoint: extpoints.PluginSet{Enabled: []extpoints.PluginRef{
			{Name: "Devices"},
			{Name: devicepacking.Name},
		}}},
		Args: map[string]any{
			devicepacking.Name: devicepacking.Args{
				Policy: devicepacking.FGD,
				Typical: []devicepacking.Typical{
					{CPU: 4000, Share: 500, Count: 1, Weight: 0.6},
					{CPU: 16000, Share: 1000, Count: 2, Weight: 0.3},
					{CPU: 1000, Weight: 0.1},
				},
			},
		},
	}
	plugin, err := devicepacking.New(profile.Args[devicepacking.Name], nil)
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
