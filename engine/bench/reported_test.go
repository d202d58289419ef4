package bench

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
	"github.com/berth-project/berth/plugins/peaks"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// uses adds a plugin to a profile.
func uses[A any, P extpoints.Plugin](make func(A, extpoints.Handle) (P, error)) func(*extpoints.Profile) {
	return func(p *extpoints.Profile) {
		var args A
		extpoints.Use(p, make, args, extpoints.Weight(1))
	}
}

// BenchmarkReportedDecision is a decision about a guaranteed workload with 5,000 nodes, each of
// which runs 20 others, by the default profile and a plugin that goes by what is reported of nodes:
// of each node's two zones, which counts the 20, and of its load. An engine without the plugin
// decides the same beside it; ratio is how many times its processor time the decision takes. The
// first decisions, by which all nodes become known, are not timed.
func BenchmarkReportedDecision(b *testing.B) {
	const nodes = 5000
	plain := sync.OnceValue(func() *engine.Raw { return reported(b, nodes, engine.FastPathAuto, func(*extpoints.Profile) {}, false) })
	made := 0
	for _, c := range []struct {
		name    string
		use     func(*extpoints.Profile)
		path    engine.FastPath
		reports bool
	}{
		{"plain", func(*extpoints.Profile) {}, engine.FastPathAuto, true},
		{"NodeResourceTopologyMatch/no reports", uses(noderesourcetopologymatch.New), engine.FastPathAuto, false},
		{"NodeResourceTopologyMatch/off", uses(noderesourcetopologymatch.New), engine.FastPathOff, true},
		{"NodeResourceTopologyMatch/auto", uses(noderesourcetopologymatch.New), engine.FastPathAuto, true},
		{"LoadAwareScheduling/off", uses(loadawarescheduling.New), engine.FastPathOff, true},
		{"LoadAwareScheduling/auto", uses(loadawarescheduling.New), engine.FastPathAuto, true},
		{"TargetLoadPacking/auto", uses(targetloadpacking.New), engine.FastPathAuto, true},
		{"LoadVariationRiskBalancing/auto", uses(loadvariationriskbalancing.New), engine.FastPathAuto, true},
		{"LowRiskOverCommitment/auto", uses(lowriskovercommitment.New), engine.FastPathAuto, true},
		{"Peaks/auto", uses(peaks.New), engine.FastPathAuto, true},
	} {
		other := sync.OnceValue(func() *engine.Raw { return reported(b, nodes, c.path, c.use, c.reports) })
		b.Run(c.name, func(b *testing.B) {
			const first, batch = 40, 200
			engines := []*engine.Raw{plain(), other()}
			for _, r := range engines {
				decideBatch(b, r, made, first, aligned)
			}
			made += first
			b.ResetTimer()
			b.StopTimer()
			var cpu [2]time.Duration
			for done := 0; done < b.N; done += batch {
				size := min(batch, b.N-done)
				for i, r := range engines {
					cpu[i] += decideBatch(b, r, made, size, aligned)
				}
				made += size
			}
			b.ReportMetric(float64(cpu[0].Nanoseconds())/float64(b.N), "plain-cpu-ns/op")
			b.ReportMetric(float64(cpu[1].Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(cpu[1])/float64(max(cpu[0], 1)), "ratio")
		})
	}
}

// reported makes an engine with so many nodes that run 20 workloads each and, if wanted, reports of
// them.
func reported(b *testing.B, nodes int, path engine.FastPath, use func(*extpoints.Profile), reports bool) *engine.Raw {
	r := fleet(b, nodes, func(cfg *engine.Config) {
		cfg.FastPath = path
		use(&cfg.Profiles[0])
	})
	for i := range nodes {
		var changes []engine.Change
		name := fmt.Sprintf("node-%05d", i)
		t := &model.NodeTopology{Node: name, At: epoch, Policy: model.AlignSingleZone, Listed: true, Zones: []model.NodeZone{zone(0), zone(1)}}
		l := &model.NodeLoad{Node: name, At: epoch, Resources: []model.ResourceLoad{
			{Name: model.CPU, Average: float64(i % 40), StdDev: 5}, {Name: model.Memory, Average: float64(i % 30), StdDev: 5},
		}}
		for j := range 20 {
			w := aligned(0)
			w.ID = fmt.Sprintf("%s-%02d", name, j)
			t.Workloads = append(t.Workloads, w.ID)
			changes = append(changes, engine.Adopt(w, model.Binding{Node: name}))
		}
		if reports {
			changes = append(changes, engine.PutObject(t), engine.PutObject(l))
		}
		if err := r.Apply(epoch, changes...); err != nil {
			b.Fatal(err)
		}
	}
	return r
}

func zone(id int) model.NodeZone {
	return model.NodeZone{ID: id, Resources: []model.ZoneResource{
		{Name: model.CPU, Allocatable: 500_000, Available: 500_000}, {Name: model.Memory, Allocatable: 2 << 40, Available: 2 << 40},
	}}
}

func aligned(i int) *model.Workload {
	w := basic(i)
	w.QoS = model.Guaranteed
	return w
}
