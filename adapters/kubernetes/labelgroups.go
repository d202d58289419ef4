package kubernetes

import (
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// labelGroups are the groups that were made of scheduling.x-k8s.io's PodGroups, by
// namespace/name. Only the goroutine that tells the engine uses them.
type labelGroups map[string]*model.Group

// labelGroupChanged is what the engine is told of a change of such a PodGroup. One that makes no
// sense changes nothing.
func (a *Adapter) labelGroupChanged(before, after any) []engine.Change {
	name := nameOf(before, after)
	known := a.labelGroups[name]
	is := as[unstructured.Unstructured](after)
	if is == nil {
		delete(a.labelGroups, name)
		if known == nil {
			return nil
		}
		return []engine.Change{engine.RemoveGroup(known.ID)}
	}
	g, err := customresources.PodGroup(is)
	if err != nil {
		a.log.Error(err, "A pod group is left as it was, if there was one", "object", name)
		return nil
	}
	if reflect.DeepEqual(g, known) {
		return nil
	}
	a.labelGroups[name] = g
	return []engine.Change{engine.PutGroup(g)}
}

// labelGroupOf is the ID of the group that the pod's label names, whether it is there or not;
// empty where the pod's profile goes by no such groups.
func (a *Adapter) labelGroupOf(o *v1.Pod) string {
	name := o.Labels[customresources.PodGroupLabel]
	if name == "" || !slices.Contains(a.opts.Custom.Coscheduled, o.Spec.SchedulerName) {
		return ""
	}
	return customresources.PodGroupID(o.Namespace, name)
}
