package timeline

import (
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// Refusal is what must not be delayed when the item is tried now; nil: nothing.
func (b *Book) Refusal(now time.Time, it *queue.Item) Refusal {
	others := b.others(now, it)
	if b.turns != nil {
		b.kept.heed(b.before(now, it))
	}
	if len(others) == 0 {
		return nil
	}
	crowded := b.crowdedBy(others, it, b.plan(now, others))
	p := b.plan(now, b.heedful(now, it, others))
	return remembering(func(w *extpoints.WorkloadInfo, node string) *Reservation {
		e := &Entity{Info: w}
		if w.MinLimit > 0 { // it may be granted less than what Bars was asked about
			if r := crowded(e); r != nil {
				return r
			}
		}
		placed := &extpoints.WorkloadInfo{Workload: w.Workload, GrantedLimit: w.GrantedLimit, PlacedAt: now}
		r, _ := p.Delays(e, []Place{{placed, node}})
		return r
	})
}

// remembering is a refusal that is asked once about each node for workloads that are alike: the members of
// a gang are looked at one after the other.
func remembering(refuse Refusal) Refusal {
	var last *extpoints.WorkloadInfo
	var answers map[string]*Reservation
	return func(w *extpoints.WorkloadInfo, node string) *Reservation {
		if last == nil || last != w && !alike(last, w) {
			answers = map[string]*Reservation{}
		}
		last = w
		r, known := answers[node]
		if !known {
			r = refuse(w, node)
			answers[node] = r
		}
		return r
	}
}

// Bars returns the reservation that the item would delay wherever it started now, as far as that is known
// without a search: one that a quota or a limit would not let start in time, or one for which
// something like the item was just rejected; nil for none.
func (b *Book) Bars(now time.Time, it *queue.Item, e *Entity) *Reservation {
	if e.Info != nil && b.slackens(now, it) {
		if r := likeOne(b.rejected, e.Info); r != nil {
			return r
		}
	}
	others := b.others(now, it)
	return b.crowdedBy(others, it, b.plan(now, others))(e)
}

// Placing returns the reservation that could not be kept if the item started now in these
// places, nil where all can. Then it is expected to.
func (b *Book) Placing(now time.Time, it *queue.Item, e *Entity, places []Place) *Reservation {
	others := b.others(now, it)
	p := b.plan(now, others)
	p.latest = b.latest(now, it)
	r, kept := p.Delays(e, places)
	if r != nil && p.latest != nil && e.Info != nil {
		b.rejected = append(b.rejected, rejected{e.Info, *r})
	}
	if r == nil && !p.apart(e) {
		b.timeline.trail.apart = false
	}
	if r == nil && (len(others) == len(b.reservations) || b.index(it) >= 0) {
		b.next = kept
	}
	return r
}

// Placed takes note of what has come of the item with the ID.
func (b *Book) Placed(id string, placed bool) {
	if placed && b.next != nil {
		// Where one was moved, or gives up its own, others may have room.
		if len(b.next) < len(b.reservations) {
			b.gone()
		}
		// By queues what was charged may have changed who comes first.
		b.loose = b.loose || b.turns != nil || moved(b.reservations, b.next)
		b.reservations = b.next
		for i := range b.reservations {
			r := &b.reservations[i]
			if p := b.promises[r.ID()]; p != nil {
				p.Nodes = r.Nodes()
				if r.At.After(p.Current) { // as far as its slack goes
					b.suspect(Ahead, id)
				}
			}
		}
	} else if b.next != nil {
		b.stale = true
	}
	b.next = nil
}

// moved reports whether any reservation has another time or other places in the second list than in
// the first, which are of the same.
func moved(before, after []Reservation) bool {
	for i := range min(len(before), len(after)) {
		if !before[i].At.Equal(after[i].At) || !slices.EqualFunc(before[i].Places, after[i].Places, func(a, b Place) bool { return a.ID == b.ID && a.Node == b.Node }) {
			return true
		}
	}
	return false
}

// heedful are the reservations that the item must not delay wherever it finds room. With slack that is the
// firm one alone; what it has found is then looked at next to all of them, see [Book.Placing].
func (b *Book) heedful(now time.Time, it *queue.Item, others []Reservation) []Reservation {
	if b.slackens(now, it) {
		return b.firm(now, it)
	}
	return others
}

// firm is the reservation that keeps its time although others have slack: the first of those before the
// item, so that something is always on its way to the front. None where nothing is before it.
func (b *Book) firm(now time.Time, it *queue.Item) []Reservation {
	before := b.before(now, it)
	return before[:min(1, len(before))]
}

// slackens reports whether others may be put off for the item, as far as their slack goes. For what has a
// reservation for now they need not be: there is room for it as it is planned.
func (b *Book) slackens(now time.Time, it *queue.Item) bool {
	if !b.Slack {
		return false
	}
	i := b.index(it)
	return i < 0 || b.reservations[i].At.After(now)
}

// latest returns until when each of the others may be put off for the item: all but the firm one to the
// start that was promised first. It is nil where none may be.
func (b *Book) latest(now time.Time, it *queue.Item) func(*Reservation) time.Time {
	if !b.slackens(now, it) {
		return nil
	}
	firm := b.firm(now, it)
	return func(r *Reservation) time.Time {
		if p := b.promises[r.ID()]; p != nil && p.First.After(r.At) && (len(firm) == 0 || r.ID() != firm[0].ID()) {
			return p.First
		}
		return r.At
	}
}
