package framework

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

// run is what the framework itself remembers of a cycle between the points. It
// is written by PreFilter, PreScore and PreBindPreFlight and shared by clones
// of the state.
type run struct {
	skipExtension []bool // by index of preFilters
	skipFilter    []bool // by index of filters
	skipScore     []bool // by index of scores
	skipPreBind   []bool // by index of preBind
	parallel      []bool // by index of preBind

	timer *Meter        // told of calls; nil where the cycle is not sampled
	nodes atomic.Uint32 // for nodeTimer
	tally *Tally        // nil where nothing is measured
}

var runKey = extpoints.NewStateKey[*run]("framework")

// begin puts an empty run into the state, in place of one that is there.
func (f *Framework) begin(s *extpoints.CycleState) *run {
	r := &run{
		skipExtension: make([]bool, len(f.preFilters)),
		skipFilter:    make([]bool, len(f.filters)),
		skipScore:     make([]bool, len(f.scores)),
	}
	if g := f.gauge(s); g != nil {
		r.timer, r.tally = g.timer(), &Tally{ended: make([]int64, len(f.filters)+1)}
	}
	runKey.Set(s, r)
	return r
}

// current returns the state's run; a state that never went through PreFilter
// skips nothing.
func (f *Framework) current(s *extpoints.CycleState) *run {
	if r, ok := runKey.Get(s); ok {
		return r
	}
	return f.begin(s)
}

// panicked makes the status of a plugin that panicked.
func panicked(point, plugin string, cause any) *extpoints.Status {
	return extpoints.AsStatus(&PluginError{Point: point, Plugin: plugin, Err: fmt.Errorf("panic: %v", cause)}).WithPlugin(plugin)
}

// failed makes the status of a plugin that gave an error or a code that its
// point does not allow.
func failed(point, plugin string, st *extpoints.Status) *extpoints.Status {
	err := st.AsError()
	var known *PluginError
	if errors.As(err, &known) && known.Point == point && known.Plugin == plugin {
		return st // a panic, already described
	}
	if st.Code() != extpoints.Error {
		err = fmt.Errorf("returned %v, which %s does not allow", st, point)
	}
	return extpoints.AsStatus(&PluginError{Point: point, Plugin: plugin, Err: err}).WithPlugin(plugin)
}

// PluginError says which plugin failed, at which point.
type PluginError struct {
	Point  string
	Plugin string
	Err    error
}

// Error says it in one line, in kube-scheduler's words (framework/runtime/
// framework.go, 1.37.1), which are others for Filter.
func (e *PluginError) Error() string {
	if e.Point == "Filter" {
		return fmt.Sprintf("running %q filter plugin: %v", e.Plugin, e.Err)
	}
	return fmt.Sprintf("running %s plugin %q: %v", e.Point, e.Plugin, e.Err)
}

// Unwrap returns the cause.
func (e *PluginError) Unwrap() error { return e.Err }
