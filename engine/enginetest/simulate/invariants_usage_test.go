package simulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Of two workloads in queues below one that goes by usage, a comes before b where the queue of a has used
// less for certain. The cluster has 4 cores; a past is in millicores times seconds.
func TestTurnsByUsage(t *testing.T) {
	for name, c := range map[string]struct {
		pastA, pastB       int64
		runs               int64 // in the queue of a
		weightA, weightB   int64
		priority           int32
		guaranteed, before bool
	}{
		"nothing used, and something":             {pastB: 1_000_000, weightA: 1, weightB: 1, before: true},
		"nothing used by either":                  {weightA: 1, weightB: 1},
		"less than half":                          {pastA: 400_000, pastB: 1_000_000, weightA: 1, weightB: 1, before: true},
		"less than the other, which decays":       {pastA: 600_000, pastB: 1_000_000, weightA: 1, weightB: 1},
		"less, and runs on until the next look":   {pastA: 400_000, pastB: 1_000_000, runs: 50_000, weightA: 1, weightB: 1},
		"as much for a weight of three":           {pastA: 1_000_000, pastB: 1_000_000, weightA: 3, weightB: 1, before: true},
		"less without a weight":                   {pastB: 1_000_000, weightB: 1},
		"more of a higher priority":               {pastA: 2_000_000, pastB: 1_000_000, weightA: 1, weightB: 1, priority: 1, before: true},
		"more, and less than it is guaranteed":    {pastA: 2_000_000, pastB: 1_000_000, weightA: 1, weightB: 1, guaranteed: true, before: true},
		"more than the other, which had the same": {pastA: 1_000_000, pastB: 400_000, weightA: 1, weightB: 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := &observed{
				nodes: map[string]*model.Node{"n": {Name: "n", Allocatable: model.Resources{CPU: 4000}}},
				rows:  map[string]model.WorkloadRecord{},
				queues: map[string]*model.Queue{
					"lab": {Name: "lab", Policy: model.OrderUsage, HalfLife: time.Hour},
					"a":   {Name: "a", Parent: "lab", Weight: c.weightA, Priority: c.priority},
					"b":   {Name: "b", Parent: "lab", Weight: c.weightB},
				},
			}
			if c.guaranteed {
				o.queues["a"].Guaranteed = map[string]int64{model.CPU: 1000}
			}
			for id, cpu := range map[string]int64{"runs": c.runs, "a": 100, "b": 100} {
				row := model.WorkloadRecord{Workload: &model.Workload{ID: id, Queue: "a", Requests: model.Resources{CPU: cpu}}, Phase: model.Pending}
				switch id {
				case "b":
					row.Workload.Queue = "b"
				case "runs":
					row.Phase, row.Node = model.Bound, "n"
				}
				o.ids, o.rows[id] = append(o.ids, id), row
			}
			o.remember([]queue.Level{{Queue: "a", Past: map[string]int64{model.CPU: c.pastA}}, {Queue: "b", Past: map[string]int64{model.CPU: c.pastB}}})
			by, before := o.turnBefore("a", "b", true)
			require.Equal(t, model.OrderUsage, by)
			require.Equal(t, c.before, before)
		})
	}
}
