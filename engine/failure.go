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
	At      time.Time
	Code    extpoints.Code
	Message string   // in one line
	Plugins []string // that rejected it, sorted; none for a failure
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

// nominate changes the workload's nomination as the cycle says and returns the
// node it is nominated to afterwards.
func (o outside) nominate(c *tasks.Member, present string) string {
	n := c.Nominating
	if n == (extpoints.PostFilterResult{}) || n.Nominate == present {
		if c.Info.Nominated != "" && present == "" {
			// It was given up for a node that Permit then took away.
			o.wake.Freed(c.Now, &store.Workload{Info: c.Info, Phase: model.Pending})
		}
		return present
	}
	tx := o.rec.Begin()
	if err := tx.Nominate(c.Info.ID, n.Nominate); err != nil {
		tx.Abort()
		return present
	}
	o.commit(c.Now, tx)
	return n.Nominate
}
