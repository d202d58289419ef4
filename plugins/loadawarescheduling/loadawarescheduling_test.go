package loadawarescheduling

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// The node of the known answers has 96 cores and 512 GiB.
const cores, gib = 96, 512

// measured is a measurement in cores and GiB.
func measured(window time.Duration, cpu, memory float64) []model.ResourceLoad {
	return []model.ResourceLoad{
		{Name: model.CPU, Window: window, Average: 100 * cpu / cores},
		{Name: model.Memory, Window: window, Average: 100 * memory / gib},
	}
}

// p95 adds the percentile to what was measured over five minutes.
func p95(of []model.ResourceLoad, cpu, memory float64) []model.ResourceLoad {
	more := measured(5*time.Minute, 0, 0)
	more[0].Percentiles = []model.LoadPercentile{{Rank: 95, Load: 100 * cpu / cores}}
	more[1].Percentiles = []model.LoadPercentile{{Rank: 95, Load: 100 * memory / gib}}
	return append(of, more...)
}

// needs is a workload that requests cores and GiB, and may use as much.
func needs(id string, cpu float64, memory int64) *model.Workload {
	r := model.Resources{CPU: model.Cores(cpu), Memory: model.GiB(memory)}
	return &model.Workload{ID: id, Requests: r, UsageLimits: r}
}

// requests is one without a limit.
func requests(id string, cpu float64, memory int64) *model.Workload {
	return &model.Workload{ID: id, Requests: model.Resources{CPU: model.Cores(cpu), Memory: model.GiB(memory)}}
}

// placed is a workload that was placed before, and what it uses where that was measured.
type placed struct {
	*model.Workload
	before time.Duration
	used   *model.Resources
}

// situation is what the plugin looks at. Without a report age is negative.
type situation struct {
	name   string
	args   Args
	age    time.Duration
	loads  []model.ResourceLoad
	placed []placed
	left   []placed // measured, and not on the node any more
	w      *model.Workload
}

const missing = -time.Hour

func (c *situation) ask(t *testing.T) (*LoadAwareScheduling, *extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) {
	t.Helper()
	p, err := New(c.args, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: model.Cores(cores), Memory: model.GiB(gib)}})
	load := &model.NodeLoad{Node: "n", At: extpointstest.Now.Add(-c.age), Resources: c.loads}
	for _, other := range c.placed {
		n.AddWorkload(&extpoints.WorkloadInfo{Workload: other.Workload, PlacedAt: extpointstest.Now.Add(-other.before)})
		if other.used != nil {
			load.Workloads = append(load.Workloads, model.WorkloadLoad{ID: other.ID, Used: *other.used})
		}
	}
	for _, other := range c.left {
		load.Workloads = append(load.Workloads, model.WorkloadLoad{ID: other.ID, Used: *other.used})
	}
	if c.w == nil {
		c.w = &model.Workload{ID: "w"}
	}
	s := extpointstest.NewSituation(c.w, n)
	if c.age != missing {
		s.View.Put(load)
	}
	return p, s.State(), s.Workload, n
}

// twoThirds are two workloads that use 53 cores and 300 GiB.
func twoThirds() []placed {
	return []placed{
		{requests("p1", 0, 0), 10 * time.Minute, &model.Resources{CPU: model.Cores(30), Memory: model.GiB(100)}},
		{requests("p2", 0, 0), 10 * time.Minute, &model.Resources{CPU: model.Cores(23), Memory: model.GiB(200)}},
	}
}

