package kubernetes

import (
	"errors"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Listener hears what the engine decides, so that the adapter can write it down:
// events, the conditions of pods and groups, nominated nodes. It belongs into the
// engine's configuration. It only takes notes: others write.
func (a *Adapter) Listener() engine.Listener {
	return engine.Listener{
		Popped: a.logAttempt,
		Bound: func(e engine.PlacedEvent) {
			a.logBound(e)
			a.events.scheduled(e.Workload, e.Binding.Node)
		},
		Rejected: a.rejected,
		Waiting:  func(e engine.WaitingEvent) { a.nominate(e.Workload, e.Binding.Node) },
		Permitted: func(e engine.PlacedEvent) {
			if len(e.Binding.Decided) > 0 { // it takes time until it is bound
				a.nominate(e.Workload, e.Binding.Node)
			}
		},
		Unnominated: func(e engine.UnnominatedEvent) { a.nominate(e.Workload, "") },
		Decided:     a.decided,
		Evicting:    func(e engine.EvictingEvent) { a.evictions.Store(e.Workload.ID, e) },
		Removed: func(e engine.LeavingEvent) {
			a.evictions.Delete(e.Workload.ID)
		},
		Failed: func(e engine.FailedEvent) {
			a.log.Error(words.Error(e.Err), "Something failed", "workload", e.Workload)
		},
	}
}

// rejected notes why a pod was not placed.
//
// Rules: kube-scheduler pkg/scheduler/schedule_one.go handleSchedulingFailure,
// 1.37.1.
func (a *Adapter) rejected(e engine.RejectedEvent) {
	reason := v1.PodReasonUnschedulable
	if !rejection(e.Code) {
		reason = v1.PodReasonSchedulerError
	}
	message := words.Text(e.Message)
	if x := (*extpoints.ExtenderError)(nil); errors.As(e.Err, &x) {
		message = x.Err.Error() // which says which extender it was
	}
	a.logRejected(e, message)
	a.held.forget(e.Workload.ID)
	a.unplaced(podReference(e.Workload), e.Workload.Profile, reason, message, &e.Nominated)
	if announced, ok := a.evictions.LoadAndDelete(e.Workload.ID); ok {
		about := announced.(engine.EvictingEvent)
		a.events.preempted(podReference(e.Workload), a.preemptor(&about), about.Node, inMemory)
	}
}

// inMemory is how a pod makes room that is not bound yet: it waits again (kube-scheduler
// framework/preemption/executor.go, 1.37.1).
const inMemory = " (in kube-scheduler memory)."

// rejection tells rejections from failures.
func rejection(c extpoints.Code) bool { return extpoints.NewStatus(c).IsRejected() }

// unplaced notes that a pod was not placed.
func (a *Adapter) unplaced(p *v1.ObjectReference, scheduler, reason, message string, nominated *string) {
	a.events.failed(p, scheduler, message)
	a.statuses.put(string(p.UID), &want{
		namespace: p.Namespace, name: p.Name, uid: p.UID, nominated: nominated,
		condition: &v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: reason, Message: message},
	})
}

// heldBack notes that a pod is not tried, because of a quota or a limit of the queues.
func (a *Adapter) heldBack(w *model.Workload, message string) {
	a.logHeld(w, message)
	p := podReference(w)
	a.events.failed(p, w.Profile, message)
	a.statuses.put(w.ID, &want{
		namespace: p.Namespace, name: p.Name, uid: p.UID, waiting: true,
		condition: &v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: ReasonHeldByQueue, Message: message},
	})
}

// nominate notes which node a pod waits for.
func (a *Adapter) nominate(w *model.Workload, node string) {
	a.statuses.put(w.ID, &want{namespace: w.Namespace, name: w.Name, uid: uid(w.ID), nominated: &node})
}

// cannotPlace notes that a pod is not even tried, because part of it cannot be
// understood. A scheduler that does not lead yet says it when it does, see speakUp.
func (a *Adapter) cannotPlace(p *v1.Pod, err error) {
	if !a.leads() {
		return
	}
	a.unplaced(reference(p.Namespace, p.Name, p.UID), p.Spec.SchedulerName, v1.PodReasonSchedulerError, err.Error(), nil)
}

// refused notes that the engine does not take something in.
func (a *Adapter) refused(ch engine.Change, err error) {
	a.log.Error(err, "The engine does not take in what is in the cluster")
	if ch.Verb() != "submit" {
		return
	}
	known := a.pods.known[ch.ID()]
	a.pods.unreadable.Store(ch.ID(), err) // so that it is submitted again when it changes
	a.cannotPlace(known.object, err)
}

// decided notes what happened to a group. Of a group of groups nothing is written down.
//
// Rules: kube-scheduler pkg/scheduler/schedule_one_podgroup.go, 1.37.1.
func (a *Adapter) decided(e engine.GroupEvent) {
	a.logGroup(e)
	namespace, name, ok := groupName(e.Group.ID)
	if !ok || a.listers.groups == nil {
		return
	}
	c := &metav1.Condition{Type: schedulingv1beta1.PodGroupInitiallyScheduled, Message: words.Text(e.Message)}
	switch {
	case e.Code == extpoints.Success:
		c.Status, c.Reason = metav1.ConditionTrue, "Scheduled"
	case rejection(e.Code):
		c.Status, c.Reason = metav1.ConditionFalse, schedulingv1beta1.PodGroupReasonUnschedulable
	default:
		c.Status, c.Reason = metav1.ConditionFalse, schedulingv1beta1.PodGroupReasonSchedulerError
	}
	g, err := a.listers.groups.PodGroups(namespace).Get(name)
	if err != nil {
		return // it has gone
	}
	a.statuses.put("group/"+string(g.UID), &want{namespace: namespace, name: name, uid: g.UID, group: c})
}

// groupName is the namespace and the name of the pod group that a group is; false
// for a composite one.
func groupName(id string) (namespace, name string, ok bool) {
	namespace, name, ok = strings.Cut(id, "/")
	return namespace, name, ok && convert.GroupID(namespace, name) == id && !strings.Contains(name, "/")
}

// groupReference is the pod group as events refer to it, nil where it has gone.
func (a *Adapter) groupReference(namespace, name string) *v1.ObjectReference {
	if a.listers.groups == nil {
		return nil
	}
	g, err := a.listers.groups.PodGroups(namespace).Get(name)
	if err != nil {
		return nil
	}
	return &v1.ObjectReference{Kind: "PodGroup", APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Namespace: namespace, Name: name, UID: g.UID}
}
