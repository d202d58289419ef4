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

// Config says what an engine is made of and how it works. The zero value of
// every optional field means its default.
type Config struct {
	// Profiles are the ways of scheduling; the first is for workloads that
	// name none. Required.
	Profiles []extpoints.Profile
	// Registry has the plugins that the profiles name. Required.
	Registry extpoints.Registry
	// Orchestrator makes decisions come true. Required.
	Orchestrator extpoints.Orchestrator
	// Extenders are those outside who have a say in decisions. They are asked
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
	// TieBreak chooses among equal nodes. Default TieBreakHeap.
	TieBreak TieBreak
	// Seed is where all random choices come from. Default 0, a seed like any
	// other.
	Seed uint64

	// Queue holds the queue's times; its functions are set by the engine.
	// Default: kube-scheduler's numbers, see [queue.Config].
	Queue queue.Config

	// ReferenceWakeUps wakes nobody when a workload that was nominated to one
	// node is placed on another, as kube-scheduler 1.37.1 (eventhandlers.go,
	// which calls it an issue to be fixed), has groups wait in the queue as they
	// do there, see [queue.Config], and leaves a tree of groups that no plugin
	// rejected a member of behind the gate of DefaultPreemption when the room that
	// was made for it is there. It is for comparing the two. Default: those that
	// had left it room are woken, and that tree is tried again.
	ReferenceWakeUps bool

	// MaxBindings is how many bindings may be under way at once, and how many
	// evictions. While that many bindings are, nothing more is scheduled.
	// Default 16 for each processor. Only for Engine.
	MaxBindings int
	// DrainTimeout is how long bindings under way may go on after the context
	// of Run has ended. Default 30 s; negative: not at all. Only for Engine.
	DrainTimeout time.Duration

	// Decisions is how many of the most recent decisions Explain can explain.
	// Default 256; negative: none.
	Decisions int
	// Listener is told what happens. Default: nobody.
	Listener Listener
	// Meter is told how long things take and how often plugins are asked. Default:
	// nobody, and then nothing is measured.
	Meter Meter
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
	if c.DrainTimeout == 0 {
		c.DrainTimeout = 30 * time.Second
	}
	if c.Decisions == 0 {
		c.Decisions = 256
	}
	if c.Meter.Every == 0 {
		c.Meter.Every = 10
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
			problem("Profiles[%d].Name: %q is there twice", i, name)
		}
		seen[name] = true
	}
	if c.Registry == nil {
		problem("Registry: is missing")
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
	if c.MaxBindings < 0 {
		problem("MaxBindings: %d is negative", c.MaxBindings)
	}
	if c.Meter.Every < 0 {
		problem("Meter.Every: %d is negative", c.Meter.Every)
	}
	if c.Meter.Clock == nil && c.Meter.tells() {
		problem("Meter.Clock: is missing")
	}
	if err := c.checkQueue(); err != nil {
		problem("Queue: %w", err)
	}
	for _, err := range framework.CheckExtenders(c.Extenders) {
		problem("%w", err)
	}
	return errors.Join(problems...)
}

// checkQueue is the check of the queue's times: its functions are the engine's.
func (c *Config) checkQueue() error {
	q := c.Queue.WithDefaults()
	q.Less = func(a, b *extpoints.Queued) bool { return false }
	q.PreEnqueue, q.Hints = nil, nil
	return q.Validate()
}
