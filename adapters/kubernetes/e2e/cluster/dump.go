package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// dumped is how many pods and how many events a dump has at most.
const dumped = 40

// Dump says what the cluster looks like, for a test that has failed: nodes, pods
// without a node first, with their conditions, and the latest events.
func (c *Cluster) Dump() string {
	var out strings.Builder
	c.dumpNodes(&out)
	c.dumpPods(&out)
	c.dumpEvents(&out)
	return out.String()
}

func (c *Cluster) dumpNodes(out *strings.Builder) {
	nodes, err := c.informers.Core().V1().Nodes().Lister().List(labels.Everything())
	fmt.Fprintf(out, "%d nodes %v\n", len(nodes), problem(err))
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range nodes[:min(len(nodes), dumped)] {
		fmt.Fprintf(out, "  %s labels %v taints %v unschedulable %t\n", n.Name, n.Labels, n.Spec.Taints, n.Spec.Unschedulable)
	}
}

func (c *Cluster) dumpPods(out *strings.Builder) {
	pods, err := c.informers.Core().V1().Pods().Lister().List(labels.Everything())
	fmt.Fprintf(out, "%d pods %v\n", len(pods), problem(err))
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(min(len(a.Spec.NodeName), 1), min(len(b.Spec.NodeName), 1)), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range pods[:min(len(pods), dumped)] {
		fmt.Fprintf(out, "  %s/%s node %q nominated %q phase %s deleted %v\n", p.Namespace, p.Name, p.Spec.NodeName,
			p.Status.NominatedNodeName, p.Status.Phase, p.DeletionTimestamp != nil)
		for _, condition := range p.Status.Conditions {
			fmt.Fprintf(out, "    %s\n", text(condition))
		}
	}
}

func (c *Cluster) dumpEvents(out *strings.Builder) {
	events, err := c.informers.Events().V1().Events().Lister().List(labels.Everything())
	fmt.Fprintf(out, "%d events %v\n", len(events), problem(err))
	slices.SortFunc(events, func(a, b *eventsv1.Event) int { return b.EventTime.Compare(a.EventTime.Time) })
	for _, e := range events[:min(len(events), dumped)] {
		fmt.Fprintf(out, "  %s %s/%s %s %s: %s\n", e.Type, e.Regarding.Namespace, e.Regarding.Name, e.Reason, e.Action, e.Note)
	}
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("(error: %v)", err)
}
