package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// What agents measure is no decision, and it is old in a minute: it is not recorded. The
// leader has the last report of each node, and a new leader waits for new ones.

const (
	// measureEvery is how far apart the reports of a node are.
	measureEvery = 15 * time.Second
	// tellLoadsEvery is how far apart the engine is told of loads, of all nodes at once: each
	// time it plans anew.
	tellLoadsEvery = 10 * time.Second
	// maxLoadHints is how many times at once a waiting task may be asked whether the load of
	// a node that has changed helps it: with very many, nodes are told of in turns.
	maxLoadHints = 2_000_000
	// loadStep is how far a load must have gone up or down, in percentage points, to matter.
	loadStep = 2
	// maxLoadAge is the age of a measurement that nobody wants to hear of.
	maxLoadAge = 5 * time.Minute
	// The most that a report may have: windows, and of what length.
	maxWindows = 8
	maxWindow  = 24 * time.Hour
)

// measured has the last report of each node, of those that are known.
type measured struct {
	mu    sync.Mutex
	nodes map[string]*measurement
}

// measurement is a report. It is never changed.
type measurement struct {
	at   time.Time // when the measurements ended
	load api.Load
}

// MeasureEvery is how far apart agents are to report the load of their nodes; 0: the
// settings do not ask for it.
func (c *Controller) MeasureEvery() time.Duration {
	if c.cfg.Load.Policy == "" {
		return 0
	}
	return measureEvery
}

// Measured takes in what the agent of a node has measured, in place of what it had said before.
// It takes nothing where the settings do not ask for it, the node is not known, or there is a
// later measurement. Tasks that are not on the node are left out. The error lists all that is
// wrong with a report that makes no sense; then the one before stays.
func (c *Controller) Measured(node string, l *api.Load) error {
	if c.cfg.Load.Policy == "" {
		return nil
	}
	v := c.cfg.State.View()
	n := v.Node(node)
	if n == nil {
		return nil
	}
	if err := checkLoad(l, &n.Machine); err != nil {
		return err
	}
	m := &measurement{at: time.Now().Add(-time.Duration(l.Age)), load: api.Load{Windows: l.Windows}}
	for _, t := range l.Tasks {
		if k := v.Task(t.Task); k != nil && k.Node == node {
			m.load.Tasks = append(m.load.Tasks, t)
		}
	}
	c.measured.mu.Lock()
	defer c.measured.mu.Unlock()
	if old := c.measured.nodes[node]; old == nil || !m.at.Before(old.at) {
		c.measured.nodes[node] = m
	}
	return nil
}

// Load is what was measured last of a node, without its tasks; nil: nothing was, as far as
// this leader knows.
func (c *Controller) Load(node string) *api.Load {
	c.measured.mu.Lock()
	m := c.measured.nodes[node]
	c.measured.mu.Unlock()
	if m == nil {
		return nil
	}
	return &api.Load{Age: job.Duration(time.Since(m.at)), Windows: m.load.Windows}
}

// all is what there is of nodes that are still known. Others are forgotten.
func (b *measured) all(v state.View) map[string]*measurement {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.nodes, func(name string, _ *measurement) bool { return v.Node(name) == nil })
	return maps.Clone(b.nodes)
}

// checkLoad lists all that is wrong with what an agent says of its machine.
func checkLoad(l *api.Load, m *api.Machine) error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if l.Age < 0 || time.Duration(l.Age) > maxLoadAge {
		bad("age: %v is not between 0 and %v", time.Duration(l.Age), maxLoadAge)
	}
	if len(l.Windows) == 0 || len(l.Windows) > maxWindows {
		bad("windows: there are %d, and not 1 to %d", len(l.Windows), maxWindows)
		return errors.Join(problems...)
	}
	cores := max(int64(m.Threads)*1000, int64(m.CPU))
	for i, w := range l.Windows {
		d := time.Duration(w.Window)
		switch {
		case d <= 0 || d > maxWindow:
			bad("windows: %v is not between 0 and %v", d, maxWindow)
		case i > 0 && w.Window <= l.Windows[i-1].Window:
			bad("windows: %v comes after %v", d, time.Duration(l.Windows[i-1].Window))
		}
		if w.CPU == nil && w.Memory == nil {
			bad("windows: %v has nothing", d)
		}
		checkStats(bad, fmt.Sprintf("windows: %v: cpu", d), w.CPU, int64(m.CPU), cores+cores/100)
		checkStats(bad, fmt.Sprintf("windows: %v: memory", d), w.Memory, int64(m.Memory), maxMemory)
	}
	seen := make(map[job.TaskID]bool, len(l.Tasks))
	for _, t := range l.Tasks {
		if seen[t.Task] {
			bad("tasks: %s is there twice", t.Task)
		}
		seen[t.Task] = true
		if t.CPU < 0 || int64(t.CPU) > cores+cores/100 || t.Memory < 0 || t.Memory > maxMemory {
			bad("tasks: %s cannot use %v cpu and %v bytes", t.Task, t.CPU, t.Memory)
		}
	}
	if len(problems) > maxLoadProblems {
		problems = append(problems[:maxLoadProblems], fmt.Errorf("and %d more", len(problems)-maxLoadProblems))
	}
	return errors.Join(problems...)
}

