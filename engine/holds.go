package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/model"
)

// That a hold begins or ends is a change that nobody reports: Tick tells those who wait of
// it, at the time that NextDue names. nextHold is when the next one does that has not been
// told, the zero time for none.

// holdsChanged takes note of other holds than before. What is to be told still is.
func (c *core) holdsChanged(now time.Time) {
	if c.nextHold.IsZero() || c.nextHold.After(now) {
		c.nextHold = c.holdAfter(now)
	}
}

// holdAfter is when the next hold begins or ends after the time.
func (c *core) holdAfter(at time.Time) time.Time {
	if list := timeline.Boundaries(c.rec.View.Holds(), at); len(list) > 0 {
		return list[0]
	}
	return time.Time{}
}

// tellHolds tells of the holds that have begun or ended since it was last called.
func (f facts) tellHolds(now time.Time) {
	from := f.nextHold
	if from.IsZero() || from.After(now) {
		return
	}
	f.nextHold = f.holdAfter(now)
	reached := func(at time.Time) bool { return !at.Before(from) && !at.After(now) }
	for _, h := range f.rec.View.Holds() {
		if reached(h.From) || reached(h.Until) {
			f.wake.Hold(now, h)
			f.lostRoomBy(now, h, nil)
		}
	}
}

// isHold reports whether either of the objects is a hold.
func isHold(before, after model.Object) bool {
	return model.RefOf(before).Kind == model.HoldKind || model.RefOf(after).Kind == model.HoldKind
}
