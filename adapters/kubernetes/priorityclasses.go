package kubernetes

import (
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// watchPriorityClasses watches the priority classes. The engine is told nothing of
// themselves; their pods are looked at again.
func (a *Adapter) watchPriorityClasses(wanted map[Kind]bool) error {
	if !wanted[PriorityClasses] {
		return nil
	}
	classes := a.factory.Scheduling().V1().PriorityClasses()
	a.listers.priorityClasses = classes.Lister()
	return a.from(string(PriorityClasses), classes.Informer(), a.classChanged)
}

// classChanged looks again at the pods of a class whose toleration may be another.
func (a *Adapter) classChanged(before, after any) []engine.Change {
	name := nameOf(before, after)
	if c := as[schedulingv1.PriorityClass](after); c != nil {
		_, err := convert.PriorityClassOf(c)
		a.problem(string(PriorityClasses), name, err)
	}
	return a.pods.ofClass(name)
}

// toleration is that of the pod's class as it is now; none where the class is not there, or
// no plugin looks at it.
func (a *Adapter) toleration(o *v1.Pod) model.PreemptionToleration {
	if a.listers.priorityClasses == nil || o.Spec.PriorityClassName == "" {
		return model.PreemptionToleration{}
	}
	c, err := a.listers.priorityClasses.Get(o.Spec.PriorityClassName)
	if err != nil {
		return model.PreemptionToleration{}
	}
	class, _ := convert.PriorityClassOf(c) // classChanged has logged what is wrong with it
	return class.Toleration
}
