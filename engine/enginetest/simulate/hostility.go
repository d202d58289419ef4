package simulate

import (
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/plugins"
)

// hostility is what the surroundings do to the engines of a history: now and then, at one of the
// points where an engine calls them, they panic, end the goroutine, or call the engine back. Nil
// where they are friendly.
type hostility struct {
	rng      *rand.Rand
	off      bool                         // while somebody only looks, and when nothing is to fail any more
	step     func() int                   // of the history
	strikes  func(point string, how deed) // is told before it happens
	callBack func(point string)

	mu    sync.Mutex // two binders are called at once
	point string     // where it happens next
	how   deed
	calls int // of the point, until it happens
	since int // the step at which that was drawn
}

// deed is what they do.
type deed string

const (
	panics deed = "panics"
	goexit deed = "ends the goroutine"
	calls  deed = "calls back"
)

// The points. The faulty plugin panics by itself at those of a plugin.
var (
	pluginPoints = []string{
		"PreEnqueue", "hint", "PreFilter", "AddWorkload", "Filter", "PostFilter", "PreScore", "Score", "NormalizeScore", "Reserve", "Unreserve",
		"Permit", "PreBindPreFlight", "PreBind", "Bind", "PostBind", "PlacementFeasible", "ScorePlacement", "NormalizePlacementScore", "GroupPostFilter",
	}
	otherPoints = []string{
		"the recorder", "the recorder, when it has written", "the logger", "Less",
		"the orchestrator's Bind", "the orchestrator's Bind, when it has bound", "the orchestrator's Evict",
		"the orchestrator's BindVolumes", "the orchestrator's BindDevices", "the orchestrator's ReleaseDevices",
	}
)

// draw chooses what happens next.
func (h *hostility) draw() {
	switch n := h.rng.IntN(3); n {
	case 0:
		h.point, h.how = pluginPoints[h.rng.IntN(len(pluginPoints))], []deed{goexit, calls}[h.rng.IntN(2)]
	default:
		h.point, h.how = otherPoints[h.rng.IntN(len(otherPoints))], []deed{panics, goexit, calls}[h.rng.IntN(3)]
		if n == 1 {
			listener := reflect.TypeFor[engine.Listener]()
			h.point = "Listener." + listener.Field(h.rng.IntN(listener.NumField())).Name
		}
	}
	h.calls, h.since = 1+h.rng.IntN(12), h.step()
}

// at is called at a point.
func (h *hostility) at(point string) {
	if h == nil || h.off || h.step() == 0 {
		return
	}
	switch h.next(point) {
	case panics:
		panic("a planned panic of " + point)
	case goexit:
		runtime.Goexit()
	case calls:
		h.callBack(point)
	}
}

// spare calls f with friendly surroundings.
func (h *hostility) spare(f func()) {
	if h == nil || h.off {
		f()
		return
	}
	h.off = true
	defer func() { h.off = false }()
	f()
}

// next is what happens at the point now; empty for nothing.
func (h *hostility) next(point string) (how deed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if point == h.point {
		if h.calls--; h.calls == 0 {
			how = h.how
			h.strikes(point, how)
			h.draw()
		}
	} else if h.step() > h.since+40 {
		h.draw() // the point seems not to come
	}
	return how
}

// surround puts the surroundings around an engine.
func (h *hostility) surround(cfg *engine.Config, plan *faults.Plan) {
	if h == nil {
		return
	}
	plan.Hook = h.at
	cfg.Workers = 1 // at points in parallel loops the history would not repeat
	at := faults.Surroundings(h.at)
	var listener engine.Listener
	at.Listen(&listener)
	cfg.Listener = engine.Tee(cfg.Listener, listener)
	level := []hclog.Level{hclog.Error, hclog.Info, hclog.Trace}[h.rng.IntN(3)]
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Level: level, Output: at.Writer("the logger", io.Discard)})
	for i := range cfg.Profiles {
		at.Sort(&cfg.Profiles[i], plugins.PrioritySort)
	}
}

// beside calls f on a goroutine of its own, which f may end. It reports whether f has come to its
// end; with what it panicked, if it did, and where.
func beside(f func()) (whole bool, cause string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if cause0 := recover(); cause0 != nil {
				cause = fmt.Sprintf("%v\n%s", cause0, debug.Stack())
			}
		}()
		f()
		whole = true
	}()
	<-done
	return whole, cause
}
