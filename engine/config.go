package engine

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// TieBreak chooses among the nodes of the highest total score.
type TieBreak uint8

// The tie-breakers.
const (
	// TieBreakHeap takes the node that kube-scheduler 1.35 to 1.37 takes when
	// no extender scored: the first of the highest in pre-order of the
	// implicit binary heap over the feasible nodes. Where extenders are
	// interested in the workload kube-scheduler takes one at random of the
	// highest that extenders scored, and one that does not prioritize counts
	// there as if it had scored all (schedule_one.go prioritizeNodes, 1.37.1).
	// This takes the first in pre-order of the highest that extenders gave
	// points, or, where they gave none of them any, of all.
	TieBreakHeap TieBreak = iota
	// TieBreakLowestIndex takes the first in the order of nodes.
	TieBreakLowestIndex
	// TieBreakRandom takes one of them at random, each with the same chance,
	// by Config.Seed and the number of the decision.
	TieBreakRandom

	tieBreaks
)

// String returns the tie-breaker's name.
func (t TieBreak) String() string {
	return [...]string{"heap", "lowest index", "random", "invalid"}[min(t, tieBreaks)]
}

// FastPath says whether decisions may be made from what plugins said before.
type FastPath uint8

// The values of FastPath.
const (
	// FastPathAuto remembers what plugins said of nodes that have not changed since, for
	// workloads that are alike to them, and asks only about the others. It does so where
	// every plugin that takes part is an [extpoints.NodeLocalPlugin] and says yes, or is an
	// [extpoints.SlotPlugin], which is asked about all nodes at once; and never where extenders
	// or reservations have a say, nor for a workload that is nominated itself. Nodes where
	// others are nominated to which the workload must leave room are asked about anew.
	// Decisions, their words and the start of the next search are the same as without.
	FastPathAuto FastPath = iota
	// FastPathOff asks the plugins about every node that a decision looks at.
	FastPathOff
	// FastPathVerify decides as FastPathOff and compares: a decision that would be another
	// fails with an error that says what is different, and the workload is tried again like
	// after any failure. For tests, and to find a plugin that does not keep its promise. It
	// costs more than FastPathOff.
	FastPathVerify

	fastPaths
)

// Config says what an engine is made of and how it works. The zero value of
// every optional field means its default.
type Config struct {
	// Profiles are the ways of scheduling; the first is for workloads that
	// name none, and its plugin sorts the queue. Required.
	Profiles []extpoints.Profile
	// Orchestrator makes decisions come true. Required, except by [Replay].
	Orchestrator extpoints.Orchestrator
	// Extenders are programs outside the engine that take part in decisions. They are asked
	// in this order, those that are not ignorable first. While one is asked for
	// a decision the engine does nothing else, and Apply waits. Default: none.
	Extenders []extpoints.Extender

	// PercentageOfNodesToScore is the share of nodes, in percent, that must be
	// found feasible before the search ends; at least 100 nodes. A profile may
	// have its own. Default 0: adaptive, 50 minus one for every 125 nodes, at
	// least 5. 100: every node is looked at.
	PercentageOfNodesToScore int32
	// Workers is how many goroutines filter and score the nodes of one
	// decision. It changes nothing but speed. Default 1.
	Workers int
	// FastPath says whether decisions may be made from what plugins said before. It changes
	// nothing but speed, how often plugins are called, and memory: up to 100 MB for the engine
	// and for each of its branches that decides. Default FastPathAuto.
	FastPath FastPath
	// TieBreak chooses among equal nodes. Default TieBreakHeap.
	TieBreak TieBreak
	// Seed is where all random choices come from. Default 0, a seed like any
	// other.
	Seed uint64

	// Order says in which order active workloads are tried. Default OrderBySort.
	Order Order
	// Queue is how long workloads are kept back, and how long they wait for an
	// event. Default: kube-scheduler's numbers.
	Queue queue.Timing

	// Backfill says how the engine plans ahead, and who may overtake. Default: it does
	// not, as kube-scheduler.
	Backfill Backfill
	// Forecast says whether, and how, the engine forecasts when those that wait will start; see
	// [Raw.Forecast]. Default: it does not.
	Forecast ForecastOptions

	// Compat says which waiting workloads are woken, and when they are tried
	// again: whenever a change may help them, or as kube-scheduler does it.
	// Default [extpoints.Improved].
	Compat extpoints.Compat

	// MaxBindings is how many bindings may be under way at once, and how many
	// evictions. While that many bindings are, nothing more is scheduled.
	// Default 16 for each processor. Only for Engine.
	MaxBindings int
	// MaxBindingsPerNode is how many of these may be to one node, and how many of the evictions
	// may be of workloads on one, so that a node that does not answer cannot take all places. Where
	// nodes are in more than one zone, one zone may have half of the places, or as many as a node. A
	// binding that has no place left waits for one; others start, and scheduling goes on.
	// Default a quarter of MaxBindings, at least 1. Only for Engine.
	MaxBindingsPerNode int
	// BindTimeout is how long one call of Bind (the orchestrator's, a Bind plugin's or
	// an extender's), of PreBind, of Evict or of ReleaseDevices may take, and all of PostBind. Then its
	// context is cancelled with ErrBindTimeout as the cause, and what it returns counts. A PreBind plugin with
	// a timeout of its own (PreFlight.Timeout) has that much more; with [extpoints.KubeScheduler137]
	// PreBind and PostBind have no limit. One that does not heed its context for 5 seconds more is told to
	// Listener.Failed, and its place is given to others, of as many as MaxBindings at a time, but
	// not that on its node. Its workload stays Assumed, with its room, until it returns: whether it was
	// bound is not known. Default 2 minutes; negative: no timeout. Only for Engine:
	// the program that runs the tasks of a Raw passes a context.
	BindTimeout time.Duration
	// DrainTimeout is how long bindings under way may go on after the context
	// of Run has ended. Default 30 s; negative: not at all. Only for Engine.
	DrainTimeout time.Duration

	// RememberDecisions is how many of the most recent decisions Explain can explain.
	// Default 256; negative: none.
	RememberDecisions int
	// Listener is told what happens, and what things cost. Default: nobody.
	Listener Listener
	// SampleEvery: Listener.PluginRan is told of one cycle in so many; which ones
	// depends on their numbers alone. They are decided as with FastPathOff, so that every
	// call of a plugin is measured. Default 10, as in kube-scheduler
	// (schedule_one.go pluginMetricsSamplePercent, 1.37.1).
	SampleEvery int
	// Clock is how much time has passed since some moment, for the durations that
	// the Listener is told. It is read for nothing else, only where something is
	// measured, and by several goroutines at once. Default: the monotonic clock for
	// an Engine; one that stands still for a Raw.
	Clock func() time.Duration
	// Logger gets what an operator should know; every event is logged at a
	// level that fits it. Default: nothing is logged.
	Logger hclog.Logger
	// Recorder is told every input, so that a run can be replayed; see
	// [Replay]. Default: nobody.
	Recorder *Recorder
}

