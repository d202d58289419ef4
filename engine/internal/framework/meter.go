package framework

import (
	"sync/atomic"

	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// gauge is what a cycle knows of the meter.
type gauge struct {
	meter   *observe.Meter
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
func (g *gauge) timer() *observe.Meter {
	if g == nil || !g.sampled {
		return nil
	}
	return g.meter
}

// callShare: in a sampled cycle, of what is called for every node one call in so many
// is told of. All of them would cost more than the rest of the cycle.
const callShare = 16

// share is the meter for one call in callShare. A nil meter is told of none.
type share struct {
	meter *observe.Meter
	calls atomic.Uint32
}

func (s *share) timer() *observe.Meter {
	if s.meter == nil || s.calls.Add(1)%callShare != 1 {
		return nil
	}
	return s.meter
}

// timedFilter is a Filter plugin in a sampled cycle.
type timedFilter struct {
	extpoints.FilterPlugin
	f *Framework
	share
}

// Filter asks the plugin.
func (p *timedFilter) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return p.f.timed(p.timer(), "Filter", p.Name(), func() *extpoints.Status { return p.FilterPlugin.Filter(s, w, node) })
}

// timedScore is a Score plugin in a sampled cycle.
type timedScore struct {
	extpoints.ScorePlugin
	f *Framework
	share
}

// Score asks the plugin.
func (p *timedScore) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (score int64, st *extpoints.Status) {
	st = p.f.timed(p.timer(), "Score", p.Name(), func() (st *extpoints.Status) {
		score, st = p.ScorePlugin.Score(s, w, node)
		return st
	})
	return score, st
}

// call calls a plugin, guarded, and tells the cycle's meter.
func (f *Framework) call(s *extpoints.CycleState, point, plugin string, call func() *extpoints.Status) *extpoints.Status {
	return f.timed(f.gauge(s).timer(), point, plugin, call)
}

// timed calls a plugin, guarded, and tells the meter, where that is not nil.
func (f *Framework) timed(m *observe.Meter, point, plugin string, call func() *extpoints.Status) *extpoints.Status {
	if m == nil {
		return guard(point, plugin, call)
	}
	start := m.Clock()
	st := guard(point, plugin, call)
	m.PluginRan(point, plugin, f.name, st.Code(), m.Clock()-start)
	return st
}

// evaluated tells of a plugin that was asked once about the workload.
func (f *Framework) evaluated(s *extpoints.CycleState, point, plugin string) {
	if g := f.gauge(s); g != nil {
		g.meter.PluginEvaluated(point, plugin, f.name, 1)
	}
}

// meteredHints has the meter told of every hint, and of where there is none, which
// is one that always says HintQueue.
func meteredHints(m *observe.Meter, plugin string, events []extpoints.EventHint) []extpoints.EventHint {
	metered := make([]extpoints.EventHint, len(events))
	for i, e := range events {
		hint := e.Hint
		if hint == nil {
			hint = func(*model.Workload, *extpoints.Event) (extpoints.Hint, error) { return extpoints.HintQueue, nil }
		}
		e.Hint = func(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
			start := m.Clock()
			h, err := hint(w, c)
			m.HintRan(plugin, c.ClusterEvent, h, err, m.Clock()-start)
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
	meter   *observe.Meter
	profile string
	calls   int
}

// PreEnqueue asks the plugin.
func (p *meteredPreEnqueue) PreEnqueue(w *model.Workload) *extpoints.Status {
	p.calls++
	if p.calls%p.meter.SampleEvery != 0 {
		return p.PreEnqueuePlugin.PreEnqueue(w)
	}
	start := p.meter.Clock()
	st := p.PreEnqueuePlugin.PreEnqueue(w)
	p.meter.PluginRan("PreEnqueue", p.Name(), p.profile, st.Code(), p.meter.Clock()-start)
	return st
}
