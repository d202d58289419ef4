package scenario

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// preemption is about DefaultPreemption.
var preemption = []Scenario{
	{Name: "preemption/the least important pod makes room", Run: preempt},
	{Name: "preemption/victims are told and given their time", Run: preemptGracefully},
	{Name: "preemption/no more victims than it takes", Run: preemptFewest},
	{Name: "preemption/a budget is kept where it can be", Run: preemptBudget},
	{Name: "preemption/a pod that must not preempt waits", Run: preemptNever},
	{Name: "preemption/not where it would not help", Run: preemptUseless},
	{Name: "preemption/the room is kept for who made it", Run: preemptNominated},
}

// classes are a low, a middle and a high priority.
func classes(t *testing.T, e *Env) {
	t.Helper()
	e.Create(t, cluster.PriorityClass("low", 1), cluster.PriorityClass("middle", 100), cluster.PriorityClass("high", 1000))
}

// withPriority is a pod of a priority class with CPUs.
func withPriority(name, class, cpus string) *corev1.Pod {
	return cluster.WithClass(cluster.Pod(name).Req(cluster.CPU(cpus)), class).Obj()
}

// on is the pod, on a node from the start.
func on(node string, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = node
	return pod
}

func preempt(t *testing.T, e *Env) {
	classes(t, e)
	e.Create(t, smallNode("a", "2").Obj(), smallNode("b", "2").Obj(),
		on("a", withPriority("middle-a", "middle", "2")), on("b", withPriority("low-b", "low", "2")))
	e.Schedule(t, "")
	e.Create(t, withPriority("high", "high", "2"))
	e.Gone(t, "low-b")
	e.BoundTo(t, "high", "b")
	e.BoundTo(t, "middle-a", "a") // it is where it was
	pod := e.AwaitPod(t, "high", "is there", func(*corev1.Pod) error { return nil })
	e.Event(t, "low-b", cluster.Event{Type: corev1.EventTypeNormal, Reason: "Preempted", Action: "Preempting",
		Note: fmt.Sprintf("Preempted by pod %s on node b", pod.UID)})
	e.Event(t, "high", cluster.Event{Type: corev1.EventTypeWarning, Reason: "FailedScheduling", Action: "Scheduling",
		Note: "0/2 nodes are available: 2 Insufficient cpu. preemption: " +
			"found a potential placement for pod on node b, preempting 1 victims"})
}

func preemptGracefully(t *testing.T, e *Env) {
	classes(t, e)
	e.Create(t, smallNode("n", "2").Obj())
	victim := withPriority("victim", "low", "2")
	victim.Spec.TerminationGracePeriodSeconds = ptr.To[int64](300)
	e.Create(t, on("n", victim))
	e.Schedule(t, "")
	e.Create(t, withPriority("high", "high", "2"))
	e.Condition(t, "victim", corev1.DisruptionTarget, corev1.ConditionTrue, corev1.PodReasonPreemptionByScheduler,
		"default-scheduler: preempting to accommodate a higher priority pod")
	e.AwaitPod(t, "victim", "is being deleted", func(p *corev1.Pod) error {
		if p.DeletionTimestamp == nil {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	if got := e.Nominated(t, "high"); got != "n" {
		t.Errorf("the pod is nominated for %s, want n", got)
	}
	e.NotBound(t, "high")
	e.Kubelets(t) // which end the victim
	e.Gone(t, "victim")
	e.BoundTo(t, "high", "n")
	e.AwaitPod(t, "high", "runs", func(p *corev1.Pod) error {
		if p.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %s", p.Status.Phase)
		}
		return nil
	})
}

func preemptFewest(t *testing.T, e *Env) {
	classes(t, e)
	e.Create(t, smallNode("many", "2").Obj(), smallNode("one", "2").Obj(),
		on("many", withPriority("m1", "low", "1")), on("many", withPriority("m2", "low", "1")),
		on("one", withPriority("o1", "low", "1500m")), on("one", withPriority("o2", "low", "500m")))
	e.Schedule(t, "")
	e.Create(t, withPriority("high", "high", "1500m"))
	e.BoundTo(t, "high", "one")
	e.Gone(t, "o1")
	for _, name := range []string{"m1", "m2", "o2"} {
		e.Bound(t, name)
	}
}

func preemptBudget(t *testing.T, e *Env) {
	classes(t, e)
	guarded := withPriority("guarded", "low", "2")
	guarded.Labels = map[string]string{"app": "guarded"}
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "guard", Namespace: cluster.Namespace},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: cluster.App("guarded")},
	}
	e.Create(t, smallNode("a", "2").Obj(), smallNode("b", "2").Obj(), on("a", guarded), on("b", withPriority("free", "middle", "2")), budget)
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1}
	e.UpdateStatus(t, budget)
	e.Schedule(t, "")
	e.Create(t, withPriority("first", "high", "2"))
	e.Gone(t, "free") // although it is the more important one
	e.BoundTo(t, "first", "b")
	e.Create(t, withPriority("second", "high", "2"))
	e.BoundTo(t, "second", "a") // there is no other way
	e.Gone(t, "guarded")
}

func preemptNever(t *testing.T, e *Env) {
	never := cluster.PriorityClass("never", 1000)
	never.PreemptionPolicy = ptr.To(corev1.PreemptNever)
	classes(t, e)
	e.Create(t, never, smallNode("n", "2").Obj(), on("n", withPriority("there", "low", "2")))
	e.Schedule(t, "")
	e.Create(t, withPriority("polite", "never", "2"))
	e.Unschedulable(t, "polite", "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.")
	e.Bound(t, "there")
	e.Delete(t, cluster.Pod("there").Obj())
	e.BoundTo(t, "polite", "n")
}

func preemptUseless(t *testing.T, e *Env) {
	classes(t, e)
	e.Create(t, smallNode("n", "2").Obj(), on("n", withPriority("there", "low", "2")))
	e.Schedule(t, "")
	e.Create(t, withPriority("too-large", "high", "3"))
	e.Unschedulable(t, "too-large", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "+
		"1 Preemption is not helpful for scheduling.")
	e.Create(t, cluster.WithClass(cluster.Pod("elsewhere").Req(cluster.CPU("2")).NodeSelector(map[string]string{"no": "such"}), "high").Obj())
	e.Unschedulable(t, "elsewhere", "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. "+
		"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
	e.Bound(t, "there")
}

func preemptNominated(t *testing.T, e *Env) {
	classes(t, e)
	victim := withPriority("victim", "low", "2")
	victim.Spec.TerminationGracePeriodSeconds = ptr.To[int64](300)
	e.Create(t, smallNode("n", "3").Obj(), on("n", victim))
	e.Schedule(t, "")
	e.Create(t, withPriority("high", "high", "3"))
	e.Nominated(t, "high")
	// There is a CPU that nobody uses, but it is spoken for.
	e.Create(t, withPriority("small", "middle", "1"))
	e.Unschedulable(t, "small", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "+
		"1 Insufficient cpu.")
	e.Kubelets(t)
	e.BoundTo(t, "high", "n")
	e.NotBound(t, "small")
}
