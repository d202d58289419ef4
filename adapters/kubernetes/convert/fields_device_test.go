package convert

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	evictsDevices = "is for the eviction of pods from tainted devices, which the scheduler has no part in"
	notBuiltGate  = "counts only while a feature gate is on that is off in 1.37: "
)

// resourceSliceFields: what is read of a resource slice by the allocator.
var resourceSliceFields = fieldTest{
	kind: "ResourceSlice",
	fates: slices.Concat(
		meta("metadata.name"),
		read("spec.driver", "spec.pool", "spec.nodeName", "spec.nodeSelector", "spec.allNodes", "spec.perDeviceNodeSelection", "spec.devices", "spec.sharedCounters"),
		unread(evictsDevices, "spec.devices[].taints[].timeAdded"),
		unread(notBuiltGate+"DRAPartitionableDevicesType", "spec.partitionTypeAttribute"),
		unread(notBuiltGate+"DRAOptionalNodeOperations", "spec.skipNodeOperations"),
		unread(notBuiltGate+"DRADeviceCompatibilityGroups", "spec.devices[].consumesCounters[].compatibilityGroups"),
		unread(notBuiltGate+"DRANodeAllocatableResources", "spec.devices[].nodeAllocatableResources"),
		unread("that there is a list is a problem, whatever is in it", "spec.devices[].attributes{}.ints", "spec.devices[].attributes{}.bools",
			"spec.devices[].attributes{}.strings", "spec.devices[].attributes{}.versions"),
	),
	zero: func() any { return &resourcev1.ResourceSlice{} },
	bases: map[string]func(any){
		"of a node":        func(o any) { goodSlice(o, "nodeName", "int", false) },
		"of several nodes": func(o any) { goodSlice(o, "nodeSelector", "bool", false) },
		"of all nodes":     func(o any) { goodSlice(o, "allNodes", "string", false) },
		"per device":       func(o any) { goodSlice(o, "nodeName", "version", true) },
		"per device, of several nodes": func(o any) {
			values := o.(*resourcev1.ResourceSlice).Spec.Devices[0].Capacity["x"].RequestPolicy.ValidValues
			policy := goodSlice(o, "nodeSelector", "int", true).Spec.Devices[0].Capacity["x"].RequestPolicy
			policy.ValidValues, policy.ValidRange = values, nil
		},
		"of counters": func(o any) {
			counters := o.(*resourcev1.ResourceSlice).Spec.SharedCounters
			s := goodSlice(o, "allNodes", "int", false)
			s.Spec.Devices, s.Spec.SharedCounters = nil, counters
		},
		"per device, of all nodes": func(o any) { goodSlice(o, "allNodes", "int", true) },
	},
	result: func(o any) any {
		s, err := DeviceSlice(o.(*resourcev1.ResourceSlice))
		return []any{s, text(err)}
	},
}

// goodSlice makes a slice such as the API server would let in. where and value
// are the only ways in which it says where it can be used, and what the attribute
// is.
func goodSlice(o any, where, value string, perDevice bool) *resourcev1.ResourceSlice {
	s := o.(*resourcev1.ResourceSlice)
	yes, selector := true, s.Spec.NodeSelector
	goodTerm(selector)
	d := &s.Spec.Devices[0]
	goodTerm(d.NodeSelector)
	access := map[string]func(node **string, terms **v1.NodeSelector, all **bool){
		"nodeName":     func(_ **string, terms **v1.NodeSelector, all **bool) { *terms, *all = nil, nil },
		"nodeSelector": func(node **string, _ **v1.NodeSelector, all **bool) { *node, *all = nil, nil },
		"allNodes":     func(node **string, terms **v1.NodeSelector, all **bool) { *node, *terms, *all = nil, nil, &yes },
	}[where]
	if perDevice {
		s.Spec.PerDeviceNodeSelection = &yes
		s.Spec.NodeName, s.Spec.NodeSelector, s.Spec.AllNodes = nil, nil, nil
		access(&d.NodeName, &d.NodeSelector, &d.AllNodes)
	} else {
		d.NodeName, d.NodeSelector, d.AllNodes = nil, nil, nil
		access(&s.Spec.NodeName, &s.Spec.NodeSelector, &s.Spec.AllNodes)
	}
	s.Spec.SharedCounters, d.Capacity["x"].RequestPolicy.ValidValues, d.AllowMultipleAllocations = nil, nil, &yes
	d.Taints[0].Effect = resourcev1.DeviceTaintEffectNoExecute
	a, all := resourcev1.DeviceAttribute{}, d.Attributes["x"]
	switch value {
	case "int":
		a.IntValue = all.IntValue
	case "bool":
		a.BoolValue = all.BoolValue
	case "string":
		a.StringValue = all.StringValue
	case "version":
		a.VersionValue = all.VersionValue
	}
	d.Attributes["x"] = a
	return s
}

