package convert

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-project/berth/model"
)

// Owners are the objects that make pods replicas of each other. They may be of
// all namespaces or, to save time, only of the pod's.
type Owners struct {
	Services               []*v1.Service               // all count that select the pod, in its namespace
	ReplicationControllers []*v1.ReplicationController // the one that controls the pod counts, as with those below
	ReplicaSets            []*appsv1.ReplicaSet        // also those of deployments
	StatefulSets           []*appsv1.StatefulSet       // found by name, as those above
}

var (
	replicationController = v1.SchemeGroupVersion.WithKind("ReplicationController")
	replicaSet            = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	statefulSet           = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
)

// OwnerSelector selects the pods that the pod is a replica among, for
// [model.Workload].OwnerSelector: those that all services that select the pod
// select, and the controller that owns it, if that is of a kind that is known.
// It is nil where there is nothing of the sort.
//
// The owner is looked up by kind and name; neither its UID nor whether it still
// selects the pod is asked for. One that is not there, or whose selector cannot
// be read, adds nothing.
//
// The scheduler asks at every attempt to place the pod. So a caller that keeps a
// workload must ask again when one of these objects changes.
//
// Rules: kube-scheduler plugins/helper/spread.go, 1.37.1.
func OwnerSelector(p *v1.Pod, o Owners) *model.Selector {
	labels := map[string]string{}
	for _, s := range o.Services {
		// A service without selector selects nothing, and adds nothing.
		if s.Namespace == p.Namespace && selects(s.Spec.Selector, p.Labels) {
			maps.Copy(labels, s.Spec.Selector)
		}
	}
	more := o.ofController(p, labels)
	selector := model.SelectLabels(labels)
	selector.Requirements = append(selector.Requirements, more...)
	if len(selector.Requirements) == 0 {
		return nil
	}
	return selector
}

// ofController is what the controller adds to the labels and beside them.
func (o *Owners) ofController(p *v1.Pod, labels map[string]string) []model.Requirement {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return nil
	}
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return nil
	}
	switch group.WithKind(owner.Kind) {
	case replicationController:
		if c := named(o.ReplicationControllers, p.Namespace, owner.Name); c != nil {
			maps.Copy(labels, c.Spec.Selector)
		}
	case replicaSet:
		if c := named(o.ReplicaSets, p.Namespace, owner.Name); c != nil {
			return requirements(c.Spec.Selector)
		}
	case statefulSet:
		if c := named(o.StatefulSets, p.Namespace, owner.Name); c != nil {
			return requirements(c.Spec.Selector)
		}
	}
	return nil
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if have, ok := labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// named is the object with the name, nil where there is none.
func named[T metav1.Object](list []T, namespace, name string) T {
	for _, o := range list {
		if o.GetName() == name && o.GetNamespace() == namespace {
			return o
		}
	}
	var none T
	return none
}

// requirements are those of the selector, none where it cannot be read.
func requirements(s *metav1.LabelSelector) []model.Requirement {
	var unread problems
	selector, _ := unread.selector(nil, s)
	if selector == nil {
		return nil
	}
	return selector.Requirements
}
