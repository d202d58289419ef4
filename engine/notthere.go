package engine

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// That a node could not start a workload is known to the view, so that every search keeps away
// from the node for a while, on branches and in plans too; see package decide. Here it is noted,
// and those who wait are told when it is over.

// notStartedOn notes that the node could not start the workload.
func (o outside) notStartedOn(now time.Time, id, node string) {
	v := o.rec.View
	if v.Nodes().Get(node) != nil {
		v.SetFailedStarts(v.FailedStarts().Add(node, id, now))
	}
}

// startedOn notes that the node has started a workload.
func (o outside) startedOn(node string) {
	v := o.rec.View
	v.SetFailedStarts(v.FailedStarts().Started(node))
}

// retry lets those try again who may go back to a node by now.
func (f facts) retry(now time.Time) {
	v := f.rec.View
	if due, waits := v.FailedStarts().Due(); !waits || due.After(now) {
		return
	}
	left, told := v.FailedStarts().Expire(now)
	v.SetFailedStarts(left)
	f.retryAll(now, told)
}

// changed forgets what could not be started on nodes that are others now. Where a node is another, all
// try again that keep away from any: it may have been the last that could do instead.
func (f facts) changed(now time.Time, changes []store.Change) {
	failed := f.rec.View.FailedStarts()
	if forgetFailed(f.rec, changes) {
		f.retryAll(now, failed.Workloads())
	}
}

// forgetFailed is the part of it that is the record's. It reports whether a node is another now and
// there is anybody who keeps away from one.
func forgetFailed(rec *record.Record, changes []store.Change) (another bool) {
	failed := rec.View.FailedStarts()
	if failed.None() {
		return false
	}
	for i := range changes {
		if ch := &changes[i]; ch.Kind == store.NodeKind && isAnother(ch.OldNode, ch.NewNode) {
			rec.View.SetFailedStarts(rec.View.FailedStarts().Without(ch.ID()))
			another = true
		}
	}
	return another
}

// isAnother reports whether a node came or went, or has changed in a way that matters. That it was put
// once more as it was does not count: many orchestrators do so again and again, to say that it is alive.
func isAnother(before, after *store.Node) bool {
	return before == nil || after == nil || before.Seq != after.Seq ||
		before.Node.Unschedulable != after.Node.Unschedulable || len(extpoints.EventsForNodeUpdate(before.Node, after.Node)) > 0
}

// retryAll lets those of the workloads try again that wait because they keep away from a node.
func (f facts) retryAll(now time.Time, ids []string) {
	for _, id := range ids {
		if p, ok := f.queue.Position(id); ok && p.Place == queue.Unschedulable && slices.Contains(p.UnschedulablePlugins, decide.NotThere) {
			f.queue.Activate(now, id)
		}
	}
}
