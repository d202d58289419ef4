package generate

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// DeviceClaim draws the i-th claim, which has been given nothing.
func (s *Source) DeviceClaim(i int) *resourcev1.ResourceClaim {
	return s.deviceClaim(claimNamespace(i), deviceClaimName(i))
}

func (s *Source) deviceClaim(namespace, name string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("claim-" + name)}}
	number := Pick(s, 1, 1, 1, 2, 3)
	for i := range number {
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, s.deviceRequest(i))
	}
	if s.Percent(30) {
		k := resourcev1.DeviceConstraint{}
		attribute := resourcev1.FullyQualifiedName(Pick(s, "x.io/root", "x.io/root", "d1.x.io/model"))
		if s.Percent(60) {
			k.MatchAttribute = &attribute
		} else {
			k.DistinctAttribute = &attribute
		}
		if s.Percent(30) {
			k.Requests = []string{c.Spec.Devices.Requests[0].Name}
		}
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, k)
	}
	if s.Percent(15) {
		c.Spec.Devices.Config = []resourcev1.DeviceClaimConfiguration{{DeviceConfiguration: s.deviceConfig()}}
	}
	if s.Percent(3) {
		c.DeletionTimestamp = &metav1.Time{}
	}
	return c
}

func (s *Source) deviceRequest(i int) resourcev1.DeviceRequest {
	r := resourcev1.DeviceRequest{Name: fmt.Sprintf("r%d", i)}
	if s.Percent(25) {
		for j := range 1 + s.IntN(3) {
			e := s.exactRequest()
			r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{Name: fmt.Sprintf("s%d", j), DeviceClassName: e.DeviceClassName,
				Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity})
		}
		return r
	}
	r.Exactly = s.exactRequest()
	if s.Percent(8) {
		r.Exactly.AdminAccess = new(true)
	}
	return r
}

func (s *Source) exactRequest() *resourcev1.ExactDeviceRequest {
	e := &resourcev1.ExactDeviceRequest{DeviceClassName: Pick(s, "any", "any", "first", "first", "model-a", "large"), AllocationMode: resourcev1.DeviceAllocationModeExactCount}
	if s.Percent(4) {
		e.DeviceClassName = "ghost"
	}
	e.Count = Pick(s, int64(1), 1, 1, 2, 3)
	if s.Percent(10) {
		e.AllocationMode, e.Count = resourcev1.DeviceAllocationModeAll, 0
	}
	if s.Percent(40) {
		e.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: s.deviceExpression(2)}}}
	}
	if s.Percent(20) {
		t := resourcev1.DeviceToleration{Operator: resourcev1.DeviceTolerationOpExists}
		if s.Percent(60) {
			t.Key = Pick(s, "broken.io/x", "busy.io/y")
		}
		if s.Percent(30) && t.Key != "" {
			t.Operator, t.Value = resourcev1.DeviceTolerationOpEqual, Pick(s, "", "v")
		}
		if s.Percent(30) {
			t.Effect = Pick(s, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute)
		}
		e.Tolerations = append(e.Tolerations, t)
	}
	if s.Percent(25) {
		e.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{
			resourcev1.QualifiedName(Pick(s, "memory", "memory", "d1.x.io/memory")): s.quantities("512Mi", "1Gi", "1300Mi", "5Gi")}}
	}
	return e
}

// deviceExpression draws what must be true of a device. An attribute that is not
// there is an error, unless it is asked for first.
func (s *Source) deviceExpression(depth int) string {
	driver := Pick(s, deviceDrivers...)
	attributes := fmt.Sprintf("device.attributes[%q]", driver)
	switch k := s.IntN(12); {
	case depth > 0 && k == 0:
		return fmt.Sprintf("(%s) && (%s)", s.deviceExpression(depth-1), s.deviceExpression(depth-1))
	case depth > 0 && k == 1:
		return fmt.Sprintf("(%s) || (%s)", s.deviceExpression(depth-1), s.deviceExpression(depth-1))
	case depth > 0 && k == 2:
		return fmt.Sprintf("!(%s)", s.deviceExpression(depth-1))
	case k == 3:
		return fmt.Sprintf("%s.model == %q", attributes, Pick(s, "a", "b"))
	case k == 4:
		return fmt.Sprintf(`%s.version.compareTo(semver("1.1.0")) > 0`, attributes)
	case k == 5:
		return fmt.Sprintf(`"version" in %s && %s.version.isGreaterThan(semver("1.1.0"))`, attributes, attributes)
	case k == 6:
		return fmt.Sprintf(`"fast" in %s && %s.fast`, attributes, attributes)
	case k == 7:
		return fmt.Sprintf(`"memory" in device.capacity[%q] && device.capacity[%q].memory.compareTo(quantity("4Gi")) >= 0`, driver, driver)
	case k == 8:
		return fmt.Sprintf(`"index" in %s && %s.index %s %d`, attributes, attributes, Pick(s, "<", ">=", "==", "!="), s.IntN(3))
	case k == 9:
		return `device.attributes["x.io"].?root.orValue("") in ["r0"]`
	case k == 10:
		return "device.allowMultipleAllocations == " + Pick(s, "true", "false")
	}
	return fmt.Sprintf("device.driver == %q", driver)
}

