package scheduler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// meters are agents that report the load of their nodes four times a minute.
type meters struct {
	w  *world
	mu sync.Mutex
	// loads are in percent, of CPU and memory, and how much that of CPU varies; of nodes that
	// are not there nothing is reported.
	loads map[string][3]float64
}

// metered makes the leader one that goes by measured load.
func metered(w *world, l scheduler.Load) *meters {
	w.runs = func(*state.Task) run { return run{lasts: 24 * time.Hour, ends: job.Completed} }
	w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
		c.Load = l
		return scheduler.New(c)
	}
	w.lead()
	m := &meters{w: w, loads: map[string][3]float64{}}
	go func() {
		for w.ctx.Err() == nil {
			m.report()
			time.Sleep(15 * time.Second)
		}
	}()
	return m
}

func (m *meters) report() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for node, x := range m.loads {
		if err := m.w.leader.Measured(node, loadOf(x[0], x[1], x[2])); err != nil {
			m.w.t.Error(err)
		}
	}
}

// set has nodes be as busy from now on, and that be known.
func (m *meters) set(loads map[string][3]float64) {
	m.mu.Lock()
	for node, x := range loads {
		m.loads[node] = x
	}
	m.mu.Unlock()
	m.report()
	m.w.pass(11 * time.Second)
}

// lose has nodes report nothing any more.
func (m *meters) lose(nodes ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range nodes {
		delete(m.loads, n)
	}
}

// loadOf is a report of one minute, and of five that were the same.
func loadOf(cpu, memory, varies float64) *api.Load {
	stats := func(x, s float64) *api.LoadStats {
		return &api.LoadStats{Average: x, StdDev: s, P50: x, P90: x, P95: x, P99: x}
	}
	l := &api.Load{Age: job.Duration(time.Second)}
	for _, d := range []time.Duration{time.Minute, 5 * time.Minute} {
		l.Windows = append(l.Windows, api.LoadWindow{Window: job.Duration(d), CPU: stats(cpu, varies), Memory: stats(memory, 0)})
	}
	return l
}

// on is the node of a job, "-" where it waits.
func (w *world) on(id job.ID) string {
	for _, at := range w.where() {
		if strings.HasPrefix(at, fmt.Sprintf("%d_", id)) {
			_, node, _ := strings.Cut(at, "@")
			return node
		}
	}
	return "-"
}

// A node that is busy with what the fleet does not know of gets no tasks, as soon as that was
// measured, and gets some again when it has calmed down; who waits is told why.
func TestBusyNodeIsAvoided(t *testing.T) {
	in(t, []*api.Registration{node("a", 8), node("b", 8)}, func(w *world) {
		m := metered(w, scheduler.Load{Policy: "LoadAware"})
		m.set(map[string][3]float64{"a": {90, 10}, "b": {5, 10}})
		const half = "resources: {cpu: 4}\ntimeLimit: 48h"
		first := w.submit(half, half)
		w.pass(5 * time.Second)
		require.Equal(t, "b b", w.on(first[0])+" "+w.on(first[1]))
		m.set(map[string][3]float64{"b": {95, 10}}) // as the tasks are at work
		waits := w.submit(half)[0]
		w.pass(time.Minute)
		require.Equal(t, "PENDING", w.states(waits))
		v := w.state.View()
		reason, message := w.leader.Why(v, v.Job(waits), 0)
		require.Equal(t, job.ReasonResources, reason)
		require.Equal(t, "0 of 2 nodes fit: is too busy: not enough cpu idle, as measured (1), not enough cpu free (1)", message)
		x, err := w.leader.Explain(v, v.Job(waits), 0)
		require.NoError(t, err)
		busy := slices.IndexFunc(x.Nodes, func(n api.NodeVerdict) bool { return n.Node == "a" })
		require.GreaterOrEqual(t, busy, 0)
		require.Equal(t, []string{"is too busy: not enough cpu idle, as measured"}, x.Nodes[busy].Verdicts[0].Reasons)
		require.NotRegexp(t, kubeWords, message)
		m.set(map[string][3]float64{"a": {40, 10}})
		w.pass(5 * time.Second)
		require.Equal(t, "a", w.on(waits))
		// Memory counts as well.
		m.set(map[string][3]float64{"a": {40, 99}})
		waits = w.submit("resources: {cpu: 1, memory: 100Gi}\ntimeLimit: 48h")[0]
		w.pass(time.Minute)
		v = w.state.View()
		_, message = w.leader.Why(v, v.Job(waits), 0)
		require.Contains(t, message, "is too busy: not enough memory idle, as measured (1)")
	})
}

