package engine

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PluginRanEvent tells of one call of a plugin. Listener.PluginRan gets it in some cycles
// only; see Config.SampleEvery. In those, one call in 16 of Filter and Score plugins and
// of the extensions of PreFilter plugins is told of. At the points of groups every cycle
// is, and of the calls of a PreEnqueue plugin one in Config.SampleEvery.
type PluginRanEvent struct {
	Point   string         // as in [extpoints.PluginError]
	Plugin  string         // its name
	Profile string         // of the workload or group
	Code    extpoints.Code // Error where it panicked
	Took    time.Duration  // by Config.Clock
}

// PluginEvaluatedEvent tells how often a plugin was asked and had an answer. It is raised
// in every cycle, at PreFilter, Filter, PreScore and Score. A plugin that says Skip at
// PreFilter or PreScore does not count, and is not asked at Filter or Score. Where the fast
// decider has the answer already (Config.FastPath), that counts as if the plugin had been asked:
// the numbers are those of FastPathOff with one worker.
type PluginEvaluatedEvent struct {
	Point   string // PreFilter, Filter, PreScore or Score
	Plugin  string // its name
	Profile string // of the workload
	Times   int    // how often in this cycle: once, or once for each node
}

// HintRanEvent tells of a queueing hint that was asked what a change means for a workload.
type HintRanEvent struct {
	Plugin string                 // its name
	Event  extpoints.ClusterEvent // the kind of change that it was asked about
	Hint   extpoints.Hint         // what it said
	Err    error                  // counts as HintQueue
	Took   time.Duration          // by Config.Clock
}

// ChangeOfferedEvent tells that the queue was told of a change and has moved the workloads
// that it may help.
type ChangeOfferedEvent struct {
	Event extpoints.ClusterEvent // the kind of change
	Took  time.Duration          // by Config.Clock, hints included
}

// PreemptionEndedEvent tells that all evictions of a preemption were accepted, or one failed.
type PreemptionEndedEvent struct {
	// Group is the highest group that the others are displaced for; nil for a
	// workload by itself.
	Group  *model.Group
	Failed bool          // an eviction was not accepted
	Took   time.Duration // since they were asked for
}

// PlacementsGeneratedEvent tells how many placements there are to try for a group that
// has members.
type PlacementsGeneratedEvent struct {
	Profile string // of the group
	Count   int    // how many
}

// PlacementTriedEvent tells of a placement that was tried, and not ended by a failure.
type PlacementTriedEvent struct {
	Profile  string        // of the group
	Feasible bool          // the group fits
	Took     time.Duration // by Config.Clock, for all members
}
