package queue

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Queue is the scheduling queue. It has no lock: it is used by one goroutine at
// a time, and so are the items it hands out, except that an item in flight may
// be read by the goroutine that works on the attempt.
//
// The times that the methods are given must not go backwards.
type Queue struct {
	cfg   Config
	hints hints

	// waiting has every item that is in one of the four structures below it.
	waiting       map[string]*Item
	arrivals      uint64 // see Item.arrival
	active        heap
	backoff       heap
	errorBackoff  heap
	unschedulable unschedulable

	inFlight inFlight
	groups

	// Kept between calls to save the allocation; empty in between.
	matched []*registration
	picked  []*Item
}

// New makes a queue. Defaults stand in for zero values of the configuration.
func New(cfg Config) (*Queue, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	q := &Queue{
		cfg:      cfg,
		hints:    newHints(cfg.Hints),
		waiting:  make(map[string]*Item),
		inFlight: inFlight{byID: make(map[string]*Item)},
		groups:   groups{byRoot: make(map[string]*Item), leaves: make(map[string]*leaf)},
	}
	q.active.less = q.before
	q.errorBackoff.less = expiresBefore
	q.backoff.less = expiresBefore
	if !cfg.NoPopFromBackoff {
		q.backoff.less = func(a, b *Item) bool {
			if !a.BackoffExpiration.Equal(b.BackoffExpiration) {
				return expiresBefore(a, b)
			}
			return q.before(a, b)
		}
	}
	q.unschedulable.timeouts.less = waitsLonger
	return q, nil
}

// before is the order of the active items, which is total: what Less calls equal
// goes by arrival. (kube-scheduler's clock is so fine that no two pods have the
// same time; here all that comes of one call has.)
func (q *Queue) before(a, b *Item) bool {
	if compareArrival(a, b) < 0 {
		return !q.cfg.Less(&b.Queued, &a.Queued)
	}
	return q.cfg.Less(&a.Queued, &b.Queued)
}

// arrive notes that the item comes to the queue now, or comes back to it.
func (q *Queue) arrive(it *Item, now time.Time) {
	q.arrivals++
	it.Timestamp, it.arrival = now, q.arrivals
}

// Move is a workload going from one place to another. Where a tree of groups
// moves there is one for each member.
type Move struct {
	ID string
	// Group is the ID of the highest group of the tree of which the workload is
	// a member; empty for a workload of its own, and while it is not known.
	Group    string
	From, To Place
	// Event is what moved it: a change in the cluster, or one of the labels
	// below without a kind of object.
	Event extpoints.ClusterEvent
	// Plugin is the one whose hint or gate decided, empty where none did.
	Plugin string
	// At is the time that the call was given; zero for Delete and Done, which
	// are given none.
	At time.Time
}

// Labels of events that are no change in the cluster. Those that exist there
// are named as in kube-scheduler (pkg/scheduler/framework/events.go, 1.37.1).
const (
	ScheduleAttemptFailure = "ScheduleAttemptFailure" // AddUnschedulable
	BackoffComplete        = "BackoffComplete"        // Tick
	UnschedulableTimeout   = "UnschedulableTimeout"   // Tick
	ForceActivate          = "ForceActivate"          // Activate
	DemandsChanged         = "DemandsChanged"         // Update, of what the workload asks for
	EvictionFailed         = "EvictionFailed"         // Retry
	RoomMade               = "RoomMade"               // Retry
	GroupChanged           = "GroupChanged"           // GroupChanged
	RoomGivenUp            = "RoomGivenUp"            // Move, of a workload that takes other room than was kept for it; not for itself
	PopFromBackoffQ        = "PopFromBackoffQ"        // Pop, when nothing was active
	Popped                 = "Popped"                 // Pop
	Discarded              = "Discarded"              // Pop, of one already in flight
	Deleted                = "Deleted"                // Delete, also of members that are left
	Finished               = "Finished"               // Done
)

// cause is why an item moves: the part of a Move that is handed down.
type cause struct {
	event  extpoints.ClusterEvent
	plugin string
	at     time.Time
}

func labelled(label string, now time.Time) cause {
	return cause{event: extpoints.ClusterEvent{Label: label}, at: now}
}