func goodTerm(s *v1.NodeSelector) {
	s.NodeSelectorTerms[0].MatchExpressions[0].Operator = v1.NodeSelectorOpIn
	s.NodeSelectorTerms[0].MatchFields[0].Key, s.NodeSelectorTerms[0].MatchFields[0].Operator = metav1.ObjectNameField, v1.NodeSelectorOpIn
}

// deviceClassFields: what is read of a device class.
var deviceClassFields = fieldTest{
	kind: "DeviceClass",
	fates: slices.Concat(
		meta("metadata.name", "metadata.creationTimestamp"),
		read("spec.selectors", "spec.config", "spec.extendedResourceName"),
	),
	zero:  func() any { return &resourcev1.DeviceClass{} },
	bases: map[string]func(any){"good": func(any) {}},
	result: func(o any) any {
		c, err := DeviceClass(o.(*resourcev1.DeviceClass))
		return []any{c, text(err)}
	},
}

// resourceClaimFields: what is read of a resource claim. Tolerations come back
// from the claim when its status is written.
var resourceClaimFields = fieldTest{
	kind: "ResourceClaim",
	fates: slices.Concat(
		meta("metadata.name", "metadata.namespace", "metadata.uid", "metadata.annotations", "metadata.deletionTimestamp", "metadata.ownerReferences"),
		unread("is for the garbage collector", "metadata.ownerReferences[].blockOwnerDeletion"),
		read("spec.devices", "status.allocation", "status.reservedFor",
			"status.devices[].driver", "status.devices[].pool", "status.devices[].device", "status.devices[].shareID",
			"status.devices[].conditions[].type", "status.devices[].conditions[].status"),
		unread("that there is one is a problem, whatever is in it", "spec.devices.requests[].exactly.derivedAttributes[].name", "spec.devices.requests[].exactly.derivedAttributes[].expression",
			"spec.devices.requests[].firstAvailable[].derivedAttributes[].name", "spec.devices.requests[].firstAvailable[].derivedAttributes[].expression"),
		unread(evictsDevices, "spec.devices.requests[].exactly.tolerations[].tolerationSeconds", "spec.devices.requests[].firstAvailable[].tolerations[].tolerationSeconds",
			"status.allocation.devices.results[].tolerations[].tolerationSeconds"),
		unread(notBuiltGate+"DRAOptionalNodeOperations", "status.allocation.devices.results[].skipNodeOperations"),
		unread("only type and status count", "status.devices[].conditions[].observedGeneration", "status.devices[].conditions[].lastTransitionTime",
			"status.devices[].conditions[].reason", "status.devices[].conditions[].message"),
		unread("drivers report it to others", "status.devices[].data", "status.devices[].networkData"),
	),
	zero: func() any { return &resourcev1.ResourceClaim{} },
	bases: map[string]func(any){
		"exactly": func(o any) {
			c := goodClaim(o)
			c.Spec.Devices.Requests[0].FirstAvailable, c.Spec.Devices.Requests[0].Exactly.DerivedAttributes = nil, nil
			c.Spec.Devices.Constraints[0].DistinctAttribute = nil
			c.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
		},
		"first available": func(o any) {
			c := goodClaim(o)
			c.Spec.Devices.Requests[0].Exactly, c.Spec.Devices.Requests[0].FirstAvailable[0].DerivedAttributes = nil, nil
			c.Spec.Devices.Constraints[0].MatchAttribute = nil
			c.OwnerReferences[0].APIVersion, c.OwnerReferences[0].Kind = "scheduling.k8s.io/v1beta1", "PodGroup"
			c.Status.ReservedFor[0].APIGroup, c.Status.ReservedFor[0].Resource = "scheduling.k8s.io", "podgroups"
		},
		"exactly, with derived attributes":         func(o any) { goodClaim(o).Spec.Devices.Requests[0].FirstAvailable = nil },
		"first available, with derived attributes": func(o any) { goodClaim(o).Spec.Devices.Requests[0].Exactly = nil },
	},
	result: func(o any) any {
		c, err := DeviceClaim(o.(*resourcev1.ResourceClaim))
		return []any{c, text(err)}
	},
}

