package scenario

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// devices is about DynamicResources.
var devices = []Scenario{
	{Name: "devices/a claim takes the device that its class selects", Run: deviceClaim},
	{Name: "devices/a claim chooses among alternatives", Run: deviceAlternatives},
	{Name: "devices/a claim that pods share holds them together", Run: deviceShared},
	{Name: "devices/claims made of a template", Run: deviceTemplate},
	{Name: "devices/a device that is tainted", Run: deviceTaint},
}

const (
	gpuDriver = "gpu.example.com"
	largeGPU  = "large"
	anyGPU    = "any"
)

// deviceClass is a class of the devices that the expression is true for.
func deviceClass(name, expression string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{
			CEL: &resourcev1.CELDeviceSelector{Expression: expression},
		}}},
	}
}

// memory is the attribute of a device.
func memory(gib int64) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	return map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"memory": {IntValue: &gib}}
}

// gpus are two nodes, of which b has a large and a small device and a none that is
// large, and classes of any and of large devices.
func gpus(t *testing.T, e *Env) {
	t.Helper()
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj(),
		deviceClass(anyGPU, `device.driver == "gpu.example.com"`),
		deviceClass(largeGPU, `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].memory >= 80`),
		st.MakeResourceSlice("a", gpuDriver).Device("a-0", memory(40)).Obj(),
		st.MakeResourceSlice("b", gpuDriver).Device("b-0", memory(40)).Device("b-1", memory(80)).Obj())
}

// deviceRequest starts a claim in the scenarios' namespace.
func deviceRequest(name string) *st.ResourceClaimWrapper {
	return st.MakeResourceClaim().Name(name).Namespace(cluster.Namespace)
}

// using is a pod that uses the claim.
func using(pod, claim string) *corev1.Pod {
	return cluster.Pod(pod).PodResourceClaims(corev1.PodResourceClaim{Name: "gpu", ResourceClaimName: &claim}).Obj()
}

// allocated waits until the claim has the device, and is for so many pods.
func allocated(t *testing.T, e *Env, claim, device string, pods int) {
	t.Helper()
	e.AwaitDevices(t, claim, "has "+device, func(c *resourcev1.ResourceClaim) error {
		if a := c.Status.Allocation; a == nil || len(a.Devices.Results) != 1 || a.Devices.Results[0].Device != device {
			return fmt.Errorf("it has %+v", a)
		}
		if n := len(c.Status.ReservedFor); n != pods {
			return fmt.Errorf("it is for %d pods, want %d", n, pods)
		}
		return nil
	})
}

const noDevices = "0/2 nodes are available: 2 cannot allocate all claims. preemption: 0/2 nodes are available: " +
	"2 Preemption is not helpful for scheduling."

func deviceClaim(t *testing.T, e *Env) {
	gpus(t, e)
	e.Schedule(t, "")
	e.Create(t, using("early", "first"))
	e.Create(t, cluster.Pod("other").Obj())
	e.Bound(t, "other") // so the one without its claim has been passed over
	e.NotBound(t, "early")
	e.Create(t, deviceRequest("first").Request(largeGPU).Obj())
	e.BoundTo(t, "early", "b")
	allocated(t, e, "first", "b-1", 1)
	e.Create(t, deviceRequest("second").Request(largeGPU).Obj(), using("late", "second"))
	e.Unschedulable(t, "late", noDevices)
	e.Create(t, cluster.Node("c").Obj(), st.MakeResourceSlice("c", gpuDriver).Device("c-0", memory(96)).Obj())
	e.BoundTo(t, "late", "c")
	allocated(t, e, "second", "c-0", 1)
}

func deviceAlternatives(t *testing.T, e *Env) {
	gpus(t, e)
	e.Schedule(t, "")
	alternatives := func(name string) *resourcev1.ResourceClaim {
		return deviceRequest(name).RequestWithPrioritizedListFromDeviceClasses(largeGPU, anyGPU).Obj()
	}
	e.Create(t, alternatives("one"), using("p1", "one"))
	e.BoundTo(t, "p1", "b") // the node where the better alternative is to be had
	allocated(t, e, "one", "b-1", 1)
	e.Create(t, alternatives("two"), alternatives("three"), using("p2", "two"), using("p3", "three"))
	first, second := e.Bound(t, "p2"), e.Bound(t, "p3")
	if first == second {
		t.Errorf("both pods are on %s, which has one device left", first)
	}
	e.Create(t, alternatives("four"), using("p4", "four"))
	e.Unschedulable(t, "p4", noDevices)
}

func deviceShared(t *testing.T, e *Env) {
	gpus(t, e)
	e.Schedule(t, "")
	e.Create(t, deviceRequest("shared").Request(largeGPU).Obj(), using("p1", "shared"))
	e.BoundTo(t, "p1", "b")
	e.Create(t, using("p2", "shared"))
	e.BoundTo(t, "p2", "b")
	allocated(t, e, "shared", "b-1", 2)
}

func deviceTemplate(t *testing.T, e *Env) {
	gpus(t, e)
	e.Create(t, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "one-gpu", Namespace: cluster.Namespace},
		Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: deviceRequest("").Request(anyGPU).Obj().Spec},
	})
	e.Controllers(t, "resourceclaim-controller")
	e.Schedule(t, "")
	pod := func(i int) *corev1.Pod {
		claim := corev1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: ptr.To("one-gpu")}
		return cluster.Pod(fmt.Sprint("p", i)).Label("app", "x").PodResourceClaims(claim).Obj()
	}
	e.Create(t, pod(0), pod(1), pod(2))
	if got := e.AllBound(t, "x", 3); got["a"] != 1 || got["b"] != 2 {
		t.Errorf("pods on nodes: %v, want one on a and two on b, as there are devices", got)
	}
	e.Create(t, pod(3))
	e.Unschedulable(t, "p3", noDevices)
	e.Delete(t, pod(0)) // whose claim the controller deletes
	e.AllBound(t, "x", 3)
}

func deviceTaint(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj(), deviceClass(anyGPU, `device.driver == "gpu.example.com"`),
		st.MakeResourceSlice("a", gpuDriver).Device("a-0", resourcev1.DeviceTaint{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule}).Obj())
	e.Schedule(t, "")
	e.Create(t, deviceRequest("careful").Request(anyGPU).Obj(), using("careful", "careful"))
	e.Unschedulable(t, "careful", noDevices)
	brave := deviceRequest("brave").Request(anyGPU).Obj()
	brave.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{{Key: "broken", Operator: resourcev1.DeviceTolerationOpExists}}
	e.Create(t, brave, using("brave", "brave"))
	e.BoundTo(t, "brave", "a")
	e.NotBound(t, "careful")
}
