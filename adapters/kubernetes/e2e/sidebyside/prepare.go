package sidebyside

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// creators is how many clients create objects.
const creators = 16

// measuredLabel is on the measured pods.
const measuredLabel = "measured"

func podName(role string, i int) string { return fmt.Sprintf("%s-%05d", role, i) }

// prepare creates everything before the scheduler starts.
func prepare(ctx context.Context, config *rest.Config, w Workload, n Counts) error {
	c, err := cluster.Connect(ctx, config)
	if err != nil {
		return err
	}
	defer c.Close()
	makeNode := w.node
	if makeNode == nil {
		makeNode = node
	}
	if err := c.CreateNodes(ctx, n.Nodes, creators, makeNode); err != nil {
		return err
	}
	var objects []runtime.Object
	for name, value := range priorities {
		objects = append(objects, cluster.PriorityClass(name, value))
	}
	if w.objects != nil {
		objects = append(objects, w.objects(n)...)
	}
	if err := c.CreateObjects(ctx, creators, objects); err != nil {
		return err
	}
	for _, pods := range [][]*corev1.Pod{w.placedPods(n), w.waitingPods(n), w.measuredPods(n)} {
		if err := w.create(ctx, c, pods); err != nil {
			return err
		}
	}
	return nil
}

// create creates pods that are alike, and before them what they need.
func (w Workload) create(ctx context.Context, c *cluster.Cluster, pods []*corev1.Pod) error {
	if w.owned != nil {
		var owned []runtime.Object
		for i, p := range pods {
			owned = append(owned, w.owned(p, i)...)
		}
		if err := c.CreateObjects(ctx, creators, owned); err != nil {
			return err
		}
	}
	return c.CreatePods(ctx, len(pods), creators, func(i int) *corev1.Pod { return pods[i] })
}

// placedPods are on the nodes by turns. Where there are several kinds, all of one
// kind come before the next, so that the pods of one are on different nodes.
func (w Workload) placedPods(n Counts) []*corev1.Pod {
	if len(w.placed) == 0 {
		return nil // what is placed is not pods
	}
	var pods []*corev1.Pod
	for i := range n.Placed {
		kind := w.placed[i*len(w.placed)/n.Placed]
		pods = append(pods, kind(cluster.Pod(podName("placed", i)).Node(nodeName(i%n.Nodes)), i).Obj())
	}
	return pods
}

func (w Workload) waitingPods(n Counts) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range n.Waiting {
		pods = append(pods, w.waiting(cluster.Pod(podName("waiting", i)), i).Obj())
	}
	return pods
}

func (w Workload) measuredPods(n Counts) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range n.Measured {
		p := w.measured(cluster.Pod(podName("measured", i)), i)
		pods = append(pods, p.Label(measuredLabel, "yes").Obj())
	}
	return pods
}
