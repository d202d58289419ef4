package timeline

import (
	"slices"
	"time"

	"github.com/berth-project/berth/queue"
)

// Renew makes the reservations as they are at the time.
func (b *Book) Renew(now time.Time) []Reservation {
	if len(b.waiting) > 0 {
		b.replan(now)
	}
	return b.reservations
}

// Planned returns the reservations as of the last plan.
func (b *Book) Planned() []Reservation { return b.reservations }

// Waiting returns those that were tried and not placed, in the order of the queue: by
// QueueSort.
func (b *Book) Waiting() []*queue.Item { return b.waiting }

// InTurn lists those that were tried and not placed in the order of their turns, without what a
// quota or a limit holds back.
func (b *Book) InTurn() []*queue.Item { return slices.Collect(b.all()) }

// DueInTurn returns an active item with a reservation for now, for when the queue has nobody to
// try; nil for none. By queues that may be so: in the plan what has a reservation is charged before it
// starts, so a turn may come that the queue still gives to somebody else, whom a quota holds back.
func (b *Book) DueInTurn(now time.Time) *queue.Item {
	for i := range b.reservations {
		if it := b.byID[b.reservations[i].ID()]; !b.reservations[i].At.After(now) && it.Place() == queue.Active {
			return it
		}
	}
	return nil
}
