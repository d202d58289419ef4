package convert

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// podsResource and podGroupsResource are what claims are reserved for.
const (
	podsResource      = "pods"
	podGroupsResource = "podgroups"
)

var (
	requestsOfClaimPath = specPath.Child("devices", "requests")
	constraintsOfPath   = specPath.Child("devices", "constraints")
	devicesStatusPath   = field.NewPath("status", "devices")
	reservedPath        = field.NewPath("status", "reservedFor")
	allocationPath      = field.NewPath("status", "allocation")
	resultsPath         = allocationPath.Child("devices", "results")
	configPath          = allocationPath.Child("devices", "config")
)

// DeviceClaim translates a resource claim, with what it has been given and those
// who use it. Its ID is that of [DeviceClaimID], except for the claims that the
// scheduler makes itself for extended resources, which have that of
// [model.ResourceClaimID]. Amounts are in thousandths; see [DeviceAmount]. The
// result shares slices with the claim, which must not be changed any more.
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated, by their names in Kubernetes' API. The claim is there even so, for
// what it has been given is taken, but no device can fulfil a request of which
// something cannot be translated, or any request where it is not about one of
// them alone. Nor does the scheduler give anything to such a claim. It is nil
// only where it would have no name.
//
// Nothing is read of the ResourceClaimTemplate that a claim was made of: the
// scheduler does not watch templates, it waits for the claim.
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go and
// extendeddynamicresources.go, 1.37.1; k8s.io/dynamic-resource-allocation
// structured/internal/incubating/allocator_incubating.go
// (validateDeviceRequest) and resourceclaim/resourceclaim.go (IsForPod), v0.37.1.
func DeviceClaim(r *resourcev1.ResourceClaim) (*model.DeviceClaim, error) {
	var c problems
	if r.Name == "" {
		c.report(namePath, "must not be empty")
		return nil, c.err("resource claim", r.Namespace+"/"+r.Name)
	}
	m := &model.DeviceClaim{
		ID:           c.text(namePath, claimID(r)),
		Namespace:    c.text(namespacePath, r.Namespace),
		Name:         c.text(namePath, r.Name),
		UID:          c.text(uidPath, string(r.UID)),
		Allocation:   c.allocation(r.Status.Allocation),
		Deleting:     r.DeletionTimestamp != nil,
		ForResources: isForResources(r),
	}
	c.wishes(m, &r.Spec.Devices)
	workload, group := claimOwner(r)
	m.Owner, m.OwnerGroup = c.text(ownersPath, workload), c.text(ownersPath, group)
	m.ReservedFor = c.consumers(r)
	for i := range r.Status.Devices {
		m.Conditions = append(m.Conditions, c.deviceConditions(devicesStatusPath.Index(i), &r.Status.Devices[i]))
	}
	if !c.valid(specPath, m) {
		m.Requests, m.Constraints, m.Config = []model.ClaimRequest{{Name: "none", Alternatives: []model.DeviceDemand{unreadable()}}}, nil, nil
	}
	return m, c.err("resource claim", r.Namespace+"/"+r.Name)
}

// isForResources reports whether the scheduler has made the claim for extended
// resources that a pod requests.
func isForResources(r *resourcev1.ResourceClaim) bool {
	return r.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true"
}

func claimID(r *resourcev1.ResourceClaim) string {
	if workload, _ := claimOwner(r); workload != "" && isForResources(r) {
		return model.ResourceClaimID(workload)
	}
	return DeviceClaimID(r.Namespace, r.Name)
}

// consumers are those who use the claim. Without an allocation there is nothing
// to use, and more than there may be do not count.
func (p *problems) consumers(r *resourcev1.ResourceClaim) []model.Consumer {
	var list []model.Consumer
	for i := range r.Status.ReservedFor {
		at := reservedPath.Index(i)
		c := Consumer(r.Namespace, &r.Status.ReservedFor[i])
		c.Workload, c.Group = p.text(at, c.Workload), p.text(at, c.Group)
		switch {
		case r.Status.Allocation == nil:
			p.report(at, "must not be there where nothing is allocated")
		case len(list) == model.MaxClaimConsumers:
			p.report(at, "is one more than %d", model.MaxClaimConsumers)
		case !slices.Contains(list, c):
			list = append(list, c)
		}
	}
	return list
}

