package framework

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// run is what the framework itself remembers of a cycle between the points. It
// is written by PreFilter, PreScore and PreBindPreFlight and shared by clones
// of the state.
type run struct {
	skipExtension   []bool          // by index of preFilters
	skipFilter      []bool          // by index of filters
	skipScore       []bool          // by index of scores
	skipPreBind     []bool          // by index of preBind
	parallel        []bool          // by index of preBind
	preBindTimeouts []time.Duration // by index of preBind

	// decides says of which kinds of objects a Reserve plugin has decided, by its name;
	// nil where none has. asked are the kinds that were to be written since.
	decides map[string][]model.ObjectKind
	asked   askedKinds

	// filters and scores are the framework's or, where the cycle is sampled, tell
	// of their calls.
	filters []extpoints.FilterPlugin
	scores  []extpoints.ScorePlugin

	// slots are the plugins that are asked by slot, since LocalKey.
	slots bySlot

	timer      *observe.Meter // told of calls; nil where the cycle is not sampled
	extensions share          // of timer, for the calls of PreFilter extensions
	tally      *Tally         // nil where nothing is measured
}

var runKey = extpoints.NewStateKey[*run]("framework")

// begin puts an empty run into the state, in place of one that is there.
func (f *Framework) begin(s *extpoints.CycleState) *run {
	skips := make([]bool, len(f.preFilters)+len(f.filters)+len(f.scores))
	next := func(n int) []bool {
		part := skips[:n:n]
		skips = skips[n:]
		return part
	}
	r := &run{
		skipExtension: next(len(f.preFilters)),
		skipFilter:    next(len(f.filters)),
		skipScore:     next(len(f.scores)),
		filters:       f.filters,
		scores:        f.scorePlugins,
	}
	if g := f.gauge(s); g != nil {
		r.tally = &Tally{ended: make([]int64, len(f.filters)+1)}
		if g.sampled {
			r.sample(f, g.meter)
		}
	}
	runKey.Set(s, r)
	return r
}

// sample has the meter told of the calls in the cycle.
func (r *run) sample(f *Framework, m *observe.Meter) {
	r.timer, r.extensions.meter = m, m
	r.filters, r.scores = nil, nil
	for _, p := range f.filters {
		r.filters = append(r.filters, &timedFilter{FilterPlugin: p, f: f, share: share{meter: m}})
	}
	for i := range f.scores {
		r.scores = append(r.scores, &timedScore{ScorePlugin: f.scores[i].ScorePlugin, f: f, share: share{meter: m}})
	}
}

// bySlot are the plugins of a cycle that are asked by slot: those that LocalKey has found not to
// be node-local, and that are SlotPlugins.
type bySlot struct {
	filters []int // of the framework's filters, in order
	scores  []int // of its scores
	// others has the filters of the run without those; nil where there are none.
	others *run
}

// askBySlot makes the filter one that is asked by slot.
func (r *run) askBySlot(filter int) {
	if r.slots.others == nil {
		r.slots.others = &run{filters: r.filters, skipFilter: slices.Clone(r.skipFilter)}
	}
	r.slots.others.skipFilter[filter] = true
	r.slots.filters = append(r.slots.filters, filter)
}

// current returns the state's run; a state that never went through PreFilter
// skips nothing.
func (f *Framework) current(s *extpoints.CycleState) *run {
	if r, ok := runKey.Get(s); ok {
		return r
	}
	return f.begin(s)
}

// noteDecided notes that the plugin has decided about the objects.
func (r *run) noteDecided(plugin string, objects model.Objects) {
	if len(objects) == 0 {
		return
	}
	if r.decides == nil {
		r.decides = map[string][]model.ObjectKind{}
	}
	for _, o := range objects {
		r.decides[plugin] = with(r.decides[plugin], model.RefOf(o).Kind)
	}
}
