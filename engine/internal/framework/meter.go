package framework

import (
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Meter is told what plugins do; the engine makes it from its type of the same
// name. All functions are there.
type Meter struct {
	// Clock is how much time has passed since some moment.
	Clock     func() time.Duration
	Ran       func(point, plugin, profile string, code extpoints.Code, took time.Duration)
	Evaluated func(point, plugin, profile string, times int)
	Sought    func(forGroup bool, plugin, profile string, code extpoints.Code, took time.Duration)
	Hinted    func(plugin string, event extpoints.ClusterEvent, hint extpoints.Hint, err error, took time.Duration)
	// Every: of so many calls of a PreEnqueue plugin one is told of.
	Every int
}

// gauge is what a cycle knows of the meter.
type gauge struct {
	meter   *Meter
	sampled bool
}

var gaugeKey = extpoints.NewStateKey[*gauge]("meter")

// Measure has the meter, where there is one, told of the cycle: how often its
// plugins are evaluated and, if it is sampled, of each call. A cycle for which
// this was not called is nobody's business.
func (f *Framework) Measure(s *extpoints.CycleState, sampled bool) {
	if f.env.Meter != nil {
		gaugeKey.Set(s, &gauge{f.env.Meter, sampled})
	}
}

// gauge is the cycle's, nil where it has none.
func (f *Framework) gauge(s *extpoints.CycleState) *gauge {
	if f.env.Meter == nil {
		return nil
	}
	g, _ := gaugeKey.Get(s)
	return g
}

// timer is the meter if it is to be told of calls, else nil.
func (g *gauge) timer() *Meter {
	if g == nil || !g.sampled {
		return nil
	}
	return g.meter
}

// nodeShare: of a sampled cycle, one node in so many is.
const nodeShare = 16

// nodeTimer is the meter if it is to be told of the calls for one more node: of all
// of them it would cost more than the rest of the cycle.
func (r *run) nodeTimer() *Meter {
	if r.timer == nil || r.nodes.Add(1)%nodeShare != 1 {
		return nil
	}
	return r.timer
}

// call calls a plugin, guarded, and tells the cycle's meter.
func (f *Framework) call(s *extpoints.CycleState, point, plugin string, call func() *extpoints.Status) *extpoints.Status {
	return f.timed(f.gauge(s).timer(), point, plugin, call)
}

// timed calls a plugin, guarded, and tells the meter, where that is not nil.
func (f *Framework) timed(m *Meter, point, plugin string, call func() *extpoints.Status) *extpoints.Status {
	if m == nil {
		return guard(point, plugin, call)
	}
	start := m.Clock()
	st := guard(point, plugin, call)
	m.Ran(point, plugin, f.name, st.Code(), m.Clock()-start)
	return st
}

// seek is call for the points at which room is made: they are told of in every
// cycle, and with them the filters that the plugin has tried.
func (f *Framework) seek(s *extpoints.CycleState, forGroup bool, point, plugin string, call func() *extpoints.Status) *extpoints.Status {
	g := f.gauge(s)
	if g == nil {
		return guard(point, plugin, call)
	}
	start := g.meter.Clock()
	st := guard(point, plugin, call)
	took := g.meter.Clock() - start
	g.meter.Sought(forGroup, plugin, f.name, st.Code(), took)
	if g.sampled {
		g.meter.Ran(point, plugin, f.name, st.Code(), took)
	}
	f.TellFilters(s)
	return st
}

// evaluated tells of a plugin that was asked once about the workload.
func (f *Framework) evaluated(s *extpoints.CycleState, point, plugin string) {
	if g := f.gauge(s); g != nil {
		g.meter.Evaluated(point, plugin, f.name, 1)
	}
}

// Tally counts the filters that are asked in a cycle: to tell the meter of each
// node would cost more than to filter it.
type Tally struct {
	// ended has for each filter the nodes at which it was the last that was asked
	// because it said no, and behind those the nodes that no filter turned down.
	ended []int64
}

// Tally is the cycle's, nil where nothing is measured.
func (f *Framework) Tally(s *extpoints.CycleState) *Tally {
	if f.env.Meter == nil {
		return nil
	}
	return f.current(s).tally
}

// Count counts what came of nodes. It may not be called by several goroutines.
func (t *Tally) Count(verdicts ...Verdict) {
	for i := range verdicts {
		last, all := verdicts[i].asked(len(t.ended) - 1)
		if last >= 0 {
			t.ended[last]++
		}
		if all {
			t.ended[len(t.ended)-1]++
		}
	}
}

// countShared is Count for one node, where others may be counting.
func (t *Tally) countShared(v Verdict) {
	last, all := v.asked(len(t.ended) - 1)
	if last >= 0 {
		atomic.AddInt64(&t.ended[last], 1)
	}
	if all {
		atomic.AddInt64(&t.ended[len(t.ended)-1], 1)
	}
}

// asked says which of so many filters was the last that was asked, filters where
// all passed and -1 where none was asked, and whether all had been asked once
// before, with the workloads that are nominated to the node.
func (v *Verdict) asked(filters int) (last int, all bool) {
	switch {
	case v.Status == nil:
		return filters, v.twice
	case v.f == nil:
		return -1, v.twice
	}
	return int(v.plugin), v.twice
}

// TellFilters tells the meter how often the filters have been asked in the cycle
// since it was last told.
func (f *Framework) TellFilters(s *extpoints.CycleState) {
	g := f.gauge(s)
	if g == nil {
		return
	}
	r := f.current(s)
	counts := make([]int64, len(r.tally.ended))
	var left int64 // nodes at which the filter was asked, if it takes part
	for i := range counts {
		counts[i] = atomic.SwapInt64(&r.tally.ended[i], 0)
		left += counts[i]
	}
	for i, p := range f.filters {
		if left == 0 {
			return
		}
		if !r.skipFilter[i] {
			g.meter.Evaluated("Filter", p.Name(), f.name, int(left))
		}
		left -= counts[i]
	}
}

// tellScored tells the meter that the Score plugins have been asked about so many
// nodes; one that failed at some node counts like the others.
func (f *Framework) tellScored(s *extpoints.CycleState, r *run, nodes int) {
	g := f.gauge(s)
	if g == nil {
		return
	}
	for i := range f.scores {
		if !r.skipScore[i] {
			g.meter.Evaluated("Score", f.scores[i].Name(), f.name, nodes)
		}
	}
}

// meteredHints has the meter told of every hint, and of where there is none, which
// is one that always says HintQueue.
func meteredHints(m *Meter, plugin string, events []extpoints.EventHint) []extpoints.EventHint {
	metered := make([]extpoints.EventHint, len(events))
	for i, e := range events {
		hint := e.Hint
		if hint == nil {
			hint = func(*model.Workload, *extpoints.Change) (extpoints.Hint, error) { return extpoints.HintQueue, nil }
		}
		e.Hint = func(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
			start := m.Clock()
			h, err := hint(w, c)
			m.Hinted(plugin, c.Event, h, err, m.Clock()-start)
			return h, err
		}
		metered[i] = e
	}
	return metered
}

// meteredPreEnqueue is a PreEnqueue plugin that tells the meter of some of its
// calls. The queue makes one at a time.
type meteredPreEnqueue struct {
	extpoints.PreEnqueuePlugin
	meter   *Meter
	profile string
	calls   int
}

// PreEnqueue asks the plugin.
func (p *meteredPreEnqueue) PreEnqueue(w *model.Workload) *extpoints.Status {
	p.calls++
	if p.calls%p.meter.Every != 0 {
		return p.PreEnqueuePlugin.PreEnqueue(w)
	}
	start := p.meter.Clock()
	st := p.PreEnqueuePlugin.PreEnqueue(w)
	p.meter.Ran("PreEnqueue", p.Name(), p.profile, st.Code(), p.meter.Clock()-start)
	return st
}
