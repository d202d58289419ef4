package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/extpoints"
)

// measures reports whether anybody listens to what must be measured.
func (l *Listener) measures() bool {
	return l.PluginRan != nil || l.PluginEvaluated != nil || l.HintRan != nil || l.ChangeOffered != nil ||
		l.PreemptionTried != nil || l.PreemptionEnded != nil || l.PlacementsGenerated != nil || l.PlacementTried != nil
}

// meterOf is what tells the listener of the configuration what is measured; nil where
// it does not want to know. all is that listener as the engine calls it.
func meterOf(cfg *Config, all *Listener) *observe.Meter {
	if !cfg.Listener.measures() {
		return nil
	}
	return &observe.Meter{
		Clock: observe.GuardedClock(cfg.Logger, cfg.Clock), SampleEvery: cfg.SampleEvery,
		PluginRan: func(point, plugin, profile string, code extpoints.Code, took time.Duration) {
			all.PluginRan(PluginRanEvent{Point: point, Plugin: plugin, Profile: profile, Code: code, Took: took})
		},
		PluginEvaluated: func(point, plugin, profile string, times int) {
			all.PluginEvaluated(PluginEvaluatedEvent{Point: point, Plugin: plugin, Profile: profile, Times: times})
		},
		HintRan: func(plugin string, event extpoints.ClusterEvent, hint extpoints.Hint, err error, took time.Duration) {
			all.HintRan(HintRanEvent{Plugin: plugin, Event: event, Hint: hint, Err: err, Took: took})
		},
		ChangeOffered: func(event extpoints.ClusterEvent, took time.Duration) {
			all.ChangeOffered(ChangeOfferedEvent{Event: event, Took: took})
		},
		PreemptionTried: func(point, plugin, profile string, code extpoints.Code, took time.Duration) {
			all.PreemptionTried(PluginRanEvent{Point: point, Plugin: plugin, Profile: profile, Code: code, Took: took})
		},
		PlacementsGenerated: func(profile string, count int) {
			all.PlacementsGenerated(PlacementsGeneratedEvent{Profile: profile, Count: count})
		},
		PlacementTried: func(profile string, feasible bool, took time.Duration) {
			all.PlacementTried(PlacementTriedEvent{Profile: profile, Feasible: feasible, Took: took})
		},
	}
}
