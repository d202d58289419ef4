package sidebyside

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// groups are about pods that are scheduled together. Pods are counted, not groups.
var groups = []Workload{
	{
		Name: "groups", Upstream: "podgroup/basicscheduling/BasicScheduling", UpstreamCounts: Counts{Nodes: 5000, Measured: 9000},
		multiple: 3, groups: true, owned: groupsOf(3, (*st.PodGroupWrapper).BasicPolicy), measured: inGroup(3, member),
	},
	{
		Name: "gangs", Upstream: "podgroup/gangscheduling/GangScheduling", UpstreamCounts: Counts{Nodes: 5000, Measured: 9000},
		multiple: 3, groups: true, owned: groupsOf(3, gang(3)), measured: inGroup(3, member),
	},
	{
		Name: "largegangs", Upstream: "podgroup/gangscheduling/GangScheduling/1000PerGroup", UpstreamCounts: Counts{Nodes: 5000, Measured: 9000},
		multiple: 100, groups: true, owned: groupsOf(100, gang(100)), measured: inGroup(100, member),
	},
	{
		Name: "topologygangs", Upstream: "podgroup/tas/TopologyAwareScheduling", UpstreamCounts: Counts{Nodes: 5000, Measured: 9000},
		multiple: 4, groups: true, node: racked, owned: groupsOf(4, gang(4), inOneRack), measured: inGroup(4, member),
	},
	{
		Name: "groupvictims", Upstream: "default_preemption/PreemptionPodGroupDisruptionMode",
		UpstreamCounts: Counts{Nodes: 1000, Placed: 10000, Measured: 100}, groups: true,
		owned:  groupsOf(10, gang(10), (*st.PodGroupWrapper).DisruptionModeAll),
		placed: []maker{inGroup(10, asking("300m", "50Mi"))}, measured: important(wholeNode),
	},
	{
		Name: "gangpreemption", Upstream: "workload_preemption/GangPreemptionBasic",
		UpstreamCounts: Counts{Nodes: 100, Placed: 1000, Measured: 100}, full: 500, multiple: 10, groups: true,
		owned: groupsOf(10, gang(10)), placed: []maker{lowBlue}, measured: inGroup(10, important(wholeNode)),
	},
	{
		Name: "gangspreemptgangs", Upstream: "workload_preemption/GangPreemptionPodGroups",
		UpstreamCounts: Counts{Nodes: 100, Placed: 500, Measured: 100}, full: 500, multiple: 10, groups: true,
		owned: groupsOf(10, gang(10)), placed: []maker{inGroup(10, asking("600m", "100Mi"))}, measured: inGroup(10, important(mostOfNode)),
	},
	{
		Name: "gangpreemptionaffinity", Upstream: "workload_preemption/GangPreemptionAffinity",
		UpstreamCounts: Counts{Nodes: 100, Placed: 1100, Measured: 100}, full: 500, multiple: 10, groups: true,
		owned:    groupsOf(10, gang(10)),
		placed:   []maker{anchor, lowBlue, lowBlue, lowBlue, lowBlue, lowBlue, lowBlue, lowBlue, lowBlue, lowBlue, lowBlue},
		measured: inGroup(10, important(besideBlue)),
	},
}

var (
	member     = asking("100m", "100Mi")
	mostOfNode = asking("3500m", "100Mi")
)

// inGroup makes pods that are in groups of so many.
func inGroup(size int, of maker) maker {
	return func(p *st.PodWrapper, i int) *st.PodWrapper {
		kind, _, _ := strings.Cut(p.Obj().Name, "-")
		return of(p.PodGroupName(fmt.Sprintf("%s-group-%d", kind, i/size)), i)
	}
}

// groupsOf makes the groups of pods in groups, each with its first pod.
func groupsOf(size int, finish ...func(*st.PodGroupWrapper) *st.PodGroupWrapper) func(*corev1.Pod, int) []runtime.Object {
	return func(p *corev1.Pod, i int) []runtime.Object {
		if p.Spec.SchedulingGroup == nil || i%size != 0 {
			return nil
		}
		name := *p.Spec.SchedulingGroup.PodGroupName
		group := st.MakePodGroup().Name(name).Namespace(cluster.Namespace)
		for _, f := range finish {
			f(group)
		}
		made := group.Obj()
		made.Spec.PriorityClassName = p.Spec.PriorityClassName
		objects := []runtime.Object{made}
		for _, c := range made.Spec.ResourceClaims {
			objects = append(objects, st.MakeResourceClaim().Name(*c.ResourceClaimName).Namespace(cluster.Namespace).Request(deviceClass).Obj())
		}
		return objects
	}
}

// gang makes groups go whole or not at all.
func gang(size int32) func(*st.PodGroupWrapper) *st.PodGroupWrapper {
	return func(g *st.PodGroupWrapper) *st.PodGroupWrapper { return g.MinCount(size) }
}

// withSharedClaim gives the group a claim of its own name, for all its pods.
func withSharedClaim(g *st.PodGroupWrapper) *st.PodGroupWrapper {
	name := g.Obj().Name
	return g.ResourceClaims(schedulingv1beta1.PodGroupResourceClaim{Name: "device", ResourceClaimName: &name})
}

// rack is a label of nodes.
const rack = "topology.kubernetes.io/rack"

func inOneRack(g *st.PodGroupWrapper) *st.PodGroupWrapper { return g.TopologyKey(rack) }

// racked has a hundred nodes in each rack.
func racked(i int) *corev1.Node {
	return makeNode(i, size()).Label(rack, fmt.Sprintf("rack-%d", i/100)).Obj()
}

// blue is five labels, which make selectors slow.
func blue() map[string]string {
	labels := map[string]string{"app": "blue"}
	for i := range 4 {
		labels[fmt.Sprintf("label%d", i)] = "value"
	}
	return labels
}

// lowBlue is a pod of which ten take a tenth of a node.
func lowBlue(p *st.PodWrapper, i int) *st.PodWrapper {
	return asking("40m", "100Mi")(p, i).Labels(blue())
}

// anchor is a pod that is not displaced, of which there is one on each node.
func anchor(p *st.PodWrapper, i int) *st.PodWrapper {
	return cluster.WithClass(asking("10m", "100Mi")(p, i).Labels(blue()), highest)
}

// besideBlue goes where blue pods are, which anchors see to.
func besideBlue(p *st.PodWrapper, i int) *st.PodWrapper {
	selector := st.MakeLabelSelector()
	for k, v := range blue() {
		selector.Label(k, v)
	}
	return wholeNode(p, i).PodAffinity(cluster.Hostname, selector.Obj(), st.PodAffinityWithRequiredReq)
}
