package scenario_test

import (
	"flag"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/scenario"
)

var scheduler = flag.String("scheduler", string(controlplane.Berth), "which scheduler the scenarios are run with: berth or kube")

func TestScenarios(t *testing.T) {
	scenario.Run(t, controlplane.SchedulerKind(*scheduler), scenario.All())
}
