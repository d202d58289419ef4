package convert

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

var (
	claimNames    = []string{"claim-a", "claim-b"}
	deviceAmounts = []string{"1", "3", "100m", "1500m", "1k", "1Ki", "128Mi", "1.5Gi", "80Gi"}
	badDeviceAmts = []string{"-1", "-1m", "1u", "1500u", "8Ei", "10P", "9223372036854775808"}
	classNames    = []string{"gpu.example.com", "nic.example.com"}
	requestNames  = []string{"card", "either/big", "either/small"}
)

func (g *generator) deviceAmount() resource.Quantity {
	return resource.MustParse(oneOf(g, deviceAmounts, badDeviceAmts...))
}

func (g *generator) podGroup(i int) *schedulingv1beta1.PodGroup {
	p := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: oneOf(g, []string{fmt.Sprintf("g%d", i)}, "", "\xff")}}
	p.CreationTimestamp = metav1.NewTime(time.Unix(int64(i), 0))
	p.Spec.ParentCompositePodGroupName = maybe(g, func() string { return oneOf(g, []string{"above"}, "", "\xff") })
	p.Spec.Priority = maybe(g, func() int32 { return oneOf(g, []int32{0, 1000}) })
	p.Spec.PreemptionPolicy = maybe(g, func() schedulingv1beta1.PreemptionPolicy {
		return oneOf(g, []schedulingv1beta1.PreemptionPolicy{schedulingv1beta1.PreemptLowerPriority, schedulingv1beta1.PreemptNever}, "", "Always")
	})
	if g.p(50) {
		p.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: oneOf(g, []int32{1, 8}, 0, -1)}
	}
	if g.p(50) {
		p.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: some(g, 1, func() schedulingv1beta1.TopologyConstraint {
			return schedulingv1beta1.TopologyConstraint{Key: oneOf(g, keys, "", "\xff")}
		})}
	}
	if g.p(50) {
		p.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: maybe(g, func() schedulingv1beta1.AllDisruptionMode { return schedulingv1beta1.AllDisruptionMode{} })}
	}
	for _, c := range g.podClaims() {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, schedulingv1beta1.PodGroupResourceClaim{Name: c.Name, ResourceClaimName: c.ResourceClaimName, ResourceClaimTemplateName: c.ResourceClaimTemplateName})
		if g.p(50) {
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, schedulingv1beta1.PodGroupResourceClaimStatus{Name: c.Name, ResourceClaimName: maybe(g, func() string { return "made-" + c.Name })})
		}
	}
	return p
}

func (g *generator) compositePodGroup(i int) *schedulingv1alpha3.CompositePodGroup {
	p := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: oneOf(g, []string{fmt.Sprintf("c%d", i)}, "", "above")}}
	p.Spec.ParentCompositePodGroupName = maybe(g, func() string { return "above" })
	if g.p(50) {
		p.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: oneOf(g, []int32{1, 8}, 0, -1)}
	}
	return p
}

// podClaims are a pod's claims: by name, by template, or wrong.
func (g *generator) podClaims() []v1.PodResourceClaim {
	var list []v1.PodResourceClaim
	for i := range g.IntN(3) {
		c := v1.PodResourceClaim{Name: oneOf(g, []string{fmt.Sprintf("local-%d", i)}, "local-0", "")}
		name := oneOf(g, claimNames)
		switch {
		case g.wild && g.p(10):
		case g.p(50):
			c.ResourceClaimName = &name
		default:
			c.ResourceClaimTemplateName = &name
		}
		list = append(list, c)
	}
	return list
}

// claims gives the pod claims, and a group to share them with.
func (g *generator) claims(p *v1.Pod) *schedulingv1beta1.PodGroup {
	p.Spec.ResourceClaims = g.podClaims()
	for _, c := range p.Spec.ResourceClaims {
		if g.p(50) {
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: c.Name, ResourceClaimName: maybe(g, func() string { return "made-" + c.Name })})
		}
	}
	group := g.podGroup(0)
	group.Namespace = p.Namespace
	p.Spec.SchedulingGroup = maybe(g, func() v1.PodSchedulingGroup { return v1.PodSchedulingGroup{PodGroupName: &group.Name} })
	if p.Spec.SchedulingGroup == nil && !g.wild {
		return nil
	}
	return group
}

