package scenario

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// groups is about GangScheduling and TopologyPlacementGenerator: pods that are
// scheduled together.
var groups = []Scenario{
	{Name: "groups/a gang waits for its members", Run: gangWaits, Groups: true},
	{Name: "groups/a gang goes whole or not at all", Run: gangWhole, Groups: true},
	{Name: "groups/a gang makes room for itself", Run: gangPreempts, Groups: true},
	{Name: "groups/pods of a group without a minimum go one by one", Run: basicGroup, Groups: true},
	{Name: "groups/a group goes to one zone", Run: groupTopology, Groups: true},
	{Name: "groups/members go in the order in which they came", Run: groupOrder, Groups: true},
	{Name: "groups/a gang whose pods never preempt takes the room that there is", Run: gangNeverPreempts, Groups: true},
	{Name: "groups/pods that do not agree whether they preempt are told so", Run: gangDisagrees, Groups: true},
	{Name: "groups/with the gate the group says whether its pods preempt", Run: groupPolicy, Groups: true},
}

// scheduleGroups starts a scheduler that knows groups.
func scheduleGroups(t *testing.T, e *Env) {
	t.Helper()
	e.ScheduleWith(t, controlplane.SchedulerOptions{FeatureGates: groupGates})
}

// group starts a pod group.
func group(name string) *st.PodGroupWrapper {
	return st.MakePodGroup().Name(name).Namespace(cluster.Namespace)
}

// member is a pod of the group, with CPUs. Its label app is the group's name.
func member(name, group, cpus string) *st.PodWrapper {
	return cluster.Pod(name).Label("app", group).PodGroupName(group).Req(cluster.CPU(cpus))
}

var initiallyScheduled = metav1.Condition{
	Type: "PodGroupInitiallyScheduled", Status: metav1.ConditionTrue, Reason: "Scheduled",
}

func gangWaits(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj())
	scheduleGroups(t, e)
	e.Create(t, member("p0", "gang", "1").Obj(), group("gang").MinCount(3).Obj(), member("p1", "gang", "1").Obj())
	e.Create(t, cluster.Pod("other").Obj())
	e.Bound(t, "other") // so the two have been passed over
	e.NotBound(t, "p0")
	e.NotBound(t, "p1")
	e.Create(t, member("p2", "gang", "1").Obj())
	e.AllBound(t, "gang", 3)
	e.AwaitGroup(t, "gang", initiallyScheduled)
}

func gangWhole(t *testing.T, e *Env) {
	e.Create(t, smallNode("a", "2").Obj())
	scheduleGroups(t, e)
	e.Create(t, group("gang").MinCount(3).Obj())
	for i := range 3 {
		e.Create(t, member(fmt.Sprint("p", i), "gang", "1").Obj())
	}
	e.AwaitGroup(t, "gang", metav1.Condition{
		Type: "PodGroupInitiallyScheduled", Status: metav1.ConditionFalse, Reason: "Unschedulable",
		Message: "pod group is unschedulable, 0/1 placements are available, first placement status: minCount (3) cannot be satisfied: " +
			"2 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor",
	})
	for i := range 3 {
		e.NotBound(t, fmt.Sprint("p", i))
	}
	e.Create(t, smallNode("b", "2").Obj())
	e.AllBound(t, "gang", 3)
	e.AwaitGroup(t, "gang", initiallyScheduled)
}

func gangPreempts(t *testing.T, e *Env) {
	classes(t, e)
	e.Create(t, smallNode("a", "2").Obj(), smallNode("b", "2").Obj(),
		on("a", withPriority("low-a", "low", "2")), on("b", withPriority("low-b", "low", "2")))
	scheduleGroups(t, e)
	gang := group("gang").MinCount(2).Obj()
	gang.Spec.PriorityClassName = "high"
	e.Create(t, gang, cluster.WithClass(member("p0", "gang", "2"), "high").Obj(), cluster.WithClass(member("p1", "gang", "2"), "high").Obj())
	e.Gone(t, "low-a")
	e.Gone(t, "low-b")
	e.AllBound(t, "gang", 2)
}

func basicGroup(t *testing.T, e *Env) {
	e.Create(t, smallNode("a", "2").Obj())
	scheduleGroups(t, e)
	e.Create(t, group("team").BasicPolicy().Obj())
	for i := range 3 {
		e.Create(t, member(fmt.Sprint("p", i), "team", "1").Obj())
	}
	e.SomeBound(t, "team", 2)
	e.Create(t, smallNode("b", "2").Obj())
	e.AllBound(t, "team", 3)
}

func groupTopology(t *testing.T, e *Env) {
	node := func(name, zone string) *corev1.Node { return smallNode(name, "2").Label(cluster.Zone, zone).Obj() }
	// No zone but b has room for three.
	e.Create(t, node("a1", "a"), node("b1", "b"), node("c1", "c"), node("b2", "b"))
	scheduleGroups(t, e)
	e.Create(t, group("near").MinCount(3).TopologyKey(cluster.Zone).Obj())
	for i := range 3 {
		e.Create(t, member(fmt.Sprint("p", i), "near", "1").Obj())
	}
	if got := e.AllBound(t, "near", 3); got["b1"]+got["b2"] != 3 {
		t.Errorf("pods on nodes: %v, want all in zone b", got)
	}
}
