package scenario

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// resources is about NodeResourcesFit and NodeResourcesBalancedAllocation.
var resources = []Scenario{
	{Name: "resources/a pod goes where there is room, and waits until there is", Run: fit},
	{Name: "resources/extended resources are counted", Run: extendedResources},
	{Name: "resources/a node takes so many pods and no more", Run: podCount},
	{Name: "resources/overhead counts", Run: overhead},
	{Name: "resources/init containers count at their most, sidecars always", Run: initContainers},
	{Name: "resources/a node that grows takes the pod that waits", Run: growingNode},
	{Name: "resources/a pod that is made smaller leaves room", Run: resizedPod},
	{Name: "resources/the emptier node is preferred", Run: leastAllocated},
	{Name: "resources/the fuller node is preferred where the profile says so", Run: mostAllocated},
	{Name: "resources/cpu and memory are kept in balance", Run: balanced},
}

// gpu is an extended resource.
const gpu = corev1.ResourceName("example.com/gpu")

// smallNode starts a node with the CPUs and otherwise plenty.
func smallNode(name, cpus string) *st.NodeWrapper {
	return cluster.Node(name).Capacity(cluster.Resources{corev1.ResourceCPU: cpus, corev1.ResourceMemory: "16Gi", corev1.ResourcePods: "110"})
}

func fit(t *testing.T, e *Env) {
	e.Create(t, smallNode("small", "1").Obj(), smallNode("large", "4").Obj())
	e.Schedule(t, "")
	first := cluster.Pod("first").Req(cluster.CPU("2")).Obj()
	e.Create(t, first)
	e.BoundTo(t, "first", "large")
	e.Event(t, "first", cluster.Event{Type: corev1.EventTypeNormal, Reason: "Scheduled", Action: "Binding",
		Note: "Successfully assigned default/first to large"})
	e.Create(t, cluster.Pod("second").Req(cluster.CPU("3")).Obj())
	e.Unschedulable(t, "second", "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: "+
		"1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.")
	e.Delete(t, first)
	e.BoundTo(t, "second", "large")
}

func extendedResources(t *testing.T, e *Env) {
	with := cluster.Resources{corev1.ResourceCPU: "4", corev1.ResourceMemory: "16Gi", corev1.ResourcePods: "110", gpu: "2"}
	e.Create(t, cluster.Node("without").Obj(), cluster.Node("with").Capacity(with).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("one").Res(cluster.Resources{gpu: "2"}).Obj())
	e.BoundTo(t, "one", "with")
	e.Create(t, cluster.Pod("two").Res(cluster.Resources{gpu: "1"}).Obj())
	e.Unschedulable(t, "two", "0/2 nodes are available: 2 Insufficient example.com/gpu. preemption: 0/2 nodes are available: "+
		"1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.")
}

func podCount(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Capacity(cluster.Resources{corev1.ResourceCPU: "4", corev1.ResourceMemory: "16Gi", corev1.ResourcePods: "1"}).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("first").Obj())
	e.BoundTo(t, "first", "n")
	e.Create(t, cluster.Pod("second").Obj())
	e.Unschedulable(t, "second", "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: "+
		"1 No preemption victims found for incoming pod.")
}

func overhead(t *testing.T, e *Env) {
	e.Create(t, smallNode("small", "2").Obj(), smallNode("large", "4").Obj(), &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "heavy"}, Handler: "heavy",
		Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}},
	})
	e.Schedule(t, "")
	pod := cluster.Pod("p").Req(cluster.CPU("1")).Obj()
	pod.Spec.RuntimeClassName = ptr.To("heavy")
	e.Create(t, pod)
	e.BoundTo(t, "p", "large")
}

func initContainers(t *testing.T, e *Env) {
	e.Create(t, smallNode("two", "2").Obj(), smallNode("three", "3").Obj(), smallNode("four", "4").Obj())
	e.Schedule(t, "")
	// The most of 3 at the start and 1 later.
	e.Create(t, cluster.Pod("starts-large").InitReq(cluster.CPU("3")).Req(cluster.CPU("1")).NodeSelector(map[string]string{cluster.Hostname: "two"}).Obj())
	e.Unschedulable(t, "starts-large", "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector. "+
		"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
	e.Create(t, cluster.Pod("starts-small").InitReq(cluster.CPU("2")).Req(cluster.CPU("2")).NodeSelector(map[string]string{cluster.Hostname: "two"}).Obj())
	e.BoundTo(t, "starts-small", "two")
	// A sidecar runs beside: 2 and 2.
	e.Create(t, cluster.Pod("sidecar").SidecarReq(cluster.CPU("2")).Req(cluster.CPU("2")).Obj())
	e.BoundTo(t, "sidecar", "four")
}

func growingNode(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "1").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Req(cluster.CPU("2")).Obj())
	e.Unschedulable(t, "p", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "+
		"1 Preemption is not helpful for scheduling.")
	e.UpdateNode(t, "n", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("3") })
	e.BoundTo(t, "p", "n")
}

func resizedPod(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "2").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("there").Req(cluster.CPU("2")).Obj())
	e.BoundTo(t, "there", "n")
	e.Create(t, cluster.Pod("p").Req(cluster.CPU("1")).Obj())
	e.Unschedulable(t, "p", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "+
		"1 No preemption victims found for incoming pod.")
	patch := []byte(`{"spec":{"containers":[{"name":"con0","resources":{"requests":{"cpu":"1"}}}]}}`)
	_, err := e.Client.CoreV1().Pods(cluster.Namespace).Patch(t.Context(), "there", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize")
	if err != nil {
		t.Fatal(err)
	}
	e.BoundTo(t, "p", "n")
}

// half is half of a node.
var half = cluster.Resources{corev1.ResourceCPU: "2", corev1.ResourceMemory: "8Gi"}

// fillHalf makes half of the node fuller full.
func fillHalf(t *testing.T, e *Env) {
	t.Helper()
	e.Create(t, cluster.Pod("there").Node("fuller").Req(half).Obj())
}

func leastAllocated(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("fuller").Obj(), cluster.Node("emptier").Obj()) // of equal ones it is the first
	fillHalf(t, e)
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Req(cluster.Resources{corev1.ResourceCPU: "1", corev1.ResourceMemory: "4Gi"}).Obj())
	e.BoundTo(t, "p", "emptier")
}

func mostAllocated(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("emptier").Obj(), cluster.Node("fuller").Obj())
	fillHalf(t, e)
	e.Schedule(t, `
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]
`)
	e.Create(t, cluster.Pod("p").Req(cluster.Resources{corev1.ResourceCPU: "1", corev1.ResourceMemory: "4Gi"}).Obj())
	e.BoundTo(t, "p", "fuller")
}

func balanced(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("much-cpu-used").Obj(), cluster.Node("much-memory-used").Obj(),
		cluster.Pod("a").Node("much-cpu-used").Req(cluster.Resources{corev1.ResourceCPU: "2", corev1.ResourceMemory: "2Gi"}).Obj(),
		cluster.Pod("b").Node("much-memory-used").Req(cluster.Resources{corev1.ResourceCPU: "500m", corev1.ResourceMemory: "8Gi"}).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Req(cluster.Resources{corev1.ResourceCPU: "1", corev1.ResourceMemory: "512Mi"}).Obj())
	e.BoundTo(t, "p", "much-memory-used")
}