// Known answers of the upstream plugin: load_aware_test.go, TestFilterExpiredNodeMetric,
// TestEnableScheduleWhenNodeMetricsExpired and TestFilterUsage. Thresholds that are an
// annotation of the node there are arguments here.
//
// Left out: reports without a time, which are refused; the rows of production and mid
// workloads, whose classes are not built; that those of a DaemonSet pass.
func TestFilter(t *testing.T) {
	all := map[string]int64{model.CPU: 100, model.Memory: 100}
	byP95 := &Aggregated{Thresholds: map[string]int64{model.CPU: 60}, Filter: Measure{"p95", 5 * time.Minute}}
	const cpu, memory, old = "node(s) cpu usage exceed threshold", "node(s) memory usage exceed threshold", "node(s) nodeMetric expired"
	for _, c := range []struct {
		situation
		want string
	}{
		{situation{name: "filter healthy nodeMetrics", loads: measured(0, 30, 100)}, ""},
		{situation{name: "filter unhealthy nodeMetric with expired updateTime", age: 180 * time.Second, loads: measured(0, 30, 100)}, old},
		{situation{name: "enable scheduling when nodeMetric with expired updateTime", args: Args{AllowExpired: true}, age: 180 * time.Second, loads: measured(0, 90, 100)}, ""},
		{situation{name: "filter normal usage", loads: measured(0, 60, 256)}, ""},
		{situation{name: "filter node missing NodeMetrics", age: missing}, ""},
		{situation{name: "filter exceed cpu usage", loads: measured(0, 70, 256)}, cpu},
		{situation{name: "filter exceed p95 cpu usage", args: Args{Aggregated: byP95}, loads: p95(measured(0, 30, 100), 70, 256)}, "node(s) cpu aggregated usage exceed threshold"},
		{situation{name: "filter exceed memory usage", loads: measured(0, 30, 500)}, memory},
		{situation{name: "filter exceed memory usage by custom usage thresholds", args: Args{Thresholds: map[string]int64{model.Memory: 60}}, loads: measured(0, 30, 316)}, memory},
		{situation{name: "disable filter exceed memory usage", args: Args{Thresholds: map[string]int64{model.Memory: 0}}, loads: measured(0, 30, 500)}, ""},
		{situation{name: "prod usage filter is not enabled by default", args: Args{Thresholds: all}, loads: measured(0, 63, 500), placed: twoThirds()}, ""},
		{situation{name: "filter memory usage with new pod request configuration", args: Args{Thresholds: map[string]int64{model.CPU: 100, model.Memory: 80}}, loads: measured(0, 53, 300), placed: twoThirds(), w: requests("w", 1, 165)}, memory},

		// By the formula.
		{situation{name: "16 cores to 50 are beyond 65%", loads: measured(0, 50, 0), w: needs("w", 16, 1)}, cpu},
		{situation{name: "14 are not", loads: measured(0, 50, 0), w: needs("w", 14, 1)}, ""},
		{situation{name: "just new enough", age: 180*time.Second - 1, loads: measured(0, 70, 0)}, cpu},
		{situation{name: "of any age", args: Args{KeepExpired: true}, age: time.Hour, loads: measured(0, 70, 0)}, cpu},
		{situation{name: "nothing measured", age: time.Second}, ""},
		{situation{name: "no thresholds", args: Args{Thresholds: map[string]int64{}}, age: time.Hour, loads: measured(0, 96, 512)}, ""},
		{situation{name: "nobody has left", args: Args{WithoutLeft: true}, loads: measured(0, 70, 256), placed: twoThirds()}, cpu},
		{situation{name: "one has left that used 30", args: Args{WithoutLeft: true}, loads: measured(0, 70, 256), placed: twoThirds()[1:], left: twoThirds()[:1]}, ""},
		{situation{name: "one has left, and counts", loads: measured(0, 70, 256), placed: twoThirds()[1:], left: twoThirds()[:1]}, cpu},
		{situation{name: "one has left that used too little", args: Args{WithoutLeft: true}, loads: measured(0, 96, 256), placed: twoThirds()[1:], left: twoThirds()[:1]}, cpu},
		{situation{name: "no less than nothing is left", args: Args{WithoutLeft: true}, loads: measured(0, 20, 256), left: twoThirds(), w: needs("w", 74, 1)}, cpu},
		{situation{name: "what was not measured is estimated", loads: measured(0, 0, 500)[:1], placed: []placed{{needs("o", 1, 480), time.Hour, nil}}, w: needs("w", 1, 250)}, memory},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, state, w, n := c.ask(t)
			st := p.Filter(state, w, n)
			if st.Message() != c.want || c.want != "" && st.Code() != extpoints.Unschedulable {
				t.Errorf("got %v, want %q", st, c.want)
			}
		})
	}
}

