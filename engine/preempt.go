package engine

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// makeRoom does what PostFilter asked for, when those for whom room is made are back
// in the queue.
func (o outside) makeRoom(now time.Time, by preempt.Beneficiary, asked extpoints.Requests) {
	for _, id := range asked.Unnominations {
		o.unnominate(now, id)
	}
	o.makesRoom(asked.Evictions)
	victims := make([]string, len(asked.Evictions))
	for i, e := range asked.Evictions {
		victims[i] = e.ID
	}
	o.displacing(now, victims...)
	if len(victims) > 0 {
		o.rooms.made(o.beneficiaries(by)...)
	}
	if waiter := o.rec.Workload(o.room.Waiter(by)); waiter != nil {
		for _, e := range asked.Evictions {
			if victim := o.rec.Workload(e.ID); victim != nil {
				o.queue.Displaced(now, victim.Info.Workload, waiter.Info.Workload)
			}
		}
	}
	o.room.Begin(now, by)
}

// beneficiaries are the workloads that room is made for.
func (c *core) beneficiaries(by preempt.Beneficiary) []string {
	if by.Group == "" {
		return []string{by.Workload}
	}
	return c.pendingBelow(by.Group)
}

func (c *core) pendingBelow(group string) []string {
	groups := c.rec.View.Groups()
	ids := append([]string(nil), groups.Pending(group)...)
	for _, child := range groups.Children(group) {
		ids = append(ids, c.pendingBelow(child.ID)...)
	}
	return ids
}

// unnominate takes the nomination of a waiting workload back, and wakes it and those
// that may use the room it was kept.
func (o outside) unnominate(now time.Time, id string) {
	before := o.rec.Workload(id)
	if before.NominatedTo() == "" {
		return
	}
	tx := o.rec.Begin()
	defer tx.Abort()
	if err := tx.Nominate(id, ""); err != nil {
		return
	}
	o.listener.Unnominated(UnnominatedEvent{At: now, Workload: before.Info.Workload, Node: before.Info.Nominated})
	o.commit(now, tx)
	o.lostRoom(now, o.rec.Workload(id).Info)
}

// roomPort is what preemptions need of the engine.
type roomPort struct{ o outside }

var _ preempt.Port = roomPort{}

// Evict implements [preempt.Port].
func (p roomPort) Evict(now time.Time, e extpoints.Eviction, by preempt.Beneficiary) {
	p.o.evict(now, e.ID, e.Reason, by)
}

// Leaving implements [preempt.Port].
func (p roomPort) Leaving(id string) bool {
	row := p.o.rec.Workload(id)
	if row.TakesRoomOn() == "" || row.Phase == model.Terminating {
		return false
	}
	t := p.o.tasks.Of(id)
	if t != nil && t.Abandoned() {
		t = nil
	}
	return p.o.tasks.Leaving(id, t) != nil
}

// CallOff implements [preempt.Port].
func (p roomPort) CallOff(id string, by preempt.Beneficiary, cause error) {
	if t := p.o.tasks.Eviction(id); t != nil && t.Evict.By == by && !t.Evict.Asked {
		p.o.tasks.Stop(t, cause)
	}
}

// Dropped implements [preempt.Port].
func (p roomPort) Dropped(now time.Time, id string) { p.o.stays(now, id) }

// Ended implements [preempt.Port]: it wakes the beneficiary where no departure will.
// One whose victims would not go must not try again at once, as the reference lets it:
// that would go on for as long as they refuse.
func (p roomPort) Ended(now time.Time, by preempt.Beneficiary, outcome preempt.Outcome, took time.Duration) {
	o := p.o
	o.preemptionEnded(by, outcome == preempt.Failed, took)
	waiter := o.room.Waiter(by)
	row := o.rec.Workload(waiter)
	switch {
	case row == nil:
	case outcome == preempt.Failed:
		o.queue.Retry(now, waiter, queue.EvictionFailed)
	case outcome == preempt.Gone:
		o.activate(now, []string{waiter})
	case outcome == preempt.Changed:
		o.queue.Move(now, &extpoints.Event{ClusterEvent: queue.WorkloadDemandsChanged, NewWorkload: row.Info}, nil)
	case by.Group != "" && o.cfg.Compat == extpoints.Improved && !o.anyRejected(by.Group):
		// No plugin that rejected a member waits for the departure: the tree was
		// rejected as such. Out of its gate it is glad of any event.
		o.queue.Retry(now, waiter, queue.RoomMade)
	}
}

// anyRejected reports whether a member of the tree below the group waits for an
// event of any plugin but the one that gates it.
func (c *core) anyRejected(group string) bool {
	groups := c.rec.View.Groups()
	rejected := func(id string) bool {
		pos, _ := c.queue.Position(id)
		others := func(plugin string) bool { return plugin != pos.GatingPlugin }
		return len(pos.PendingPlugins) > 0 || slices.ContainsFunc(pos.UnschedulablePlugins, others)
	}
	return slices.ContainsFunc(groups.Pending(group), rejected) ||
		slices.ContainsFunc(groups.Children(group), func(child *model.Group) bool { return c.anyRejected(child.ID) })
}

// preemptionEnded tells that the evictions for the beneficiary are over.
func (c *core) preemptionEnded(by preempt.Beneficiary, failed bool, took time.Duration) {
	e := PreemptionEndedEvent{Failed: failed, Took: took}
	if by.Group != "" {
		e.Group = c.rec.View.Groups().Root(by.Group)
	}
	c.listener.PreemptionEnded(e)
}
