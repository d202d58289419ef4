package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/extpoints"
)

// decisionMeter is the meter as decisions see it.
type decisionMeter struct{ *Meter }

var _ decide.Meter = decisionMeter{}

// Samples implements [decide.Meter]. The bits of the number are mixed so that a
// workload that is always at the same place among others has the same chance.
func (m decisionMeter) Samples(number uint64) bool { return decide.Mix(number)%uint64(m.Every) == 0 }

// Clock implements [decide.Meter].
func (m decisionMeter) Clock() time.Duration { return m.Meter.Clock() }

// PlacementsGenerated implements [decide.Meter].
func (m decisionMeter) PlacementsGenerated(profile string, placements int) {
	m.Meter.PlacementsGenerated(PlacementsGeneratedEvent{Profile: profile, Count: placements})
}

// PlacementTried implements [decide.Meter].
func (m decisionMeter) PlacementTried(profile string, feasible bool, took time.Duration) {
	m.Meter.PlacementTried(PlacementTriedEvent{Profile: profile, Feasible: feasible, Took: took})
}

// offering calls f, which tells the queue of the change, and tells the meter.
func (r *Raw) offering(event extpoints.ClusterEvent, f func()) {
	if r.meter == nil {
		f()
		return
	}
	start := r.meter.Clock()
	f()
	r.meter.ChangeOffered(ChangeOfferedEvent{Event: event, Took: r.meter.Clock() - start})
}

// tellRoomMade tells the meter that the evictions for the beneficiary are over.
func (r *Raw) tellRoomMade(by preempt.Beneficiary, failed bool, took time.Duration) {
	if r.meter == nil {
		return
	}
	e := RoomMadeEvent{Failed: failed, Took: took}
	if by.Group != "" {
		e.Group = r.rec.View.Groups().Root(by.Group)
	}
	r.meter.RoomMade(e)
}
