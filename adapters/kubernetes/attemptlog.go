package kubernetes

import (
	"errors"

	"k8s.io/klog/v2"

	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// What the log says of each attempt: at the verbosities and in the words of kube-scheduler
// (schedule_one.go and schedule_one_podgroup.go, 1.37.1), so that what reads its log reads this one.

// ref is how the log names a pod.
func ref(w *model.Workload) klog.ObjectRef { return klog.KRef(w.Namespace, w.Name) }

func (a *Adapter) logAttempt(e engine.PoppedEvent) {
	if e.Workload.Group != "" && a.listers.groups != nil {
		a.log.V(4).Info("Attempting to schedule a pod belonging to a pod group", "podGroup", e.Workload.Group, "pod", ref(e.Workload))
		return
	}
	a.log.V(3).Info("Attempting to schedule pod", "pod", ref(e.Workload))
}

func (a *Adapter) logBound(e engine.PlacedEvent) {
	a.log.V(2).Info("Successfully bound pod to node", "pod", ref(e.Workload), "node", e.Binding.Node)
}

func (a *Adapter) logRejected(e engine.RejectedEvent, message string) {
	switch {
	case !rejection(e.Code):
		a.log.Error(failure(e.Err, message), "Error scheduling pod; retrying", "pod", ref(e.Workload))
	case e.Workload.Group != "" && len(e.Plugins) == 0:
		a.log.V(2).Info("Unable to schedule pod belonging to a pod group; waiting", "pod", ref(e.Workload), "err", message)
	default:
		a.log.V(2).Info("Unable to schedule pod; no fit; waiting", "pod", ref(e.Workload), "err", message)
	}
}

func (a *Adapter) logHeld(w *model.Workload, message string) {
	a.log.V(2).Info("A queue holds the pod back; waiting", "pod", ref(w), "reason", message)
}

// logGroup is called for each group of a tree. Groups of groups have no pods of their own.
func (a *Adapter) logGroup(e engine.GroupEvent) {
	switch {
	case e.Group.Composite:
	case e.Code == extpoints.Success:
		a.log.V(2).Info("Successfully scheduled a pod group", "podGroup", e.Group.ID)
	case rejection(e.Code) && e.Preempting:
		a.log.V(2).Info("Pod group is waiting for preemption", "podGroup", e.Group.ID, "err", words.Text(e.Message))
	case rejection(e.Code):
		a.log.V(2).Info("Unable to schedule a pod group", "podGroup", e.Group.ID, "err", words.Text(e.Message))
	default:
		a.log.Error(errors.New(words.Text(e.Message)), "Error scheduling pod group", "podGroup", e.Group.ID)
	}
}

// failure is the error of an attempt that failed, or one that says so.
func failure(err error, message string) error {
	if err == nil {
		return errors.New(message)
	}
	return words.Error(err)
}
