package twin

import (
	"slices"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
)

// alignVictims puts the victims of the reference in the subject's order where
// they are the same but for the order of the members of a group that leaves as a
// whole, which is that of a map in kube-scheduler (backend/cache/podgroupstate.go
// scheduledPods, 1.37.1).
func (t *Twin) alignVictims(ref, sub *answer.Decision) {
	sorted := t.sorted(ref.Victims)
	if !slices.Equal(sorted, t.sorted(sub.Victims)) {
		return
	}
	for i := 1; i < len(sorted); i++ {
		t.shuffled = t.shuffled || t.LeavesAs(sorted[i-1]) == t.LeavesAs(sorted[i])
	}
	ref.Victims = sub.Victims
}

// sorted returns a copy of the list in which those that leave as one are in the
// order of their names.
func (t *Twin) sorted(victims []string) []string {
	list := slices.Clone(victims)
	for from := 0; from < len(list); {
		to, unit := from+1, t.LeavesAs(list[from])
		for to < len(list) && t.LeavesAs(list[to]) == unit {
			to++
		}
		slices.Sort(list[from:to])
		from = to
	}
	return list
}

// LeavesAs is the highest group above the pod that leaves as a whole, or the pod
// itself.
func (t *Twin) LeavesAs(id string) string {
	pod := t.Object(t.Find(id))
	if pod.Spec.SchedulingGroup == nil {
		return id
	}
	unit, meta := id, metav1.ObjectMeta{Namespace: pod.Namespace, Name: *pod.Spec.SchedulingGroup.PodGroupName}
	group, ok := t.Reference.Get(&schedulingv1beta1.PodGroup{ObjectMeta: meta}).(*schedulingv1beta1.PodGroup)
	if !ok {
		return id
	}
	if mode := group.Spec.DisruptionMode; mode != nil && mode.All != nil {
		unit = "group " + group.Name
	}
	for above := group.Spec.ParentCompositePodGroupName; above != nil; {
		meta.Name = *above
		composite, ok := t.Reference.Get(&schedulingv1alpha3.CompositePodGroup{ObjectMeta: meta}).(*schedulingv1alpha3.CompositePodGroup)
		if !ok {
			break
		}
		if mode := composite.Spec.DisruptionMode; mode != nil && mode.All != nil {
			unit = "composite group " + composite.Name
		}
		above = composite.Spec.ParentCompositePodGroupName
	}
	return unit
}
