package lowriskovercommitment

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		OneSided: map[string]string{"Score": "no node has loads here; TestContractAmongLoads"},
	})
}

func TestContractAmongLoads(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New), Random: extpointstest.RandomLoadSituation, Change: extpointstest.RandomLoadChange,
	})
}

func made(t *testing.T, args Args, compat extpoints.Compat) *LowRiskOverCommitment {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	p, err := New(args, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Known answers of the upstream plugin: lowriskovercommitment_test.go, and two by the formula
// with the probabilities from numeric integration.
func TestRisk(t *testing.T) {
	for _, c := range []struct {
		name          string
		resource      string
		n             sums
		avg, stdDev   float64
		want          float64
		withoutReport bool
	}{
		{name: "test-cpu-1", resource: model.CPU, n: sums{2000, 3000, 1000, 2000, 4000}, avg: 80, want: 0.5},
		{name: "test-mem-1", resource: model.Memory, n: sums{2048, 6144, 0, 0, 4096}, avg: 25, want: 0.25},
		{name: "test-cpu-2", resource: model.CPU, n: sums{4000, 5000, 3000, 4000, 4000}, avg: 80, want: 1},
		{name: "test-mem-2", resource: model.Memory, n: sums{1024, 7168, 512, 6144, 4096}, avg: 25, want: 0.75},
		{name: "a distribution", resource: model.CPU, n: sums{2500, 6000, 2000, 5000, 4000}, avg: 30, stdDev: 10, want: .3867},
		{name: "no more than the limits", resource: model.CPU, n: sums{2500, 3500, 2000, 3000, 4000}, avg: 30, stdDev: 10, want: .0833},
		{name: "not measured", resource: model.CPU, n: sums{2500, 6000, 2000, 5000, 4000}, withoutReport: true, want: .2857},
		{name: "more than a float64 tells apart", resource: model.Memory, n: sums{1 << 53, 1<<53 + 1, 0, 0, 1 << 53}, withoutReport: true, want: .5},
		{name: "nothing can be allocated", resource: model.CPU, n: sums{0, 100, 0, 0, 0}, avg: 30, stdDev: 10, want: .5},
		{name: "idle", resource: model.CPU, n: sums{2500, 2500, 2000, 2000, 4000}, want: 0},
		{name: "full", resource: model.CPU, n: sums{2500, 2500, 2000, 2000, 4000}, avg: 100, stdDev: 30, want: .5},
	} {
		t.Run(c.name, func(t *testing.T) {
			measured := &model.ResourceLoad{Average: c.avg, StdDev: c.stdDev}
			if c.withoutReport {
				measured = nil
			}
			if got := made(t, Args{}, extpoints.Improved).risk(c.resource, c.n, measured); math.Abs(got-c.want) > 5e-5 {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Known answers of the upstream plugin: beta_test.go, and others of distributions that have a
// plain formula. Left out: what is computed of a distribution besides (moments, density,
// its text), which is nowhere here, and distributions with parameters that are not positive,
// which cannot be asked for; the largest variance of a mean is part of TestDistribution.
func TestBetaAtMost(t *testing.T) {
	for _, c := range []struct{ a, b, x, want float64 }{
		{2, 2, 0.5, 0.5}, {2, 2, 0, 0}, {2, 2, 1, 1},
		{1, 1, 0.3, 0.3}, {3, 1, 0.5, 0.125}, {1, 3, 0.5, 0.875}, {2, 2, 0.25, 0.15625}, {2, 2, 0.9, 0.972},
		{.96, 2.24, .5, .798058}, {0.5, 0.5, 0.25, 1.0 / 3}, {1, 1e6, 1e-6, 1 - math.Exp(-1)}, {500, 500, 0.5, 0.5},
	} {
		if got := betaAtMost(c.a, c.b, c.x); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("of (%v, %v) at most %v: got %v, want %v", c.a, c.b, c.x, got, c.want)
		}
	}
}

func TestDistribution(t *testing.T) {
	for _, c := range []struct{ mu, sigma, x, want float64 }{
		{0, 0, 0, 1}, {0.5, 0, 0.5, 1}, {0.5, 0, 0.4, 0}, {0.5, math.Sqrt(1.0 / 12), 0.3, 0.3},
		{0.5, 0.5, 0.9, 0}, {1, 0.1, 0.9, 0},
	} {
		if got := distribution(c.mu, c.sigma)(c.x); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// The score of the node, with what is on it.
func TestScore(t *testing.T) {
	cpu := []model.ResourceLoad{{Name: model.CPU, Average: 20}}
	memory := []model.ResourceLoad{{Name: model.Memory, Average: 20}}
	burst := &model.Workload{ID: "w", Requests: model.Resources{CPU: 500}, UsageLimits: model.Resources{CPU: 1500}}
	steady := &model.Workload{ID: "w", Requests: model.Resources{CPU: 500}}
	for _, c := range []struct {
		name   string
		w      *model.Workload
		placed []*model.Workload
		loads  []model.ResourceLoad
		age    time.Duration
		compat extpoints.Compat
		want   int64
	}{
		{name: "new node", w: &model.Workload{ID: "w"}, loads: cpu, want: 0}, // lowriskovercommitment_test.go
		{name: "room for all", w: steady, loads: cpu, want: 100},
		{name: "half of the burst is beyond", w: burst, loads: cpu, want: 75},
		{name: "all of it is", w: burst, placed: []*model.Workload{{ID: "o", Requests: model.Resources{CPU: 500}, UsageLimits: model.Resources{CPU: 100}}}, loads: cpu, want: 50},
		{name: "more is used than was requested", w: steady, placed: []*model.Workload{{ID: "o", Requests: model.Resources{CPU: 100}, UsageLimits: model.Resources{CPU: 400}}}, loads: cpu, want: 50},
		{name: "not measured by itself", w: burst, loads: memory, want: 75},
		{name: "missing", w: steady, want: 0},
		{name: "old", w: steady, loads: cpu, age: 6 * time.Minute, want: 0},
		{name: "old, as upstream", w: steady, loads: cpu, age: 6 * time.Minute, compat: extpoints.KubeScheduler137, want: 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: 1000, Memory: model.GiB(1)}})
			for _, w := range c.placed {
				n.AddWorkload(&extpoints.WorkloadInfo{Workload: w})
			}
			s := extpointstest.NewSituation(c.w, n)
			if c.loads != nil {
				s.View.Put(&model.NodeLoad{Node: "n", At: extpointstest.Now.Add(-c.age), Resources: c.loads})
			}
			if got, st := made(t, Args{}, c.compat).Score(s.State(), s.Workload, n); st != nil || got != c.want {
				t.Errorf("got %d, %v, want %d", got, st, c.want)
			}
		})
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Smoothing: -1, LimitWeights: map[string]float64{"gpu": 1, model.CPU: math.NaN()}, MaxAge: -1}, extpointstest.NewHandle())
	for _, want := range []string{
		"smoothing: -1 is negative", `limitWeights: "gpu" is neither "cpu" nor "memory"`,
		`limitWeights: the weight NaN of "cpu" is not between 0 and 1`, "maxAge: -1ns is negative",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if p := made(t, Args{LimitWeights: map[string]float64{model.CPU: 1}}, extpoints.Improved); p.risk(model.CPU, sums{0, 2, 0, 0, 1}, &model.ResourceLoad{Average: 100}) != 0.5 {
		t.Error("the weight does not count")
	}
}
