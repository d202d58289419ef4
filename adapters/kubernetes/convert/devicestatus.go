package convert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/model"
)

// DeviceClaimStatus is the status that the claim has to be given to make true
// what was decided about it: the status that it has, with the allocation where
// it has none, and reserved as well for those that the decision names. Nothing is
// taken away, so it may be called again on a newer claim after a conflict. The
// writer must put the finalizer [resourcev1.Finalizer] on the claim before.
//
// who tells the name and the UID of a consumer. now is the time of the
// allocation, where nothing else says when that was. Tolerations are those of the
// claim's requests, with their times, which are not part of the model: others
// read them.
//
// An error says that the claim is not the one that was decided about, is on its
// way out, or has been given something else in the meantime.
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go (bindClaim),
// 1.37.1.
func DeviceClaimStatus(r *resourcev1.ResourceClaim, decided *model.DeviceClaim, who func(model.Consumer) (name string, uid types.UID), now time.Time) (*resourcev1.ResourceClaimStatus, error) {
	status := r.Status.DeepCopy()
	switch {
	case decided.UID != "" && decided.UID != string(r.UID), decided.ID != claimID(r):
		return nil, fmt.Errorf("claim %s/%s is not the one that was decided about", r.Namespace, r.Name)
	case r.DeletionTimestamp != nil:
		return nil, fmt.Errorf("claim %s/%s got deleted in the meantime", r.Namespace, r.Name)
	case decided.Allocation == nil:
		return nil, fmt.Errorf("claim %s/%s was not given anything", r.Namespace, r.Name)
	case status.Allocation == nil:
		status.Allocation = allocationResult(decided.Allocation, &r.Spec.Devices)
	case !sameDevices(status.Allocation, decided.Allocation):
		return nil, fmt.Errorf("claim %s/%s got allocated elsewhere in the meantime", r.Namespace, r.Name)
	}
	if status.Allocation.AllocationTimestamp == nil {
		status.Allocation.AllocationTimestamp = &metav1.Time{Time: now}
	}
	for _, c := range decided.ReservedFor {
		has := func(r resourcev1.ResourceClaimConsumerReference) bool { return Consumer(decided.Namespace, &r) == c }
		if !slices.ContainsFunc(status.ReservedFor, has) {
			status.ReservedFor = append(status.ReservedFor, reference(c, who))
		}
	}
	return status, nil
}

func reference(c model.Consumer, who func(model.Consumer) (string, types.UID)) resourcev1.ResourceClaimConsumerReference {
	name, uid := who(c)
	if c.Group != "" {
		return resourcev1.ResourceClaimConsumerReference{APIGroup: schedulingv1beta1.GroupName, Resource: podGroupsResource, Name: name, UID: uid}
	}
	return resourcev1.ResourceClaimConsumerReference{APIGroup: v1.GroupName, Resource: podsResource, Name: name, UID: uid}
}

// sameDevices reports whether both give the same devices to the same requests.
func sameDevices(a *resourcev1.AllocationResult, b *model.Allocation) bool {
	return slices.EqualFunc(a.Devices.Results, b.Devices, func(r resourcev1.DeviceRequestAllocationResult, d model.AllocatedDevice) bool {
		return r.Request == d.Request && r.Driver == d.Driver && r.Pool == d.Pool && r.Device == d.Device && string(orZero(r.ShareID)) == d.Share
	})
}

// allocationResult is the way back from (*problems).allocation.
func allocationResult(a *model.Allocation, claim *resourcev1.DeviceClaim) *resourcev1.AllocationResult {
	r := &resourcev1.AllocationResult{NodeSelector: nodeSelector(a.Nodes)}
	if !a.At.IsZero() {
		r.AllocationTimestamp = &metav1.Time{Time: a.At}
	}
	for i := range a.Devices {
		d := &a.Devices[i]
		result := resourcev1.DeviceRequestAllocationResult{
			Request: d.Request, Driver: d.Driver, Pool: d.Pool, Device: d.Device,
			Tolerations:              tolerationsOf(claim, d.Request),
			BindingConditions:        d.BindingConditions,
			BindingFailureConditions: d.BindingFailures,
			ConsumedCapacity:         consumedCapacity(d.Consumed),
		}
		if d.AdminAccess {
			yes := true
			result.AdminAccess = &yes
		}
		if d.Share != "" {
			share := types.UID(d.Share)
			result.ShareID = &share
		}
		r.Devices.Results = append(r.Devices.Results, result)
	}
	for i := range a.Config {
		c := &a.Config[i]
		config := resourcev1.DeviceAllocationConfiguration{Source: resourcev1.AllocationConfigSourceClaim, Requests: c.Requests}
		if c.FromClass {
			config.Source = resourcev1.AllocationConfigSourceClass
		}
		if c.Driver != "" {
			config.Opaque = &resourcev1.OpaqueDeviceConfiguration{Driver: c.Driver}
			config.Opaque.Parameters.Raw = c.Parameters
		}
		r.Devices.Config = append(r.Devices.Config, config)
	}
	return r
}

// tolerationsOf are those of the request, or of the alternative of a request, as
// request/alternative.
func tolerationsOf(claim *resourcev1.DeviceClaim, request string) []resourcev1.DeviceToleration {
	name, alternative, _ := strings.Cut(request, "/")
	for i := range claim.Requests {
		r := &claim.Requests[i]
		switch {
		case r.Name != name:
		case r.Exactly != nil:
			return r.Exactly.Tolerations
		default:
			for j := range r.FirstAvailable {
				if r.FirstAvailable[j].Name == alternative {
					return r.FirstAvailable[j].Tolerations
				}
			}
		}
	}
	return nil
}

func consumedCapacity(amounts map[string]int64) map[resourcev1.QualifiedName]resource.Quantity {
	if len(amounts) == 0 {
		return nil
	}
	list := make(map[resourcev1.QualifiedName]resource.Quantity, len(amounts))
	for name, amount := range amounts {
		list[resourcev1.QualifiedName(name)] = DeviceQuantity(amount)
	}
	return list
}

// nodeSelector is the way back from (*problems).nodeTerms.
func nodeSelector(t *model.NodeTerms) *v1.NodeSelector {
	if t == nil {
		return nil
	}
	s := &v1.NodeSelector{}
	for i := range t.Terms {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, v1.NodeSelectorTerm{
			MatchExpressions: nodeRequirements(t.Terms[i].Labels, nil),
			MatchFields:      nodeRequirements(t.Terms[i].Fields, map[string]string{model.FieldName: metav1.ObjectNameField}),
		})
	}
	return s
}

// nodeRequirements are the requirements, with other names for the keys that have
// one.
func nodeRequirements(list []model.Requirement, names map[string]string) []v1.NodeSelectorRequirement {
	var requirements []v1.NodeSelectorRequirement
	for _, r := range list {
		key := r.Key
		if name, ok := names[key]; ok {
			key = name
		}
		requirements = append(requirements, v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOperator(r.Operator), Values: r.Values})
	}
	return requirements
}
