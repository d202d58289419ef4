package scenario

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// relations is about InterPodAffinity, PodTopologySpread and NodePorts: pods that
// mind where others are.
var relations = []Scenario{
	{Name: "pod affinity/to the zone of another", Run: affinityZone},
	{Name: "pod affinity/the first of a group may go anywhere", Run: affinityFirst},
	{Name: "pod affinity/preferred", Run: affinityPreferred},
	{Name: "pod anti-affinity/one on each node", Run: antiAffinityHost},
	{Name: "pod anti-affinity/of a pod that is there", Run: antiAffinityExisting},
	{Name: "pod anti-affinity/to pods of namespaces with a label", Run: antiAffinityNamespaces},
	{Name: "spread/evenly over zones", Run: spreadZones},
	{Name: "spread/a node without the label takes none", Run: spreadMissingLabel},
	{Name: "spread/fewer domains than wanted", Run: spreadMinDomains},
	{Name: "spread/better evenly, but rather unevenly than not at all", Run: spreadSoft},
	{Name: "spread/pods of a service are spread by default", Run: spreadDefault},
	{Name: "ports/a port of a node is for one pod", Run: hostPorts},
}

// zones are two nodes in zone a and one in zone b.
func zones(t *testing.T, e *Env) {
	t.Helper()
	e.Create(t, cluster.ZonedNode("a1", "a").Obj(), cluster.ZonedNode("b1", "b").Obj(), cluster.ZonedNode("a2", "a").Obj())
}

func affinityZone(t *testing.T, e *Env) {
	zones(t, e)
	e.Schedule(t, "")
	follower := func(name string) *corev1.Pod {
		return cluster.Pod(name).PodAffinity(cluster.Zone, cluster.App("db"), st.PodAffinityWithRequiredReq).Obj()
	}
	e.Create(t, follower("early"))
	e.Unschedulable(t, "early", "0/3 nodes are available: 3 node(s) didn't match pod affinity rules. preemption: 0/3 nodes are available: "+
		"3 Preemption is not helpful for scheduling.")
	e.Create(t, cluster.Pod("db").Label("app", "db").NodeSelector(map[string]string{cluster.Hostname: "b1"}).Obj())
	e.BoundTo(t, "early", "b1")
	e.Create(t, follower("late"))
	e.BoundTo(t, "late", "b1")
}

func affinityFirst(t *testing.T, e *Env) {
	zones(t, e)
	e.Schedule(t, "")
	zone := map[string]string{"a1": "a", "a2": "a", "b1": "b"}
	for i := range 3 {
		name := fmt.Sprint("p", i)
		e.Create(t, cluster.Pod(name).Label("app", "x").PodAffinity(cluster.Zone, cluster.App("x"), st.PodAffinityWithRequiredReq).Obj())
		if first, got := e.Bound(t, "p0"), e.Bound(t, name); zone[got] != zone[first] {
			t.Errorf("pod %s is on node %s, want a node in the zone of %s", name, got, first)
		}
	}
}

func affinityPreferred(t *testing.T, e *Env) {
	zones(t, e)
	e.Create(t, cluster.Pod("db").Label("app", "db").Node("b1").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("near").PodAffinity(cluster.Hostname, cluster.App("db"), st.PodAffinityWithPreferredReq).Obj())
	e.BoundTo(t, "near", "b1")
	e.Create(t, cluster.Pod("far").PodAntiAffinity(cluster.Zone, cluster.App("db"), st.PodAntiAffinityWithPreferredReq).Obj())
	if got := e.Bound(t, "far"); got == "b1" {
		t.Errorf("the pod that avoids the zone is on %s", got)
	}
}

func antiAffinityHost(t *testing.T, e *Env) {
	zones(t, e)
	e.Schedule(t, "")
	pod := func(i int) *corev1.Pod {
		return cluster.Pod(fmt.Sprint("p", i)).Label("app", "x").PodAntiAffinity(cluster.Hostname, cluster.App("x"), st.PodAntiAffinityWithRequiredReq).Obj()
	}
	e.Create(t, pod(0), pod(1), pod(2))
	for node, n := range e.AllBound(t, "x", 3) {
		if n != 1 {
			t.Errorf("node %s has %d pods, want 1", node, n)
		}
	}
	e.Create(t, pod(3))
	e.Unschedulable(t, "p3", "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. preemption: 0/3 nodes are available: "+
		"3 No preemption victims found for incoming pod.")
	free := e.Bound(t, "p1")
	e.Delete(t, cluster.Pod("p1").Obj())
	e.BoundTo(t, "p3", free)
}

func antiAffinityExisting(t *testing.T, e *Env) {
	e.Create(t, cluster.ZonedNode("a1", "a").Obj(), cluster.ZonedNode("b1", "b").Obj(),
		cluster.Pod("loner").Node("a1").PodAntiAffinity(cluster.Zone, cluster.App("noisy"), st.PodAntiAffinityWithRequiredReq).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("noisy").Label("app", "noisy").Obj())
	e.BoundTo(t, "noisy", "b1")
	e.Create(t, cluster.Pod("noisy-a").Label("app", "noisy").NodeSelector(map[string]string{cluster.Zone: "a"}).Obj())
	e.Unschedulable(t, "noisy-a", "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "+
		"1 node(s) didn't satisfy existing pods anti-affinity rules. preemption: 0/2 nodes are available: "+
		"1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.")
}

