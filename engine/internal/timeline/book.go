package timeline

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/queue"
)

// Options are how a book plans. Package engine explains them.
type Options struct {
	// Reservations is how many of the first that wait have one; 0: all.
	Reservations int
	// Depth is for how many it is found out whether they ever fit.
	Depth int
	// InOrder: nothing starts before something that has a reservation and waits longer.
	InOrder bool
	Pinned  bool
	// Slack: what starts may put reservations off to the start that was promised first, but the first of them.
	Slack bool
	// Every is how long reservations stay as they are, at least, when something has become
	// free.
	Every time.Duration
	// Overrun is how long after its limit something is still expected to end; 0: for ever.
	Overrun time.Duration
	// Plain: everything is looked at every time, with the same outcome; for tests.
	Plain bool
}

// Port is what a book needs of the engine.
type Port interface {
	Fitter
	// Before is the order of the queue.
	Before(a, b *queue.Item) bool
	// Turns is a new order of what waits for room where the order is by queues, else nil.
	Turns() *queue.Turns
	// Entity is what the item stands for as it is now, nil where nothing of it waits.
	Entity(it *queue.Item) *Entity
}

// Book knows what waits for room, in the order of the queue, and keeps the reservations of
// the first of it.
type Book struct {
	Options
	line
	kept
	port     Port
	rec      *record.Record
	timeline *Timeline
	promises map[string]*Promise
	causes   []Cause // of what happened since the reservations were made

	reservations []Reservation
	stale        bool      // they are to be made anew
	loose        bool      // they are valid, and some may be moved to earlier times
	renewed      time.Time // when they were made
	until        time.Time // when they are in any case
	made         int       // how often they were made, or those that are kept were woken
	// next are the reservations as they will be if what is tried is placed.
	next []Reservation
	// rejected are the lone workloads that were rejected for those with slack since anything has changed.
	rejected []rejected
}

// NewBook makes a book of a record.
func NewBook(o Options, rec *record.Record, port Port) *Book {
	return &Book{
		Options: o, port: port, rec: rec, timeline: New(func() *snapshot.View { return rec.View.Fork() }, o.Overrun),
		line: line{less: port.Before, turns: port.Turns(), byID: map[string]*queue.Item{}}, kept: kept{heeded: map[string][]string{}}, promises: map[string]*Promise{},
	}
}

// Follow takes note of what a fact means for the plan. A nil book has none.
func (b *Book) Follow(fact *store.Change) {
	if b == nil {
		return
	}
	b.suspectFact(fact)
	b.rejected = nil
	if fact.Kind == store.WorkloadKind {
		b.followWorkload(fact.OldWorkload, fact.NewWorkload)
		return
	}
	if fact.Kind == store.NodeKind {
		b.timeline.ForgetNode(fact.ID())
	} else {
		b.timeline.Forget()
	}
	b.stale, b.freed = true, true
}

func (b *Book) followWorkload(before, after *store.Workload) {
	from, to := before.TakesRoomOn(), after.TakesRoomOn()
	same := before != nil && after != nil && before.Info == after.Info
	switch {
	case from == to && same:
		return
	case from == "" && to == "":
		if before != nil && after != nil {
			b.stale = true // what waits is another now
			b.freed = b.freed || b.reserves(before.Info.ID)
		}
		if w := cmp.Or(after, before); w.Info.Group != "" || before.NominatedTo() != after.NominatedTo() {
			b.timeline.Forget()
		}
		return
	}
	if from != "" {
		b.timeline.Remove(Place{before.Info, from})
		b.loose, b.freed = true, true
	}
	if to != "" {
		b.timeline.Add(Place{after.Info, to})
		b.stale = b.stale || b.next == nil
	}
}

// reserves reports whether the workload has a reservation, by itself or with its tree.
func (b *Book) reserves(id string) bool {
	return slices.ContainsFunc(b.reservations, func(r Reservation) bool {
		return slices.ContainsFunc(r.Places, func(p Place) bool { return p.ID == id })
	})
}

// Rejected takes note of something that was tried and now waits for room. delays: it would
// have delayed others.
func (b *Book) Rejected(it *queue.Item, delays bool) {
	b.kept.note(it.ID(), delays)
	if b.join(it) && !b.full(it) {
		b.stale = true
		b.suspect(Ahead, it.ID())
	}
}

// full reports whether there are as many reservations as there may be before the item.
func (b *Book) full(it *queue.Item) bool {
	n := len(b.reservations)
	return b.Reservations > 0 && n >= b.Reservations && len(b.ahead(b.reservations, it, b.Depth)) == n
}

// Forget takes note of something that waits for room no more.
func (b *Book) Forget(id string) {
	if !b.leave(id) {
		return
	}
	b.drop(id)
}

// drop forgets what was planned for something that waits no more.
func (b *Book) drop(id string) {
	b.kept.forget(id)
	if i := slices.IndexFunc(b.reservations, func(r Reservation) bool { return r.ID() == id }); i >= 0 {
		b.gone()
		b.reservations = slices.Delete(slices.Clone(b.reservations), i, i+1)
		b.freed = true
	}
	delete(b.promises, id)
	delete(b.timeline.trail.crowded, id)
}

// Kept returns those that are to be tried again since what they would have delayed may be
// another by now, and those that have a reservation for now since they were tried: a tree of groups may
// fit as it is planned where its attempt has not found a place. A tree is returned as one of its
// members. Nil while there are none.
func (b *Book) Kept(now time.Time) []string {
	if len(b.heeded) > 0 && !now.Before(b.until) {
		b.replan(now) // what runs over puts off what they would have delayed
		b.freed = true
	}
	var ids []string
	switch {
	case !b.freed:
		ids = b.kept.passed(&b.line, b.reservations, b.Depth)
	case len(b.heeded) > 0:
		ids = b.kept.among(b.waiting)
	}
	b.freed = false
	for _, id := range b.takeDue(&b.line) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		b.made++
	}
	return b.callable(ids)
}

