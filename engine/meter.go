package engine

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Meter is told how often plugins are asked, and how long they and some of the
// engine's own work take: what a [Listener] is not told, because to measure it
// costs something. It is told of what the engine itself does, not of branches and
// explanations. A nil function is not called; where all are nil nothing is
// measured.
//
// What is decided, and what a [Recorder] writes, does not depend on it: its clock is
// read for nothing else. The functions must be quick and must not
// call the engine. PluginRan is called by several goroutines at once, the others
// one at a time, while the engine waits.
type Meter struct {
	// PluginRan tells of one call of a plugin. Only some cycles are sampled, see
	// Every, and in those one node in 16; the points of groups are in all, and of
	// PreEnqueue some calls.
	PluginRan func(PluginRanEvent)
	// PluginEvaluated tells of a plugin that was asked and had an answer, in every
	// cycle, at PreFilter, Filter, PreScore and Score.
	PluginEvaluated func(PluginEvaluatedEvent)
	// HintRan tells of a hint that was asked what a change means for a workload.
	HintRan func(HintRanEvent)
	// ChangeOffered tells of a change that the queue was told of.
	ChangeOffered func(ChangeOfferedEvent)
	// RoomSought tells of a PostFilter or GroupPostFilter plugin that was asked to
	// make room, in every cycle.
	RoomSought func(RoomSoughtEvent)
	// RoomMade tells that all evictions were accepted that a plugin asked for to
	// make room, or one failed.
	RoomMade func(RoomMadeEvent)
	// PlacementsGenerated tells how many placements there are to try for a group
	// that has members.
	PlacementsGenerated func(PlacementsGeneratedEvent)
	// PlacementTried tells of one that was tried, unless it ended with a failure.
	PlacementTried func(PlacementTriedEvent)

	// Every: one cycle in so many is sampled. Default 10, as in kube-scheduler
	// (schedule_one.go pluginMetricsSamplePercent, 1.37.1); which ones depends on
	// their numbers alone.
	Every int
	// Clock is how much time has passed since some moment. It may be read by several
	// goroutines at once. Required where there is a function.
	Clock func() time.Duration
}

// PluginRanEvent: a plugin was called.
type PluginRanEvent struct {
	Point   string // as in [PluginError]
	Plugin  string
	Profile string
	Code    extpoints.Code // Error where it panicked
	Took    time.Duration
}

// PluginEvaluatedEvent: a plugin was asked some times. One that says Skip at
// PreFilter or PreScore does not count, and is not asked at Filter or Score.
type PluginEvaluatedEvent struct {
	Point   string
	Plugin  string
	Profile string
	Times   int
}

// HintRanEvent: a hint was asked.
type HintRanEvent struct {
	Plugin string
	Event  extpoints.ClusterEvent
	Hint   extpoints.Hint
	Err    error // counts as HintQueue
	Took   time.Duration
}

// ChangeOfferedEvent: the queue was told of a change, and has moved those for whom
// it is worth it.
type ChangeOfferedEvent struct {
	Event extpoints.ClusterEvent
	Took  time.Duration
}

// RoomSoughtEvent: a plugin was asked to make room.
type RoomSoughtEvent struct {
	ForGroup bool // not for a workload by itself
	Plugin   string
	Profile  string
	Code     extpoints.Code
	Took     time.Duration
}

// RoomMadeEvent: the evictions that make room are over.
type RoomMadeEvent struct {
	// Group is the highest group that room was made for; nil for a workload by itself.
	Group  *model.Group
	Failed bool
	Took   time.Duration // since they were asked for
}

// PlacementsGeneratedEvent: there are so many placements to try.
type PlacementsGeneratedEvent struct {
	Profile string
	Count   int
}

// PlacementTriedEvent: a placement was tried.
type PlacementTriedEvent struct {
	Profile  string
	Feasible bool // the group fits
	Took     time.Duration
}

// tells reports whether there is anybody to tell.
func (m *Meter) tells() bool {
	return m.PluginRan != nil || m.PluginEvaluated != nil || m.HintRan != nil || m.ChangeOffered != nil ||
		m.RoomSought != nil || m.RoomMade != nil || m.PlacementsGenerated != nil || m.PlacementTried != nil
}

// guarded is the meter as the engine uses it: every function is there, and none
// panics, because in the middle of a cycle that would pass for a plugin's panic. It
// is nil where there is nobody to tell.
func (m *Meter) guarded(log hclog.Logger) *Meter {
	if !m.tells() {
		return nil
	}
	return &Meter{
		PluginRan:           measured(log, m.PluginRan),
		PluginEvaluated:     measured(log, m.PluginEvaluated),
		HintRan:             measured(log, m.HintRan),
		ChangeOffered:       measured(log, m.ChangeOffered),
		RoomSought:          measured(log, m.RoomSought),
		RoomMade:            measured(log, m.RoomMade),
		PlacementsGenerated: measured(log, m.PlacementsGenerated),
		PlacementTried:      measured(log, m.PlacementTried),
		Every:               m.Every,
		Clock:               guardedClock(log, m.Clock),
	}
}

func measured[E any](log hclog.Logger, f func(E)) func(E) {
	if f == nil {
		return func(E) {}
	}
	return func(e E) { call(log, "a meter", f, e) }
}

// guardedClock says nothing has passed where the clock panics.
func guardedClock(log hclog.Logger, clock func() time.Duration) func() time.Duration {
	return func() (passed time.Duration) {
		defer func() {
			if cause := recover(); cause != nil {
				log.Error("a meter's clock panicked", "panic", cause)
			}
		}()
		return clock()
	}
}

// forProfiles is the part of a guarded meter that the profiles tell; nil where there
// is none.
func (m *Meter) forProfiles() *framework.Meter {
	if m == nil {
		return nil
	}
	return &framework.Meter{
		Clock: m.Clock, Every: m.Every,
		Ran: func(point, plugin, profile string, code extpoints.Code, took time.Duration) {
			m.PluginRan(PluginRanEvent{Point: point, Plugin: plugin, Profile: profile, Code: code, Took: took})
		},
		Evaluated: func(point, plugin, profile string, times int) {
			m.PluginEvaluated(PluginEvaluatedEvent{Point: point, Plugin: plugin, Profile: profile, Times: times})
		},
		Sought: func(forGroup bool, plugin, profile string, code extpoints.Code, took time.Duration) {
			m.RoomSought(RoomSoughtEvent{ForGroup: forGroup, Plugin: plugin, Profile: profile, Code: code, Took: took})
		},
		Hinted: func(plugin string, event extpoints.ClusterEvent, hint extpoints.Hint, err error, took time.Duration) {
			m.HintRan(HintRanEvent{Plugin: plugin, Event: event, Hint: hint, Err: err, Took: took})
		},
	}
}
