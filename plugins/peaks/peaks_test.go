package peaks

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// sample is the model of the known answers.
var sample = PowerModel{K1: -91.50493019588365, K2: -0.07186049052516228}

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		OneSided: map[string]string{"Score": "there are no models here; TestContractAmongLoads"},
	})
}

func TestContractAmongLoads(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New), Args: Args{Models: map[string]PowerModel{"n0": sample, "n1": {K1: 50, K2: .02}, "n2": sample}},
		Random: extpointstest.RandomLoadSituation, Change: extpointstest.RandomLoadChange,
	})
}

func made(t *testing.T, compat extpoints.Compat, args Args) *Peaks {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	p, err := New(args, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Known answers of the upstream plugin: peaks_test.go, whose rows without a number are 0 there
// and unknown here, and more. The last digits of powers of e are not compared.
func TestScore(t *testing.T) {
	const unknown = math.MaxInt64
	for _, c := range []struct {
		name     string
		resource string
		percent  float64
		request  int64
		age      time.Duration
		other    bool // the model is of another node
		want     int64
		upstream int64
	}{
		{name: "Pod with Requests", resource: model.CPU, request: 1000, want: 91435654157549680, upstream: 91435654157549680},
		{name: "No CPU metrics found", resource: model.Memory, request: 1000, want: unknown},
		{name: "Pod with Overhead", resource: model.CPU, want: 0},
		{name: "Pod with above node resource capacity", resource: model.CPU, percent: 100, request: 2000, want: unknown},
		{name: "No watcher response for node", request: 2000, want: unknown},
		{name: "404 resp from watcher", want: unknown},

		{name: "no model", resource: model.CPU, request: 1000, other: true, want: unknown},
		{name: "old", resource: model.CPU, request: 1000, age: time.Hour, want: unknown, upstream: 91435654157549680},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: 1000}})
			s := extpointstest.NewSituation(&model.Workload{ID: "w", Requests: model.Resources{CPU: c.request}}, n)
			if c.resource != "" {
				s.View.Put(&model.NodeLoad{Node: "n", At: extpointstest.Now.Add(-c.age), Resources: []model.ResourceLoad{{Name: c.resource, Average: c.percent}}})
			}
			args := Args{Models: map[string]PowerModel{"n": sample}}
			if c.other {
				args.Models = map[string]PowerModel{"x": sample}
			}
			for compat, want := range map[extpoints.Compat]int64{extpoints.Improved: c.want, extpoints.KubeScheduler137: c.upstream} {
				got, st := made(t, compat, args).Score(s.State(), s.Workload, n)
				if st != nil || math.Abs(float64(got)-float64(want)) > 1e-12*math.Abs(float64(want)) {
					t.Errorf("%v: got %d, %v, want %d", compat, got, st, want)
				}
			}
		})
	}
}

func TestAdded(t *testing.T) {
	if got := added(PowerModel{K1: -91.5, K2: -.07}, 50, 60); math.Abs(float64(got)-1390965304068431) > 1000 {
		t.Errorf("a tenth to a half: %d", got)
	}
	if got := added(PowerModel{K1: 1e9, K2: 1}, 0, 100); got != math.MaxInt64-1 {
		t.Errorf("more than 64 bits can hold: %d", got)
	}
	if got := added(PowerModel{K1: -1e9, K2: 1}, 0, 100); got != -(math.MaxInt64 - 1) {
		t.Errorf("less than 64 bits can hold: %d", got)
	}
	if got := added(PowerModel{K1: 1, K2: 1e300}, 0, 0); got != 0 {
		t.Errorf("nothing: %d", got)
	}
}

// The first rows are known answers of the upstream plugin: peaks_test.go.
func TestNormalizeScore(t *testing.T) {
	const unknown = math.MaxInt64
	for _, c := range []struct{ scores, want []int64 }{
		{[]int64{0, 100}, []int64{100, 0}},
		{[]int64{0, 0}, []int64{0, 0}},
		{[]int64{100, 100}, []int64{100, 100}},
		{[]int64{10, 20, 30}, []int64{100, 50, 0}},
		{[]int64{unknown, 10, 20}, []int64{0, 100, 0}},
		{[]int64{unknown, 0}, []int64{0, 100}},
		{[]int64{unknown, unknown}, []int64{0, 0}},
		{[]int64{-math.MaxInt64, 0, math.MaxInt64 - 1}, []int64{100, 50, 0}},
	} {
		got := slices.Clone(c.scores)
		if st := made(t, extpoints.Improved, Args{}).NormalizeScore(nil, nil, nil, got); st != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, %v, want %v", c.scores, got, st, c.want)
		}
	}
}

// Upstream's hundredfold of a score that a float64 does not hold is rounded.
func TestNormalizeScoreOfLargeOnes(t *testing.T) {
	for compat, want := range map[extpoints.Compat]int64{extpoints.Improved: 0, extpoints.KubeScheduler137: 1} {
		scores := []int64{0, 33084476195786140}
		made(t, compat, Args{}).NormalizeScore(nil, nil, nil, scores)
		if scores[0] != 100 || scores[1] != want {
			t.Errorf("%v: got %v, want 100 and %d", compat, scores, want)
		}
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Models: map[string]PowerModel{"a": {K1: math.Inf(1)}, "b": {K2: math.NaN()}, "c": sample}, MaxAge: -1}, extpointstest.NewHandle())
	for _, want := range []string{`models: {K1:+Inf K2:0} of "a" is not finite`, `models: {K1:0 K2:NaN} of "b" is not finite`, "maxAge: -1ns is negative"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), `"c"`) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
