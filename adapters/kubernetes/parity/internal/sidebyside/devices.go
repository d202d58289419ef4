package sidebyside

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Devices are as in kube-scheduler's own benchmark (scheduler_perf,
// SchedulingWithResourceClaimTemplate with selectors): ten on each node, and a
// pod wants one that an expression is true for.
const (
	deviceDriver   = "test-driver.cdi.k8s.io"
	deviceClass    = "test-class"
	devicesOnNode  = 10
	ofDriver       = `device.driver == "test-driver.cdi.k8s.io"`
	ofVersion      = `device.attributes["test-driver.cdi.k8s.io"].driverVersion.major() >= 1 && device.capacity["test-driver.cdi.k8s.io"].memory.isGreaterThan(quantity("1Mi"))`
	deviceTemplate = "test-claim-template"
)

func deviceName(i int) string { return fmt.Sprintf("basic-device-%d", i) }

func expression(text string) []resourcev1.DeviceSelector {
	return []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: text}}}
}

func deviceClasses() []runtime.Object {
	return []runtime.Object{&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: deviceClass}, Spec: resourcev1.DeviceClassSpec{Selectors: expression(ofDriver)}}}
}

// devicesOf makes the devices of the i-th node.
func devicesOf(i int) []runtime.Object {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice-" + nodeName(i)}, Spec: resourcev1.ResourceSliceSpec{
		Driver: deviceDriver, NodeName: new(nodeName(i)), Pool: resourcev1.ResourcePool{Name: nodeName(i), Generation: 1, ResourceSliceCount: 1}}}
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	for i := range devicesOnNode {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{
			Name: deviceName(i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"driver": text("xe"), "driverVersion": {VersionValue: new("1.2.3")}, "family": text("Arc Pro B-Series"), "health": text("Healthy"),
				"model": text("B60"), "pciAddress": text(fmt.Sprintf("0000:0%d:00.0", i)), "pciId": text("0xe211"), "pciRoot": text(fmt.Sprintf("0%d", i%2)),
				"resource.kubernetes.io/pciBusID": text(fmt.Sprintf("0000:0%d:00.0", i)), "resource.kubernetes.io/pciRoot": text(fmt.Sprintf("pci0000:0%d", i%2)),
				"sriov": {BoolValue: new(true)}, "type": text("gpu"),
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("24480Mi")}, "millicores": {Value: resource.MustParse("1k")}},
		})
	}
	return []runtime.Object{s}
}

// hasDevice gives the pod a claim that was made of a template.
func hasDevice(p *v1.Pod, _ bool) {
	p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "resource", ResourceClaimTemplateName: new(deviceTemplate)}}
	p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "resource", ResourceClaimName: new(p.Name)}}
}

// deviceClaim makes the pod's claim. That of one which is there already has been
// given the first device of its node.
func deviceClaim(p *v1.Pod) []runtime.Object {
	if len(p.Spec.ResourceClaims) == 0 {
		return nil
	}
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID("claim-" + p.Name),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}}}
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "req-0", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: deviceClass,
		Selectors: expression(ofVersion), AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}
	if p.Spec.NodeName != "" {
		c.Finalizers = []string{resourcev1.Finalizer}
		c.Status.Allocation = &resourcev1.AllocationResult{
			Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
				{Request: "req-0", Driver: deviceDriver, Pool: p.Spec.NodeName, Device: deviceName(0)}}},
			NodeSelector: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{p.Spec.NodeName}}}}}},
		}
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: p.Name, UID: p.UID}}
	}
	return []runtime.Object{c}
}
