package targetloadpacking

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

// a node with so much CPU, and how busy that is.
type busy struct {
	cpu      int64
	percent  float64
	age      time.Duration
	resource string // measured; empty: CPU
	without  bool   // nothing is measured
}

// scoreOf scores the node "n" for the workload, with those on it.
func scoreOf(t *testing.T, compat extpoints.Compat, args Args, b busy, w *model.Workload, placed ...*extpoints.WorkloadInfo) int64 {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	p, err := New(args, h)
	if err != nil {
		t.Fatal(err)
	}
	// Half of the machine can be allocated: the load is of the machine.
	n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: b.cpu / 2}, Capacity: model.Resources{CPU: b.cpu}})
	for _, other := range placed {
		n.AddWorkload(other)
	}
	s := extpointstest.NewSituation(w, n)
	if !b.without {
		name := b.resource
		if name == "" {
			name = model.CPU
		}
		s.View.Put(&model.NodeLoad{Node: "n", At: extpointstest.Now.Add(-b.age), Resources: []model.ResourceLoad{{Name: name, Average: b.percent}}})
	}
	score, st := p.Score(s.State(), s.Workload, n)
	if st != nil {
		t.Fatal(st)
	}
	return score
}

func limited(cpu int64) *model.Workload {
	return &model.Workload{ID: "w", UsageLimits: model.Resources{CPU: cpu}}
}

// Known answers of the upstream plugin. Workloads without a container are predicted to use
// nothing there, which is what an amount of 0 for those that request nothing does here.
func TestScore(t *testing.T) {
	idle := Args{DefaultRequest: new(int64)}
	placed := func(cpu int64) []*extpoints.WorkloadInfo {
		return []*extpoints.WorkloadInfo{{Workload: &model.Workload{ID: "other", UsageLimits: model.Resources{CPU: cpu}}, PlacedAt: extpointstest.Now}}
	}
	for _, c := range []struct {
		name   string
		args   Args
		node   busy
		w      *model.Workload
		placed []*extpoints.WorkloadInfo
		want   int64
	}{
		// targetloadpacking_test.go
		{"new node", idle, busy{cpu: 1000}, limited(0), nil, 40},
		{"hot node", idle, busy{cpu: 1000, percent: 50}, limited(0), nil, 33},
		{"excess utilization returns min score", idle, busy{cpu: 1000, percent: 30}, limited(1000), nil, 0},
		{"404 resp from watcher", idle, busy{cpu: 1000, without: true}, limited(0), nil, 0},
		// The formula.
		{"a tenth", Args{}, busy{cpu: 10000}, limited(1000), nil, 55},
		{"below the target", Args{}, busy{cpu: 10000, percent: 20}, limited(1000), nil, 85},
		{"to the target", Args{}, busy{cpu: 10000, percent: 30}, limited(1000), nil, 100},
		{"just beyond it", Args{}, busy{cpu: 10000, percent: 40}, limited(1000), nil, 33},
		{"what was just placed counts", Args{}, busy{cpu: 10000, percent: 50}, limited(1000), placed(500), 23},
		{"too much", Args{}, busy{cpu: 10000, percent: 95}, limited(1000), nil, 0},
		{"another target", Args{Target: 80}, busy{cpu: 10000, percent: 70}, limited(1000), nil, 100},
		{"everything is the target", Args{Target: 100}, busy{cpu: 10000, percent: 40}, limited(1000), nil, 100},
		{"a machine without CPU", idle, busy{}, limited(0), nil, 40},
		{"only something else is measured", Args{}, busy{cpu: 10000, resource: model.Memory}, limited(1000), nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := scoreOf(t, extpoints.Improved, c.args, c.node, c.w, c.placed...); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// What a workload is going to use: a node of 10 cores with a target of 100% scores that in
// percent.
func TestPredict(t *testing.T) {
	for _, c := range []struct {
		name string
		args Args
		w    model.Workload
		want int64
	}{
		{"the limit", Args{}, model.Workload{Requests: model.Resources{CPU: 1000}, UsageLimits: model.Resources{CPU: 3000}}, 30},
		{"a multiple of the request", Args{}, model.Workload{Requests: model.Resources{CPU: 1000}}, 15},
		{"another multiple", Args{Multiplier: new(2.0)}, model.Workload{Requests: model.Resources{CPU: 1000}}, 20},
		{"neither", Args{}, model.Workload{}, 10},
		{"another amount", Args{DefaultRequest: new(int64(500))}, model.Workload{}, 5},
	} {
		c.args.Target = 100
		p, err := New(c.args, extpointstest.NewHandle())
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(p.predict(&c.w) / 100); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// Workloads count that were placed less than a minute before the measurement ended.
func TestJustPlaced(t *testing.T) {
	for _, c := range []struct {
		before time.Duration
		want   int64
	}{{-time.Hour, 85}, {0, 85}, {time.Minute - 1, 85}, {time.Minute, 70}, {time.Hour, 70}} {
		other := &extpoints.WorkloadInfo{
			Workload: &model.Workload{ID: "other", UsageLimits: model.Resources{CPU: 1000}},
			PlacedAt: extpointstest.Now.Add(-2 * time.Minute).Add(-c.before),
		}
		if got := scoreOf(t, extpoints.Improved, Args{}, busy{cpu: 10000, percent: 10, age: 2 * time.Minute}, limited(1000), other); got != c.want {
			t.Errorf("placed %v before: got %d, want %d", c.before, got, c.want)
		}
	}
}

// An old measurement is none, unless it is to be as upstream.
func TestOldMeasurement(t *testing.T) {
	for _, c := range []struct {
		compat extpoints.Compat
		maxAge time.Duration
		age    time.Duration
		want   int64
	}{
		{extpoints.Improved, 0, 5 * time.Minute, 100}, {extpoints.Improved, 0, 5*time.Minute + 1, 0},
		{extpoints.Improved, time.Hour, time.Hour, 100}, {extpoints.KubeScheduler137, 0, 1000 * time.Hour, 100},
	} {
		if got := scoreOf(t, c.compat, Args{MaxAge: c.maxAge}, busy{cpu: 10000, percent: 30, age: c.age}, limited(1000)); got != c.want {
			t.Errorf("%v, at most %v, %v old: got %d, want %d", c.compat, c.maxAge, c.age, got, c.want)
		}
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Target: 101, Multiplier: new(math.NaN()), DefaultRequest: new(int64(-1)), MaxAge: -1}, extpointstest.NewHandle())
	for _, want := range []string{
		"target: 101 is not between 1 and 100; 0 is the default", "multiplier: NaN is not a finite number from 0 on",
		"defaultRequest: -1 is negative", "maxAge: -1ns is negative",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
