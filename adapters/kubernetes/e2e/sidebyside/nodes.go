package sidebyside

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// zones is how many there are, unless a workload has but one.
const zones = 3

func zoneName(i int) string { return fmt.Sprintf("zone-%d", i%zones) }

// size starts a node as scheduler_perf's.
func size() cluster.Resources {
	return cluster.Resources{corev1.ResourceCPU: "4", corev1.ResourceMemory: "32Gi", corev1.ResourcePods: "110"}
}

func makeNode(i int, capacity cluster.Resources) *st.NodeWrapper {
	return st.MakeNode().Name(nodeName(i)).Label(cluster.Hostname, nodeName(i)).Label(cluster.Zone, zoneName(i)).Capacity(capacity)
}

// node is a node as scheduler_perf's, in one of three zones.
func node(i int) *corev1.Node { return makeNode(i, size()).Obj() }

// oneZone has all nodes in one zone.
func oneZone(i int) *corev1.Node { return makeNode(i, size()).Label(cluster.Zone, zoneName(0)).Obj() }

// firstIsLarge has room for any number of pods on the first node.
func firstIsLarge(i int) *corev1.Node {
	capacity := size()
	if i == 0 {
		capacity[corev1.ResourcePods] = "90000"
	}
	return makeNode(i, capacity).Obj()
}

func fifthIsTainted(i int) *corev1.Node {
	n := makeNode(i, size())
	if i%5 == 4 {
		n.Taints([]corev1.Taint{{Key: "foo", Effect: corev1.TaintEffectNoSchedule}})
	}
	return n.Obj()
}

// extended is what the i-th node alone has.
func extended(i int) corev1.ResourceName {
	return corev1.ResourceName(fmt.Sprintf("example.com/bar-%d", i))
}

func extendedNode(i int) *corev1.Node {
	capacity := size()
	capacity[extended(i)] = "1"
	return makeNode(i, capacity).Obj()
}

// features is how many each node declares.
const features = 100

func featuredNode(i int) *corev1.Node {
	var declared []string
	for f := range features {
		declared = append(declared, fmt.Sprintf("Feature%03d", f))
	}
	capacity := size()
	capacity[corev1.ResourceCPU] = "128"
	return makeNode(i, capacity).DeclaredFeatures(declared).Obj()
}
