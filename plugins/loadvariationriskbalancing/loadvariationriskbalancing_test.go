package loadvariationriskbalancing

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

func made(t *testing.T, args Args, compat extpoints.Compat) *LoadVariationRiskBalancing {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	p, err := New(args, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Known answers of the upstream plugin for one resource: analysis_test.go, and more by the
// formula.
//
// Left out: a negative average (65) and a negative deviation (75), which no report may have;
// a negative margin (75) and a negative sensitivity (57), which no arguments may have. That
// they are refused other tests show.
func TestScoreOfAResource(t *testing.T) {
	for _, c := range []struct {
		name                string
		margin, sensitivity float64
		capacity, request   int64
		avg, stdDev         float64
		want                int64
	}{
		{"valid data", 1, 1, 100, 10, 40, 36, 57},
		{"zero capacity", 1, 2, 0, 10, 40, 36, 0},
		{"large usedAvg", 1, 2, 100, 10, 200, 36, 20},
		{"large usedStdev", 1, 2, 100, 10, 40, 120, 25},
		{"zero sensitivity", 1, 0, 100, 10, 40, 36, 75},
		{"sensitivity", 1, 2, 100, 10, 40, 36, 45},
		{"margin", 2, 1, 100, 10, 40, 36, 39},
		{"four cores", 1, 1, 4000, 500, 30, 10, 74},
		{"four cores, margin and sensitivity", 3, 2, 4000, 500, 30, 10, 31},
		{"by amounts, not percentages", 1, 1, 1000, 100, 33.0, 0, 79},
		{"all of it, sensitivity 0", 1, 0, 100, 10, 40, 100, 25},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := made(t, Args{Margin: &c.margin, Sensitivity: &c.sensitivity}, extpoints.Improved)
			got := p.score(&model.ResourceLoad{Average: c.avg, StdDev: c.stdDev}, c.request, c.capacity)
			if int64(math.Round(got)) != c.want {
				t.Errorf("got %v, want %d", got, c.want)
			}
		})
	}
}

// Known answers of the upstream plugin: loadvariationriskbalancing_test.go. The table of
// resourcestats_test.go is of intermediate results, which are nowhere here: its rows GetMuSigma
// and CreateResourceStats go into the scores, GetResourceRequested and GetResourceLimits are of
// the translation of pods.
func TestScore(t *testing.T) {
	load := func(name string, avg, stdDev float64) model.ResourceLoad {
		return model.ResourceLoad{Name: name, Window: 15 * time.Minute, Average: avg, StdDev: stdDev}
	}
	for _, c := range []struct {
		name        string
		cpu, memory int64
		loads       []model.ResourceLoad
		age         time.Duration
		compat      extpoints.Compat
		want        int64
	}{
		{name: "new node", loads: []model.ResourceLoad{load(model.CPU, 50, 0)}, want: 75},
		{name: "hot node", loads: []model.ResourceLoad{load(model.CPU, 100, 0)}, want: 50},
		{name: "average and stDev metrics", cpu: 200, memory: 256, loads: []model.ResourceLoad{load(model.CPU, 30, 16)}, want: 67},
		{name: "CPU and Memory metrics", cpu: 100, memory: 512, loads: []model.ResourceLoad{load(model.CPU, 40, 16), load(model.Memory, 50, 10)}, want: 45},
		{name: "pick worst case: CPU or Memory", cpu: 100, memory: 512, loads: []model.ResourceLoad{load(model.CPU, 80, 20), load(model.Memory, 25, 15)}, want: 45},
		{name: "404 resp from watcher", want: 0},

		{name: "memory alone", memory: 256, loads: []model.ResourceLoad{load(model.Memory, 25, 0)}, want: 75},
		{name: "idle", loads: []model.ResourceLoad{load(model.CPU, 0, 0), load(model.Memory, 0, 0)}, want: 100},
		{name: "something else is measured", loads: []model.ResourceLoad{load("gpu", 0, 0)}, want: 0},
		{name: "just new enough", loads: []model.ResourceLoad{load(model.CPU, 50, 0)}, age: 5 * time.Minute, want: 75},
		{name: "old", loads: []model.ResourceLoad{load(model.CPU, 50, 0)}, age: 5*time.Minute + 1, want: 0},
		{name: "old, as upstream", loads: []model.ResourceLoad{load(model.CPU, 50, 0)}, age: time.Hour, compat: extpoints.KubeScheduler137, want: 75},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: 1000, Memory: model.GiB(1)}})
			s := extpointstest.NewSituation(&model.Workload{ID: "w", Requests: model.Resources{CPU: c.cpu, Memory: model.MiB(c.memory)}}, n)
			s.View.Put(&model.NodeLoad{Node: "n", At: extpointstest.Now.Add(-c.age), Resources: c.loads})
			got, st := made(t, Args{}, c.compat).Score(s.State(), s.Workload, n)
			if st != nil || got != c.want {
				t.Errorf("got %d, %v, want %d", got, st, c.want)
			}
		})
	}
}

func TestNothingMeasured(t *testing.T) {
	n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: 1000}})
	s := extpointstest.NewSituation(&model.Workload{ID: "w"}, n)
	if got, st := made(t, Args{}, extpoints.Improved).Score(s.State(), s.Workload, n); got != 0 || st != nil {
		t.Errorf("%d, %v", got, st)
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Margin: new(-1.0), Sensitivity: new(math.Inf(1)), MaxAge: -1}, extpointstest.NewHandle())
	for _, want := range []string{"margin: -1 is not a finite number from 0 on", "sensitivity: +Inf is not a finite number from 0 on", "maxAge: -1ns is negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