// Tasks that use all that they asked for keep nobody from using what is left, and a task may ask
// for a whole node.
func TestFullUseIsNotBusy(t *testing.T) {
	in(t, []*api.Registration{node("a", 8), node("b", 8)}, func(w *world) {
		m := metered(w, scheduler.Load{Policy: "LoadAware"})
		m.set(map[string][3]float64{"a": {2, 2}, "b": {1, 2}})
		whole := w.submit("resources: {cpu: 8}\ntimeLimit: 48h")[0]
		w.pass(5 * time.Second)
		full, rest := w.on(whole), "a"
		require.NotEqual(t, "-", full)
		if full == rest {
			rest = "b"
		}
		for i := range 8 {
			one := w.submit("resources: {cpu: 1}\ntimeLimit: 48h")[0]
			w.pass(5 * time.Second)
			require.Equal(t, rest, w.on(one), "task %d", i)
			m.set(map[string][3]float64{rest: {float64(i+1)*12.5 + 1, 2}, full: {100, 2}})
			w.pass(3 * time.Minute)
		}
	})
}

// Each policy prefers another node of two that are alike but for what was measured.
func TestLoadPolicies(t *testing.T) {
	for policy, c := range map[string]struct{ a, b [3]float64 }{
		"LoadAware":                  {a: [3]float64{50, 50}, b: [3]float64{10, 10}},
		"TargetLoadPacking":          {a: [3]float64{5, 5}, b: [3]float64{60, 5}},
		"LoadVariationRiskBalancing": {a: [3]float64{30, 5, 40}, b: [3]float64{30, 5, 2}},
	} {
		t.Run(policy, func(t *testing.T) {
			in(t, []*api.Registration{node("a", 16), node("b", 16), node("c", 16)}, func(w *world) { // of c nothing is known
				m := metered(w, scheduler.Load{Policy: policy})
				m.set(map[string][3]float64{"a": c.a, "b": c.b})
				id := w.submit("resources: {cpu: 1}\ntimeLimit: 1h")[0]
				w.pass(5 * time.Second)
				require.Equal(t, "b", w.on(id))
				x, err := w.leader.Explain(w.state.View(), w.state.View().Job(id), 0)
				require.NoError(t, err)
				require.Contains(t, x.Scores, "measured load")
			})
		})
	}
}

// With Measure the load is kept and shown, and counts for nothing; with no policy it is not even
// kept.
func TestLoadIsOnlyShown(t *testing.T) {
	for policy, want := range map[string]bool{"": false, "Measure": true} {
		in(t, []*api.Registration{node("a", 8)}, func(w *world) {
			m := metered(w, scheduler.Load{Policy: policy})
			m.set(map[string][3]float64{"a": {100, 100}})
			require.Equal(t, want, w.leader.MeasureEvery() > 0)
			require.Equal(t, want, w.leader.Load("a") != nil)
			id := w.submit("resources: {cpu: 4}\ntimeLimit: 1h")[0]
			w.pass(5 * time.Second)
			require.Equal(t, "a", w.on(id))
		})
	}
}

