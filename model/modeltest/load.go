package modeltest

import (
	"math/rand/v2"
	"time"

	"github.com/berth-project/berth/model"
)

// RandomNodeLoad returns a valid load, measured around the beginning of 2026.
func RandomNodeLoad(r *rand.Rand) *model.NodeLoad {
	l := &model.NodeLoad{
		Node:     nodeName(r.IntN(50)),
		At:       time.Unix(1767225600+r.Int64N(3600), 0).UTC(),
		Interval: maybe(r, time.Duration(r.IntN(120))*time.Second),
		Source:   maybe(r, "agent"),
	}
	for _, name := range []string{model.CPU, model.Memory, "licences"} {
		for _, window := range []time.Duration{0, 5 * time.Minute, 15 * time.Minute} {
			if r.IntN(3) == 0 {
				l.Resources = append(l.Resources, randomResourceLoad(r, name, window))
			}
		}
	}
	for _, id := range unique(list(r, 3, func() string { return workloadID(r.IntN(200)) }), func(a, b string) bool { return a == b }) {
		l.Workloads = append(l.Workloads, model.WorkloadLoad{ID: id, Used: RandomResources(r)})
	}
	return l
}

func randomResourceLoad(r *rand.Rand, name string, window time.Duration) model.ResourceLoad {
	l := model.ResourceLoad{Name: name, Window: window, Average: 110 * r.Float64(), StdDev: maybe(r, 30*r.Float64())}
	for _, rank := range []float64{50, 95, 99} {
		if r.IntN(3) == 0 {
			l.Percentiles = append(l.Percentiles, model.LoadPercentile{Rank: rank, Load: 110 * r.Float64()})
		}
	}
	return l
}
