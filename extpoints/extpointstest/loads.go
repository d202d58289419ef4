package extpointstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// RandomLoadSituation makes a random situation for plugins that go by measured load: most
// nodes have a report, of some of the resources, some of them old, and some workloads have
// usage limits.
func RandomLoadSituation(r *rand.Rand) *Situation {
	s := RandomSituation(r)
	if one(r, 2) {
		s.Workload.UsageLimits = randomRequests(r)
	}
	for _, n := range s.View.NodeInfos {
		if !one(r, 4) {
			s.View.Put(randomLoad(r, n))
		}
	}
	return s
}

// RandomLoadChange changes the load of a node or, one time in three, something else.
func RandomLoadChange(r *rand.Rand, s *Situation) *Changed {
	if one(r, 3) {
		return RandomChange(r, s)
	}
	put := randomLoad(r, pick(r, s.View.NodeInfos))
	old := s.View.NodeLoad(put.Node)
	after := s.copy()
	after.View.Objects = slices.Clone(after.View.Objects)
	e := extpoints.Event{ClusterEvent: event(model.NodeLoadKind, extpoints.Add), NewObject: put}
	after.View.Put(put)
	if old != nil {
		e.Action, e.OldObject = extpoints.Update, old
		if one(r, 4) {
			e.Action, e.NewObject = extpoints.Delete, nil
			after.View.Drop(model.NodeLoadKind, put.Node)
		}
	}
	return &Changed{What: fmt.Sprintf("%s: %+v becomes %+v", e.ClusterEvent, old, e.NewObject), After: after, Changes: []extpoints.Event{e}}
}

func randomLoad(r *rand.Rand, on *extpoints.NodeInfo) *model.NodeLoad {
	l := &model.NodeLoad{
		Node:     on.Node.Name,
		At:       Now.Add(-pick(r, []time.Duration{0, 10 * time.Second, 2 * time.Minute, time.Hour})),
		Interval: pick(r, []time.Duration{0, 0, 30 * time.Second}),
	}
	for _, name := range []string{model.CPU, model.Memory} {
		for _, window := range []time.Duration{0, 15 * time.Minute} {
			if one(r, 3) {
				continue
			}
			m := model.ResourceLoad{Name: name, Window: window, Average: float64(r.IntN(110)), StdDev: float64(r.IntN(40))}
			if one(r, 2) {
				m.Percentiles = []model.LoadPercentile{{Rank: 95, Load: m.Average + m.StdDev}}
			}
			l.Resources = append(l.Resources, m)
		}
	}
	for _, w := range on.Workloads {
		if one(r, 2) {
			l.Workloads = append(l.Workloads, model.WorkloadLoad{ID: w.ID, Used: randomRequests(r)})
		}
	}
	return l
}