// Reports that are lost or late hold nobody up: a node that is not heard of scores worst, and
// may be taken. So it is with a new leader, which has heard nothing yet.
func TestLoadsThatAreLost(t *testing.T) {
	in(t, []*api.Registration{node("a", 8), node("b", 8)}, func(w *world) {
		m := metered(w, scheduler.Load{Policy: "LoadAware", Weight: 10})
		m.set(map[string][3]float64{"a": {100, 10}, "b": {100, 10}})
		const two = "resources: {cpu: 2}\ntimeLimit: 48h"
		id := w.submit(two)[0]
		w.pass(4 * time.Minute)
		require.Equal(t, "-", w.on(id), "both are busy")
		m.lose("a")
		w.pass(4 * time.Minute)
		require.Equal(t, "-", w.on(id), "what was measured still counts")
		require.Greater(t, w.leader.Load("a").Age, w.leader.Load("b").Age)
		w.pass(10 * time.Minute)
		require.Equal(t, "a", w.on(id), "what was measured is too old")
		m.set(map[string][3]float64{"b": {30, 10}})
		id = w.submit(two)[0]
		w.pass(5 * time.Second)
		require.Equal(t, "b", w.on(id), "of which something is known")

		m.lose("b")
		w.lead()
		require.Nil(t, w.leader.Load("a"))
		require.Nil(t, w.leader.Load("b"))
		id = w.submit(two)[0]
		w.pass(5 * time.Second)
		require.NotEqual(t, "-", w.on(id))
		m.set(map[string][3]float64{"a": {100, 10}, "b": {20, 10}})
		id = w.submit(two)[0]
		w.pass(5 * time.Second)
		require.Equal(t, "b", w.on(id), "the new leader has heard of both")
	})
}

// A job that goes first has a reservation although all nodes are busy with tasks: what these
// use will be free by then. It starts as it was promised, before that was measured.
func TestBusyNodesAreReserved(t *testing.T) {
	in(t, []*api.Registration{node("a", 8), node("b", 8)}, func(w *world) {
		m := metered(w, scheduler.Load{Policy: "LoadAware"})
		w.runs = func(*state.Task) run { return run{lasts: time.Hour, ends: job.Completed} }
		running := w.submit("resources: {cpu: 8}\ntimeLimit: 1h", "resources: {cpu: 6}\ntimeLimit: 2h")
		w.pass(2 * time.Minute)
		full, other := w.on(running[0]), w.on(running[1])
		m.set(map[string][3]float64{full: {99, 10}, other: {75, 10}})
		whole := w.submit("resources: {cpu: 8}\ntimeLimit: 4h")[0]
		w.pass(10 * time.Second)
		v := w.state.View()
		start, nodes, ok := w.leader.Expected(v, v.Job(whole), 0)
		require.True(t, ok)
		require.Equal(t, []string{full}, nodes)
		require.InDelta(t, 3600-132, time.Until(start).Seconds(), 120)
		w.pass(time.Until(start) + 2*time.Second)
		require.NotEqual(t, "-", w.on(whole), "by then the other node is free as well")
	})
}

// What a task used is free when it has ended, in the minute after that too, in which it is still
// in what was measured; what others use is not.
func TestRoomIsFreeAfterATask(t *testing.T) {
	in(t, []*api.Registration{node("a", 8)}, func(w *world) {
		m := metered(w, scheduler.Load{Policy: "LoadAware"})
		w.runs = func(*state.Task) run { return run{lasts: 10 * time.Minute, ends: job.Completed} }
		const whole = "resources: {cpu: 8}\ntimeLimit: 1h"
		ids := w.submit(whole, whole)
		w.pass(2 * time.Minute)
		m.set(map[string][3]float64{"a": {100, 10}})
		require.Equal(t, "a -", w.on(ids[0])+" "+w.on(ids[1]))
		w.pass(10*time.Minute - 2*time.Minute - 11*time.Second + 2*time.Second)
		require.Equal(t, "- a", w.on(ids[0])+" "+w.on(ids[1]), "it starts at once")
		w.pass(10*time.Minute + 20*time.Second)
		require.Equal(t, "-", w.on(ids[1]))
		m.set(map[string][3]float64{"a": {50, 10}}) // half a minute later
		id := w.submit(whole)[0]
		w.pass(2 * time.Second)
		require.Equal(t, "a", w.on(id), "%v", w.leader.EngineLoad("a"))
		w.pass(12 * time.Minute)
		require.Equal(t, "-", w.on(id))
		m.set(map[string][3]float64{"a": {50, 10}})
		id = w.submit(whole)[0]
		w.pass(time.Minute)
		require.Equal(t, "-", w.on(id), "somebody else uses it")
	})
}