// maxMemory is more than any machine has, in bytes.
const maxMemory = 1 << 50

// maxLoadProblems is how many problems of a report are told.
const maxLoadProblems = 10

// checkStats reports what cannot be: percentages of an amount of which a machine has at most
// so much.
func checkStats(bad func(string, ...any), what string, s *api.LoadStats, amount, most int64) {
	if s == nil {
		return
	}
	if amount <= 0 {
		bad("%s: tasks may use none of it", what)
		return
	}
	limit := float64(most) / float64(amount) * 100
	list := []float64{s.P50, s.P90, s.P95, s.P99, s.Average, s.StdDev}
	for _, x := range list {
		if !(x >= 0 && x <= limit) {
			bad("%s: %v %% is not between 0 and %.0f", what, x, limit)
			return
		}
	}
	if !slices.IsSorted(list[:4]) {
		bad("%s: the percentiles %v are not in order", what, list[:4])
	}
}

// tellLoads tells the engine of loads that matter, of all nodes at once, now and then.
func (c *Controller) tellLoads(now time.Time) {
	if c.cfg.Load.Policy == "" || now.Sub(c.toldLoads) < tellLoadsEvery {
		return
	}
	c.toldLoads = now
	v := c.cfg.State.View()
	all := c.measured.all(v)
	if !c.cfg.Load.places() {
		return
	}
	var news []*model.NodeLoad
	for name, m := range all {
		if c.nodes[name] == nil {
			continue // the engine has it no more
		}
		next := c.nodeLoad(v, name, m)
		if next != nil && c.cfg.Load.matters(c.loadsTold[name], next) {
			news = append(news, next)
		}
	}
	slices.SortFunc(news, func(a, b *model.NodeLoad) int {
		return cmp.Or(c.toldAt(a.Node).Compare(c.toldAt(b.Node)), strings.Compare(a.Node, b.Node))
	})
	if c.cfg.Load.Policy == loadAware { // the others wake nobody
		news = news[:min(len(news), max(16, maxLoadHints/(1+c.waiting)))]
	}
	for _, l := range news {
		c.loadsTold[l.Node] = l
		c.change(engine.PutObject(l))
	}
}

// toldAt is when the measurements ended that the engine has of a node, zero where it has none.
func (c *Controller) toldAt(node string) time.Time {
	if l := c.loadsTold[node]; l != nil {
		return l.At
	}
	return time.Time{}
}

// forgetLoad takes back what the engine was told of the load of a node.
func (c *Controller) forgetLoad(node string) {
	delete(c.uses, node)
	if l := c.loadsTold[node]; l != nil {
		delete(c.loadsTold, node)
		c.change(engine.RemoveObject(model.RefOf(l)))
	}
}

// nodeLoad is what the policy goes by, nil where the report has nothing of it: the shortest
// window, or the longest for the one that looks at how a load varies.
func (c *Controller) nodeLoad(v state.View, node string, m *measurement) *model.NodeLoad {
	w := &m.load.Windows[0]
	if c.cfg.Load.Policy == loadVariation {
		w = &m.load.Windows[len(m.load.Windows)-1]
	}
	out := &model.NodeLoad{Node: node, At: m.at, Interval: time.Duration(w.Window), Source: "agent"}
	add := func(name string, s *api.LoadStats) {
		if s != nil {
			out.Resources = append(out.Resources, model.ResourceLoad{
				Name: name, Window: time.Duration(w.Window), Average: math.Round(s.Average), StdDev: math.Round(s.StdDev),
			})
		}
	}
	add(model.CPU, w.CPU)
	add(model.Memory, w.Memory)
	if len(out.Resources) == 0 {
		return nil
	}
	if c.cfg.Load.Policy == loadAware {
		out.Workloads = c.workloadLoads(v, m, out)
	}
	return out
}

// matters reports whether the engine is to be told of a load after the other, nil for none:
// where it is another by much, or of other tasks, or where the one that the engine has
// would soon be too old.
func (l Load) matters(was, is *model.NodeLoad) bool {
	if was == nil {
		return true
	}
	passed := is.At.Sub(was.At)
	if passed <= 0 {
		return false
	}
	far := func(a, b float64) bool { return math.Abs(a-b) >= loadStep }
	return passed >= time.Duration(l.withDefaults().MaxAge)/3 ||
		!slices.EqualFunc(was.Resources, is.Resources, func(a, b model.ResourceLoad) bool {
			return a.Name == b.Name && a.Window == b.Window && !far(a.Average, b.Average) && !far(a.StdDev, b.StdDev)
		}) ||
		!slices.EqualFunc(was.Workloads, is.Workloads, func(a, b model.WorkloadLoad) bool {
			return a.ID == b.ID && (a.ID != leftTasks || a.Used.CPU == b.Used.CPU && a.Used.Memory == b.Used.Memory)
		})
}
