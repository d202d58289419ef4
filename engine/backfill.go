package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// BackfillMode says who may start before something that waits longer.
type BackfillMode uint8

// The modes.
const (
	// NoPlan: whatever fits starts, as in kube-scheduler. Nothing is planned.
	NoPlan BackfillMode = iota
	// InOrder: nobody overtakes. What waits first, and will fit once something has ended,
	// holds up all behind it. (First come, first served.)
	InOrder
	// EASY: the first that waits has a reservation, and others start where they do not delay it.
	EASY
	// Reservations: as EASY, for the first Backfill.Reservations that wait.
	Reservations
	// Conservative: as EASY, for all that wait, down to Backfill.Depth.
	Conservative

	backfillModes
)

var backfillModeNames = [...]string{"none", "in order", "EASY", "reservations", "conservative", "invalid"}

// String returns the mode's name.
func (m BackfillMode) String() string { return backfillModeNames[min(m, backfillModes)] }

// Backfill says how the engine plans ahead. It knows the future by [model.Workload.Limit]:
// by then a workload has ended. What has no limit is planned as if it never ended, and
// what has passed its limit as if it ended within a second. Where the plugin NodeHolds is in
// the profile it also knows the holds.
//
// With any mode but NoPlan order is strict: what was rejected keeps its turn and does not
// back off, so that of those that could start the first in the order of QueueSort does.
// Whether something fits later is found out by the profile's own filters, on the cluster as it will be then. Something
// for which they say no at every moment has no reservation, and holds nobody up.
//
// With OrderByQueues reservations are given in the order in which what waits would have its turns
// if each that had its turn were charged. That changes with what starts and ends, so
// a reservation may be put off because something has passed it, which is its cause then.
// Nothing is foreseen of quotas and limits: what is used now counts as used for good, with what
// those before it will use. What one of them would hold back has no reservation, nor has what
// is behind it in that part of the order; see Promise.Held. It holds nobody up. What fits at no time
// has no reservation, and is charged by its turn all the same: as long as it waits, others of its queue
// come after those of other queues. And nothing starts that would leave something with a reservation too little of a quota or a limit.
type Backfill struct {
	// Mode says who may overtake. Default NoPlan.
	Mode BackfillMode
	// Reservations is how many have one in mode Reservations; it is not used in others.
	Reservations int
	// Depth is for how many of those that wait it is found out whether they will ever
	// fit. Those behind have no reservation. Default 100.
	Depth int
	// ShortestFirst: while something waits with a reservation, the others are tried in the order
	// of their limits, the shortest first, and those without a limit last. Default: in
	// their order. It does not go with OrderByQueues: shares would come to nothing.
	ShortestFirst bool
	// Pinned: a reservation is of a time and of nodes. Default: of a time alone; the
	// workload may be planned elsewhere, so that others can start where it was to go.
	Pinned bool
	// Slack: what starts may put reservations off, none beyond the start that it was promised first,
	// so that nodes stay as busy as with EASY while many are promised a start (slack-based
	// backfilling, Talby and Feitelson 1999). The first reservation keeps its time. Default: a
	// reservation is put off for nothing that comes after it. It does not go with Pinned, nor with
	// OrderByQueues.
	Slack bool
	// Every is for how long the reservations stay as they are when something has become
	// free, or has ended early: a busy fleet need not look for earlier times after each end.
	// They are valid meanwhile, and others start beside them. What
	// endangers one, or leaves the first that wait without, has them made anew at once.
	// Default 0: at once in any case.
	Every time.Duration
	// Overrun is how long a workload that runs past its limit is still expected to end within the
	// next second. After that it is planned as if it had no limit: a reservation for its room
	// would keep others from what is free beside it. Default 0: for ever.
	Overrun time.Duration
}

// problems are what is wrong.
func (b *Backfill) problems() (list []error) {
	if b.Mode >= backfillModes {
		list = append(list, fmt.Errorf("Backfill.Mode: %d is not one of the constants", b.Mode))
	}
	if b.Mode == Reservations && b.Reservations < 1 {
		list = append(list, fmt.Errorf("Backfill.Reservations: %d is less than 1", b.Reservations))
	}
	if b.Slack && b.Pinned {
		list = append(list, errors.New("Backfill.Slack does not go with Pinned: what keeps its place cannot be put off"))
	}
	if b.Overrun < 0 {
		list = append(list, fmt.Errorf("Backfill.Overrun: %v is negative", b.Overrun))
	}
	if b.Every < 0 {
		list = append(list, fmt.Errorf("Backfill.Every: %v is negative", b.Every))
	}
	if b.Depth < 0 {
		list = append(list, fmt.Errorf("Backfill.Depth: %d is negative", b.Depth))
	}
	return list
}

// options are those of the book.
func (b *Backfill) options() timeline.Options {
	o := timeline.Options{Depth: cmp.Or(b.Depth, 100), InOrder: b.Mode == InOrder, Pinned: b.Pinned, Slack: b.Slack, Every: b.Every, Overrun: b.Overrun}
	switch b.Mode {
	case InOrder, EASY:
		o.Reservations = 1
	case Reservations:
		o.Reservations = b.Reservations
	}
	return o
}

// planPort is what the plan needs of the engine.
type planPort struct {
	timeline.Fitter
	*core
}

// Before implements [timeline.Port].
func (p planPort) Before(a, b *queue.Item) bool { return p.queue.Before(a, b) }

