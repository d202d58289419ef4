package model_test

import (
	"math"
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestValidateNodeLoad(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name string
		load NodeLoad
		want []string
	}{
		{name: "nothing was measured", load: NodeLoad{Node: "n", At: noon}},
		{name: "everything", load: NodeLoad{
			Node: "n", At: noon, Interval: time.Minute, Source: "agent",
			Resources: []ResourceLoad{
				{Name: CPU, Average: 101.5},
				{Name: CPU, Window: time.Minute, Average: 40, StdDev: 3, Percentiles: []LoadPercentile{{50, 38}, {99.9, 90}}},
				{Name: Memory},
			},
			Workloads: []WorkloadLoad{{ID: "w", Used: Resources{CPU: 1}}, {ID: "x"}},
		}},
		{"nothing", NodeLoad{}, lines("node: must not be empty\nat: must be set")},
		{"no numbers", NodeLoad{Node: "n", At: noon, Interval: -1, Source: "\xff", Resources: []ResourceLoad{
			{Window: -1, Average: math.NaN(), StdDev: math.Inf(1), Percentiles: []LoadPercentile{{101, -1}}},
		}}, lines("interval: -1 is less than 0\nsource: \"\\xff\" is not valid UTF-8\nresources[0].name: must not be empty\n" +
			"resources[0].window: -1 is less than 0\nresources[0].average: NaN is not a finite number from 0 on\n" +
			"resources[0].stdDev: +Inf is not a finite number from 0 on\n" +
			"resources[0].percentiles[0].rank: 101 is not between 0 and 100\nresources[0].percentiles[0].load: -1 is not a finite number from 0 on")},
		{"twice", NodeLoad{Node: "n", At: noon,
			Resources: []ResourceLoad{{Name: CPU, Percentiles: []LoadPercentile{{50, 1}, {50, 2}}}, {Name: CPU}},
			Workloads: []WorkloadLoad{{ID: "w"}, {Used: Resources{CPU: -1}}, {ID: "w"}},
		}, lines("resources[0].percentiles[1]: has the same rank as [0]\nresources[1]: has the same name and window as [0]\n" +
			"workloads[1].id: must not be empty\nworkloads[1].used.cpu: -1 is less than 0\nworkloads[2]: has the same id as [0]")},
	} {
		t.Run(test.name, func(t *testing.T) { checkProblems(t, &test.load, test.want...) })
	}
}

func TestRandomNodeLoadsAreValid(t *testing.T) {
	r := seeded(t)
	for range 1000 {
		l := modeltest.RandomNodeLoad(r)
		if err := l.Validate(); err != nil {
			t.Fatal(err)
		}
		checkEqualAndApart(t, l, CloneObject(l))
	}
}
