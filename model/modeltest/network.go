package modeltest

import (
	"math/rand/v2"
	"time"

	"github.com/berth-project/berth/model"
)

// RandomAppGraph returns a valid graph.
func RandomAppGraph(r *rand.Rand) *model.AppGraph {
	g := &model.AppGraph{ID: pick(r, []string{"shop", "ns/shop", "mail"}), CreatedAt: maybe(r, time.Unix(1767225600, 0).UTC())}
	names := []string{"web", "cart", "db"}
	for _, name := range names {
		if r.IntN(4) == 0 {
			continue
		}
		c := model.AppComponent{Name: name}
		for _, other := range names {
			if r.IntN(3) == 0 {
				c.Needs = append(c.Needs, model.AppNeed{Component: other, MaxCost: r.Int64N(30)})
			}
		}
		g.Components = append(g.Components, c)
	}
	return g
}

// RandomNetworkCosts returns valid costs.
func RandomNetworkCosts(r *rand.Rand) *model.NetworkCosts {
	n := &model.NetworkCosts{Name: pick(r, []string{"net", "ns/net"})}
	for _, key := range []string{"region", model.ByZone, model.ByNode} {
		if r.IntN(3) == 0 {
			continue
		}
		l := model.CostLevel{Key: key}
		for _, from := range []string{"", "a", "b", "c"} {
			for _, to := range []string{"", "a", "b", "c"} {
				if from != to && r.IntN(3) > 0 {
					l.Costs = append(l.Costs, model.NetworkCost{From: from, To: to, Cost: r.Int64N(50)})
				}
			}
		}
		n.Levels = append(n.Levels, l)
	}
	return n
}
