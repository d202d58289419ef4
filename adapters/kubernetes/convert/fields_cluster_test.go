package convert

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var fieldTests = []fieldTest{
	podFields, nodeFields, budgetFields, priorityClassFields, namespaceFields,
	serviceFields, replicationControllerFields, replicaSetFields, statefulSetFields,
	volumeClaimFields, volumeFields, storageClassFields, storageDriverFields, nodeStorageFields, storageCapacityFields, volumeAttachmentFields,
	podGroupFields, compositePodGroupFields, workloadFields,
	resourceSliceFields, deviceClassFields, resourceClaimFields, deviceTaintRuleFields, resourceClaimTemplateFields,
}

const (
	kubeletReports = "reported by the kubelet, for people and other controllers"
	notOwners      = "is for who runs the pods; who asks whether they are replicas looks at the selector only"
)

// nodeFields: what is read of a node. Changes of annotations, of conditions and
// of the time of a taint are events for the scheduler's queue, but no plugin of
// its own asks for the first two, and the third can at most wake a pod that
// goes back to sleep.
var nodeFields = fieldTest{
	kind: "Node",
	fates: slices.Concat(
		meta("metadata.name", "metadata.labels"),
		read("spec.unschedulable", "spec.taints", "status.allocatable", "status.capacity", "status.images", "status.declaredFeatures"),
		unread("is for the eviction of pods, which the scheduler has no part in", "spec.taints[].timeAdded"),
		unread("counts only while the feature gate InPlacePodVerticalScalingSchedulerPreemption is on; it is off in 1.37", "spec.podPreemptionPolicy"),
		unread("addresses and providers are for others", "spec.podCIDR", "spec.podCIDRs", "spec.providerID", "spec.externalID", "status.addresses", "status.daemonEndpoints"),
		unread("configures the kubelet", "spec.configSource", "status.config"),
		unread("controllers turn conditions into taints, which count", "status.conditions"),
		unread("volume attachments are what counts", "status.volumesInUse", "status.volumesAttached"),
		unread(kubeletReports, "status.phase", "status.nodeInfo", "status.runtimeHandlers", "status.features"),
	),
	zero: func() any { return &v1.Node{} },
	bases: map[string]func(any){
		"cpu":  func(o any) { goodNode(o, v1.ResourceCPU) },
		"pods": func(o any) { goodNode(o, v1.ResourcePods) },
	},
	result: func(o any) any {
		n, err := Node(o.(*v1.Node))
		return []any{n, text(err)}
	},
}

func goodNode(o any, name v1.ResourceName) {
	n := o.(*v1.Node)
	n.Status.Allocatable, n.Status.Capacity = v1.ResourceList{name: n.Status.Allocatable["x"]}, v1.ResourceList{name: n.Status.Capacity["x"]}
	n.Spec.Taints[0].Effect = v1.TaintEffectNoExecute
}

// budgetFields: what is read of a disruption budget.
var budgetFields = fieldTest{
	kind: "PodDisruptionBudget",
	fates: slices.Concat(
		meta("metadata.name", "metadata.namespace"),
		read("spec.selector", "status.disruptionsAllowed", "status.disruptedPods"),
		unread("status.disruptionsAllowed says what it comes to", "spec.minAvailable", "spec.maxUnavailable", "status.currentHealthy",
			"status.desiredHealthy", "status.expectedPods"),
		unread("is for evictions by the API server; preemption deletes", "spec.unhealthyPodEvictionPolicy"),
		unread("is for the disruption controller", "status.observedGeneration", "status.conditions"),
	),
	zero:  func() any { return &policyv1.PodDisruptionBudget{} },
	bases: map[string]func(any){"good": func(o any) { in(o.(*policyv1.PodDisruptionBudget).Spec.Selector) }},
	result: func(o any) any {
		b, err := Budget(o.(*policyv1.PodDisruptionBudget), func(namespace, name string) string { return "id of " + namespace + "/" + name })
		return []any{b, text(err)}
	},
}

// priorityClassFields: what the API server's admission reads of a priority
// class.
var priorityClassFields = fieldTest{
	kind: "PriorityClass",
	fates: slices.Concat(
		meta("metadata.name", "metadata.annotations"),
		read("value", "globalDefault", "preemptionPolicy"),
		unread("is for people", "description"),
	),
	zero: func() any { return &schedulingv1.PriorityClass{} },
	bases: map[string]func(any){"good": func(o any) {
		policy := v1.PreemptLowerPriority
		o.(*schedulingv1.PriorityClass).PreemptionPolicy = &policy
		o.(*schedulingv1.PriorityClass).Annotations = map[string]string{minPriorityAnnotation: "10000", tolerationAnnotation: "60"}
	}},
	result: func(o any) any {
		c, err := PriorityClassOf(o.(*schedulingv1.PriorityClass))
		return []any{c, text(err)}
	},
}