// In random histories of tasks the engine is told of each what it contributed to the last minute,
// within what can be known: an end is noticed within ten seconds.
func TestContributions(t *testing.T) {
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 5))
		in(t, []*api.Registration{node("a", 64)}, func(w *world) {
			m := metered(w, scheduler.Load{Policy: "LoadAware"})
			w.runs = func(k *state.Task) run {
				return run{lasts: time.Duration(15+int(k.ID.Job)*37%120) * time.Second, ends: job.Completed}
			}
			m.set(map[string][3]float64{"a": {40, 10}})
			type span struct{ from, to time.Time }
			spans := map[job.ID]*span{}
			for range 150 {
				if random.IntN(3) == 0 {
					w.submit("resources: {cpu: 2}\ntimeLimit: 1h")
				}
				w.pass(2 * time.Second)
				now := time.Now()
				running := map[job.ID]bool{}
				for k := range w.state.View().Tasks() {
					running[k.ID.Job] = true
					if spans[k.ID.Job] == nil {
						spans[k.ID.Job] = &span{from: k.Placed}
					}
				}
				for id, s := range spans {
					if !running[id] && s.to.IsZero() {
						s.to = now
					}
				}
				l := w.leader.EngineLoad("a")
				if l == nil {
					continue
				}
				want, got := 0.0, 0.0 // in cores times parts of a minute
				begin := l.At.Add(-time.Minute)
				for _, s := range spans {
					from, to := s.from, s.to
					if from.Before(begin) {
						from = begin
					}
					if to.IsZero() || to.After(l.At) {
						to = l.At
					}
					want += 1.7 * max(0, to.Sub(from).Minutes())
				}
				for _, x := range l.Workloads {
					got += float64(x.Used.CPU) / 1000
				}
				// Each task that has ended in the minute may seem to have run for ten seconds more, and
				// one that began when the last report was made may be missing.
				require.InDelta(t, want, got, 0.35*float64(len(l.Workloads)+4), "seed %d: %v", seed, l.Workloads)
			}
			require.Greater(t, len(spans), 20)
			w.pass(10 * time.Minute)
			for _, x := range w.leader.EngineLoad("a").Workloads {
				require.NotEqual(t, "left", x.ID, "all of it is forgotten")
			}
		})
	}
}