// wishes is the part of a claim that says what is wanted.
func (p *problems) wishes(m *model.DeviceClaim, d *resourcev1.DeviceClaim) {
	for i := range d.Requests {
		m.Requests = append(m.Requests, p.claimRequest(requestsOfClaimPath.Index(i), &d.Requests[i]))
	}
	before := len(p.list)
	for i := range d.Constraints {
		at, k := constraintsOfPath.Index(i), &d.Constraints[i]
		constraint := model.DeviceConstraint{Requests: k.Requests}
		switch {
		case k.MatchAttribute != nil && k.DistinctAttribute == nil:
			constraint.Match = string(*k.MatchAttribute)
		case k.DistinctAttribute != nil && k.MatchAttribute == nil:
			constraint.Distinct = string(*k.DistinctAttribute)
		default:
			p.report(at, "must be about exactly one of matchAttribute and distinctAttribute")
			continue
		}
		m.Constraints = append(m.Constraints, constraint)
	}
	if len(p.list) > before {
		for _, r := range m.Requests {
			for i := range r.Alternatives {
				cannotBeMet(&r.Alternatives[i])
			}
		}
	}
	for i := range d.Config {
		m.Config = append(m.Config, deviceConfig(d.Config[i].Requests, &d.Config[i].DeviceConfiguration))
	}
}

func (p *problems) claimRequest(at *field.Path, r *resourcev1.DeviceRequest) model.ClaimRequest {
	m := model.ClaimRequest{Name: p.text(at.Child("name"), r.Name)}
	switch e := r.Exactly; {
	case e != nil && len(r.FirstAvailable) == 0:
		m.Alternatives = []model.DeviceDemand{p.demand(at.Child("exactly"), &resourcev1.DeviceSubRequest{
			DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count,
			Tolerations: e.Tolerations, Capacity: e.Capacity, DerivedAttributes: e.DerivedAttributes,
		})}
		m.Alternatives[0].AdminAccess = orZero(e.AdminAccess)
	case e == nil && len(r.FirstAvailable) > 0:
		m.Prioritized = true
		for i := range r.FirstAvailable {
			s, here := &r.FirstAvailable[i], at.Child("firstAvailable").Index(i)
			d := p.demand(here, s)
			d.Name = p.text(here.Child("name"), s.Name)
			m.Alternatives = append(m.Alternatives, d)
		}
	default:
		p.report(at, "must have exactly one of exactly and firstAvailable")
		m.Alternatives = []model.DeviceDemand{unreadable()}
	}
	return m
}

// noClass is named by a demand that names none. There is no class of such a name.
const noClass = "<none>"

// demand translates what is wanted of one class, but for its name.
func (p *problems) demand(at *field.Path, r *resourcev1.DeviceSubRequest) model.DeviceDemand {
	before := len(p.list)
	m := model.DeviceDemand{
		Class:       p.text(at.Child("deviceClassName"), r.DeviceClassName),
		Selectors:   p.selectors(at.Child("selectors"), r.Selectors),
		Tolerations: p.deviceTolerations(at.Child("tolerations"), r.Tolerations),
	}
	if m.Class == "" {
		p.report(at.Child("deviceClassName"), "must not be empty")
		m.Class = noClass
	}
	switch r.AllocationMode {
	case resourcev1.DeviceAllocationModeAll:
		m.All = true
	case resourcev1.DeviceAllocationModeExactCount:
		if m.Count = r.Count; r.Count < 1 {
			p.report(at.Child("count"), "%d is less than 1", r.Count)
		}
	default:
		p.report(at.Child("allocationMode"), "%q is neither %s nor %s", r.AllocationMode, resourcev1.DeviceAllocationModeExactCount, resourcev1.DeviceAllocationModeAll)
	}
	if r.Capacity != nil {
		m.Capacity = p.wantedAmounts(at.Child("capacity", "requests"), r.Capacity.Requests)
	}
	if len(r.DerivedAttributes) > 0 {
		p.report(at.Child("derivedAttributes"), "need the feature gate DRADerivedAttributes, which is off in 1.37")
	}
	if len(p.list) > before {
		cannotBeMet(&m)
	}
	return m
}

// unreadable is a demand of which nothing can be read.
func unreadable() model.DeviceDemand {
	d := model.DeviceDemand{Class: noClass}
	cannotBeMet(&d)
	return d
}

// cannotBeMet makes the demand one for a device that there is not.
func cannotBeMet(d *model.DeviceDemand) {
	d.All, d.Count = false, 1
	d.Selectors = append(d.Selectors, neverSelects)
}

