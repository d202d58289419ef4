package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
)

// wait parks a workload until its Permit plugins have made up their minds.
func (o outside) wait(t *tasks.Task) {
	m := t.Member
	w := o.permits.Add(t)
	names := make([]string, len(m.Waits))
	for i, wait := range m.Waits {
		names[i] = wait.Plugin
	}
	o.listener.Waiting(WaitingEvent{
		PlacedEvent: placedEvent("Waiting", m.Now, m.Cycle), Plugins: names, Until: w.First().At,
	})
	o.checkWaits(m)
}

// allow is one plugin's consent.
func (o outside) allow(now time.Time, id, plugin string) {
	w := o.permits.Of(id)
	if w == nil || !w.Allowed(plugin) {
		return
	}
	o.permits.Remove(id)
	w.Task.Member.Now = now
	o.permitted(w.Task)
}

// rejectWaiting rejects a workload that waits on Permit.
func (o outside) rejectWaiting(now time.Time, id string, st *extpoints.Status) {
	w := o.permits.Of(id)
	if w == nil {
		return
	}
	o.permits.Remove(id)
	w.Task.Member.Now = now
	o.failBinding(w.Task, st)
}

// expire rejects the workloads whose time on Permit has run out, the earliest
// first.
func (o outside) expire(now time.Time) {
	if due, ok := o.permits.NextDue(); !ok || due.After(now) {
		return
	}
	for _, w := range o.permits.Expired(now) {
		o.rejectWaiting(now, w.Task.Member.Info.ID, framework.PermitTimeout(w.First().PermitWait))
	}
	o.permits.SetDue()
}

// execute carries out what a plugin has asked for from a goroutine of its own.
func (o outside) execute(now time.Time, cmd tasks.Command) {
	switch {
	case len(cmd.Activate) == 0 && !o.permits.Is(cmd.Allow+cmd.Reject, cmd.Task):
		// It no longer waits, or waits with another node by now.
	case cmd.Allow != "":
		o.allow(now, cmd.Allow, cmd.Plugin)
	case cmd.Reject != "":
		o.rejectWaiting(now, cmd.Reject, extpoints.NewStatus(extpoints.Unschedulable, cmd.Reason).WithPlugin(cmd.Plugin))
	default:
		o.activate(now, cmd.Activate)
	}
}
