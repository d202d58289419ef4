package modeltest

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// RandomNodeTopology returns a valid report of a node's zones, read around the beginning of
// 2026.
func RandomNodeTopology(r *rand.Rand) *model.NodeTopology {
	t := &model.NodeTopology{
		Node:     nodeName(r.IntN(50)),
		At:       time.Unix(1767225600+r.Int64N(3600), 0).UTC(),
		Source:   maybe(r, "agent"),
		Policy:   pick(r, []model.TopologyPolicy{"", model.AlignNone, model.AlignBestEffort, model.AlignRestricted, model.AlignSingleZone}),
		Scope:    pick(r, []model.TopologyScope{"", model.AlignContainer, model.AlignWorkload}),
		MaxZones: pick(r, []int{0, 2, 8, 1024}),
		Listed:   r.IntN(2) == 0,
	}
	t.Workloads = list(r, 4, func() string { return workloadID(r.IntN(200)) })
	slices.Sort(t.Workloads)
	t.Workloads = slices.Compact(t.Workloads)
	for id := r.IntN(3); id <= 63 && len(t.Zones) < 4 && r.IntN(4) > 0; id += 1 + r.IntN(20) {
		z := model.NodeZone{ID: id}
		for _, name := range []string{model.CPU, model.Memory, "licences"} {
			if r.IntN(4) > 0 {
				all := r.Int64N(1 << 20)
				z.Resources = append(z.Resources, model.ZoneResource{Name: name, Allocatable: all, Available: r.Int64N(all + 1)})
			}
		}
		for to := range 4 {
			if r.IntN(2) == 0 {
				if z.Distances == nil {
					z.Distances = map[int]int{}
				}
				z.Distances[to] = r.IntN(256)
			}
		}
		for _, w := range t.Workloads {
			if r.IntN(3) == 0 {
				t.Uses = append(t.Uses, model.ZoneUse{Workload: w, Zone: id, Resources: RandomResources(r)})
			}
		}
		t.Zones = append(t.Zones, z)
	}
	return t
}
