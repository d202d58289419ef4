package sidebyside

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// events are about pods that fit nowhere until something happens: they are tried and
// rejected first, and then it happens, one thing after the other. What upstream does
// for six plugins in one case is done here for one or two of them.
var events = []Workload{
	{
		Name: "poddeleted", Upstream: "event_handling/EventHandlingPodDelete",
		UpstreamCounts: Counts{Nodes: 50, Placed: 960, Measured: 2960},
		counts:         func(nodes int) Counts { return tenEach(max(1, nodes/10)) },
		placed:         blockers(), measured: blocked, beside: onceTried(every(perSecond(eventRate), deletePlaced)),
	},
	{
		Name: "podupdated", Upstream: "event_handling/EventHandlingPodUpdate",
		UpstreamCounts: Counts{Nodes: 1, Measured: 1000}, full: 1000,
		node: firstIsLarge, measured: gated, beside: onceTried(every(perSecond(eventRate), ungate)),
	},
	{
		Name: "podadded", Upstream: "event_handling/EventHandlingPodAdd",
		UpstreamCounts: Counts{Nodes: 2, Measured: 2000}, full: 2000,
		node: firstIsLarge, measured: follower, beside: onceTried(every(perSecond(eventRate), upTo(measuredCount, createPod(leader)))),
	},
	{
		Name: "nodeadded", Upstream: "event_handling/EventHandlingNodeAdd",
		UpstreamCounts: Counts{Nodes: 1, Measured: 1000}, full: 1000, multiple: perNewNode,
		measured: forNewNode, beside: onceTried(every(perSecond(eventRate), addNode)),
	},
	{
		Name: "nodeupdated", Upstream: "event_handling/EventHandlingNodeUpdate",
		UpstreamCounts: Counts{Nodes: 100, Measured: 1000}, full: 1000,
		node: closed, measured: tenth, beside: onceTried(every(perSecond(eventRate), open)),
	},
}

// eventRate is how many things happen per second: as many as in several of
// upstream's namespaces together.
const eventRate = 500

// tenEach is ten pods of either sort for each node.
func tenEach(nodes int) Counts { return Counts{Nodes: nodes, Placed: 10 * nodes, Measured: 10 * nodes} }

// tenth makes pods of which ten leave no room on a node for one more.
var tenth = asking("370m", "1Gi")

const (
	firstPort = 8000
	ports     = 10
)

// blockers are kinds of pods, one of each on a node, that leave no room there for
// what asks for much, and take a port each.
func blockers() []maker {
	var kinds []maker
	for port := range int32(ports) {
		kinds = append(kinds, func(p *st.PodWrapper, i int) *st.PodWrapper {
			return tenth(p, i).HostPort(firstPort + port)
		})
	}
	return kinds
}

// blocked is a pod that asks for much or for a blocker's port, by turns. Once no
// blocker is left there is room for all.
func blocked(p *st.PodWrapper, i int) *st.PodWrapper {
	if i%2 == 0 {
		return asking("700m", "1Gi")(p, i)
	}
	return p.HostPort(firstPort + int32(i/2%ports))
}

// ungate takes the gate off the i-th measured pod.
var ungate = upTo(measuredCount, func(ctx context.Context, client kubernetes.Interface, _ Counts, i int) error {
	patch := []byte(`{"spec":{"schedulingGates":null}}`)
	_, err := client.CoreV1().Pods(cluster.Namespace).Patch(ctx, podName("measured", i), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
})

// follower goes where its leader is, and there is none yet.
func follower(p *st.PodWrapper, i int) *st.PodWrapper {
	return p.PodAffinity(cluster.Hostname, colour(leaderColour(i)), st.PodAffinityWithRequiredReq)
}

// leader is only for the first node, where there is room.
func leader(p *st.PodWrapper, i int) *st.PodWrapper {
	return onFirst(p, i).Label("color", leaderColour(i)).Container("example.com/image")
}

func leaderColour(i int) string { return fmt.Sprintf("yellow-%d", i) }

// Nodes that are not there at first have a label of their own, and room for so many
// of the pods that want it.
const (
	newNode    = "new"
	perNewNode = 10
)

func forNewNode(p *st.PodWrapper, i int) *st.PodWrapper {
	return tenth(p, i).NodeSelector(map[string]string{newNode: "yes"})
}

func addNode(ctx context.Context, client kubernetes.Interface, n Counts, i int) error {
	if i >= n.Measured/perNewNode {
		return nil
	}
	node := makeNode(n.Nodes+i, size()).Label(newNode, "yes").Obj()
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	return err
}

// closed is a node that no pod may go to.
func closed(i int) *corev1.Node {
	return makeNode(i, size()).Taints([]corev1.Taint{{Key: "closed", Effect: corev1.TaintEffectNoSchedule}}).Obj()
}

// open takes the taint off the i-th node.
var open = upTo(nodeCount, func(ctx context.Context, client kubernetes.Interface, _ Counts, i int) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, nodeName(i), types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
	return err
})
