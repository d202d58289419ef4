package framework

import (
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

// seek is call for the points at which others are displaced: they are told of in every
// cycle, and with them the filters that the plugin has tried.
func (f *Framework) seek(s *extpoints.CycleState, point, plugin string, call func() *extpoints.Status) *extpoints.Status {
	g := f.gauge(s)
	if g == nil {
		return guard(point, plugin, call)
	}
	start := g.meter.Clock()
	st := guard(point, plugin, call)
	took := g.meter.Clock() - start
	g.meter.PreemptionTried(point, plugin, f.name, st.Code(), took)
	if g.sampled {
		g.meter.PluginRan(point, plugin, f.name, st.Code(), took)
	}
	f.TellFilters(s)
	return st
}

// Tally is the cycle's, nil where nothing is measured.
func (f *Framework) Tally(s *extpoints.CycleState) *Tally {
	if f.env.Meter == nil {
		return nil
	}
	return f.current(s).tally
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
			g.meter.PluginEvaluated("Filter", p.Name(), f.name, int(left))
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
			g.meter.PluginEvaluated("Score", f.scores[i].Name(), f.name, nodes)
		}
	}
}
