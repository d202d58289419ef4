package engine

import (
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// samples reports whether the cycle of the number is one of those in which each
// call is told of. Its bits are mixed so that a workload that is always at the same
// place among others has the same chance.
func (m *Meter) samples(number uint64) bool { return mix(number)%uint64(m.Every) == 0 }

// offering calls f, which tells the queue of the change, and tells the meter.
func (c *core) offering(event extpoints.ClusterEvent, f func()) {
	if c.meter == nil {
		f()
		return
	}
	start := c.meter.Clock()
	f()
	c.meter.ChangeOffered(ChangeOfferedEvent{Event: event, Took: c.meter.Clock() - start})
}

// offer offers a change in the cluster to those who wait; see [queue.Queue.Move].
func (r *Raw) offer(now time.Time, change *extpoints.Change, others func(*model.Workload) bool) {
	r.offering(change.Event, func() { r.queue.Move(now, change, others) })
}

// Events of workloads that wait, which the queue is not told of as such.
var (
	workloadUpdated = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Update}
	workloadDeleted = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Delete}
)

// dequeue takes a workload that waits out of the queue.
func (r *Raw) dequeue(id string) {
	r.offering(workloadDeleted, func() { r.queue.Delete(id) })
}

// tellRoomMade tells the meter that the evictions for the preemption are over.
func (r *Raw) tellRoomMade(p *preemption) {
	if r.meter == nil {
		return
	}
	e := RoomMadeEvent{Failed: p.failed, Took: r.meter.Clock() - p.began}
	if root, group := strings.CutPrefix(p.by, groupKey("")); group {
		e.Group = r.rec.View.Groups().Root(root)
	}
	r.meter.RoomMade(e)
}

// generated tells the meter how many placements are to be tried for a group.
func (t *groupTry) generated(g *extpoints.GroupInfo, placements int) {
	if t.core.meter != nil && !g.Composite {
		t.core.meter.PlacementsGenerated(PlacementsGeneratedEvent{Profile: t.fw.Name(), Count: placements})
	}
}

// measured is within, and tells the meter.
func (t *groupTry) measured(g *extpoints.GroupInfo, p *extpoints.Placement) *groupResult {
	m := t.core.meter
	if m == nil || g.Composite {
		return t.within(g, p)
	}
	start := m.Clock()
	r := t.within(g, p)
	if r.status.Code() != extpoints.Error {
		m.PlacementTried(PlacementTriedEvent{Profile: t.fw.Name(), Feasible: r.status.IsSuccess(), Took: m.Clock() - start})
	}
	return r
}

// tellFilters tells the meter of the filters that a GroupPostFilter plugin has tried
// in the cycles of members that it was given.
func (t *groupTrial) tellFilters() {
	for _, result := range t.tries {
		result.each(func(c *cycle, _ bool) { c.fw.TellFilters(c.state) })
	}
}