// namespaceFields: what is read of a namespace.
var namespaceFields = fieldTest{
	kind: "Namespace",
	fates: slices.Concat(
		meta("metadata.name", "metadata.labels"),
		unread("is for its deletion", "spec.finalizers", "status"),
	),
	zero:   func() any { return &v1.Namespace{} },
	bases:  map[string]func(any){"good": func(any) {}},
	result: func(o any) any { return Namespace(o.(*v1.Namespace)) },
}

// ownedPod is a pod that the object called x selects or, if it is a controller
// of the kind, owns.
func ownedPod(apiVersion, kind string) *v1.Pod {
	controller := true
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "x", Name: "p", Labels: map[string]string{"x": "x"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "x", Controller: &controller}},
	}}
}

var serviceFields = fieldTest{
	kind: "Service",
	fates: slices.Concat(
		meta("metadata.namespace"), // whatever its name, it selects the pod
		read("spec.selector"),
		unread(notOwners, "spec.ports", "spec.clusterIP", "spec.clusterIPs", "spec.type", "spec.externalIPs", "spec.sessionAffinity", "spec.loadBalancerIP",
			"spec.loadBalancerSourceRanges", "spec.externalName", "spec.externalTrafficPolicy", "spec.healthCheckNodePort", "spec.publishNotReadyAddresses",
			"spec.sessionAffinityConfig", "spec.ipFamilies", "spec.ipFamilyPolicy", "spec.allocateLoadBalancerNodePorts", "spec.loadBalancerClass",
			"spec.internalTrafficPolicy", "spec.trafficDistribution", "status"),
	),
	zero:  func() any { return &v1.Service{} },
	bases: map[string]func(any){"good": func(any) {}},
	result: func(o any) any {
		return OwnerSelector(ownedPod("v1", "Pod"), Owners{Services: []*v1.Service{o.(*v1.Service)}})
	},
}

var replicationControllerFields = fieldTest{
	kind: "ReplicationController",
	fates: slices.Concat(
		meta("metadata.namespace", "metadata.name"),
		read("spec.selector"),
		unread(notOwners, "spec.replicas", "spec.minReadySeconds", "spec.template", "status"),
	),
	zero:  func() any { return &v1.ReplicationController{} },
	bases: map[string]func(any){"good": func(any) {}},
	result: func(o any) any {
		return OwnerSelector(ownedPod("v1", "ReplicationController"), Owners{ReplicationControllers: []*v1.ReplicationController{o.(*v1.ReplicationController)}})
	},
}

var replicaSetFields = fieldTest{
	kind: "ReplicaSet",
	fates: slices.Concat(
		meta("metadata.namespace", "metadata.name"),
		read("spec.selector"),
		unread(notOwners, "spec.replicas", "spec.minReadySeconds", "spec.template", "status"),
	),
	zero:  func() any { return &appsv1.ReplicaSet{} },
	bases: map[string]func(any){"good": func(o any) { in(o.(*appsv1.ReplicaSet).Spec.Selector) }},
	result: func(o any) any {
		return OwnerSelector(ownedPod("apps/v1", "ReplicaSet"), Owners{ReplicaSets: []*appsv1.ReplicaSet{o.(*appsv1.ReplicaSet)}})
	},
}

var statefulSetFields = fieldTest{
	kind: "StatefulSet",
	fates: slices.Concat(
		meta("metadata.namespace", "metadata.name"),
		read("spec.selector"),
		unread(notOwners, "spec.replicas", "spec.template", "spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy", "spec.updateStrategy",
			"spec.revisionHistoryLimit", "spec.minReadySeconds", "spec.persistentVolumeClaimRetentionPolicy", "spec.ordinals", "status"),
	),
	zero:  func() any { return &appsv1.StatefulSet{} },
	bases: map[string]func(any){"good": func(o any) { in(o.(*appsv1.StatefulSet).Spec.Selector) }},
	result: func(o any) any {
		return OwnerSelector(ownedPod("apps/v1", "StatefulSet"), Owners{StatefulSets: []*appsv1.StatefulSet{o.(*appsv1.StatefulSet)}})
	},
}