// Reports that make no sense are refused with all that is wrong, and the one before stays; what
// is of other nodes is not taken, nor what comes in the wrong order.
func TestLoadsThatLie(t *testing.T) {
	threads := func(n *api.Registration) { n.Machine.Threads = 4 }
	small := node("a", 3)
	threads(small)
	in(t, []*api.Registration{small, node("b", 4)}, func(w *world) {
		m := metered(w, scheduler.Load{Policy: "LoadAware"})
		m.set(map[string][3]float64{"a": {50, 50}})
		before := w.leader.Load("a").Windows
		edit := func(f func(*api.Load)) *api.Load {
			l := loadOf(30, 30, 1)
			f(l)
			return l
		}
		for want, f := range map[string]func(*api.Load){
			"age: -1s is not between 0 and 5m0s":                                 func(l *api.Load) { l.Age = job.Duration(-time.Second) },
			"age: 6m0s is not between 0 and 5m0s":                                func(l *api.Load) { l.Age = job.Duration(6 * time.Minute) },
			"windows: there are 0, and not 1 to 8":                               func(l *api.Load) { l.Windows = nil },
			"windows: there are 9, and not 1 to 8":                               func(l *api.Load) { l.Windows = make([]api.LoadWindow, 9) },
			"windows: 1m0s comes after 1m0s":                                     func(l *api.Load) { l.Windows[1].Window = l.Windows[0].Window },
			"windows: 0s is not between 0 and 24h0m0s":                           func(l *api.Load) { l.Windows[0].Window = 0 },
			"windows: 25h0m0s is not between 0 and 24h0m0s":                      func(l *api.Load) { l.Windows[1].Window = job.Duration(25 * time.Hour) },
			"windows: 1m0s has nothing":                                          func(l *api.Load) { l.Windows[0].CPU, l.Windows[0].Memory = nil, nil },
			"windows: 1m0s: cpu: NaN % is not between 0 and 135":                 func(l *api.Load) { l.Windows[0].CPU.Average = math.NaN() },
			"windows: 1m0s: cpu: -1 % is not between 0 and 135":                  func(l *api.Load) { l.Windows[0].CPU.Average = -1 },
			"windows: 1m0s: cpu: +Inf % is not between 0 and 135":                func(l *api.Load) { l.Windows[0].CPU.StdDev = math.Inf(1) },
			"windows: 1m0s: cpu: 140 % is not between 0 and 135":                 func(l *api.Load) { l.Windows[0].CPU.P99 = 140 },
			"windows: 1m0s: cpu: the percentiles [30 30 20 30] are not in order": func(l *api.Load) { l.Windows[0].CPU.P95 = 20 },
			"windows: 1m0s: memory: 1e+08 % is not between 0 and 102400":         func(l *api.Load) { l.Windows[0].Memory.Average = 1e8 },
			"tasks: 7_0.1.0 is there twice": func(l *api.Load) {
				l.Tasks = []api.TaskLoad{{Task: job.TaskID{Job: 7, Attempt: 1}}, {Task: job.TaskID{Job: 7, Attempt: 1}}}
			},
			"tasks: 7_0.1.0 cannot use 5 cpu and 0 bytes":                              func(l *api.Load) { l.Tasks = []api.TaskLoad{{Task: job.TaskID{Job: 7, Attempt: 1}, CPU: 5000}} },
			"tasks: 7_0.1.0 cannot use 0 cpu and -1 bytes":                             func(l *api.Load) { l.Tasks = []api.TaskLoad{{Task: job.TaskID{Job: 7, Attempt: 1}, Memory: -1}} },
			"age: -1s is not between 0 and 5m0s\nwindows: there are 0, and not 1 to 8": func(l *api.Load) { *l = api.Load{Age: job.Duration(-time.Second)} },
		} {
			require.EqualError(t, w.leader.Measured("a", edit(f)), want)
		}
		many := edit(func(l *api.Load) { l.Tasks = make([]api.TaskLoad, 100_000) })
		err := w.leader.Measured("a", many)
		require.ErrorContains(t, err, "and 99989 more")
		require.Less(t, len(err.Error()), 1000)
		require.Equal(t, before, w.leader.Load("a").Windows)

		require.NoError(t, w.leader.Measured("nowhere", loadOf(1, 1, 1)))
		require.Nil(t, w.leader.Load("nowhere"))
		require.NoError(t, w.leader.Measured("a", edit(func(l *api.Load) { l.Age = job.Duration(time.Minute) })))
		require.Equal(t, before, w.leader.Load("a").Windows, "a later one is there")
		// Tasks of other nodes, and of none, are left out.
		id := w.submit("resources: {cpu: 4}")[0]
		w.pass(5 * time.Second)
		require.Equal(t, "b", w.on(id))
		task := job.TaskID{Job: id, Attempt: 1}
		require.NoError(t, w.leader.Measured("a", edit(func(l *api.Load) {
			l.Tasks = []api.TaskLoad{{Task: task, CPU: 1000}, {Task: job.TaskID{Job: 99, Attempt: 1}}}
		})))
		require.Empty(t, w.leader.TasksMeasured("a"))
		require.NoError(t, w.leader.Measured("b", edit(func(l *api.Load) { l.Tasks = []api.TaskLoad{{Task: task, CPU: 1000}} })))
		require.Equal(t, []job.TaskID{task}, w.leader.TasksMeasured("b"))
		// A node that is gone is forgotten.
		m.lose("a")
		w.do(&state.Command{RemoveNode: "a"})
		w.pass(15 * time.Second)
		require.Nil(t, w.leader.Load("a"))
	})
}