func (g *generator) nodeSelectorOfDevices() *v1.NodeSelector {
	s := &v1.NodeSelector{}
	for range oneOf(g, []int{1}, 0, 2) {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, g.nodeTerm(values, values[3:]))
	}
	return s
}

// access says which nodes can use something, where it should.
func (g *generator) access(node **string, selector **v1.NodeSelector, all **bool, should bool) {
	if should == (g.wild && g.p(10)) {
		return
	}
	yes, name := true, oneOf(g, nodeNames)
	switch g.IntN(3) {
	case 0:
		*node = &name
	case 1:
		*selector = g.nodeSelectorOfDevices()
	case 2:
		*all = &yes
	}
	if g.wild && g.p(10) {
		*all = &yes
	}
}

func (g *generator) attribute() resourcev1.DeviceAttribute {
	n, b, s, v := int64(1), true, "x", "1.2.3"
	return oneOf(g, []resourcev1.DeviceAttribute{{IntValue: &n}, {BoolValue: &b}, {StringValue: &s}, {VersionValue: &v}},
		resourcev1.DeviceAttribute{}, resourcev1.DeviceAttribute{IntValues: []int64{1}})
}

func (g *generator) counters() map[string]resourcev1.Counter {
	m := map[string]resourcev1.Counter{}
	for range g.IntN(3) {
		m[oneOf(g, []string{"memory", "slices"})] = resourcev1.Counter{Value: g.deviceAmount()}
	}
	return m
}

// policy is one for a capacity that has the largest of all amounts.
func (g *generator) policy() resourcev1.CapacityRequestPolicy {
	amount := g.deviceAmount()
	p := resourcev1.CapacityRequestPolicy{Default: &amount}
	if g.wild && g.p(20) {
		p.Default = nil
	}
	switch g.IntN(3) {
	case 0:
		p.ValidValues = some(g, 3, g.deviceAmount)
		if !g.wild {
			slices.SortFunc(p.ValidValues, func(a, b resource.Quantity) int { return a.Cmp(b) })
		}
	case 1:
		least := g.deviceAmount()
		p.ValidRange = &resourcev1.CapacityRequestPolicyRange{Min: &least, Max: maybe(g, g.deviceAmount), Step: maybe(g, g.deviceAmount)}
		if g.wild && g.p(20) {
			p.ValidRange.Min = nil
		}
	}
	return p
}

func (g *generator) device(name string, perDevice bool) resourcev1.Device {
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}, Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}}
	for range g.IntN(4) {
		d.Attributes[oneOf(g, []resourcev1.QualifiedName{"model", "gpu.example.com/model", "index"})] = g.attribute()
		d.Capacity[oneOf(g, []resourcev1.QualifiedName{"memory", "gpu.example.com/cores"})] = resourcev1.DeviceCapacity{Value: g.deviceAmount()}
	}
	if shared := g.p(50); shared || g.wild && g.p(10) {
		d.AllowMultipleAllocations = &shared
		d.Capacity["shared"] = resourcev1.DeviceCapacity{Value: resource.MustParse("80Gi"), RequestPolicy: maybe(g, g.policy)}
	}
	for i := range g.IntN(3) {
		d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{CounterSet: g.counterSet(i), Counters: g.counters()})
	}
	d.Taints = some(g, 2, func() resourcev1.DeviceTaint {
		return resourcev1.DeviceTaint{Key: oneOf(g, []string{"a"}, ""), Effect: oneOf(g, []resourcev1.DeviceTaintEffect{"None", "NoSchedule", "NoExecute"}, "Other")}
	})
	g.access(&d.NodeName, &d.NodeSelector, &d.AllNodes, perDevice)
	return d
}

