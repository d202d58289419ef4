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
func (r *Raw) makeRoom(now time.Time, by preempt.Beneficiary, s *extpoints.CycleState) {
	for _, id := range s.Unnominations() {
		r.unnominate(now, id)
	}
	r.room.Begin(now, by)
}

// unnominate takes the nomination of a waiting workload back, and wakes those
// that may use the room it was kept.
func (r *Raw) unnominate(now time.Time, id string) {
	before := r.rec.Workload(id)
	if before.NominatedTo() == "" {
		return
	}
	tx := r.rec.Begin()
	if err := tx.Nominate(id, ""); err != nil {
		tx.Abort()
		return
	}
	r.listener.Unnominated(UnnominatedEvent{At: now, Workload: before.Info.Workload, Node: before.Info.Nominated})
	r.commit(now, tx)
}

// roomPort is what preemptions need of the engine.
type roomPort struct{ r *Raw }

var _ preempt.Port = roomPort{}

// Evict implements [preempt.Port].
func (p roomPort) Evict(now time.Time, e extpoints.Eviction, by preempt.Beneficiary) {
	p.r.evict(now, e.ID, e.Reason, by)
}

// Leaving implements [preempt.Port].
func (p roomPort) Leaving(id string) bool {
	row := p.r.rec.Workload(id)
	if row.TakesRoomOn() == "" || row.Phase == model.Terminating {
		return false
	}
	t := p.r.tasks.Binding(id)
	if t != nil && t.Abandoned() {
		t = nil
	}
	return p.r.tasks.Leaving(id, t) != nil
}

// CallOff implements [preempt.Port].
func (p roomPort) CallOff(id string, by preempt.Beneficiary, cause error) {
	if t := p.r.tasks.Eviction(id); t != nil && t.Evict.By == by && !t.Evict.Asked {
		t.Stop(cause)
	}
}

// Ended implements [preempt.Port]: it wakes the beneficiary where no departure will.
// One whose victims would not go must not try again at once, as the reference lets it:
// that would go on for as long as they refuse.
func (p roomPort) Ended(now time.Time, by preempt.Beneficiary, o preempt.Outcome, took time.Duration) {
	r := p.r
	r.tellRoomMade(by, o == preempt.Failed, took)
	waiter := r.room.Waiter(by)
	row := r.rec.Workload(waiter)
	switch {
	case row == nil:
	case o == preempt.Failed:
		r.queue.Retry(now, waiter, queue.EvictionFailed)
	case o == preempt.Gone:
		r.activate(now, []string{waiter})
	case o == preempt.Changed:
		r.queue.Move(now, &extpoints.Change{Event: queue.WorkloadDemandsChanged, NewWorkload: row.Info}, nil)
	case by.Group != "" && !r.cfg.ReferenceWakeUps && !r.anyRejected(by.Group):
		// No plugin that rejected a member waits for the departure: the tree was
		// turned down as such. Out of its gate it is glad of any event.
		r.queue.Retry(now, waiter, queue.RoomMade)
	}
}

// anyRejected reports whether a member of the tree below the group waits for an
// event of any plugin but the one that gates it.
func (r *Raw) anyRejected(group string) bool {
	groups := r.rec.View.Groups()
	rejected := func(id string) bool {
		pos, _ := r.queue.Position(id)
		others := func(plugin string) bool { return plugin != pos.GatingPlugin }
		return len(pos.PendingPlugins) > 0 || slices.ContainsFunc(pos.UnschedulablePlugins, others)
	}
	return slices.ContainsFunc(groups.Pending(group), rejected) ||
		slices.ContainsFunc(groups.Children(group), func(child *model.Group) bool { return r.anyRejected(child.ID) })
}
