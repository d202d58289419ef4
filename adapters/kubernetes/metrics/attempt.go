package metrics

import (
	"errors"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// popped begins an attempt. The members of a tree of groups are told of one after
// the other before the first is tried.
func (r *recorder) popped(e engine.PoppedEvent) {
	p := r.pods[e.Workload.ID]
	if p == nil {
		p = r.track(e.Workload.ID, e.Workload.Profile)
	}
	now := r.now()
	r.search, r.phase = now, now
	r.countVictims(p)
	r.absolve(p)
	p.stage, p.attempt, p.begun, p.tried = filtering, e.Attempt, now, 0
	if t := p.tree; t != nil {
		if t.place == queue.Backoff {
			r.series.treeArrivals.of(arrival{activeQueue, popFromBackoff}).Inc()
		}
		if t.begun.IsZero() {
			r.countGroupVictims(t)
			t.begun, t.profile = now, p.profile
		}
		r.settle(t, queue.None)
	} else if p.place == queue.Backoff {
		r.series.aloneArrivals.of(arrival{activeQueue, popFromBackoff}).Inc()
	}
	if p.place == queue.Backoff {
		r.series.arrivals.of(arrival{activeQueue, popFromBackoff}).Inc()
	}
	r.leave(p)
}

// next ends the present phase and returns how long it took, in seconds.
func (r *recorder) next() float64 {
	now := r.now()
	took := now.Sub(r.phase).Seconds()
	r.phase = now
	return took
}

// searched ends the search for a node. The search for the next member's, where
// there is one, begins. (schedule_one.go schedulingAlgorithm and
// schedule_one_podgroup.go podGroupPodSchedulingAlgorithm, 1.37.1.)
func (r *recorder) searched(p *pod, now time.Time) {
	p.tried = now.Sub(r.search)
	r.m.reference.algorithmTook.Observe(p.tried.Seconds())
	r.search = now
}

func (r *recorder) filtered(e engine.FilteredEvent) {
	p := r.pods[e.Workload.ID]
	if p == nil {
		return
	}
	took := r.next()
	p.profile.points.of(point{"Filter", extpoints.Success}).Observe(took)
	p.profile.feasible.Add(float64(e.Feasible))
	p.profile.infeasible.Add(float64(max(e.Evaluated-e.Feasible, 0)))
	if p.tree != nil {
		if e.Feasible == 0 { // PostFilter is for the whole group, later
			r.searched(p, r.phase)
		}
		return
	}
	p.profile.phases.of("filter").Observe(took)
	p.stage = scoring
	if e.Feasible == 0 {
		p.stage = postfiltering
	}
}

func (r *recorder) scored(e engine.ScoredEvent) {
	p := r.pods[e.Workload.ID]
	if p == nil {
		return
	}
	took := r.next()
	p.profile.points.of(point{"Score", extpoints.Success}).Observe(took)
	if p.tree == nil {
		p.profile.phases.of("score").Observe(took)
	}
}

func (r *recorder) selected(e engine.SelectedEvent) {
	p := r.pods[e.Workload.ID]
	if p == nil {
		return
	}
	r.next()
	r.searched(p, r.phase)
	if p.tree == nil {
		p.stage = reserving
	}
}

// reserved is told of the members of a group when the attempt is all but over: as
// there, what the others took is not counted. (schedule_one_podgroup.go
// submitPodGroupAlgorithmResult, 1.37.1.)
func (r *recorder) reserved(e engine.PlacedEvent) {
	p := r.pods[e.Workload.ID]
	if p == nil {
		return
	}
	took := r.next()
	p.node, p.stage = e.Binding.Node, permitting
	if p.tree != nil {
		p.begun = r.phase.Add(-p.tried)
		return
	}
	p.profile.points.of(point{"Reserve", extpoints.Success}).Observe(took)
	p.profile.phases.of("reserve").Observe(took)
}

func (r *recorder) waits(e engine.WaitingEvent) {
	if p := r.pods[e.Workload.ID]; p != nil {
		r.passed(p, waiting, extpoints.Wait)
	}
}

// permitted is told of a pod that may be bound, whether it had to wait or not.
// (framework/runtime/framework.go WaitOnPermit, 1.37.1.)
func (r *recorder) permitted(e engine.PlacedEvent) {
	p := r.pods[e.Workload.ID]
	switch {
	case p == nil:
	case p.stage == waiting:
		now := r.now()
		r.series.permits.of(extpoints.Success).Observe(now.Sub(p.since).Seconds())
		p.stage, p.since = binding, now
	default:
		r.passed(p, binding, extpoints.Success)
	}
}

// passed is the end of the scheduling cycle: what follows does not hold up other
// pods. For kube-scheduler a goroutine begins here, which ends when the pod is
// bound. (schedule_one.go runBindingCycle, 1.37.1.)
func (r *recorder) passed(p *pod, to stage, code extpoints.Code) {
	took := r.next()
	p.stage, p.since = to, r.phase
	r.series.binding.Inc()
	if p.tree == nil {
		p.profile.points.of(point{"Permit", code}).Observe(took)
		p.profile.phases.of("permit").Observe(took)
	}
}

func (r *recorder) bound(e engine.PlacedEvent) {
	if p := r.pods[e.Workload.ID]; p != nil && p.stage == binding {
		r.scheduled(e.Workload.ID, p)
	}
}

// confirmed is told of a pod that has been seen on a node: that of its binding,
// whose answer is still to come or was lost, or another, where somebody else put
// it.
func (r *recorder) confirmed(e engine.PlacedEvent) {
	id := e.Workload.ID
	p := r.pods[id]
	switch {
	case p == nil:
	case p.stage < waiting:
		r.drop(id, p) // it was in the queue, or is new
	case p.node == e.Binding.Node:
		r.scheduled(id, p)
	default:
		r.lost(id, p)
	}
}

// scheduled ends an attempt that went well. (schedule_one.go bindingCycle, 1.37.1.)
func (r *recorder) scheduled(id string, p *pod) {
	now, ref := r.now(), &r.m.reference
	p.profile.phases.of("bind").Observe(now.Sub(p.since).Seconds())
	p.profile.results.of(scheduled).ended(now.Sub(p.begun).Seconds())
	ref.podAttempts.Observe(float64(p.attempt))
	if !p.activeAt.IsZero() {
		r.series.sli.of(attemptsLabel(p.attempt)).Observe(now.Sub(p.activeAt).Seconds())
	}
	if p.flushed {
		ref.afterFlush.Inc()
	}
	r.series.binding.Dec()
	r.drop(id, p)
}

// lost ends an attempt whose pod has gone, or went elsewhere, after it had got a
// node: in kube-scheduler it is rejected if it waits on Permit (eventhandlers.go
// deletePodFromSchedulingQueue), and else its binding fails.
func (r *recorder) lost(id string, p *pod) {
	code := extpoints.Error
	if p.stage == waiting {
		code = extpoints.Unschedulable
	}
	r.unbound(p, code, r.now())
	r.drop(id, p)
}

func (r *recorder) removed(e engine.LeavingEvent) {
	id := e.Workload.ID
	switch p := r.pods[id]; {
	case p == nil:
	case p.stage < waiting:
		r.drop(id, p)
	default:
		r.lost(id, p)
	}
}

// rejected ends an attempt that placed nothing. (schedule_one.go
// handleSchedulingFailure, 1.37.1.)
func (r *recorder) rejected(e engine.RejectedEvent) {
	p := r.pods[e.Workload.ID]
	if p == nil {
		return
	}
	now := r.now()
	switch {
	case p.stage >= waiting:
		r.unbound(p, e.Code, now)
	case p.tree == nil:
		r.stopped(p, e.Code, now)
		p.profile.results.of(result(e.Code)).ended(now.Sub(p.begun).Seconds())
	default:
		p.profile.results.of(result(e.Code)).ended(p.tried.Seconds())
	}
	p.stage = idle
	for _, plugin := range e.Plugins {
		r.blame(p, plugin)
	}
	r.volumeFailure(e.Err)
}

// stopped records at which point the scheduling cycle of a pod by itself ended.
func (r *recorder) stopped(p *pod, code extpoints.Code, now time.Time) {
	if p.stage <= scoring {
		r.searched(p, now)
	}
	took := now.Sub(r.phase).Seconds()
	switch {
	case p.stage == postfiltering:
		p.profile.phases.of("postfilter").Observe(took)
		if p.profile.preempts {
			r.m.reference.preemptions.Inc() // (default_preemption.go PostFilter, 1.37.1)
		}
	case p.stage <= scoring && code != extpoints.Error: // there are no nodes at all
	default:
		p.profile.points.of(point{failedAt[p.stage], code}).Observe(took)
	}
}

// unbound ends an attempt of a pod that waited on Permit or was being bound.
func (r *recorder) unbound(p *pod, code extpoints.Code, now time.Time) {
	took := now.Sub(p.since).Seconds()
	if p.stage == waiting {
		r.series.permits.of(code).Observe(took)
	} else {
		p.profile.phases.of("bind").Observe(took)
	}
	r.series.binding.Dec()
	p.profile.results.of(result(code)).ended(now.Sub(p.begun).Seconds())
}

func result(code extpoints.Code) string {
	if code == extpoints.Error {
		return failed
	}
	return unschedulable
}

// decided ends the attempt of a tree of groups, of which only the highest counts.
// (schedule_one_podgroup.go podGroupCycle and submitPodGroupAlgorithmResult,
// 1.37.1.)
func (r *recorder) decided(e engine.GroupEvent) {
	t := r.trees[e.Group.ID]
	if t == nil || t.begun.IsZero() {
		return
	}
	now, begun := r.now(), t.begun
	t.begun = time.Time{}
	if r.m.reference.groupAttempts == nil {
		return
	}
	r.m.reference.groupAlgorithmTook.Observe(r.search.Sub(begun).Seconds())
	outcome := result(e.Code)
	switch {
	case e.Code == extpoints.Success:
		outcome = scheduled
	case e.Code != extpoints.Error && e.Preempting:
		outcome = makingRoom
	}
	t.profile.groups.of(outcome).ended(now.Sub(begun).Seconds())
}

// volumeStages are the points at which VolumeBinding fails, and what the binder
// was doing. (framework/plugins/volumebinding/binder.go, 1.37.1.)
var volumeStages = map[string]string{"Filter": "predicate", "Reserve": "assume", "PreBind": "bind"}

func (r *recorder) volumeFailure(err error) {
	var failure *extpoints.PluginError
	if err == nil || !errors.As(err, &failure) || failure.Plugin != plugins.VolumeBinding {
		return
	}
	if operation, ok := volumeStages[failure.Point]; ok {
		r.m.reference.volumeFailures.WithLabelValues(operation).Inc()
	}
}