// Add takes in a new workload: it becomes active, or gated. A member of a group
// joins the item of its tree, which stays where it is, except that the gates are
// asked again if it is active or enters backoff anew; or it makes the item, or
// waits until its groups are there or an attempt of theirs is over. One that
// waits under the same ID is replaced. While one of the same ID is in flight the new
// one is not popped: Pop drops it, and the attempt under way stands for it.
func (q *Queue) Add(now time.Time, w *extpoints.WorkloadInfo) {
	if old := q.waiting[w.ID]; old != nil {
		q.drop(old, now)
	}
	it := new(Item)
	it.setWorkload(w)
	q.arrive(it, now)
	it.AddedAt = now
	why := cause{event: WorkloadAdded, at: now}
	if q.isMember(w) {
		q.addMember(it, why)
		return
	}
	q.toActive(it, why, askGates)
}

// drop takes a waiting item out of the queue for good.
func (q *Queue) drop(it *Item, now time.Time) {
	if it.leaf != nil {
		q.dropMember(it, now)
		return
	}
	q.take(it)
	q.settle(it, None, labelled(Deleted, now))
}

// Update tells of a new version of a workload that is on no node. One that is
// active or backing off is replaced where it is; for one that is unschedulable
// or gated the hints decide whether the change is worth another attempt; one in
// flight gets the new version after the attempt, and the change is played back
// then. One that is unknown is added, and so is one that is with another group
// now, or as a member where it was none, or the other way round: as new.
func (q *Queue) Update(now time.Time, old, new *extpoints.WorkloadInfo) {
	if f := q.inFlight.byID[new.ID]; f != nil {
		f.flight.latest = new
		for _, event := range targetEvents(old, new) {
			q.inFlight.record(extpoints.Change{Event: event, OldWorkload: old, NewWorkload: new})
		}
		return
	}
	it := q.waiting[new.ID]
	if it == nil {
		q.Add(now, new)
		return
	}
	if it.leaf != nil || q.isMember(new) {
		q.updateMember(now, it, old, new)
		return
	}
	switch it.place {
	case Active, Backoff, ErrorBackoff:
		it.setWorkload(new)
		q.resolve(it) // it may be gated later, in another profile
		q.heapOf(it.place).fix(it)
	default:
		q.updateParked(now, it, old, new)
	}
}

// updateParked is Update for an unschedulable or gated item. The first event
// that is worth another attempt settles it: if a gate turns the item away, it
// would do so again on the next one.
func (q *Queue) updateParked(now time.Time, it *Item, old, new *extpoints.WorkloadInfo) {
	moved := it.Info.Profile != new.Profile
	it.setWorkload(new)
	if moved { // other registrations
		q.take(it)
		q.resolve(it)
		q.unschedulable.insert(it)
	}
	q.offerUpdate(now, it, old, new)
}

// offerUpdate judges what a change of a workload means for a parked item that it
// is, or is a member of.
func (q *Queue) offerUpdate(now time.Time, it *Item, old, new *extpoints.WorkloadInfo) {
	for _, event := range targetEvents(old, new) {
		c := extpoints.Change{Event: event, OldWorkload: old, NewWorkload: new}
		verdict, plugin := q.worth(it, &c)
		if verdict == skip {
			continue
		}
		q.take(it)
		q.requeue(it, verdict, cause{event: event, plugin: plugin, at: now})
		return
	}
}

// Delete takes the workload out of the queue, wherever it is. If it is in
// flight it does not come back after the attempt. For the members of its tree
// of groups that are active, or enter backoff anew, the gates are asked again.
func (q *Queue) Delete(id string) {
	it := q.waiting[id]
	if it != nil {
		q.drop(it, time.Time{})
	}
	if f := q.inFlight.byID[id]; f != nil {
		f.flight.deleted = true
		if tree := q.treeOf(f.flight.latest); it == nil && tree != nil {
			q.take(tree)
			q.rejoin(tree, labelled(Deleted, time.Time{}))
		}
	}
}

// Activate makes the workloads active at once if they back off or are
// unschedulable; gates still hold. For one in flight the wish is kept until the
// attempt has failed, and then counts as an event that every plugin asked for.
// All others are left alone. With a member of a group goes its whole tree.
func (q *Queue) Activate(now time.Time, ids ...string) {
	for _, id := range ids {
		if it := q.reachable(id); it != nil && it.place != Active {
			q.activate(now, it)
		} else if f := q.inFlight.byID[id]; f != nil {
			q.inFlight.record(extpoints.Change{Event: forceActivate, NewWorkload: f.flight.latest})
		}
	}
}

func (q *Queue) activate(now time.Time, it *Item) {
	gates := askGates
	if it.place == Backoff || it.place == ErrorBackoff {
		gates = q.gatesAfterBackoff()
	}
	q.take(it)
	q.toActive(it, labelled(ForceActivate, now), gates)
}

