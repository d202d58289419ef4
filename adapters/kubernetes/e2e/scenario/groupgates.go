package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// groupsByGates is a gang with each combination of the gates about groups that a scheduler can have: each
// needs GenericWorkload, and composite groups need placements (pkg/features/kube_features.go, 1.37.1).
func groupsByGates() (all []Scenario) {
	const placements = "TopologyAwareWorkloadScheduling"
	for _, tree := range [][]string{{}, {placements}, {placements, "CompositePodGroup"}} {
		for _, policy := range [][]string{{}, {"PodGroupPreemptionPolicy"}} {
			for _, claims := range [][]string{{}, {"DRAWorkloadResourceClaims"}} {
				names := append(append(append([]string{"GenericWorkload"}, tree...), policy...), claims...)
				gates := map[string]bool{"GenericWorkload": true, placements: false, "CompositePodGroup": false, "PodGroupPreemptionPolicy": false, "DRAWorkloadResourceClaims": false}
				for _, name := range names {
					gates[name] = true
				}
				all = append(all, Scenario{
					Name: "groups/with " + strings.Join(names, ", "), Groups: true,
					Run: func(t *testing.T, e *Env) { gangByGates(t, e, gates, len(tree) > 0) },
				})
			}
		}
	}
	return all
}

// gangByGates has a gang wait, and then go. Only with placements is it told of them.
func gangByGates(t *testing.T, e *Env, gates map[string]bool, placements bool) {
	e.Create(t, smallNode("a", "2").Obj())
	e.ScheduleWith(t, controlplane.SchedulerOptions{FeatureGates: gates})
	e.Create(t, group("gang").MinCount(3).Obj())
	for i := range 3 {
		e.Create(t, member(fmt.Sprint("p", i), "gang", "1").Obj())
	}
	about := "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
	if placements {
		about = "pod group is unschedulable, 0/1 placements are available, first placement status: " + about
	}
	e.AwaitGroup(t, "gang", noRoom(about+", pod group preemption: No preemption victims found for incoming preemptor"))
	e.Create(t, smallNode("b", "2").Obj())
	e.AllBound(t, "gang", 3)
	e.AwaitGroup(t, "gang", initiallyScheduled)
}