// WithDefaults returns a copy in which every field has a value.
func (c Config) WithDefaults() Config {
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.MaxBindings == 0 {
		c.MaxBindings = 16 * runtime.GOMAXPROCS(0)
	}
	if c.MaxBindingsPerNode == 0 {
		c.MaxBindingsPerNode = max(c.MaxBindings/4, 1)
	}
	if c.BindTimeout == 0 {
		c.BindTimeout = 2 * time.Minute
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = 30 * time.Second
	}
	if c.RememberDecisions == 0 {
		c.RememberDecisions = 256
	}
	if c.SampleEvery == 0 {
		c.SampleEvery = 10
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	c.Queue = c.Queue.WithDefaults()
	return c
}

// Validate lists every problem that can be seen without making the plugins.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf("config: "+format, args...)) }
	if len(c.Profiles) == 0 {
		problem("Profiles: at least one is needed")
	}
	seen := map[string]bool{}
	for i := range c.Profiles {
		name := c.Profiles[i].Name
		switch {
		case name == "":
			problem("Profiles[%d].Name: is empty", i)
		case seen[name]:
			problem("Profiles[%d].Name: %q is listed twice", i, name)
		}
		seen[name] = true
	}
	if c.Orchestrator == nil {
		problem("Orchestrator: is missing")
	}
	if c.PercentageOfNodesToScore < 0 || c.PercentageOfNodesToScore > 100 {
		problem("PercentageOfNodesToScore: %d is not in [0, 100]", c.PercentageOfNodesToScore)
	}
	if c.Workers < 0 {
		problem("Workers: %d is negative", c.Workers)
	}
	if c.TieBreak >= tieBreaks {
		problem("TieBreak: %d is not one of the constants", c.TieBreak)
	}
	if c.FastPath >= fastPaths {
		problem("FastPath: %d is not one of the constants", c.FastPath)
	}
	if !c.Compat.Valid() {
		problem("Compat: %d is not one of the constants", c.Compat)
	}
	if c.Order >= orders {
		problem("Order: %d is not one of the constants", c.Order)
	}
	if c.MaxBindings < 0 {
		problem("MaxBindings: %d is negative", c.MaxBindings)
	}
	if c.MaxBindingsPerNode < 0 {
		problem("MaxBindingsPerNode: %d is negative", c.MaxBindingsPerNode)
	}
	if c.SampleEvery < 0 {
		problem("SampleEvery: %d is negative", c.SampleEvery)
	}
	if err := c.Queue.WithDefaults().Validate(); err != nil {
		problem("Queue: %w", err)
	}
	for _, err := range c.Backfill.problems() {
		problem("%w", err)
	}
	for _, err := range c.Forecast.problems() {
		problem("%w", err)
	}
	if c.Order == OrderByQueues && c.Backfill.Slack {
		problem("Backfill.Slack does not go with Order by queues, where another comes first after each start")
	}
	if c.Order == OrderByQueues && c.Backfill.ShortestFirst {
		problem("Backfill.ShortestFirst does not go with Order by queues, which is by shares")
	}
	for _, err := range framework.CheckExtenders(c.Extenders) {
		problem("%w", err)
	}
	return errors.Join(problems...)
}
