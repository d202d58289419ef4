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
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/nodevolumelimits"
	"github.com/berth-project/berth/plugins/volumebinding"
	"github.com/berth-project/berth/plugins/volumerestrictions"
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
func (h *history) makeBerth(names []string, c queue.Config, o Options) error {
	profile := plugins.DefaultProfile()
	set := &profile.Plugins.MultiPoint
	set.Enabled = slices.DeleteFunc(set.Enabled, func(r extpoints.PluginRef) bool { return !slices.Contains(names, r.Name) })
	for _, name := range names {
		if !slices.ContainsFunc(set.Enabled, func(r extpoints.PluginRef) bool { return r.Name == name }) {
			set.Enabled = append(set.Enabled, extpoints.PluginRef{Name: name})
		}
	}
	profile.Args = map[string]any{
		plugins.InterPodAffinity:   interpodaffinity.Args{ReferenceHints: true},
		plugins.VolumeBinding:      volumebinding.Args{ReferenceHints: true},
		plugins.VolumeRestrictions: volumerestrictions.Args{ReferenceHints: true},
		plugins.NodeVolumeLimits:   nodevolumelimits.Args{ReferenceHints: true},
	}
	var err error
	if h.kind == bare {
		h.queue, err = newQueueSide(profile, &h.script, c, o)
		h.berth = h.queue
	} else {
		h.engine, err = newEngineSide(profile, &h.script, c, o)
		h.berth = h.engine
	}
	return err
}

// engineSide is Berth's engine.
type engineSide struct {
	*engine.Raw
	binder     *berthBinder
	handle     extpoints.Handle // of the binder
	lastPopped string
	deaf       func(*engine.Change) bool
}

func newEngineSide(profile extpoints.Profile, s *script, c queue.Config, o Options) (*engineSide, error) {
	if o.Change != nil {
		o.Change(&c)
	}
	e := &engineSide{binder: &berthBinder{}, deaf: o.Deaf}
	var err error
	e.Raw, err = engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Registry:     berthRegistry(s, e.binder, &e.handle),
		Orchestrator: &extpointstest.Orchestrator{},
		Queue:        c,
		// See the package comment.
		ReferenceWakeUps: true,

		Listener: engine.Listener{Popped: func(p engine.PoppedEvent) { e.lastPopped = p.Workload.ID }},
	})
	return e, err
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
func heard(changes []engine.Change, deaf func(*engine.Change) bool) []engine.Change {
	return slices.DeleteFunc(changes, func(c engine.Change) bool { return deaf != nil && deaf(&c) })
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
