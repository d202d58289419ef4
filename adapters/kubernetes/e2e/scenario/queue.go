package scenario

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// queue is about SchedulingGates and PrioritySort: who is tried, and when.
var queue = []Scenario{
	{Name: "gates/a pod is not tried before they are all gone", Run: gates},
	{Name: "priority/the most important pod is first", Run: priorityOrder},
	{Name: "queue/a pod that is deleted while it waits is forgotten", Run: deletedWhileWaiting},
	// kube-scheduler takes them in the order in which its cache has them, a map.
	{Name: "queue/pods that were there before the scheduler go in the order in which they were made", Run: madeBefore, Berth: true},
	{Name: "queue/many pods, as many as there is room for", Run: manyPods, Long: true},
}

func gates(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("gated").SchedulingGates([]string{"example.com/a", "example.com/b"}).Obj())
	e.Condition(t, "gated", corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates")
	e.UpdatePod(t, "gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = p.Spec.SchedulingGates[1:] })
	e.Create(t, cluster.Pod("after").Obj())
	e.BoundTo(t, "after", "n") // so the gated one has been passed over
	e.NotBound(t, "gated")
	e.UpdatePod(t, "gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = nil })
	e.BoundTo(t, "gated", "n")
}

func priorityOrder(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "1").Obj(), cluster.PriorityClass("low", 1), cluster.PriorityClass("high", 1000),
		cluster.WithClass(cluster.Pod("first").Req(cluster.CPU("1")), "low").Obj(),
		cluster.WithClass(cluster.Pod("important").Req(cluster.CPU("1")), "high").Obj(),
		cluster.WithClass(cluster.Pod("last").Req(cluster.CPU("1")), "low").Obj())
	e.Schedule(t, "") // all of them are waiting already
	e.BoundTo(t, "important", "n")
	for _, name := range []string{"first", "last"} {
		e.Unschedulable(t, name, "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "+
			"1 No preemption victims found for incoming pod.")
	}
}

func deletedWhileWaiting(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "1").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("there").Req(cluster.CPU("1")).Obj())
	e.BoundTo(t, "there", "n")
	e.Create(t, cluster.Pod("waits").Req(cluster.CPU("1")).Obj())
	e.AwaitPod(t, "waits", "is rejected", func(p *corev1.Pod) error {
		if len(p.Status.Conditions) == 0 {
			return fmt.Errorf("it has no condition")
		}
		return nil
	})
	e.Delete(t, cluster.Pod("waits").Obj())
	e.Gone(t, "waits")
	e.Create(t, cluster.Pod("next").Req(cluster.CPU("1")).Obj())
	e.Delete(t, cluster.Pod("there").Obj())
	e.BoundTo(t, "next", "n")
}

func manyPods(t *testing.T, e *Env) {
	const nodes, perNode, clients = 100, 20, 8
	err := e.CreateNodes(t.Context(), nodes, clients, func(i int) *corev1.Node {
		return smallNode(fmt.Sprint("n", i), "2").Obj()
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Schedule(t, "")
	err = e.CreatePods(t.Context(), nodes*perNode, clients, func(i int) *corev1.Pod {
		return cluster.Pod(fmt.Sprint("p", i)).Label("app", "x").Req(cluster.CPU("100m")).Obj()
	})
	if err != nil {
		t.Fatal(err)
	}
	counts := e.AllBound(t, "x", nodes*perNode)
	for node, n := range counts {
		if n != perNode {
			t.Errorf("node %s has %d pods, want %d", node, n, perNode)
		}
	}
	e.Create(t, cluster.Pod("one-more").Req(cluster.CPU("100m")).Obj())
	e.Unschedulable(t, "one-more", "0/100 nodes are available: 100 Insufficient cpu. preemption: 0/100 nodes are available: "+
		"100 No preemption victims found for incoming pod.")
	all, err := e.Client.CoreV1().Pods(cluster.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=x"})
	if err != nil {
		t.Fatal(err)
	}
	index := slices.IndexFunc(all.Items, func(p corev1.Pod) bool { return p.Spec.NodeName == "n7" })
	e.Delete(t, &all.Items[index])
	e.BoundTo(t, "one-more", "n7")
}

func madeBefore(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "4").Obj())
	names := []string{"e", "a", "g", "c", "h", "b", "f", "d"} // in no order
	for _, name := range names {
		e.Create(t, cluster.Pod(name).Req(cluster.CPU("1")).Obj())
	}
	e.Schedule(t, "")
	for _, name := range names[:4] {
		e.BoundTo(t, name, "n")
	}
	for _, name := range names[4:] {
		e.Unschedulable(t, name, "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "+
			"1 No preemption victims found for incoming pod.")
	}
}
