package scenario

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// noRoom is the condition of a pod group for which there is no room.
func noRoom(message string) metav1.Condition {
	return metav1.Condition{Type: "PodGroupInitiallyScheduled", Status: metav1.ConditionFalse, Reason: "Unschedulable", Message: message}
}

// refused is the condition of a pod group that makes no sense.
func refused(message string) metav1.Condition {
	return metav1.Condition{Type: "PodGroupInitiallyScheduled", Status: metav1.ConditionFalse, Reason: "SchedulerError", Message: message}
}

// Members that have failed together keep their order, which is neither that of their
// names nor that of their UIDs.
func groupOrder(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "4").Obj())
	scheduleGroups(t, e)
	e.Create(t, group("gang").MinCount(8).Obj())
	names := []string{"e", "a", "g", "c", "h", "b", "f", "d"}
	for _, name := range names {
		e.Create(t, member(name, "gang", "1").Obj())
	}
	e.AwaitGroup(t, "gang", noRoom("pod group is unschedulable, 0/1 placements are available, first placement status: minCount (8) cannot be satisfied: "+
		"4 scheduled, 3 remaining, pod group preemption: No preemption victims found for incoming preemptor"))
	e.UpdateGroup(t, "gang", func(g *schedulingv1beta1.PodGroup) { g.Spec.SchedulingPolicy.Gang.MinCount = 4 })
	for _, name := range names[:4] {
		e.BoundTo(t, name, "n")
	}
	for _, name := range names[4:] {
		e.NotBound(t, name)
	}
}

// polite creates the classes low, and two of the same priority: bold preempts, and
// polite never does.
func polite(t *testing.T, e *Env) {
	t.Helper()
	never := cluster.PriorityClass("polite", 1000)
	never.PreemptionPolicy = new(corev1.PreemptNever)
	e.Create(t, cluster.PriorityClass("low", 1), cluster.PriorityClass("bold", 1000), never)
}

// gangOf creates a gang of so many, which is of the class, and its pods, each of a class
// of its own.
func gangOf(t *testing.T, e *Env, name, class string, pods ...string) {
	t.Helper()
	gang := group(name).MinCount(int32(len(pods))).Obj()
	gang.Spec.PriorityClassName = class
	e.Create(t, gang)
	for i, class := range pods {
		e.Create(t, cluster.WithClass(member(name+"-"+string(rune('0'+i)), name, "2"), class).Obj())
	}
}

func gangNeverPreempts(t *testing.T, e *Env) {
	polite(t, e)
	e.Create(t, smallNode("a", "2").Obj(), smallNode("b", "2").Obj(), on("a", withPriority("low-a", "low", "2")))
	scheduleGroups(t, e)
	gangOf(t, e, "gang", "polite", "polite", "polite")
	e.AwaitGroup(t, "gang", noRoom("pod group is unschedulable, 0/1 placements are available, first placement status: minCount (2) cannot be satisfied: "+
		"1 scheduled, 0 remaining, deallocation and deletion of ResourceClaims completed, pod group preemption: not eligible due to preemptionPolicy=Never."))
	e.Create(t, smallNode("c", "2").Obj())
	e.AllBound(t, "gang", 2)
	e.BoundTo(t, "low-a", "a") // it need not go
}

func gangDisagrees(t *testing.T, e *Env) {
	polite(t, e)
	e.Create(t, smallNode("a", "4").Obj())
	scheduleGroups(t, e)
	gangOf(t, e, "gang", "bold", "polite", "bold")
	e.AwaitGroup(t, "gang", refused("all pods in a single pod group should have the same preemption policy, got PreemptLowerPriority and Never"))
	e.NotBound(t, "gang-0")
	e.NotBound(t, "gang-1")
}

// The API server has the gate off, so that no group has a policy: it is as if it said
// that its pods preempt.
func groupPolicy(t *testing.T, e *Env) {
	polite(t, e)
	e.Create(t, smallNode("a", "4").Obj(), smallNode("b", "4").Obj())
	gates := map[string]bool{"PodGroupPreemptionPolicy": true}
	for gate, on := range groupGates {
		gates[gate] = on
	}
	e.ScheduleWith(t, controlplane.SchedulerOptions{FeatureGates: gates})
	gangOf(t, e, "polite", "polite", "polite", "polite")
	e.AwaitGroup(t, "polite", refused("all pods in a single pod group should have the same preemption policy as the pod group's preemption policy, "+
		"got Never and PreemptLowerPriority"))
	gangOf(t, e, "bold", "bold", "bold", "bold")
	e.AllBound(t, "bold", 2)
	e.NotBound(t, "polite-0")
	e.NotBound(t, "polite-1")
}
