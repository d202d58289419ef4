package queuelevel

import (
	"context"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// berth is Berth's side: its engine, or its queue alone.
type berth interface {
	Apply(now time.Time, changes ...engine.Change) error
	// DoDue does what is due by now, where it says itself that something is, and
	// reports whether it did.
	DoDue(now time.Time) bool
	Queue(id string) (queue.Position, bool)
	QueueCounts() queue.Counts
	Activate(now time.Time, ids []string)
	// Nominations lists the workloads nominated to each node.
	Nominations() map[string][]string
}

// makeBerth makes Berth's side.
func (h *history) makeBerth(names []string, timing queue.Timing, o Options) error {
	e := &engineSide{binder: &berthBinder{}, deaf: o.Deaf}
	profile := plugins.DefaultProfile()
	profile.Plugins = slices.DeleteFunc(profile.Plugins, func(e extpoints.Entry) bool { return !slices.Contains(names, e.Name) })
	scripted := berthPlugins(&h.script, e.binder, &e.handle)
	for _, name := range names {
		if factory := scripted[name]; factory != nil {
			profile.Plugins = append(profile.Plugins, extpoints.Entry{Name: name, New: factory})
		}
	}
	var err error
	if h.kind == bare {
		h.queue, err = newQueueSide(profile, timing, o)
		h.berth = h.queue
	} else {
		err = e.make(profile, timing, o)
		h.engine, h.berth = e, e
	}
	return err
}

// engineSide is Berth's engine.
type engineSide struct {
	*engine.Raw
	binder     *berthBinder
	handle     extpoints.Handle // of the binder
	lastPopped string
	deaf       func(engine.Change) bool
}

func (e *engineSide) make(profile extpoints.Profile, timing queue.Timing, o Options) (err error) {
	c := Queue{Timing: timing}
	if o.Change != nil {
		o.Change(&c)
	}
	e.Raw, err = engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: &extpointstest.Orchestrator{},
		Queue:        c.Timing,
		// See the package comment.
		Compat: extpoints.KubeScheduler137,

		Listener: engine.Listener{Popped: func(p engine.PoppedEvent) { e.lastPopped = p.Workload.ID }},
	})
	return err
}

// Apply implements [berth].
func (e *engineSide) Apply(now time.Time, changes ...engine.Change) error {
	return e.Raw.Apply(now, heard(changes, e.deaf)...)
}

// DoDue implements [berth].
func (e *engineSide) DoDue(now time.Time) bool {
	due, ok := e.NextDue(now)
	if !ok || due.After(now) {
		return false
	}
	e.Tick(now)
	return true
}

// heard leaves out what is not to be told.
func heard(changes []engine.Change, deaf func(engine.Change) bool) []engine.Change {
	return slices.DeleteFunc(changes, func(c engine.Change) bool { return deaf != nil && deaf(c) })
}

// Activate implements [berth].
func (e *engineSide) Activate(now time.Time, ids []string) {
	e.handle.Activate(ids...)
	e.Settle(now)
}

// Nominations implements [berth].
func (e *engineSide) Nominations() map[string][]string {
	nominated := map[string][]string{}
	for r := range e.View().WorkloadsIn(model.Pending) {
		if r.Nominated != "" {
			nominated[r.Nominated] = append(nominated[r.Nominated], r.Workload.ID)
		}
	}
	return nominated
}

// schedule runs one cycle and returns whose it was, empty where there was none.
func (e *engineSide) schedule(now time.Time) string {
	e.lastPopped = ""
	e.Schedule(now)
	return e.lastPopped
}

// end ends a binding.
func (e *engineSide) end(now time.Time, t *engine.Task, outcome *extpoints.Status) {
	e.binder.outcome = outcome
	t.Run(context.Background())
	e.Finish(now, t)
}
