package model_test

import (
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestValidateNodeTopology(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name     string
		topology NodeTopology
		want     []string
	}{
		{name: "nothing is known", topology: NodeTopology{Node: "n", At: noon}},
		{name: "everything", topology: NodeTopology{
			Node: "n", At: noon, Source: "agent", Policy: AlignSingleZone, Scope: AlignWorkload, MaxZones: 2,
			Zones: []NodeZone{
				{ID: 0, Resources: []ZoneResource{{CPU, 4000, 4000}, {Memory, 1 << 30, 0}}, Distances: map[int]int{0: 10, 3: 21}},
				{ID: 3, Resources: []ZoneResource{{CPU, 4000, 4000}}},
			},
			Listed: true, Workloads: []string{"v", "w"},
			Uses: []ZoneUse{{"w", 0, Resources{CPU: 1}}, {"w", 3, Resources{CPU: 1}}},
		}},
		{"nothing", NodeTopology{}, lines("node: must not be empty\nat: must be set")},
		{"nonsense", NodeTopology{Node: "n", At: noon, Source: "\xff", Policy: "x", Scope: "y", MaxZones: -1}, lines(
			"source: \"\\xff\" is not valid UTF-8\n" +
				"policy: \"x\" is not one of none, best-effort, restricted, single-numa-node\n" +
				"scope: \"y\" is not one of container, workload\nmaxZones: -1 is not between 0 and 1024")},
		{"zones", NodeTopology{Node: "n", At: noon, Zones: []NodeZone{
			{ID: 64, Resources: []ZoneResource{{"", -1, -2}, {CPU, 1, 1}, {CPU, 2, 2}}},
			{ID: 2, Distances: map[int]int{-1: 256}},
		}}, lines("zones[0].id: 64 is not between 0 and 63\nzones[0].resources[0].name: must not be empty\n" +
			"zones[0].resources[0].allocatable: -1 is less than 0\nzones[0].resources[0].available: -2 is less than 0\n" +
			"zones[0].resources[2]: has the same name as [1]\n" +
			"zones[1].distances[-1]: 256 is not between 0 and 255\nzones[1].distances[-1]: is of no zone: IDs are between 0 and 63\n" +
			"zones[1].id: 2 does not come after 64")},
		{"uses", NodeTopology{Node: "n", At: noon, Workloads: []string{"w"}, Zones: []NodeZone{{ID: 1}}, Uses: []ZoneUse{
			{"w", 1, Resources{CPU: -1}}, {"x", 0, Resources{}}, {"w", 1, Resources{}},
		}}, lines("uses[0].resources.cpu: -1 is less than 0\nuses[1].workload: \"x\" is not one of the workloads\n" +
			"uses[1].zone: 0 is not one of the zones\nuses[2]: has the same workload and zone as [0]")},
	} {
		t.Run(test.name, func(t *testing.T) { checkProblems(t, &test.topology, test.want...) })
	}
}

func TestRandomNodeTopologiesAreValid(t *testing.T) {
	r := seeded(t)
	for range 1000 {
		o := modeltest.RandomNodeTopology(r)
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		checkEqualAndApart(t, o, CloneObject(o))
	}
}