// Known answers of the upstream plugin: load_aware_test.go, TestScore. That a measurement is
// empty there is one of 0 here.
//
// Left out: the rows of batch and production workloads, whose classes are not built.
func TestScore(t *testing.T) {
	byP95 := &Aggregated{Score: Measure{"p95", 5 * time.Minute}}
	idle, w := measured(0, 0, 0), needs("w", 16, 32)
	before := func(d time.Duration, used *model.Resources) []placed { return []placed{{needs("o", 16, 32), d, used}} }
	for _, c := range []struct {
		situation
		want int64
	}{
		{situation{name: "score node with expired nodeMetric", age: 180 * time.Second, loads: idle}, 0},
		{situation{name: "score empty node", loads: idle, w: w}, 90},
		{situation{name: "score node missing NodeMetrics", age: missing, w: w}, 0},
		{situation{name: "score load node", loads: measured(0, 32, 10), w: w}, 72},
		{situation{name: "score load node with p95", args: Args{Aggregated: byP95}, loads: p95(idle, 32, 10), w: w}, 72},
		{situation{name: "score load node with p95 but have not reported usage", args: Args{Aggregated: byP95}, loads: idle, w: w}, 90},
		{situation{name: "score load node with p95 but have not reported usage and have assigned pods", args: Args{Aggregated: byP95}, loads: idle, w: w,
			placed: before(10*time.Minute, &model.Resources{CPU: model.Cores(1), Memory: model.GiB(1)})}, 81},
		{situation{name: "score load node with just assigned pod", loads: measured(0, 32, 10), w: w, placed: before(0, nil)}, 63},
		{situation{name: "score load node with just assigned pod where after updateTime", age: 10 * time.Second, loads: measured(0, 32, 10), w: w, placed: before(0, nil)}, 63},
		{situation{name: "score load node with just assigned pod where before updateTime", loads: measured(0, 32, 10), w: w, placed: before(10*time.Second, nil)}, 63},
		{situation{name: "score request less than limit", loads: idle, w: &model.Workload{ID: "w", Requests: requests("", 8, 16).Requests, UsageLimits: w.Requests}}, 90},
		{situation{name: "score with drf", args: Args{DominantWeight: 10}, loads: idle, w: w}, 85},
		{situation{name: "score empty pod", loads: idle}, 99},

		// By the formula.
		{situation{name: "in the measurement", loads: measured(0, 32, 10), w: w, placed: before(10*time.Minute, &model.Resources{CPU: 1, Memory: 1})}, 72},
		{situation{name: "in part, and the estimate is more", loads: measured(0, 32, 10), w: w, placed: before(10*time.Second, &model.Resources{})}, 63},
		{situation{name: "in part, and it is less", loads: measured(0, 32, 10), w: w, placed: before(10*time.Second, &w.Requests)}, 72},
		{situation{name: "placed not long before", args: Args{AfterPlaced: time.Hour}, loads: measured(0, 32, 10), w: w, placed: before(10*time.Minute, &model.Resources{})}, 63},
		{situation{name: "both weights", args: Args{Weights: map[string]int64{model.CPU: 1, model.Memory: 3}, DominantWeight: 4}, loads: idle, w: w}, 88},
		{situation{name: "nothing measured", w: w}, 0},
		{situation{name: "the longest window that has the type", args: Args{Aggregated: &Aggregated{Score: Measure{Type: "avg"}}}, loads: append(measured(0, 0, 0), measured(time.Hour, 32, 10)...), w: w}, 72},
		{situation{name: "none has it", args: Args{Aggregated: &Aggregated{Score: Measure{Type: "p99"}}}, loads: measured(time.Hour, 32, 10), w: w}, 72},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, state, w, n := c.ask(t)
			if got, st := p.Score(state, w, n); got != c.want || st != nil {
				t.Errorf("got %d, %v, want %d", got, st, c.want)
			}
		})
	}
}