func (g *generator) resourceSlice(i int) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, []string{fmt.Sprintf("s%d", i)}, "", "\xff")}}
	s.Spec.Driver, s.Spec.Pool = "gpu.example.com", resourcev1.ResourcePool{Name: "pool", Generation: 1, ResourceSliceCount: 1}
	s.Spec.PerDeviceNodeSelection = maybe(g, func() bool { return g.p(80) })
	perDevice := s.Spec.PerDeviceNodeSelection != nil && *s.Spec.PerDeviceNodeSelection
	g.access(&s.Spec.NodeName, &s.Spec.NodeSelector, &s.Spec.AllNodes, !perDevice)
	counters := g.p(20)
	for i := range g.IntN(3) {
		if counters {
			s.Spec.SharedCounters = append(s.Spec.SharedCounters, resourcev1.CounterSet{Name: g.counterSet(i), Counters: g.counters()})
		}
		if !counters || g.wild && g.p(10) {
			s.Spec.Devices = append(s.Spec.Devices, g.device(fmt.Sprintf("d%d", i), perDevice))
		}
	}
	return s
}

func (g *generator) counterSet(i int) string {
	return oneOf(g, []string{fmt.Sprintf("set-%d", i)}, "set-0", "")
}

func (g *generator) deviceSelectors() []resourcev1.DeviceSelector {
	return some(g, 2, func() resourcev1.DeviceSelector {
		return oneOf(g, []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}}, resourcev1.DeviceSelector{}, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{}})
	})
}

func (g *generator) deviceConfig() resourcev1.DeviceConfiguration {
	return resourcev1.DeviceConfiguration{Opaque: &resourcev1.OpaqueDeviceConfiguration{Driver: "gpu.example.com", Parameters: runtime.RawExtension{Raw: []byte(`{"a":1}`)}}}
}

func (g *generator) deviceClass() *resourcev1.DeviceClass {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, classNames, "", "\xff")}}
	c.Spec.Selectors = g.deviceSelectors()
	c.Spec.ExtendedResourceName = maybe(g, func() string { return oneOf(g, []string{"example.com/gpu"}, "", "\xff") })
	c.Spec.Config = some(g, 1, func() resourcev1.DeviceClassConfiguration {
		return resourcev1.DeviceClassConfiguration{DeviceConfiguration: g.deviceConfig()}
	})
	return c
}

func (g *generator) deviceTaintRule() *resourcev1.DeviceTaintRule {
	r := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, []string{"r"}, "", "\xff")}}
	part := func() string { return oneOf(g, []string{"x"}, "", "\xff") }
	r.Spec.DeviceSelector = maybe(g, func() resourcev1.DeviceTaintSelector {
		return resourcev1.DeviceTaintSelector{Driver: maybe(g, part), Pool: maybe(g, part), Device: maybe(g, part)}
	})
	r.Spec.Taint = resourcev1.DeviceTaint{Key: oneOf(g, []string{"a"}, ""), Effect: resourcev1.DeviceTaintEffectNoExecute}
	return r
}

func (g *generator) deviceTolerations() []resourcev1.DeviceToleration {
	return some(g, 2, func() resourcev1.DeviceToleration {
		return oneOf(g, []resourcev1.DeviceToleration{
			{Operator: resourcev1.DeviceTolerationOpExists}, {Key: "a", Value: "b"}, {Key: "a", Operator: resourcev1.DeviceTolerationOpEqual, Effect: resourcev1.DeviceTaintEffectNoExecute, TolerationSeconds: new(int64)},
		}, resourcev1.DeviceToleration{}, resourcev1.DeviceToleration{Key: "a", Operator: "Near"}, resourcev1.DeviceToleration{Key: "a", Effect: "Sometimes"})
	})
}

// subRequest draws a part of a request, and with it what a request is that has
// no parts.
func (g *generator) subRequest(name string) resourcev1.DeviceSubRequest {
	r := resourcev1.DeviceSubRequest{
		Name: name, DeviceClassName: oneOf(g, classNames, ""), Selectors: g.deviceSelectors(), Tolerations: g.deviceTolerations(),
		AllocationMode: oneOf(g, []resourcev1.DeviceAllocationMode{resourcev1.DeviceAllocationModeExactCount}, "", "Some"), Count: oneOf(g, []int64{1, 3}, 0, -1),
	}
	if g.p(30) {
		r.AllocationMode, r.Count = resourcev1.DeviceAllocationModeAll, 0
	}
	if g.p(50) {
		r.Capacity = &resourcev1.CapacityRequirements{Requests: g.capacityRequests()}
	}
	return r
}

