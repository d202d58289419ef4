package convert

import (
	"slices"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
)

const (
	templatesOnly = "groups are made of the templates, and the groups are what counts"
	resolvedClass = "the API server has put it into priority and preemptionPolicy"
	onlyOneHas    = "has no fields; that it is there says it"
)

// podGroupFields: what is read of a pod group by the plugins for gangs,
// topologies and devices, by the queue and by preemption.
var podGroupFields = fieldTest{
	kind: "PodGroup",
	fates: slices.Concat(
		meta("metadata.name", "metadata.namespace", "metadata.creationTimestamp"),
		read("spec.parentCompositePodGroupName", "spec.schedulingPolicy.gang.minCount", "spec.schedulingConstraints.topology", "spec.resourceClaims",
			"spec.disruptionMode.all", "spec.priority", "spec.preemptionPolicy", "status.resourceClaimStatuses"),
		unread(onlyOneHas, "spec.schedulingPolicy.basic", "spec.disruptionMode.single"),
		unread(templatesOnly, "spec.workloadRef"),
		unread(resolvedClass, "spec.priorityClassName"),
		unread("the scheduler writes them and reads them only to see whether they are new", "status.conditions"),
	),
	zero: func() any { return &schedulingv1beta1.PodGroup{} },
	bases: map[string]func(any){
		"claim by name": func(o any) {
			goodPodGroup(o).Spec.ResourceClaims[0].ResourceClaimTemplateName = nil
		},
		"claim by template": func(o any) {
			goodPodGroup(o).Spec.ResourceClaims[0].ResourceClaimName = nil
		},
	},
	result: func(o any) any {
		g, err := Group(o.(*schedulingv1beta1.PodGroup), Gates{PodGroupPreemptionPolicy: true})
		return []any{g, text(err)}
	},
}

// goodPodGroup makes a pod group such as the API server would let in, but for
// the two sources of its claim.
func goodPodGroup(o any) *schedulingv1beta1.PodGroup {
	g := o.(*schedulingv1beta1.PodGroup)
	lower := schedulingv1beta1.PreemptLowerPriority
	g.Spec.PreemptionPolicy = &lower
	return g
}

// compositePodGroupFields: the same, for groups of groups.
var compositePodGroupFields = fieldTest{
	kind: "CompositePodGroup",
	fates: slices.Concat(
		meta("metadata.name", "metadata.namespace", "metadata.creationTimestamp"),
		read("spec.parentCompositePodGroupName", "spec.schedulingPolicy.gang.minGroupCount", "spec.schedulingConstraints.topology",
			"spec.disruptionMode.all", "spec.priority", "spec.preemptionPolicy"),
		unread(onlyOneHas, "spec.schedulingPolicy.basic", "spec.disruptionMode.single"),
		unread(templatesOnly, "spec.workloadRef"),
		unread(resolvedClass, "spec.priorityClassName"),
		unread("the scheduler writes them and reads them only to see whether they are new", "status.conditions"),
	),
	zero: func() any { return &schedulingv1alpha3.CompositePodGroup{} },
	bases: map[string]func(any){"good": func(o any) {
		g := o.(*schedulingv1alpha3.CompositePodGroup)
		lower := schedulingv1alpha3.PreemptLowerPriority
		g.Spec.PreemptionPolicy = &lower
	}},
	result: func(o any) any {
		g, err := CompositeGroup(o.(*schedulingv1alpha3.CompositePodGroup), Gates{PodGroupPreemptionPolicy: true})
		return []any{g, text(err)}
	},
}

// workloadFields: nothing is read of a Workload; see [Group]. The list is here to
// tell when there is more in it than templates.
var workloadFields = fieldTest{
	kind: "Workload",
	fates: slices.Concat(
		meta(),
		unread("says what the groups are made for", "spec.controllerRef"),
		unread(templatesOnly, "spec.podGroupTemplates", "spec.compositePodGroupTemplates"),
	),
	zero:   func() any { return &schedulingv1beta1.Workload{} },
	bases:  map[string]func(any){"good": func(any) {}},
	result: func(any) any { return nil },
}