// claimOwner is the pod or the pod group that the claim was made for. As in the
// scheduler the version of the group's API does not matter.
func claimOwner(r *resourcev1.ResourceClaim) (workload, group string) {
	switch o := metav1.GetControllerOfNoCopy(r); {
	case o == nil:
	case o.Kind == "Pod" && o.APIVersion == v1.SchemeGroupVersion.Version:
		workload = workloadID(r.Namespace, o.Name, o.UID)
	case o.Kind == "PodGroup" && strings.HasPrefix(o.APIVersion, schedulingv1beta1.GroupName+"/"):
		group = GroupID(r.Namespace, o.Name)
	}
	return workload, group
}

// Consumer is what a claim in the namespace is reserved for. A consumer that is neither
// a pod nor a pod group still uses it, though no workload has that ID.
func Consumer(namespace string, r *resourcev1.ResourceClaimConsumerReference) model.Consumer {
	if r.APIGroup == schedulingv1beta1.GroupName && r.Resource == podGroupsResource {
		return model.Consumer{Group: GroupID(namespace, r.Name)}
	}
	return model.Consumer{Workload: workloadID(namespace, r.Name, r.UID)}
}

// workloadID is the ID of the pod that is called this; see [ID].
func workloadID(namespace, name string, uid types.UID) string {
	return ID(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}})
}

// deviceConditions are the conditions that are true. Of several of the same type
// the first counts.
func (p *problems) deviceConditions(at *field.Path, d *resourcev1.AllocatedDeviceStatus) model.DeviceConditions {
	m := model.DeviceConditions{DeviceID: p.deviceID(at, d.Driver, d.Pool, d.Device), Share: p.text(at, orZero(d.ShareID))}
	for i := range d.Conditions {
		k := &d.Conditions[i]
		first := slices.IndexFunc(d.Conditions, func(other metav1.Condition) bool { return other.Type == k.Type }) == i
		if first && k.Status == metav1.ConditionTrue {
			m.True = append(m.True, p.text(at, k.Type))
		}
	}
	return m
}

func (p *problems) deviceID(at *field.Path, driver, pool, device string) model.DeviceID {
	return model.DeviceID{Driver: p.text(at, driver), Pool: p.text(at, pool), Device: p.text(at, device)}
}

func (p *problems) allocation(a *resourcev1.AllocationResult) *model.Allocation {
	if a == nil {
		return nil
	}
	m := &model.Allocation{}
	for i := range a.Devices.Results {
		r, at := &a.Devices.Results[i], resultsPath.Index(i)
		d := model.AllocatedDevice{
			DeviceID:          p.deviceID(at, r.Driver, r.Pool, r.Device),
			Request:           p.text(at, r.Request),
			Share:             p.text(at, string(orZero(r.ShareID))),
			AdminAccess:       orZero(r.AdminAccess),
			Tolerations:       p.deviceTolerations(at.Child("tolerations"), r.Tolerations),
			Consumed:          p.wantedAmounts(at.Child("consumedCapacity"), r.ConsumedCapacity),
			BindingConditions: p.texts(at, r.BindingConditions),
			BindingFailures:   p.texts(at, r.BindingFailureConditions),
		}
		if d.Share == "" && len(d.Consumed) > 0 {
			p.report(at.Child("consumedCapacity"), "must not be there without a shareID")
			d.Consumed = nil
		}
		if r.Driver == "" || r.Pool == "" || r.Device == "" {
			p.report(at, "must name a device, by driver, pool and device")
			continue
		}
		m.Devices = append(m.Devices, d)
	}
	m.Nodes = p.nodeTerms(allocationPath.Child("nodeSelector"), a.NodeSelector)
	if m.Nodes != nil && len(m.Nodes.Terms) != 1 {
		p.report(allocationPath.Child("nodeSelector", "nodeSelectorTerms"), "must be exactly one, not %d", len(m.Nodes.Terms))
		m.Nodes = noNode()
	}
	if a.AllocationTimestamp != nil {
		m.At = a.AllocationTimestamp.Time
	}
	for i := range a.Devices.Config {
		c := &a.Devices.Config[i]
		m.Config = append(m.Config, model.AllocatedConfig{
			FromClass:    c.Source == resourcev1.AllocationConfigSourceClass,
			DeviceConfig: deviceConfig(p.texts(configPath, c.Requests), &c.DeviceConfiguration),
		})
		m.Config[i].Driver = p.text(configPath, m.Config[i].Driver)
	}
	return m
}