// The engine is told of a load where it has changed by much, or would be too old, and never more
// often than every ten seconds.
func TestFewLoadsAreTold(t *testing.T) {
	in(t, []*api.Registration{node("a", 8), node("b", 8)}, func(w *world) {
		m := metered(w, scheduler.Load{Policy: "LoadAware", MaxAge: job.Duration(5 * time.Minute)})
		m.set(map[string][3]float64{"a": {50, 50}, "b": {50, 50}})
		told := func(d time.Duration) (a, b int) {
			last := map[string]time.Time{}
			for range d / time.Second {
				for _, name := range []string{"a", "b"} {
					if l := w.leader.EngineLoad(name); l != nil && !l.At.Equal(last[name]) {
						if name == "a" && !last[name].IsZero() {
							a++
						}
						if name == "b" && !last[name].IsZero() {
							b++
						}
						last[name] = l.At
					}
				}
				w.pass(time.Second)
			}
			return a, b
		}
		a, b := told(10 * time.Minute)
		require.Equal(t, [2]int{5, 5}, [2]int{a, b}, "one each 100 seconds, of reports each 15 seconds")
		go func() { // b is restless
			for x := 0.0; w.ctx.Err() == nil; x++ {
				m.mu.Lock()
				m.loads["b"] = [3]float64{math.Mod(x, 60), 50}
				m.mu.Unlock()
				m.report()
				time.Sleep(time.Second)
			}
		}()
		a, b = told(10 * time.Minute)
		require.Less(t, a, 8)
		require.InDelta(t, 60, b, 2)
	})
}

func TestLoadValidate(t *testing.T) {
	for want, l := range map[string]scheduler.Load{
		`policy: "loadaware" is none of those there are: Measure, LoadAware, TargetLoadPacking, LoadVariationRiskBalancing`:          {Policy: "loadaware"},
		"policy: it is empty, so that nothing else counts; one of Measure, LoadAware, TargetLoadPacking, LoadVariationRiskBalancing": {Target: 40},
		`thresholds: cpu: 101 is not between 0 and 100` + "\n" + `thresholds: "gpu" is neither cpu nor memory`:                       {Policy: "LoadAware", Thresholds: map[string]int64{"cpu": 101, "gpu": 1}},
		"thresholds: Measure has none, only LoadAware":                                                                               {Policy: "Measure", Thresholds: map[string]int64{"cpu": 50}},
		"target: LoadAware has none, only TargetLoadPacking":                                                                         {Policy: "LoadAware", Target: 40},
		"target: 101 is not between 1 and 100; 0 is the default":                                                                     {Policy: "TargetLoadPacking", Target: 101},
		"maxAge: 30s is less than a minute":                                                                                          {Policy: "LoadAware", MaxAge: job.Duration(30 * time.Second)},
		"weight: -1 is not between 1 and 100; 0 is the default":                                                                      {Policy: "LoadAware", Weight: -1},
	} {
		require.EqualError(t, l.Validate(), want)
		_, err := scheduler.New(scheduler.Config{Load: l})
		require.ErrorContains(t, err, "load: ")
	}
	for _, l := range []scheduler.Load{
		{}, {Policy: "Measure"}, {Policy: "LoadAware", Thresholds: map[string]int64{"cpu": 0, "memory": 90}, MaxAge: job.Duration(time.Minute), Weight: 100},
		{Policy: "TargetLoadPacking", Target: 40}, {Policy: "LoadVariationRiskBalancing"},
	} {
		require.NoError(t, l.Validate())
		_, err := scheduler.New(scheduler.Config{Load: l})
		require.NoError(t, err)
	}
}
