package kubernetes

import (
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// watchOwners watches the objects that make pods replicas of each other. The engine
// is told nothing of themselves; pods that wait are looked at again.
func (a *Adapter) watchOwners(wanted map[Kind]bool) error {
	core, apps := a.factory.Core().V1(), a.factory.Apps().V1()
	for _, k := range []struct {
		kind     Kind
		informer func() cache.SharedIndexInformer
	}{
		{Services, func() cache.SharedIndexInformer {
			a.listers.services = core.Services().Lister()
			return core.Services().Informer()
		}},
		{ReplicationControllers, func() cache.SharedIndexInformer {
			a.listers.replicationControllers = core.ReplicationControllers().Lister()
			return core.ReplicationControllers().Informer()
		}},
		{ReplicaSets, func() cache.SharedIndexInformer {
			a.listers.replicaSets = apps.ReplicaSets().Lister()
			return apps.ReplicaSets().Informer()
		}},
		{StatefulSets, func() cache.SharedIndexInformer {
			a.listers.statefulSets = apps.StatefulSets().Lister()
			return apps.StatefulSets().Informer()
		}},
	} {
		if !wanted[k.kind] {
			continue
		}
		if err := a.from(string(k.kind), k.informer(), a.ownerChanged); err != nil {
			return err
		}
	}
	return nil
}

// ownerChanged looks again at the pods that wait in the namespace of an owner whose
// selector may be another. A new status says nothing about that.
func (a *Adapter) ownerChanged(before, after any) []engine.Change {
	was, _ := before.(metav1.Object)
	is, _ := after.(metav1.Object)
	switch {
	case was == nil && is == nil:
		return nil
	case was == nil:
		return a.pods.again(is.GetNamespace())
	case is == nil:
		return a.pods.again(was.GetNamespace())
	case was.GetGeneration() != 0 && was.GetGeneration() == is.GetGeneration():
		return nil
	}
	return a.pods.again(is.GetNamespace())
}

// ownerSelector selects the pods that the pod is a replica among.
func (a *Adapter) ownerSelector(p *v1.Pod) *model.Selector {
	owners := convert.Owners{}
	if l := a.listers.services; l != nil {
		owners.Services, _ = l.Services(p.Namespace).List(labels.Everything())
	}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner != nil {
		a.addOwner(&owners, p.Namespace, owner)
	}
	if owner == nil && len(owners.Services) == 0 {
		return nil
	}
	return convert.OwnerSelector(p, owners)
}

// addOwner looks up the controller of a pod, by name: there may be thousands.
func (a *Adapter) addOwner(owners *convert.Owners, namespace string, owner *metav1.OwnerReference) {
	switch l := &a.listers; owner.Kind {
	case "ReplicationController":
		if l.replicationControllers != nil {
			if o, err := l.replicationControllers.ReplicationControllers(namespace).Get(owner.Name); err == nil {
				owners.ReplicationControllers = []*v1.ReplicationController{o}
			}
		}
	case "ReplicaSet":
		if l.replicaSets != nil {
			if o, err := l.replicaSets.ReplicaSets(namespace).Get(owner.Name); err == nil {
				owners.ReplicaSets = []*appsv1.ReplicaSet{o}
			}
		}
	case "StatefulSet":
		if l.statefulSets != nil {
			if o, err := l.statefulSets.StatefulSets(namespace).Get(owner.Name); err == nil {
				owners.StatefulSets = []*appsv1.StatefulSet{o}
			}
		}
	}
}
