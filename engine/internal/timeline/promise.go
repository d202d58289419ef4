package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Reason says what a cause is.
type Reason uint8

// The reasons for which a promise is broken.
const (
	Ahead     Reason = iota // something before it came, came back, or is another
	Changed                 // it asks for something else than before
	Overran                 // a workload runs on although its limit has passed
	Prolonged               // a workload will run longer than was known
	Arrived                 // a workload is on a node that the plan did not put there
	Lost                    // a node is gone, or is another than before
	Altered                 // an object that decisions depend on has changed
	Withheld                // a quota of a queue, or a limit, holds it back
)

// Cause is why a promise was broken: what happened, to which workload, node or object.
type Cause struct {
	Reason Reason
	Name   string
}

// Promise is when something that waits is to start.
type Promise struct {
	// First is the start that it was promised when it first got a reservation, Current the
	// present one; zero while it has none.
	First   time.Time
	Current time.Time `json:",omitzero"`
	// Nodes are where, by workload. They may change while the time stays.
	Nodes map[string]string `json:",omitempty"`
	// Causes are why it was last moved to a later time, or lost its reservation, and
	// MovedAt is when that was; zero for never.
	Causes  []Cause   `json:",omitempty"`
	MovedAt time.Time `json:",omitzero"`
	// Held is the quota or limit that keeps it from having a reservation, nil for none.
	Held *queue.Held `json:"-"`
}

// mostCauses is how many are kept of what happened between two plans.
const mostCauses = 8

// suspect notes what may have broken promises.
func (b *Book) suspect(reason Reason, name string) {
	c := Cause{reason, name}
	for _, known := range b.causes {
		if known == c {
			return
		}
	}
	if len(b.causes) < mostCauses {
		b.causes = append(b.causes, c)
	}
}

// suspectFact notes what of a fact may break promises.
func (b *Book) suspectFact(fact *store.Change) {
	switch fact.Kind {
	case store.NodeKind:
		if fact.OldNode != nil {
			b.suspect(Lost, fact.OldNode.Node.Name)
		}
	case store.ObjectKind:
		o := fact.NewObject
		if o == nil {
			o = fact.OldObject
		}
		b.suspect(Altered, o.Ref().ID)
	case store.WorkloadKind:
		b.suspectWorkload(fact.OldWorkload, fact.NewWorkload)
	}
}

func (b *Book) suspectWorkload(before, after *store.Workload) {
	to := after.TakesRoomOn()
	switch {
	case to == "":
		b.suspectWaiting(before, after)
	case before.TakesRoomOn() != to && after.Phase != model.Assumed:
		b.suspect(Arrived, after.Info.ID)
	case before.TakesRoomOn() != to && b.next == nil:
		b.suspect(Ahead, after.Info.ID) // it had nobody to heed
	case before.TakesRoomOn() == to && Ends(after.Info, after.Info.PlacedAt).After(Ends(before.Info, before.Info.PlacedAt)):
		b.suspect(Prolonged, after.Info.ID)
	}
}

// suspectWaiting notes that what waits is another now: it was changed itself, or a member of it was, came
// or went. What is gone altogether is in nobody's way.
func (b *Book) suspectWaiting(before, after *store.Workload) {
	waited := before != nil && before.TakesRoomOn() == ""
	if after == nil && !waited || after != nil && waited && before.Info == after.Info {
		return
	}
	w := cmp.Or(after, before).Info
	id := w.ID
	if w.Group != "" {
		root := b.rec.View.Groups().Root(w.Group)
		if root == nil {
			return
		}
		id = root.ID
	}
	if b.byID[id] != nil && (after != nil || w.Group != "") {
		b.suspect(Changed, id)
	}
}

// suspectPassed notes who is before others that were before it when the reservations were made
// before: what did not fit at any time then, and by queues whatever has its turn sooner now.
func (b *Book) suspectPassed(before, after []Reservation) {
	was := make(map[string]int, len(before))
	for i := range before {
		was[before[i].ID()] = i
	}
	least := len(before) // of those behind, the first of before
	for i := range before {
		if id := before[i].ID(); b.byID[id] != nil && !slices.ContainsFunc(after, func(r Reservation) bool { return r.ID() == id }) {
			least = i
			break
		}
	}
	for i := len(after) - 1; i >= 0; i-- {
		rank, had := was[after[i].ID()]
		if !had {
			rank = len(before)
		}
		if rank > least {
			b.suspect(Ahead, after[i].ID())
		}
		least = min(least, rank)
	}
}

