package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Bind implements [extpoints.Orchestrator]: it asks the API server to bind the pod.
// Where the answer is lost or late it asks again: the second time the server says
// that the pod has a node, and if that is the one, all is well.
//
// Rules: kube-scheduler plugins/defaultbinder/default_binder.go, 1.37.1. The UID is
// sent along, so that a pod that has taken the place of another is left alone.
func (a *Adapter) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	defer a.first()()
	if err := a.reserved(w); err != nil {
		a.giveBack(ctx, w, &b)
		return err
	}
	a.statuses.forget(ctx, w.ID) // that it was not placed is over
	if err := a.bind(ctx, w, b.Node); err != nil {
		a.giveBack(ctx, w, &b)
		return err
	}
	a.bound(w.ID, b.Node)
	return nil
}

// bind asks for the binding until it is known what happened to it.
func (a *Adapter) bind(ctx context.Context, w *model.Workload, node string) error {
	binding := &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name, UID: uid(w.ID)},
		Target:     v1.ObjectReference{Kind: "Node", Name: node},
	}
	unsure := false // whether one of the tries has bound it
	err := a.write(ctx, "bind", func(ctx context.Context) error {
		err := a.opts.Client.CoreV1().Pods(w.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
		unsure = unsure || passes(err) || apierrors.IsConflict(err) || ctx.Err() != nil
		return err
	})
	if err != nil && unsure && a.becameOf(ctx, w, node) {
		return nil
	}
	return err
}

// becameOf waits until the API server says whether the pod is on the node: one that
// cannot be reached may have bound it, and until that is known the room is not free.
func (a *Adapter) becameOf(ctx context.Context, w *model.Workload, node string) bool {
	for {
		p, err := a.opts.Client.CoreV1().Pods(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
		switch {
		case err == nil:
			return p.UID == uid(w.ID) && p.Spec.NodeName == node
		case apierrors.IsNotFound(err):
			return false
		}
		a.log.V(2).Info("The outcome of a binding is not known yet", "pod", w.Namespace+"/"+w.Name, "node", node, "error", err)
		if !pause(ctx, askAgain) {
			return false
		}
	}
}

// askAgain is how often the API server is asked what happened to a binding.
const askAgain = time.Second

// bound tells the engine that the pod is on its node, before the informer does: who
// called Bind, a plugin perhaps, may report something else, and the room must not be
// given to another meanwhile. Where the engine knows more by now it does not listen.
func (a *Adapter) bound(id, node string) {
	if err := a.engine.Apply(engine.Confirm(model.Binding{Workload: id, Node: node})); err != nil {
		a.log.V(4).Info("The engine has moved on", "workload", id, "error", err)
	}
}

// first has events stand back until what it returns is called.
func (a *Adapter) first() (done func()) {
	a.urgent.Add(1)
	return func() {
		if a.urgent.Add(-1) == 0 {
			a.events.proceed()
		}
	}
}

// Evict implements [extpoints.Orchestrator]: it writes down why the pod is to go, and
// deletes it. One that is gone or terminating already is not asked again.
//
// Rules: kube-scheduler framework/preemption/executor.go, 1.37.1.
func (a *Adapter) Evict(ctx context.Context, w *model.Workload, reason string) error {
	about := engine.EvictingEvent{Workload: w, Reason: reason}
	if announced, ok := a.evictions.LoadAndDelete(w.ID); ok {
		about = announced.(engine.EvictingEvent)
	}
	p, err := a.listers.pods.Pods(w.Namespace).Get(w.Name)
	if apierrors.IsNotFound(err) || err == nil && (p.UID != uid(w.ID) || p.DeletionTimestamp != nil) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pod %s/%s: %w", w.Namespace, w.Name, err)
	}
	defer a.first()()
	who := a.preemptor(&about)
	// The informers may say that the pod has gone before the API server answers.
	ctx, done := finishing(ctx)
	defer done()
	asked := false
	err = a.write(ctx, "evict", func(ctx context.Context) error { return a.evict(ctx, p, who, &asked) })
	if err == nil && asked {
		victim := reference(p.Namespace, p.Name, p.UID)
		victim.ResourceVersion = p.ResourceVersion
		a.events.preempted(victim, who, about.Node, "")
	}
	return err
}

// finishTime is how long a request may still take when it is not wanted any more.
const finishTime = 10 * time.Second

// finishing is ctx for a request whose answer is wanted although the pod has gone: it
// ends at once where the engine stops, and else finishTime after ctx.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, engine.ErrStopped) || errors.Is(cause, context.Canceled) {
			end(cause)
			return
		}
		time.AfterFunc(finishTime, func() { end(cause) })
	})
	return lasting, func() {
		stop()
		end(nil)
	}
}

// evict writes the condition and deletes the pod, unless it has gone by itself. asked
// says whether the API server did it, or may have done it before the answer got lost.
func (a *Adapter) evict(ctx context.Context, p *v1.Pod, who *preemptor, asked *bool) error {
	err := a.patchStatus(ctx, p, func(now *v1.Pod, s *v1.PodStatus) bool {
		return setCondition(s, now, v1.PodCondition{
			Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
			Message: fmt.Sprintf("%s: preempting to accommodate a higher priority %s", who.scheduler, who.kind),
		})
	})
	if err == nil {
		id := p.UID
		err = a.opts.Client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &id}})
		*asked = *asked || err == nil || passes(err)
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && !a.isThere(ctx, p) {
		return nil // it has gone
	}
	return err
}

func (a *Adapter) isThere(ctx context.Context, p *v1.Pod) bool {
	now, err := a.opts.Client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return now.UID == p.UID
}

// preemptor is who room is made for.
type preemptor struct {
	kind      string // pod, podgroup or compositepodgroup
	id        string // UID, where it is known
	scheduler string
	object    *v1.ObjectReference // nil where it is not known
}

// preemptor looks up who the room is for. (kube-scheduler
// framework/preemption/executor.go, 1.37.1.)
func (a *Adapter) preemptor(e *engine.EvictingEvent) *preemptor {
	who := &preemptor{kind: "pod", id: e.By, scheduler: e.Workload.Profile}
	if e.For != nil {
		who.scheduler = e.For.Profile // all of a group have the same
	}
	switch {
	case e.ByGroup != "":
		a.preemptingGroup(who, e.ByGroup)
	case e.For != nil:
		who.object = podReference(e.For)
	}
	return who
}

// preemptingGroup is preemptor for a group.
func (a *Adapter) preemptingGroup(who *preemptor, group string) {
	who.kind, who.id = "compositepodgroup", group
	if namespace, name, ok := groupName(group); ok {
		who.kind = "podgroup"
		who.object = a.groupReference(namespace, name)
	}
	if who.object != nil {
		who.id = string(who.object.UID)
	}
}

// podReference is the pod as events refer to it.
func podReference(w *model.Workload) *v1.ObjectReference {
	return reference(w.Namespace, w.Name, uid(w.ID))
}

// reference is a pod as events refer to it.
func reference(namespace, name string, id types.UID) *v1.ObjectReference {
	return &v1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: namespace, Name: name, UID: id}
}