// Turns implements [timeline.Port].
func (p planPort) Turns() *queue.Turns { return p.queue.Turns() }

// Entity implements [timeline.Port].
func (p planPort) Entity(it *queue.Item) *timeline.Entity {
	if it.Group == nil {
		if row := p.rec.Workload(it.ID()); row != nil && row.Phase == model.Pending {
			return &timeline.Entity{Info: row.Info}
		}
		return nil
	}
	e, err := p.decider.TreeEntity(it.ID())
	if err != nil {
		return nil // its attempts say so
	}
	return e
}

// pop takes out what is to be tried next, nil where nothing is to be tried now.
func (s scheduling) pop(now time.Time) (*queue.Item, bool) {
	if s.plan == nil {
		return s.queue.Pop(now)
	}
	first := s.next(now)
	if first == nil {
		if due := s.plan.DueInTurn(now); due != nil {
			return s.queue.PopItem(now, due)
		}
		return s.queue.Pop(now)
	}
	reserved, before := s.plan.Ahead(now, first)
	switch {
	case !reserved:
		return s.queue.Pop(now)
	case before != nil:
		return s.queue.PopItem(now, before)
	case s.plan.InOrder:
		return nil, false
	}
	if s.cfg.Backfill.ShortestFirst {
		return s.queue.PopBy(now, shorter)
	}
	return s.queue.Pop(now)
}

// next is the first of the active items, once those have joined them that may be tried again
// as the plan is now. Where nothing is active the plan is made all the same: what waits
// alone is promised something too. The plan asks the queue for turns, which are to be those of now.
func (s scheduling) next(now time.Time) *queue.Item {
	s.queue.Reorder(now)
	for {
		s.queue.ActivateFirst(now, s.plan.Kept(now)...)
		if first := s.queue.First(now); first != nil {
			return first
		}
		s.plan.Renew(now)
		if !s.plan.Freed() {
			return nil
		}
	}
}

// replan makes the reservations anew where that is due, and lets those try again that were
// kept for their sake.
func (s scheduling) replan(now time.Time) {
	if due, waits := s.plan.NextDue(); waits && !due.After(now) {
		s.queue.Reorder(now)
		s.plan.Renew(now)
		s.queue.ActivateFirst(now, s.plan.Kept(now)...)
	}
}

// shorter reports whether the one has the shorter limit.
func shorter(a, b *queue.Item) bool {
	x, y := limitOf(a), limitOf(b)
	return x != 0 && (y == 0 || x < y)
}

// limitOf is the item's, the longest of a tree; 0: none.
func limitOf(it *queue.Item) time.Duration {
	if it.Group == nil {
		return it.Workload.Limit
	}
	longest := time.Duration(0)
	for _, m := range it.Members {
		if m.Workload.Limit == 0 {
			return 0
		}
		longest = max(longest, m.Workload.Limit)
	}
	return longest
}

// changedItself lets what was rejected for the sake of reservations try again when its owner has changed it:
// as it is now it may delay nobody. Of all other events the plan hears by itself; a change of its limit, or of
// what no event stands for, wakes whatever waits.
var changedItself = queue.PluginHints{Plugin: decide.Backfill, Events: []extpoints.EventHint{{
	Event: extpoints.ClusterEvent{
		Resource: extpoints.TargetWorkload,
		Action: extpoints.UpdateWorkloadLabel | extpoints.UpdateWorkloadScaleDown | extpoints.UpdateWorkloadToleration |
			extpoints.UpdateWorkloadDeviceClaims,
	},
	Hint: func(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
		if c.NewWorkload.ID == w.ID {
			return extpoints.HintQueue, nil
		}
		return extpoints.HintSkip, nil
	},
}}}

// heed lets attempts heed the reservations of those before the item.
func (s scheduling) heed(now time.Time, it *queue.Item) {
	if s.plan != nil {
		s.decider.Refuse = s.plan.Refusal(now, it)
		if it.Group == nil && it.Workload.MinLimit > 0 {
			s.decider.Starts = s.plan.Starts(now, it)
		}
	}
}

// heeded ends that, and takes note of what the attempt has come to. What fits and was rejected by
// Reserve or Permit waits for something else than room: it has no reservation, and holds
// nobody up. delays: some of it was rejected for the sake of those before it.
func (s scheduling) heeded(it *queue.Item, fits, delays bool) {
	if s.plan == nil {
		return
	}
	s.decider.Refuse, s.decider.Starts = nil, nil
	waits := it.Place() == queue.Unschedulable
	s.plan.Placed(it.ID(), !waits)
	if waits && !fits {
		s.plan.Rejected(it, delays)
	} else {
		s.plan.Forget(it.ID())
	}
}

// moved lets the plan follow what leaves the queue, or cannot be tried.
func (c *core) moved(m queue.Move) {
	switch m.To {
	case queue.Active, queue.InFlight, queue.Unschedulable, queue.Joining:
	default:
		c.plan.Forget(cmp.Or(m.Group, m.ID))
	}
}

// newPlan makes the plan of what there is.
func (c *core) newPlan() {
	if c.cfg.Backfill.Mode == NoPlan {
		return
	}
	c.plan = timeline.NewBook(c.cfg.Backfill.options(), c.rec, planPort{c.decider.Fitter(), c})
	for row := range c.rec.Store.Workloads() {
		c.plan.Follow(&store.Change{Kind: store.WorkloadKind, NewWorkload: row})
	}
}
