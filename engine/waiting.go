package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
)

// wait parks a workload until its Permit plugins have made up their minds.
func (r *Raw) wait(t *tasks.Task) {
	m := t.Member
	w := r.permits.Add(t)
	names := make([]string, len(m.Waits))
	for i, wait := range m.Waits {
		names[i] = wait.Plugin
	}
	r.listener.Waiting(WaitingEvent{
		PlacedEvent: PlacedEvent{At: m.Now, Workload: m.Info.Workload, Binding: m.Binding},
		Plugins:     names, Until: w.First().At,
	})
}

// allow is one plugin's consent.
func (r *Raw) allow(now time.Time, id, plugin string) {
	w := r.permits.Of(id)
	if w == nil || !w.Allowed(plugin) {
		return
	}
	r.permits.Remove(id)
	w.Task.Member.Now = now
	r.permitted(w.Task)
}

// rejectWaiting turns down a workload that waits on Permit.
func (r *Raw) rejectWaiting(now time.Time, id string, st *extpoints.Status) {
	w := r.permits.Of(id)
	if w == nil {
		return
	}
	r.permits.Remove(id)
	w.Task.Member.Now = now
	r.failBinding(w.Task, st)
}

// expire rejects the workloads whose time on Permit has run out, the earliest
// first.
func (r *Raw) expire(now time.Time) {
	if due, ok := r.permits.NextDue(); !ok || due.After(now) {
		return
	}
	for _, w := range r.permits.Expired(now) {
		r.rejectWaiting(now, w.Task.Member.Info.ID, framework.PermitTimeout(w.First().PermitWait))
	}
	r.permits.SetDue()
}
