package queuelevel

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

// attempt runs one scheduling cycle on each side.
func (h *history) attempt() {
	h.write()
	p := h.kubeAttempt()
	h.compared("pod taken out", h.lastPopped, h.engine.schedule(h.now))
	if h.over || p == nil {
		return
	}
	h.takeTasks()
	h.note("%s is tried, now %s", p.Name, p.stage)
	h.compared("outcome of an attempt", string(p.stage), string(h.berthStage(p)))
	h.echo()
}

// kubeAttempt runs one cycle of the reference and returns whose it was, nil where
// there was none.
func (h *history) kubeAttempt() *pod {
	h.lastPopped, h.failed = "", false
	if !h.ready() {
		return nil
	}
	h.kube.Scheduler.ScheduleOne(h.kube.Context)
	p := h.pod(h.lastPopped)
	switch {
	case h.failed:
	case h.kube.Framework.GetWaitingPod(p.UID) != nil:
		p.stage = waiting
	default:
		p.stage = binding
	}
	h.settle()
	return p
}

// write makes up what the scripted plugins say in the next attempt.
func (h *history) write() {
	s := &h.script
	rejection := func() extpoints.Code {
		return pick(h.objects, extpoints.Unschedulable, extpoints.UnschedulableAndUnresolvable, extpoints.Pending)
	}
	s.preFilter, s.permit, s.filter = map[string]extpoints.Code{}, map[string]extpoints.Code{}, map[string]int{}
	s.filterCode = rejection()
	for _, name := range judges {
		switch n := h.IntN(100); {
		case n < 8:
			s.preFilter[name] = rejection()
		case n < 10:
			s.preFilter[name] = extpoints.Error
		case n < 35:
			s.filter[name] = pick(h.objects, 50, 90, 100)
		case n < 42:
			s.permit[name] = rejection()
		case n < 44:
			s.permit[name] = extpoints.Error
		case n < 55:
			s.permit[name] = extpoints.Wait
		}
	}
	if h.chance(3) {
		s.filterCode = extpoints.Error
	}
	s.nominating = extpoints.PostFilterResult{Clear: pick(h.objects, false, true)}
	if s.nominating.Clear && h.chance(70) {
		s.nominating = extpoints.PostFilterResult{Nominate: h.anyNode()}
	}
}

// takeTasks takes Berth's tasks, which wait for the history too.
func (h *history) takeTasks() {
	for t := h.engine.NextTask(); t != nil; t = h.engine.NextTask() {
		b, _ := t.Binding()
		h.pod(b.Workload).task = t
	}
}

// berthStage is where Berth has a pod that was just tried.
func (h *history) berthStage(p *pod) stage {
	switch {
	case h.engine.handle.Waiting().Get(p.id()) != nil:
		return waiting
	case p.task != nil:
		return binding
	}
	return queued
}

// echo tells both sides what the reference has written into the status of pods,
// as an informer would: that is an update like any other.
func (h *history) echo() {
	var changed []*pod
	for _, p := range h.pods {
		if stored := h.kube.Get(p.Pod); stored != nil && stored.(*v1.Pod).ResourceVersion != p.ResourceVersion {
			p.Pod = stored.(*v1.Pod)
			changed = append(changed, p)
		}
	}
	h.kube.Deliver()
	for _, p := range changed {
		if p.stage == queued {
			h.apply(engine.Update(podOf(p.Pod)))
		}
	}
}

// endPermit ends, or brings nearer to its end, the wait of a pod on Permit.
func (h *history) endPermit() {
	list := h.in(waiting)
	if len(list) == 0 {
		return
	}
	if p := pick(h.objects, list...); h.chance(60) {
		h.allow(p)
	} else {
		h.refuse(p)
	}
}

// allow is the consent of one of the plugins that a pod waits for.
func (h *history) allow(p *pod) {
	w := h.kube.Framework.GetWaitingPod(p.UID)
	asked := sorted(w.GetPendingPlugins())
	plugin := pick(h.objects, asked...)
	h.note("%s allows %s", plugin, p.Name)
	w.Allow(plugin)
	if len(asked) == 1 {
		p.stage = binding
	}
	h.settle()
	h.engine.handle.Waiting().Get(p.id()).Allow(plugin)
	h.engine.Settle(h.now)
	h.takeTasks()
	h.compared("outcome of a consent", string(p.stage), string(h.berthStage(p)))
}

// refuse rejects a pod that waits on Permit.
func (h *history) refuse(p *pod) {
	w := h.kube.Framework.GetWaitingPod(p.UID)
	plugin := pick(h.objects, sorted(w.GetPendingPlugins())...)
	h.note("%s refuses %s", plugin, p.Name)
	p.stage = queued
	w.Reject(plugin, "refused")
	h.settle()
	h.engine.handle.Waiting().Get(p.id()).Reject(plugin, "refused")
	h.engine.Settle(h.now)
	h.echo()
}

// endBinding ends the binding of a pod. That of a deleted one fails, as the API
// server would see to.
func (h *history) endBinding() {
	list := h.in(binding, orphaned)
	if len(list) == 0 {
		return
	}
	p := pick(h.objects, list...)
	outcome := pick(h.objects, extpoints.Success, extpoints.Success, extpoints.Success, extpoints.Error, extpoints.Unschedulable)
	if p.stage == orphaned {
		outcome = extpoints.Error
	}
	h.note("binding of %s (%s) ends: %s", p.Name, p.stage, outcome)
	node, _ := p.task.Binding()
	was := p.stage
	p.stage = queued
	h.kubeBinder.end(p.UID, kubeStatus(outcome, "binding failed"))
	h.settle()
	h.engine.end(h.now, p.task, berthStatus(outcome, "binding failed"))
	p.task = nil
	switch {
	case was == orphaned:
		h.forget(p)
	case outcome == extpoints.Success:
		h.onNode(p, node.Node)
	}
	h.echo()
}
