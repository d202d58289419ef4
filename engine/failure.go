package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Rejection is why a workload was not placed the last time it was tried.
type Rejection struct {
	At      time.Time      // when the attempt failed
	Code    extpoints.Code // Error for a failure, else the kind of rejection
	Message string         // in one line
	Plugins []string       // that rejected it, sorted; none for a failure
}

// fail ends a cycle that placed nothing: the workload goes back to the queue,
// to wait for the events that its rejecting plugins named or, after a failure,
// for the error backoff. (kube-scheduler schedule_one.go
// handleSchedulingFailure, 1.37.1.)
func (o outside) fail(c *tasks.Member, st *extpoints.Status) {
	id := c.Info.ID
	event := rejectedEvent(c, st)
	row := o.rec.Workload(id)
	if row == nil || row.Phase != model.Pending {
		// Removed, or placed by somebody else, while it was being tried.
		o.queue.Done(id)
		return
	}
	var pending []string
	if c.Diagnosis != nil {
		pending = c.Diagnosis.PendingPlugins()
	}
	c.Item.Info, c.Item.Workload, c.Item.Priority = row.Info, row.Info.Workload, row.Info.Priority // as it is now
	o.queue.AddUnschedulable(c.Now, c.Item, event.Plugins, pending)
	if foundNode(&c.Binding, st) {
		o.rooms.rejected(id, c.Now)
	}
	event.Nominated = o.nominate(c, row.Info.Nominated)
	o.lastWhy[id] = Rejection{At: c.Now, Code: event.Code, Message: event.Message, Plugins: event.Plugins}
	o.turnedAway(&event)
	event.Plugins = slices.Clone(event.Plugins)
	o.listener.Rejected(event)
}

// rejectedEvent says what happened. Without a diagnosis it is a failure, or
// there is no node at all: then no plugin is to blame, which makes the queue
// use the error backoff.
func rejectedEvent(c *tasks.Member, st *extpoints.Status) RejectedEvent {
	e := RejectedEvent{At: c.Now, Workload: c.Info.Workload, Code: st.Code(), Message: st.Message(), Diagnosis: Diagnosis{c.Diagnosis}}
	switch {
	case c.Diagnosis != nil:
		e.Message = c.Diagnosis.Message()
		e.Plugins = c.Diagnosis.UnschedulablePlugins()
	case errors.Is(st.AsError(), ErrNoNodes):
		e.Code = extpoints.UnschedulableAndUnresolvable
	case st.Code() == extpoints.Error:
		e.Err = st.AsError()
	}
	return e
}

// nominated is the node that a workload is nominated to after an attempt that has placed
// nothing; present is the one that it is nominated to. It is the one rule for all ends of an
// attempt, of a workload by itself and of each member of a group.
//
// A nomination keeps room on a node for its holder, and holds for as long as there is a
// reason for that:
//   - a PostFilter plugin has just said so: room is being made there, or the workload would
//     fit if those had left who are leaving already;
//   - nobody has said anything, and room is being made still: evictions for the workload, or
//     for its groups, are under way, or a workload that was displaced has not left the node.
//
// Every other end gives it up. To kube-scheduler 1.37.1, and so to [extpoints.KubeScheduler137],
// no word is a reason (backend/queue/nominator.go, ModeNoop), except where PostFilter is not asked.
func (o outside) nominated(c *tasks.Member, present string) string {
	said := c.Nominating
	switch {
	case said != (extpoints.PostFilterResult{}):
		return said.Nominate
	case o.cfg.Compat == extpoints.KubeScheduler137 && !c.Unasked,
		o.cfg.Compat == extpoints.Improved && o.makingRoom(c.Info.ID, present):
		return present
	}
	return ""
}

// makingRoom reports whether room is being made for the workload on the node that it is
// nominated to.
func (c *core) makingRoom(id, node string) bool {
	at := c.rec.View.Nodes().Get(node)
	leaves := func(w *extpoints.WorkloadInfo) bool { return w.Displaced && w.Terminating }
	return c.room.UnderWay(id) || at != nil && slices.ContainsFunc(at.Workloads, leaves)
}

// nominate changes the workload's nomination as the attempt has it, and returns the node
// it is nominated to afterwards.
func (o outside) nominate(c *tasks.Member, present string) string {
	next := o.nominated(c, present)
	if next == present {
		if c.Info.Nominated != "" && present == "" {
			// It was given up for a node that Permit then took away.
			o.wake.Freed(c.Now, &store.Workload{Info: c.Info, Phase: model.Pending})
		}
		return present
	}
	tx := o.rec.Begin()
	defer tx.Abort()
	if err := tx.Nominate(c.Info.ID, next); err != nil {
		return present
	}
	o.commit(c.Now, tx)
	return next
}