// Given returns the claim as it may be when it has been given the first devices
// of the slices, for the request that it makes; nil where there are none. It is
// reserved for the named pods.
func (s *Source) Given(old *resourcev1.ResourceClaim, slices []*resourcev1.ResourceSlice, pods []string) *resourcev1.ResourceClaim {
	c := old.DeepCopy()
	a := &resourcev1.AllocationResult{}
	for _, r := range c.Spec.Devices.Requests {
		if r.Exactly == nil || len(slices) == 0 {
			return nil
		}
		slice := slices[s.IntN(len(slices))]
		if len(slice.Spec.Devices) == 0 {
			return nil
		}
		d := slice.Spec.Devices[s.IntN(len(slice.Spec.Devices))]
		result := resourcev1.DeviceRequestAllocationResult{Request: r.Name, Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name, Device: d.Name, AdminAccess: r.Exactly.AdminAccess}
		if d.AllowMultipleAllocations != nil {
			result.ShareID = new(types.UID(fmt.Sprintf("share-%s-%s", c.Name, r.Name)))
			result.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{}
			for name := range d.Capacity {
				result.ConsumedCapacity[name] = s.quantities("512Mi", "1Gi")
			}
		}
		if slice.Spec.NodeName != nil {
			a.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{*slice.Spec.NodeName}}}}}}
		}
		a.Devices.Results = append(a.Devices.Results, result)
	}
	a.AllocationTimestamp = &metav1.Time{}
	c.Status.Allocation = a
	c.Finalizers = []string{resourcev1.Finalizer}
	for _, name := range pods {
		c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: s.PodUID(name)})
	}
	return c
}

// deviceClaims draws the claims of a pod: by name, or from a template.
func (s *Source) deviceClaims(p *v1.Pod) {
	if !s.Devices || s.Percent(15) {
		return
	}
	// Of a claim that it uses twice kube-scheduler makes two, and wants twice the
	// devices.
	used := map[string]bool{}
	for i := range Pick(s, 1, 1, 1, 2) {
		ref := v1.PodResourceClaim{Name: fmt.Sprintf("ref%d", i)}
		if s.Percent(60) {
			odd := 0
			if p.Namespace != Namespaces[0] {
				odd = 1
			}
			name := deviceClaimName(s.IntN(deviceClaimNames)/2*2 + odd)
			if used[name] {
				continue
			}
			used[name] = true
			ref.ResourceClaimName = &name
		} else {
			ref.ResourceClaimTemplateName = new("template")
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, ref)
	}
}

// DeviceClaimsOf draws the device claims that are made for the pod alone, and
// writes their names into its status. Some are missing, some names as well, and
// some claims are made for another.
func (s *Source) DeviceClaimsOf(p *v1.Pod) []runtime.Object {
	var list []runtime.Object
	for _, ref := range p.Spec.ResourceClaims {
		if ref.ResourceClaimTemplateName == nil || s.Percent(8) {
			continue
		}
		if s.Percent(4) { // not needed after all
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: ref.Name})
			continue
		}
		c := s.deviceClaim(p.Namespace, p.Name+"-"+ref.Name)
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
		if s.Percent(6) {
			c.OwnerReferences[0].UID = "another"
		}
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: ref.Name, ResourceClaimName: &c.Name})
		if s.Percent(94) {
			list = append(list, c)
		}
	}
	return list
}

// AnyDeviceObject draws an object of devices, as it may be now.
func (s *Source) AnyDeviceObject(node string) []runtime.Object {
	switch s.IntN(6) {
	case 0:
		return []runtime.Object{s.DeviceClass(s.IntN(len(deviceClasses) - 1))}
	case 1:
		return []runtime.Object{s.DeviceTaintRule(s.IntN(3))}
	case 2:
		return s.SharedDevices()
	case 3:
		return []runtime.Object{s.DeviceClaim(s.IntN(deviceClaimNames))}
	}
	return s.NodeDevices(node)
}
