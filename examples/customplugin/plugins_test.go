package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

// TestRackShareContract has the kit try the plugin out in random situations.
func TestRackShareContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: RackShareName, Factory: extpoints.FactoryOf(NewRackShare), Args: RackShareArgs{Label: "rack", PerRack: 2},
		Rounds: 100,
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := extpointstest.RandomSituation(r)
			s.Workload.Workload.Labels = map[string]string{"app": app(r)}
			for _, node := range s.View.NodeInfos {
				if r.IntN(4) > 0 {
					node.Node.Labels = map[string]string{"rack": fmt.Sprintf("r%d", r.IntN(3))}
				}
				for _, w := range node.Workloads {
					w.Workload.Labels = map[string]string{"app": app(r)}
				}
			}
			return s
		},
	})
}

func app(r *rand.Rand) string { return []string{"web", "db", ""}[r.IntN(3)] }

func TestApprovalContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: ApprovalName, Factory: extpoints.FactoryOf(NewApproval), Args: ApprovalArgs{Within: time.Minute},
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := extpointstest.RandomSituation(r)
			if r.IntN(2) == 0 {
				s.Workload.Workload.Labels = map[string]string{"approval": "needed"}
			}
			return s
		},
	})
}

// TestArguments: everything that is wrong is said.
func TestArguments(t *testing.T) {
	_, err := NewRackShare(RackShareArgs{}, nil)
	const want = "args: Label is empty\nargs: PerRack is 0, less than 1"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := NewApproval(ApprovalArgs{Within: time.Hour}, nil); err == nil {
		t.Error("an hour is more than the engine allows")
	}
}
