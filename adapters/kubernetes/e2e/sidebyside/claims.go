package sidebyside

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// template is the template of claims that pods have.
func template(claim func() resourcev1.DeviceClaim) func(Counts) []runtime.Object {
	return func(Counts) []runtime.Object {
		return []runtime.Object{&resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: claimTemplate},
			Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: claim()}},
		}}
	}
}

// claiming is a pod with a claim of the template.
func claiming(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.PodResourceClaims(corev1.PodResourceClaim{Name: "device", ResourceClaimTemplateName: ptr.To(claimTemplate)})
}

// devicesOf claims so many devices at once.
func devicesOf(count int64) func() resourcev1.DeviceClaim {
	return func() resourcev1.DeviceClaim {
		return st.MakeResourceClaim().RequestWithNameCount("request", deviceClass, count).Obj().Spec.Devices
	}
}

var oneDevice = devicesOf(1)

// selectedDevice is one that an expression is true for.
func selectedDevice() resourcev1.DeviceClaim {
	claim := oneDevice()
	claim.Requests[0].Exactly.Selectors = selectors(`device.attributes["gpu.example.com"].driverVersion.major() >= 1 && ` +
		`device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1Mi"))`)
	return claim
}

// fiveOfOneRoot is five requests that must get devices on the same PCI root.
func fiveOfOneRoot() resourcev1.DeviceClaim {
	claim := st.MakeResourceClaim()
	for i := range 5 {
		claim.RequestWithNameCount(fmt.Sprintf("request-%d", i), deviceClass, 1)
	}
	claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: ptr.To[resourcev1.FullyQualifiedName](pciRoot)}}
	return claim.Obj().Spec.Devices
}

// bandwidth is a part of each of two different devices.
func bandwidth() resourcev1.DeviceClaim {
	claim := devicesOf(2)()
	claim.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{
		Requests: map[resourcev1.QualifiedName]resource.Quantity{"bandwidth": resource.MustParse("2500M")},
	}
	claim.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: ptr.To[resourcev1.FullyQualifiedName](gpuDriver + "/index")}}
	return claim
}

// taken is claims that have devices already, as many on each node.
func taken(n Counts) []runtime.Object {
	var objects []runtime.Object
	for i := range n.Placed {
		node := nodeName(i % n.Nodes)
		objects = append(objects, st.MakeResourceClaim().Name(fmt.Sprintf("taken-%05d", i)).Namespace(cluster.Namespace).
			RequestWithNameCount("request", deviceClass, 1).
			Allocation(&resourcev1.AllocationResult{
				Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
					{Request: "request", Driver: gpuDriver, Pool: node, Device: deviceName(i / n.Nodes)},
				}},
				NodeSelector: st.MakeNodeSelector().In(metav1.ObjectNameField, []string{node}, st.NodeSelectorTypeMatchFields).Obj(),
			}).Obj())
	}
	return objects
}

// sharing is how many pods share a claim.
const sharing = 50

// sharedClaim makes a pod with the claim of its group.
func sharedClaim(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.PodResourceClaims(corev1.PodResourceClaim{Name: "device", ResourceClaimName: p.Spec.SchedulingGroup.PodGroupName})
}