// goodClaim makes a claim such as the API server would let in, but for the two
// kinds of requests and of constraints.
func goodClaim(o any) *resourcev1.ResourceClaim {
	c := o.(*resourcev1.ResourceClaim)
	yes := true
	c.OwnerReferences[0].APIVersion, c.OwnerReferences[0].Kind, c.OwnerReferences[0].Controller = "v1", "Pod", &yes
	r := &c.Spec.Devices.Requests[0]
	r.Exactly.AllocationMode, r.FirstAvailable[0].AllocationMode = resourcev1.DeviceAllocationModeExactCount, resourcev1.DeviceAllocationModeExactCount
	for _, t := range []*resourcev1.DeviceToleration{&r.Exactly.Tolerations[0], &r.FirstAvailable[0].Tolerations[0], &c.Status.Allocation.Devices.Results[0].Tolerations[0]} {
		t.Operator, t.Effect = resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTaintEffectNoExecute
	}
	goodTerm(c.Status.Allocation.NodeSelector)
	c.Status.Allocation.Devices.Config[0].Source = resourcev1.AllocationConfigSourceClass
	c.Status.ReservedFor[0].APIGroup, c.Status.ReservedFor[0].Resource = "", "pods"
	c.Status.Devices[0].Conditions[0].Status = metav1.ConditionTrue
	return c
}

// deviceTaintRuleFields: what is read of a taint rule.
var deviceTaintRuleFields = fieldTest{
	kind: "DeviceTaintRule",
	fates: slices.Concat(
		meta("metadata.name"),
		read("spec.deviceSelector", "spec.taint"),
		unread(evictsDevices, "spec.taint.timeAdded", "status"),
	),
	zero: func() any { return &resourcev1.DeviceTaintRule{} },
	bases: map[string]func(any){"good": func(o any) {
		o.(*resourcev1.DeviceTaintRule).Spec.Taint.Effect = resourcev1.DeviceTaintEffectNoExecute
	}},
	result: func(o any) any {
		r, err := DeviceTaintRule(o.(*resourcev1.DeviceTaintRule))
		return []any{r, text(err)}
	},
}

// resourceClaimTemplateFields: nothing is read of a template; see [DeviceClaim].
// The list is here to tell when there is more in it than a claim.
var resourceClaimTemplateFields = fieldTest{
	kind: "ResourceClaimTemplate",
	fates: slices.Concat(
		meta(),
		unread("claims are made of it, and the claims are what counts", "spec.metadata", "spec.spec"),
	),
	zero:   func() any { return &resourcev1.ResourceClaimTemplate{} },
	bases:  map[string]func(any){"good": func(any) {}},
	result: func(any) any { return nil },
}
