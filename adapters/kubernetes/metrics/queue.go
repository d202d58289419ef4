package metrics

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// popFromBackoff is the event of a pod that is tried before its backoff is over,
// because nothing else is to be done.
var popFromBackoff = extpoints.ClusterEvent{Label: queue.PopFromBackoffQ}

// moved counts a pod that gets into a queue. (scheduling_queue.go
// recordIncomingEntitiesMetrics, 1.37.1. There all members of a group are counted
// again whenever one joins; here only the one is.)
func (r *recorder) moved(move queue.Move) {
	p := r.pods[move.ID]
	if p == nil {
		return // its node was taken from it, which Kubernetes does not do
	}
	r.series.arrivals.of(arrival{arrivalLabel(move.To), move.Event}).Inc()
	r.join(p, move.Group)
	r.wake(p, &move)
	if move.To == queue.Gated && move.Plugin != "" {
		r.blame(p, move.Plugin)
	}
	if p.tree == nil {
		if counted(&move) {
			r.series.aloneArrivals.of(arrival{arrivalLabel(move.To), move.Event}).Inc()
		}
		r.enter(p, move.To)
		return
	}
	if p.tree.place != move.To && countedTree(&move) {
		r.series.treeArrivals.of(arrival{arrivalLabel(move.To), move.Event}).Inc()
	}
	r.settle(p.tree, move.To)
	p.place = move.To
}

// counted reports whether kube-scheduler counts the move among those of entities.
// It compares the queue not with the one that the pod was in, but with the one
// that the queueing hint meant it for, and counts only where they differ: never,
// when a pod becomes unschedulable or goes into backoff. (scheduling_queue.go
// recordIncomingEntitiesMetrics and requeueEntityWithQueueingStrategy, 1.37.1.
// There a pod that a plugin's Pending lets skip its backoff is not counted either.)
func counted(move *queue.Move) bool {
	return move.To == queue.Active || move.To == queue.Gated
}

// countedTree is counted for a tree of groups: one that comes back from an attempt
// is counted in any case. (AddAttemptedPodGroupIfNeeded.)
func countedTree(move *queue.Move) bool {
	return counted(move) || move.Event.Label == queue.ScheduleAttemptFailure
}

// wake takes down when the pod was active for the first time, and whether it was
// woken last because it had waited for too long. (scheduling_queue.go
// moveToActiveQ, flushUnschedulableEntitiesLeftover, 1.37.1.)
func (r *recorder) wake(p *pod, move *queue.Move) {
	if move.To == queue.Active && p.activeAt.IsZero() {
		p.activeAt = r.now()
	}
	switch {
	case move.To == queue.Gated, move.Event.Label == queue.ScheduleAttemptFailure:
		p.flushed = false
	case move.Event.Label == queue.UnschedulableTimeout:
		p.flushed = true
	}
}

// enter puts a pod by itself into a place, and out of the one where it was.
func (r *recorder) enter(p *pod, to queue.Place) {
	if g := r.series.alone[p.place]; g != nil {
		g.Dec()
	}
	p.place = to
	if g := r.series.alone[to]; g != nil {
		g.Inc()
	}
}

// settle does the same for a tree of groups.
func (r *recorder) settle(t *tree, to queue.Place) {
	if t.place == to {
		return
	}
	if g := r.series.trees[t.place]; g != nil {
		g.Dec()
	}
	t.place = to
	if g := r.series.trees[to]; g != nil {
		g.Inc()
	}
}

// leave takes the pod out of the queue; a tree leaves when it is popped, or with
// its last member.
func (r *recorder) leave(p *pod) {
	if p.tree == nil {
		r.enter(p, queue.None)
	}
	p.place = queue.None
}