// Move offers a change to all unschedulable and gated workloads for which
// preCheck holds (nil: all); those for which it is worth another attempt leave.
// A tree of groups is offered it if preCheck holds for any member, and leaves if
// it is worth it for any.
// If any workload is in flight the change is remembered for it, whatever
// preCheck says. The change may be reused after the call.
func (q *Queue) Move(now time.Time, c *extpoints.Change, preCheck func(*model.Workload) bool) {
	if !q.match(c.Event) {
		return
	}
	q.collect(c, preCheck)
	for _, it := range q.picked {
		verdict, plugin := q.worth(it, c)
		if verdict == skip {
			continue
		}
		q.take(it)
		q.requeue(it, verdict, cause{event: c.Event, plugin: plugin, at: now})
	}
	q.release()
	q.inFlight.recordIfAny(c)
}

// Retry is for a workload that waits for events, when something that its last
// attempt has set going is over and no event need come of it, because it failed
// (EvictionFailed) or because none would be heeded (RoomMade; the label says
// which): it need not wait for them, but is tried again when its backoff, which
// runs from now on, is over. (As an error would be: other
// backoffs are cut short when nothing else is to be done.) For a member that
// waits with its tree of groups it is the tree that is tried again.
func (q *Queue) Retry(now time.Time, id, label string) {
	it := q.waiting[id]
	if it != nil && it.leaf != nil {
		it = it.entity
	}
	if it == nil || it.place != Unschedulable && it.place != Gated {
		return
	}
	q.take(it)
	it.UnschedulablePlugins, it.PendingPlugins = nil, nil
	it.GatingPlugin, it.Gate = "", nil
	q.arrive(it, now)
	it.BackoffExpiration = q.expiration(it)
	q.resolve(it)
	q.requeue(it, afterBackoff, labelled(label, now))
}

// Tick does the periodic work that is due: it ends the backoffs that are over,
// and wakes the unschedulable workloads that have waited too long.
func (q *Queue) Tick(now time.Time) {
	q.flushBackoff(now)
	q.flushUnschedulable(now)
}

// NextDue is when Tick next has something to do, not before now; false if it
// has nothing to wait for. Every other call may change the answer.
func (q *Queue) NextDue(now time.Time) (time.Time, bool) {
	var due time.Time
	consider := func(at time.Time) {
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	for _, h := range []*heap{&q.backoff, &q.errorBackoff} {
		if it := h.first(); it != nil {
			consider(nextMultiple(it.BackoffExpiration, q.cfg.OrderingWindow))
		}
	}
	if it := q.unschedulable.timeouts.first(); it != nil {
		consider(nextMultiple(it.waitsSince().Add(q.cfg.MaxInUnschedulable), q.cfg.UnschedulableFlushInterval))
	}
	if due.IsZero() {
		return time.Time{}, false
	}
	if due.Before(now) {
		due = now
	}
	return due, true
}

// nextMultiple is the first whole multiple of d after t.
func nextMultiple(t time.Time, d time.Duration) time.Time {
	return t.Truncate(d).Add(d)
}

// take removes a waiting item from its structure. It.place still says where it
// was, for the settle that must follow.
func (q *Queue) take(it *Item) {
	if h := q.heapOf(it.place); h != nil {
		h.remove(it)
	} else {
		q.unschedulable.remove(it)
	}
}

// settle records that an item is now in a place, and tells of the move.
func (q *Queue) settle(it *Item, to Place, why cause) {
	switch {
	case it.Group != nil:
		q.settleTree(it, to, why)
	case it.entity != nil:
		q.seat(it, to, it.entity.ID(), why)
	default:
		q.seat(it, to, "", why)
	}
}

// seat is settle for a workload, which may be a member of the group.
func (q *Queue) seat(it *Item, to Place, group string, why cause) {
	from := it.place
	it.place = to
	switch {
	case to == None || to == InFlight:
		if from != None && from != InFlight {
			delete(q.waiting, it.ID())
		}
	case from == None || from == InFlight:
		q.waiting[it.ID()] = it
	}
	if from != to && q.cfg.OnMove != nil {
		q.cfg.OnMove(Move{ID: it.ID(), Group: group, From: from, To: to, Event: why.event, Plugin: why.plugin, At: why.at})
	}
}

// heapOf is the heap of a place, nil for unschedulable and gated.
func (q *Queue) heapOf(p Place) *heap {
	switch p {
	case Active:
		return &q.active
	case Backoff:
		return &q.backoff
	case ErrorBackoff:
		return &q.errorBackoff
	}
	return nil
}