// Known answers of the upstream plugin: estimator/default_estimator_test.go.
//
// Left out: batch pods and factors by annotation, and factors beyond 100, which no arguments
// may have; nodes with amplified amounts. The table of pod_assign_cache_test.go is of what is
// kept there between decisions; here nothing is.
func TestEstimate(t *testing.T) {
	const eight = 8 << 30
	for _, c := range []struct {
		name        string
		factors     map[string]int64
		request     model.Resources
		limit       model.Resources
		cpu, memory int64
	}{
		{"estimate empty pod", nil, model.Resources{}, model.Resources{}, 250, 200 << 20},
		{"estimate guaranteed pod", nil, model.Resources{CPU: 4000, Memory: eight}, model.Resources{CPU: 4000, Memory: eight}, 3400, 6012954214},
		{"estimate burstable pod", nil, model.Resources{CPU: 4000, Memory: eight}, model.Resources{CPU: 8000, Memory: eight}, 6800, 6012954214},
		{"estimate pod only has request", map[string]int64{model.CPU: 80, model.Memory: 80}, model.Resources{CPU: 4000, Memory: eight}, model.Resources{}, 3200, 6871947674},
		{"the limit is the most", map[string]int64{model.CPU: 100}, model.Resources{CPU: 5000}, model.Resources{CPU: 4000}, 4000, 200 << 20},
	} {
		p, err := New(Args{ScalingFactors: c.factors}, extpointstest.NewHandle())
		if err != nil {
			t.Fatal(err)
		}
		w := &model.Workload{Requests: c.request, UsageLimits: c.limit}
		if cpu, memory := estimate(w, model.CPU, p.args.ScalingFactors[model.CPU]), estimate(w, model.Memory, p.args.ScalingFactors[model.Memory]); cpu != c.cpu || memory != c.memory {
			t.Errorf("%s: got %d, %d, want %d, %d", c.name, cpu, memory, c.cpu, c.memory)
		}
		if x := estimate(w, "x", p.args.ScalingFactors["x"]); x != 0 {
			t.Errorf("%s: %d of what has no factor", c.name, x)
		}
	}
}

// A new measurement wakes those whom it lets onto the node, and no others.
func TestHints(t *testing.T) {
	n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: model.Cores(cores), Memory: model.GiB(gib)}})
	load := func(node string, age time.Duration, cpu float64) *model.NodeLoad {
		return &model.NodeLoad{Node: node, At: extpointstest.Now.Add(-age), Resources: measured(0, cpu, 0)}
	}
	for _, c := range []struct {
		name    string
		was, is *model.NodeLoad
		want    extpoints.Hint
	}{
		{"as cool as it was", load("n", time.Minute, 10), load("n", 0, 11), extpoints.HintSkip},
		{"as hot as it was", load("n", time.Minute, 80), load("n", 0, 81), extpoints.HintSkip},
		{"cooler", load("n", time.Minute, 80), load("n", 0, 60), extpoints.HintQueue},
		{"hotter", load("n", time.Minute, 60), load("n", 0, 80), extpoints.HintSkip},
		{"the first for long", load("n", 3*time.Minute, 10), load("n", 0, 10), extpoints.HintQueue},
		{"the first for long, and hot", load("n", 3*time.Minute, 10), load("n", 0, 80), extpoints.HintSkip},
		{"it is gone", load("n", 0, 80), nil, extpoints.HintQueue},
		{"of a node that is not there", load("x", 3*time.Minute, 80), load("x", 0, 10), extpoints.HintSkip},
	} {
		h := extpointstest.NewHandle()
		h.Cluster = extpointstest.NewView(n)
		p, err := New(Args{}, h)
		if err != nil {
			t.Fatal(err)
		}
		e := &extpoints.Event{OldObject: c.was}
		if c.is != nil {
			e.NewObject = c.is
		}
		if got, err := p.afterLoadChange(&model.Workload{ID: "w"}, e); got != c.want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{
		MaxAge: -1, Thresholds: map[string]int64{model.CPU: 101}, Weights: map[string]int64{"gpu": 1, model.CPU: 0}, DominantWeight: -1,
		ScalingFactors: map[string]int64{"": 50}, AfterPlaced: -1,
		Aggregated: &Aggregated{Thresholds: map[string]int64{model.CPU: 50}, Score: Measure{"p1", -1}},
	}, extpointstest.NewHandle())
	for _, want := range []string{
		"maxAge: -1ns is negative", `thresholds: 101 of "cpu" is not between 0 and 100`, `weights: 0 of "cpu" is not between 1 and 100`,
		`weights: "gpu" has no scaling factor`, "dominantWeight: -1 is not between 0 and 100", "scalingFactors: a name is empty", "afterPlaced: -1ns is negative",
		`aggregated.filter.type: "" is not one of avg, p50, p90, p95, p99`, `aggregated.score.type: "p1" is not one of`, "aggregated.score.window: -1ns is negative",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