// Ahead reports whether something with a reservation is before the item, which is the first of the
// active ones. By queues one that is active itself may be: its turn comes before, with what those
// before it will be charged. It is returned, to be tried first.
func (b *Book) Ahead(now time.Time, it *queue.Item) (reserved bool, active *queue.Item) {
	list := b.before(now, it)
	for i := range list {
		if other := b.byID[list[i].ID()]; b.turns != nil && other.Place() == queue.Active {
			return true, other
		}
	}
	return len(list) > 0, nil
}

// Due returns the nodes that are reserved for the members of the item, by member, where the
// time has come for it to start; else nil.
func (b *Book) Due(now time.Time, it *queue.Item) map[string]string {
	b.before(now, it)
	i := b.index(it)
	if i < 0 || b.reservations[i].At.After(now) {
		return nil
	}
	return b.reservations[i].Nodes()
}

// Starts are when those start whose reservations Refusal heeds.
func (b *Book) Starts(now time.Time, it *queue.Item) []time.Time {
	var list []time.Time
	for _, r := range b.before(now, it) {
		list = append(list, r.At)
	}
	return list
}

// gone notes that there is to be a reservation less. Where there are as many as there may be the next is
// to have one at once.
func (b *Book) gone() {
	b.loose = true
	b.stale = b.stale || b.Reservations > 0 && len(b.reservations) == b.Reservations
}

func (b *Book) plan(now time.Time, list []Reservation) *Plan {
	return &Plan{now: now, fit: b.port.From(now), pinned: b.Pinned, plain: b.Plain, timeline: b.timeline, Reservations: list}
}

// before are the reservations of those before the item.
func (b *Book) before(now time.Time, it *queue.Item) []Reservation {
	if b.leads(it) {
		return nil
	}
	b.replan(now)
	return b.ahead(b.reservations, it, b.Depth)
}

// others are the reservations that the item must not delay when it is tried now: those before
// it, and where it has one itself, so that it had its turn before those behind it got
// theirs, those behind it, too.
func (b *Book) others(now time.Time, it *queue.Item) []Reservation {
	if b.index(it) < 0 {
		return b.before(now, it)
	}
	b.replan(now)
	if i := b.index(it); i >= 0 {
		return slices.Delete(slices.Clone(b.reservations), i, i+1)
	}
	return b.before(now, it)
}

// Reserved reports whether the item has a reservation. In a nil book none has.
func (b *Book) Reserved(it *queue.Item) bool { return b != nil && b.index(it) >= 0 }

// index is which reservation is the item's, -1 for none.
func (b *Book) index(it *queue.Item) int {
	id := it.ID()
	return slices.IndexFunc(b.reservations, func(r Reservation) bool { return r.ID() == id })
}

// replan makes the reservations, where what they were made of has changed or the time of
// one has come.
func (b *Book) replan(now time.Time) {
	if !b.stale && now.Before(b.until) && (!b.loose || now.Before(b.renewed.Add(b.Every))) {
		return
	}
	b.rejected = nil
	for _, r := range b.timeline.overrun(now) {
		b.suspect(Overran, r.ID)
	}
	p := b.plan(now, b.reservations)
	list := iter.Seq[*Entity](b.entities)
	if p.crowds = b.crowding(); p.crowds != nil {
		list = slices.Values(slices.Collect(list)) // the turns cannot be asked while they are looked through
	}
	p.Renew(list, b.Reservations)
	if b.turns != nil {
		b.turns.NoteHeld()
	}
	b.suspectPassed(b.reservations, p.Reservations)
	b.reservations, b.stale, b.loose, b.renewed = p.Reservations, false, false, now
	b.until = b.timeline.after(now)
	for i := range b.reservations {
		if at := b.reservations[i].At; at.Before(b.until) {
			b.until = at
		}
	}
	if late := b.timeline.late(now); late || !b.until.After(now) {
		b.until = now.Add(1) // it is another second from now on
	}
	b.made++
	b.suspectLost()
	b.keepPromises(now)
}

// Made is how often the book has made the reservations anew, or has woken those that were
// kept for their sake. What has changed since is in the log of a recording only if the
// calls are in it by which that happened. A nil book has done neither.
func (b *Book) Made() int {
	if b == nil {
		return 0
	}
	return b.made
}

// entities are those that may have a reservation, in order.
func (b *Book) entities(yield func(*Entity) bool) {
	n := 0
	for it := range b.all() {
		if e := b.port.Entity(it); e != nil && !yield(e) {
			return
		}
		if n++; n == b.Depth {
			return
		}
	}
}

// NextDue is when the reservations are to be made anew although nothing happens: because
// something became free and Every is over, or because something must have ended by
// then. False where nothing waits. A nil book has none.
func (b *Book) NextDue() (time.Time, bool) {
	switch {
	case b == nil || len(b.waiting) == 0 || b.stale || b.loose && b.Every == 0:
		return time.Time{}, false // or the next decision sees to it
	case b.loose:
		return b.renewed.Add(b.Every), true
	case b.until.Equal(Never):
		return time.Time{}, false
	case b.until.Before(b.renewed.Add(Overrunning)):
		return b.renewed.Add(Overrunning), true // while something runs over it is another all the time
	}
	return b.until, true
}
