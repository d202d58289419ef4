package bench

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// among are the workloads of the benchmark, which all want something of each other.
var among = []struct {
	name string
	want func(*model.Workload)
}{
	{"spread=hard zone, soft host", func(w *model.Workload) {
		w.Spread = []model.SpreadConstraint{spread("zone", 5, model.SpreadRequired), spread(model.ByNode, 1, model.SpreadPreferred)}
	}},
	{"spread=soft zone and host", func(w *model.Workload) {
		w.Spread = []model.SpreadConstraint{spread("zone", 1, model.SpreadPreferred), spread(model.ByNode, 1, model.SpreadPreferred)}
	}},
	{"anti-affinity=host", func(w *model.Workload) {
		w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{TopologyKey: model.ByNode, Selector: model.SelectLabels(w.Labels)}}}
	}},
	{"preferred affinity=zone", func(w *model.Workload) {
		w.Affinity = &model.WorkloadAffinity{Preferred: []model.WeightedAffinityTerm{{Weight: 1, AffinityTerm: model.AffinityTerm{
			TopologyKey: "zone", Selector: model.SelectLabels(w.Labels),
		}}}}
	}},
}

func spread(key string, skew int32, mode model.SpreadMode) model.SpreadConstraint {
	return model.SpreadConstraint{TopologyKey: key, MaxSkew: skew, Mode: mode, Selector: model.SelectLabels(map[string]string{"app": "bench"})}
}

// BenchmarkAmongOthers is one decision with 5,000 nodes about a workload that is to be spread, or
// to be away from its like or near it. The others of its kind are those that were placed before.
func BenchmarkAmongOthers(b *testing.B) {
	const nodes = 5000
	for _, c := range among {
		for _, share := range []struct {
			name string
			of   int32
		}{{"adaptive", 0}, {"100%", 100}} {
			for _, path := range paths {
				b.Run(c.name+"/share="+share.name+"/"+path.name, func(b *testing.B) {
					r := fleet(b, nodes, func(cfg *engine.Config) { cfg.PercentageOfNodesToScore, cfg.FastPath = share.of, path.is })
					decideOn(b, r, func(i int) *model.Workload {
						w := basic(i)
						c.want(w)
						return w
					})
				})
			}
		}
	}
}

// BenchmarkAmongNominated is BenchmarkDecision with 5,000 nodes, on 20 of which room is kept for
// nominated workloads of higher priority.
func BenchmarkAmongNominated(b *testing.B) {
	for _, path := range paths {
		b.Run(path.name, func(b *testing.B) {
			r := fleet(b, 5000, func(c *engine.Config) { c.FastPath = path.is })
			for i := range 20 {
				w := basic(i)
				w.ID, w.Priority, w.Gates = fmt.Sprint("nominated-", i), 10, []string{"later"}
				if err := r.Apply(epoch, engine.Submit(w), engine.Nominate(w.ID, fmt.Sprintf("node-%05d", i*200))); err != nil {
					b.Fatal(err)
				}
			}
			decide(b, r)
		})
	}
}
