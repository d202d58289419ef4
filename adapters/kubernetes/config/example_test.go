package config_test

import (
	"fmt"

	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/plugins/noderesources"
)

// The profiles of a configuration file, for an engine.
func Example() {
	c, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: packing
  plugins:
    score:
      disabled: [{name: ImageLocality}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}
`), config.DefaultGates())
	if err != nil {
		fmt.Println(err)
		return
	}
	profiles, err := c.Profiles(cel.New(), config.DefaultRegistry())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range profiles[0].Plugins {
		if args, ok := entry.Args.(noderesources.FitArgs); ok {
			fmt.Println(profiles[0].Name, entry.Name, args.Strategy.Type)
		}
	}
	// Output: packing NodeResourcesFit MostAllocated
}