// keepPromises notes what those with a reservation are promised.
func (b *Book) keepPromises(now time.Time) {
	rank := make(map[string]int, len(b.reservations))
	for i := range b.reservations {
		rank[b.reservations[i].ID()] = i
	}
	for i := range b.reservations {
		r := &b.reservations[i]
		p := b.promises[r.ID()]
		if p == nil {
			p = &Promise{First: r.At}
			b.promises[r.ID()] = p
		}
		if !p.Current.Equal(r.At) {
			b.freed = true // what is kept for its sake may be another
			if !r.At.After(now) {
				b.due = append(b.due, r.ID())
			}
			p.move(now, r.At, b.crowdedOut(r.ID(), rank))
		}
		p.Nodes = r.Nodes()
	}
	for id, p := range b.promises {
		if _, has := rank[id]; !has && !p.Current.IsZero() {
			b.freed = true
			p.move(now, time.Time{}, b.withheld(id, rank))
			p.Nodes = nil
		}
	}
	b.causes = nil
}

// causesFor are the causes for one of those that wait, of which rank has the reservations. What is behind
// it is none. What has changed and is before it goes before it as another.
func (b *Book) causesFor(id string, rank map[string]int) (list []Cause) {
	own, has := rank[id]
	for _, c := range b.causes {
		if c.Reason == Changed && c.Name != id {
			c.Reason = Ahead
		}
		other, waits := rank[c.Name]
		if c.Reason == Ahead && has && waits && other >= own || slices.Contains(list, c) {
			continue
		}
		list = append(list, c)
	}
	if list == nil && len(b.causes) == mostCauses {
		return slices.Clone(b.causes) // there were more
	}
	return list
}

// suspectLost notes who has another time since a quota has taken the one before: it may be in the way of
// those behind it now.
func (b *Book) suspectLost() {
	for i := range b.reservations {
		if id := b.reservations[i].ID(); b.timeline.trail.lost[id] != "" {
			b.suspect(Ahead, id)
		}
	}
}

// crowdedOut are the causes, for what has a reservation: with the queue for the sake of whose quota it
// starts later than it fits, or has lost its time.
func (b *Book) crowdedOut(id string, rank map[string]int) []Cause {
	causes := b.causesFor(id, rank)
	if queue := cmp.Or(b.timeline.trail.lost[id], b.timeline.trail.crowded[id]); queue != "" {
		return append(causes, Cause{Withheld, queue})
	}
	return causes
}

// withheld are the causes, for what has lost its reservation: with the quota or limit because of
// which it has no turn, or could not start where it fits.
func (b *Book) withheld(id string, rank map[string]int) []Cause {
	if b.turns == nil {
		return b.causesFor(id, rank)
	}
	held := b.turns.Held(id)
	switch {
	case held == nil:
		return b.crowdedOut(id, rank)
	case held.Absent != "":
		return b.causesFor(id, rank)
	}
	return append(b.causesFor(id, rank), Cause{Withheld, cmp.Or(held.Limit, held.Queue)})
}

// move makes the promise one of another time, zero for none.
func (p *Promise) move(now, at time.Time, causes []Cause) {
	if !p.Current.IsZero() && (at.IsZero() || at.After(p.Current)) {
		p.Causes, p.MovedAt = causes, now
	}
	p.Current = at
}

// Promise returns what something that waits is promised as of the last plan, false where it
// never was. To make a plan here would be a decision that no log has.
func (b *Book) Promise(id string) (Promise, bool) {
	var promised Promise
	p := b.promises[id]
	if p != nil {
		promised = *p
	}
	if b.turns != nil && promised.Current.IsZero() {
		promised.Held = b.turns.Held(id)
	}
	return promised, p != nil || promised.Held != nil
}