func (g *generator) capacityRequests() map[resourcev1.QualifiedName]resource.Quantity {
	if g.p(50) {
		return nil
	}
	return map[resourcev1.QualifiedName]resource.Quantity{"memory": g.deviceAmount()}
}

// resourceClaim has the requests "card" and "either", which has alternatives.
func (g *generator) resourceClaim(i int) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: oneOf(g, []string{fmt.Sprintf("c%d", i)}, "", "\xff"), UID: types.UID(fmt.Sprintf("uid-%d", i)),
		OwnerReferences: some(g, 1, func() metav1.OwnerReference {
			return metav1.OwnerReference{APIVersion: oneOf(g, []string{"v1", "scheduling.k8s.io/v1beta1"}), Kind: oneOf(g, []string{"Pod", "PodGroup"}), Name: "o", UID: "uid-o", Controller: new(bool)}
		}),
	}}
	for i := range c.OwnerReferences {
		*c.OwnerReferences[i].Controller = g.p(80)
	}
	e := g.subRequest("")
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{
		{Name: "card", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity}},
		{Name: "either", FirstAvailable: []resourcev1.DeviceSubRequest{g.subRequest("big"), g.subRequest("small")}},
	}
	if g.wild && g.p(10) {
		c.Spec.Devices.Requests[0].Exactly = nil
	}
	name := resourcev1.FullyQualifiedName("example.com/root")
	c.Spec.Devices.Constraints = some(g, 2, func() resourcev1.DeviceConstraint {
		return oneOf(g, []resourcev1.DeviceConstraint{{MatchAttribute: &name}, {DistinctAttribute: &name, Requests: []string{"card"}}}, resourcev1.DeviceConstraint{})
	})
	c.Spec.Devices.Config = some(g, 1, func() resourcev1.DeviceClaimConfiguration {
		return resourcev1.DeviceClaimConfiguration{Requests: []string{oneOf(g, requestNames, "nobody")}, DeviceConfiguration: g.deviceConfig()}
	})
	if g.p(60) {
		g.allocate(c)
	}
	return c
}

// allocate gives the claim something, as the scheduler would.
func (g *generator) allocate(c *resourcev1.ResourceClaim) {
	at := metav1.NewTime(time.Unix(1000, 0))
	a := &resourcev1.AllocationResult{AllocationTimestamp: &at}
	yes, share := true, types.UID("a671734a")
	for d := range g.IntN(3) {
		r := resourcev1.DeviceRequestAllocationResult{Request: oneOf(g, requestNames), Driver: "gpu.example.com", Pool: oneOf(g, []string{"pool"}, ""), Device: fmt.Sprintf("d%d", d)}
		r.Tolerations = tolerationsOf(&c.Spec.Devices, r.Request)
		if g.p(20) {
			r.AdminAccess = &yes
		}
		if g.p(50) {
			r.ShareID, r.ConsumedCapacity = &share, g.capacityRequests()
		}
		if g.wild && g.p(10) {
			r.ShareID = nil
		}
		if g.p(20) {
			r.BindingConditions, r.BindingFailureConditions = []string{"attached"}, []string{"broken"}
		}
		a.Devices.Results = append(a.Devices.Results, r)
	}
	a.Devices.Config = some(g, 2, func() resourcev1.DeviceAllocationConfiguration {
		return resourcev1.DeviceAllocationConfiguration{Source: oneOf(g, []resourcev1.AllocationConfigSource{resourcev1.AllocationConfigSourceClass, resourcev1.AllocationConfigSourceClaim}), DeviceConfiguration: g.deviceConfig()}
	})
	if g.p(50) {
		a.NodeSelector = g.nodeSelectorOfDevices()
	}
	c.Status.Allocation = a
	c.Status.ReservedFor = some(g, 3, func() resourcev1.ResourceClaimConsumerReference {
		return oneOf(g, []resourcev1.ResourceClaimConsumerReference{
			{Resource: "pods", Name: "p", UID: "uid-p"}, {Resource: "pods", Name: "q", UID: "uid-q"}, {APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: "g", UID: "uid-g"},
		}, resourcev1.ResourceClaimConsumerReference{})
	})
}