func antiAffinityNamespaces(t *testing.T, e *Env) {
	e.Create(t, cluster.OtherNamespace("red", map[string]string{"team": "red"}), cluster.OtherNamespace("blue", map[string]string{"team": "blue"}),
		cluster.Node("red").Obj(), cluster.Node("blue").Obj(), cluster.Node("own").Obj())
	for node, namespace := range map[string]string{"red": "red", "blue": "blue", "own": cluster.Namespace} {
		e.Create(t, cluster.Pod("there").Namespace(namespace).Node(node).Label("app", "x").Obj())
	}
	e.Schedule(t, "")
	pod := func(name string, selector *metav1.LabelSelector) *corev1.Pod {
		p := cluster.Pod(name).PodAntiAffinity(cluster.Hostname, cluster.App("x"), st.PodAntiAffinityWithRequiredReq).Obj()
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = selector
		return p
	}
	teams := func(op metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: op, Values: values}}}
	}
	e.Create(t, pod("not-with-red-or-without", teams(metav1.LabelSelectorOpNotIn, "blue")))
	e.BoundTo(t, "not-with-red-or-without", "blue")
	e.Create(t, pod("not-with-a-team", teams(metav1.LabelSelectorOpExists)))
	e.BoundTo(t, "not-with-a-team", "own")
	e.Create(t, pod("with-nobody", &metav1.LabelSelector{}))
	e.Unschedulable(t, "with-nobody", "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. preemption: 0/3 nodes are available: "+
		"3 No preemption victims found for incoming pod.")
}

// spread starts a pod of app x that is to be spread.
func spread(name, key string, mode corev1.UnsatisfiableConstraintAction, minDomains *int32) *st.PodWrapper {
	return cluster.Pod(name).Label("app", "x").SpreadConstraint(1, key, mode, cluster.App("x"), minDomains, nil, nil, nil)
}

func spreadZones(t *testing.T, e *Env) {
	zones(t, e)
	e.Schedule(t, "")
	for i := range 6 {
		e.Create(t, spread(fmt.Sprint("p", i), cluster.Zone, corev1.DoNotSchedule, nil).Obj())
	}
	got := e.AllBound(t, "x", 6)
	if got["b1"] != 3 || got["a1"]+got["a2"] != 3 {
		t.Errorf("pods on nodes: %v, want 3 in each zone", got)
	}
	e.UpdateNode(t, "b1", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	e.Create(t, spread("more-0", cluster.Zone, corev1.DoNotSchedule, nil).Obj())
	e.Bound(t, "more-0")
	e.Create(t, spread("more-1", cluster.Zone, corev1.DoNotSchedule, nil).Obj())
	e.Unschedulable(t, "more-1", "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints. "+
		"preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.")
	e.UpdateNode(t, "b1", func(n *corev1.Node) { n.Spec.Unschedulable = false })
	e.BoundTo(t, "more-1", "b1")
}

func spreadMissingLabel(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("nowhere").Obj())
	e.Schedule(t, "")
	e.Create(t, spread("p", cluster.Zone, corev1.DoNotSchedule, nil).Obj())
	e.Unschedulable(t, "p", "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label). "+
		"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
	e.UpdateNode(t, "nowhere", func(n *corev1.Node) { n.Labels[cluster.Zone] = "a" })
	e.BoundTo(t, "p", "nowhere")
}

func spreadMinDomains(t *testing.T, e *Env) {
	zones(t, e)
	e.Schedule(t, "")
	three := ptr.To[int32](3)
	e.Create(t, spread("p0", cluster.Zone, corev1.DoNotSchedule, three).Obj(), spread("p1", cluster.Zone, corev1.DoNotSchedule, three).Obj())
	e.AllBound(t, "x", 2)
	// There are two zones and not three, so none may have more than one.
	e.Create(t, spread("p2", cluster.Zone, corev1.DoNotSchedule, three).Obj())
	e.Unschedulable(t, "p2", "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints. "+
		"preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.")
	e.Create(t, cluster.ZonedNode("c1", "c").Obj())
	e.BoundTo(t, "p2", "c1")
}

func spreadSoft(t *testing.T, e *Env) {
	zones(t, e)
	e.Schedule(t, "")
	onHost := func(name, host string) *corev1.Pod {
		return spread(name, cluster.Zone, corev1.ScheduleAnyway, nil).NodeSelector(map[string]string{cluster.Hostname: host}).Obj()
	}
	e.Create(t, onHost("p0", "a1"), onHost("p1", "a1"))
	e.BoundTo(t, "p0", "a1")
	e.BoundTo(t, "p1", "a1") // although it is uneven
	e.Create(t, spread("p2", cluster.Zone, corev1.ScheduleAnyway, nil).Obj())
	e.BoundTo(t, "p2", "b1")
}

func spreadDefault(t *testing.T, e *Env) {
	zones(t, e)
	e.Create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: cluster.Namespace},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "x"}, Ports: []corev1.ServicePort{{Port: 80}}},
	})
	e.Schedule(t, "")
	for i := range 3 {
		e.Create(t, cluster.Pod(fmt.Sprint("p", i)).Label("app", "x").Obj())
		e.Bound(t, fmt.Sprint("p", i))
	}
	for node, n := range e.AllBound(t, "x", 3) {
		if n != 1 {
			t.Errorf("node %s has %d pods of the service, want 1", node, n)
		}
	}
}

func hostPorts(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p0").HostPort(8080).Obj(), cluster.Pod("p1").HostPort(8080).Obj())
	first, second := e.Bound(t, "p0"), e.Bound(t, "p1")
	if first == second {
		t.Errorf("both pods with the port are on %s", first)
	}
	e.Create(t, cluster.Pod("p2").HostPort(8080).Obj(), cluster.Pod("other").HostPort(8081).Obj())
	e.Bound(t, "other")
	e.Unschedulable(t, "p2", "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports. "+
		"preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.")
	e.Delete(t, cluster.Pod("p0").Obj())
	e.BoundTo(t, "p2", first)
}
