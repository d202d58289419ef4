package queue

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// NoBackoff as [Timing].MaxBackoff turns backoff off: a workload that is worth
// another attempt is active at once.
const NoBackoff time.Duration = -1

// Timing is how long workloads are kept back, and how long they wait. The zero value
// of each field stands for its default, which is kube-scheduler's.
type Timing struct {
	// InitialBackoff is how long a workload is kept back after its first
	// failed attempt; it doubles with each further one. Default 1s.
	InitialBackoff time.Duration
	// MaxBackoff is the longest backoff, or NoBackoff. Default 10s.
	MaxBackoff time.Duration
	// MaxInUnschedulable is how long a workload waits for an event before it
	// is tried again without one, in case a plugin did not ask for the event
	// that would have helped. Default 5m.
	MaxInUnschedulable time.Duration
	// UnschedulableFlushInterval is how often workloads are checked against
	// MaxInUnschedulable, at whole multiples of it. Default 30s.
	UnschedulableFlushInterval time.Duration
	// OrderingWindow is the grain of backoff: the ends of backoffs are cut to
	// whole windows, and workloads of the same window are ordered as the
	// active ones are. It is also how often completed backoffs are flushed, at
	// whole multiples of it. Default 1s.
	OrderingWindow time.Duration
	// NoPopFromBackoff: Pop never takes a workload that is still backing off.
	// The ends of backoffs are then not cut to windows, and the gates are asked
	// when a workload leaves backoff, not when it enters. Default false: when
	// nothing is active, Pop takes the one whose backoff ends first.
	NoPopFromBackoff bool
}

// Hooks are the functions, by profile, that a queue asks and tells. Each is called
// within a call to the queue, on the goroutine of the caller. A field that is not set
// asks or tells nobody, except for Less.
type Hooks struct {
	// Less orders the active workloads; it must be a strict weak order. Those
	// that it calls equal are in the order in which they came to the queue, or
	// last came back to it. Required.
	Less func(a, b *extpoints.Queued) bool
	// PreEnqueue holds each profile's gates, in the order in which they are
	// asked. Profiles are named as in Workload.Profile; where that may
	// be empty, so must be a name here and in Hints. Default none.
	PreEnqueue map[string][]extpoints.PreEnqueuePlugin
	// Profiles are those that there are, named likewise. A workload of another is gated by
	// [ProfileGate] until it is updated to one of them. Default: any profile is there.
	Profiles map[string]bool
	// Hints says for each profile which plugins want to know of which events.
	// A plugin without an entry never wakes a workload. A profile without an
	// entry has all its workloads woken by any event that another profile
	// cares for. Default none.
	Hints map[string][]PluginHints
	// AsGroups are the profiles that place groups as groups: the members of one
	// tree of groups are one item in the queue. Where it is false, members of
	// groups are workloads like any other. Default none.
	AsGroups map[string]bool
	// KeepPlace: what was rejected keeps its Timestamp and its turn among equals, and is
	// not kept back by a backoff, so that the order of the active ones is the order in
	// which they came, however often they were tried. What has failed, with an error,
	// backs off. Default false: each attempt is a new arrival.
	KeepPlace bool
	// Groups returns what is known of groups at the moment. Required where
	// AsGroups has a profile.
	Groups func() GroupTrees

	// ByQueues: active workloads are ordered by queues, and Less only orders those of one
	// principal in one queue. See the package comment. Default false: Less orders all.
	ByQueues bool
	// Hopeless reports whether no node could take any of them, each by itself, whatever left the
	// nodes: a workload of its own, or the members of a tree of groups. It is asked of what a
	// quota or a limit would hold back now: one without hope holds up nobody, see
	// [Item].Hopeless. The answer must follow from what the nodes are and hold. Default: none is.
	Hopeless func(members []*extpoints.WorkloadInfo) bool

	// OnLimit is told, by Tick, of a limit of breach [model.LimitStop] on resource-seconds that
	// what runs has reached, and whose it is where each principal has it for itself. It must
	// not call the queue. Default: nobody is told.
	OnLimit func(l *model.Limit, principal string)

	// OnMove is told of every move from one place to another. It must not call
	// the queue. Default: nobody is told.
	OnMove func(Move)
	// OnHintError is told when a hint fails (which counts as "queue"). It must
	// not call the queue. Default: nobody is told.
	OnHintError func(id, plugin string, err error)
	// OnGateError is told when a PreEnqueue plugin fails (which gates). It must
	// not call the queue. Default: nobody is told.
	OnGateError func(id, plugin string, err error)
}

// PluginHints are the events that a plugin registered for. A plugin that
// rejects workloads but registers nothing is never asked; the caller of New
// must give plugins without [extpoints.EnqueueExtensions] the
// registration for everything.
type PluginHints struct {
	Plugin string                // its name
	Events []extpoints.EventHint // what may make it change its mind
}

// config is all that a queue is made of.
type config struct {
	Timing
	Hooks
	Compat extpoints.Compat
}

// WithDefaults returns a copy in which defaults stand in for zero values.
func (c Timing) WithDefaults() Timing {
	orElse := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	orElse(&c.InitialBackoff, time.Second)
	orElse(&c.MaxBackoff, 10*time.Second)
	orElse(&c.MaxInUnschedulable, 5*time.Minute)
	orElse(&c.UnschedulableFlushInterval, 30*time.Second)
	orElse(&c.OrderingWindow, time.Second)
	return c
}

// Validate reports everything that is wrong, nil if nothing is. It expects defaults in
// place of zero values.
func (c Timing) Validate() error {
	var p problems
	positive := func(name string, d time.Duration) {
		if d <= 0 {
			p.add("%s is %v, must be more than 0", name, d)
		}
	}
	positive("InitialBackoff", c.InitialBackoff)
	positive("MaxInUnschedulable", c.MaxInUnschedulable)
	positive("UnschedulableFlushInterval", c.UnschedulableFlushInterval)
	positive("OrderingWindow", c.OrderingWindow)
	if c.MaxBackoff != NoBackoff && c.MaxBackoff < c.InitialBackoff {
		p.add("MaxBackoff is %v, must be NoBackoff or at least InitialBackoff, %v", c.MaxBackoff, c.InitialBackoff)
	}
	return errors.Join(p...)
}

// problems are what is wrong with how a queue is to be made.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// validate reports everything that is wrong, nil if nothing is.
func (c *config) validate() error {
	var p problems
	if err := c.Timing.Validate(); err != nil {
		p = append(p, err)
	}
	if !c.Compat.Valid() {
		p.add("Compat is %d, must be one of the constants", c.Compat)
	}
	if c.Less == nil {
		p.add("Less is missing")
	}
	if len(c.AsGroups) > 0 && c.Groups == nil {
		p.add("AsGroups needs Groups")
	}
	for profile, gates := range c.PreEnqueue {
		for i, gate := range gates {
			if gate == nil {
				p.add("PreEnqueue[%q][%d] is nil", profile, i)
			}
		}
	}
	for profile, hints := range c.Hints {
		seen := make(map[string]bool, len(hints))
		for i, h := range hints {
			if h.Plugin == "" {
				p.add("Hints[%q][%d] has no plugin", profile, i)
			} else if seen[h.Plugin] {
				p.add("Hints[%q] has plugin %q twice", profile, h.Plugin)
			}
			seen[h.Plugin] = true
		}
	}
	return errors.Join(p...)
}
