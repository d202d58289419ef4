package scenario

import (
	"fmt"
	"testing"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// trees is about composite pod groups: groups of groups of pods that are scheduled
// together.
var trees = []Scenario{
	{Name: "trees/a tree goes whole or not at all", Run: treeWhole, Groups: true},
	{Name: "trees/a tree waits for its groups and their members", Run: treeWaits, Groups: true},
	{Name: "trees/a tree does without groups that it does not need", Run: treePart, Groups: true},
	{Name: "trees/groups of a tree without a minimum go one by one", Run: treeBasic, Groups: true},
	{Name: "trees/a tree goes to one zone and each of its groups to one rack", Run: treeTopology, Groups: true},
	{Name: "trees/a tree makes room for itself", Run: treePreempts, Groups: true},
}

// The workload that all groups are of, and its templates.
const (
	workload      = "job"
	rootTemplate  = "root"
	innerTemplate = "inner"
	leafTemplate  = "leaf"
)

// treeOf is a workload of the shape root, inner, leaf. The groups themselves say what
// counts.
func treeOf() *schedulingv1beta1.Workload {
	leaf := st.MakePodGroupTemplate().Name(leafTemplate).MinCount(1)
	inner := st.MakeCompositePodGroupTemplate().Name(innerTemplate).MinGroupCount(1).Children(leaf)
	return st.MakeWorkload().Name(workload).Namespace(cluster.Namespace).
		Children(st.MakeCompositePodGroupTemplate().Name(rootTemplate).MinGroupCount(1).Children(inner)).Obj()
}

// root starts the highest group, and inner one below it.
func root() *st.CompositePodGroupWrapper {
	return st.MakeCompositePodGroup().Name("root").Namespace(cluster.Namespace).WorkloadRef(workload, rootTemplate)
}

func inner(name string) *st.CompositePodGroupWrapper {
	return st.MakeCompositePodGroup().Name(name).Namespace(cluster.Namespace).WorkloadRef(workload, innerTemplate).ParentCompositePodGroup("root")
}

// leaf starts a group of pods below the composite group.
func leaf(name, parent string) *st.PodGroupWrapper {
	return group(name).WorkloadRef(workload, leafTemplate).ParentCompositePodGroup(parent)
}

// members creates n pods of the group with CPUs.
func members(t *testing.T, e *Env, group string, n int, cpus string) {
	t.Helper()
	for i := range n {
		e.Create(t, member(fmt.Sprint(group, "-", i), group, cpus).Obj())
	}
}

// unplaced checks that none of the n pods of each group has a node.
func unplaced(t *testing.T, e *Env, n int, groups ...string) {
	t.Helper()
	for _, group := range groups {
		for i := range n {
			e.NotBound(t, fmt.Sprint(group, "-", i))
		}
	}
}

func treeWhole(t *testing.T, e *Env) {
	e.Create(t, smallNode("a", "4").Obj(), smallNode("b", "3").Obj())
	scheduleGroups(t, e)
	// Of the tree root(left(a, b), right(c, d)), with two pods each, all but one fit.
	e.Create(t, treeOf(), root().MinGroupCount(2).Obj(), inner("left").MinGroupCount(2).Obj(), inner("right").MinGroupCount(2).Obj())
	leaves := []string{"a", "b", "c", "d"}
	for i, name := range leaves {
		e.Create(t, leaf(name, []string{"left", "right"}[i/2]).MinCount(2).Obj())
		members(t, e, name, 2, "1")
	}
	for _, name := range leaves {
		for i := range 2 {
			e.AwaitPod(t, fmt.Sprintf("%s-%d", name, i), "is rejected", saysUnschedulable)
		}
	}
	unplaced(t, e, 2, leaves...)
	e.Create(t, smallNode("c", "1").Obj())
	for _, name := range leaves {
		e.AllBound(t, name, 2)
		e.AwaitGroup(t, name, initiallyScheduled)
	}
}

func treeWaits(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	scheduleGroups(t, e)
	e.Create(t, treeOf(), root().MinGroupCount(2).Obj(), leaf("a", "root").MinCount(1).Obj())
	members(t, e, "a", 1, "1")
	passed(t, e, "first")
	unplaced(t, e, 1, "a")
	e.Create(t, inner("left").MinGroupCount(1).Obj(), leaf("b", "left").MinCount(2).Obj())
	members(t, e, "b", 1, "1")
	passed(t, e, "second")
	unplaced(t, e, 1, "a", "b")
	e.Create(t, member("b-1", "b", "1").Obj())
	e.AllBound(t, "a", 1)
	e.AllBound(t, "b", 2)
}

// passed creates a pod and waits until it is bound, so those that came before it have
// been passed over.
func passed(t *testing.T, e *Env, name string) {
	t.Helper()
	e.Create(t, cluster.Pod(name).Obj())
	e.Bound(t, name)
}

func treePart(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "4").Obj())
	scheduleGroups(t, e)
	e.Create(t, treeOf(), root().MinGroupCount(2).Obj())
	for _, name := range []string{"a", "b", "huge"} {
		e.Create(t, leaf(name, "root").MinCount(2).Obj())
	}
	members(t, e, "huge", 2, "64")
	members(t, e, "a", 2, "1")
	members(t, e, "b", 2, "1")
	e.AllBound(t, "a", 2)
	e.AllBound(t, "b", 2)
	unplaced(t, e, 2, "huge")
	e.Create(t, smallNode("larger", "64").Obj(), smallNode("largest", "64").Obj())
	e.AllBound(t, "huge", 2)
}

func treeBasic(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "2").Obj())
	scheduleGroups(t, e)
	e.Create(t, treeOf(), root().BasicPolicy().Obj())
	e.Create(t, leaf("large", "root").MinCount(3).Obj(), leaf("fits", "root").MinCount(2).Obj())
	members(t, e, "large", 3, "1")
	members(t, e, "fits", 2, "1")
	e.AllBound(t, "fits", 2)
	unplaced(t, e, 3, "large")
	e.Create(t, smallNode("more", "3").Obj())
	e.AllBound(t, "large", 3)
}

// rack is a label of nodes.
const rack = "example.com/rack"

func treeTopology(t *testing.T, e *Env) {
	// Zone a has room for both groups, but not on one rack each; zone b has.
	for i, where := range [][2]string{{"a", "a1"}, {"a", "a2"}, {"a", "a3"}, {"a", "a4"}, {"b", "b1"}, {"b", "b1"}, {"b", "b2"}, {"b", "b2"}} {
		e.Create(t, smallNode(fmt.Sprint("n", i), "1").Label(cluster.Zone, where[0]).Label(rack, where[1]).Obj())
	}
	scheduleGroups(t, e)
	e.Create(t, treeOf(), root().MinGroupCount(2).TopologyKey(cluster.Zone).Obj())
	for _, name := range []string{"x", "y"} {
		e.Create(t, leaf(name, "root").MinCount(2).TopologyKey(rack).Obj())
		members(t, e, name, 2, "1")
	}
	x, y := e.AllBound(t, "x", 2), e.AllBound(t, "y", 2)
	together := func(on map[string]int, one, other string) bool { return on[one] == 1 && on[other] == 1 }
	if !(together(x, "n4", "n5") && together(y, "n6", "n7")) && !(together(y, "n4", "n5") && together(x, "n6", "n7")) {
		t.Errorf("the groups are on %v and %v, want one on n4 and n5, the other on n6 and n7", x, y)
	}
}

func treePreempts(t *testing.T, e *Env) {
	classes(t, e)
	e.Create(t, smallNode("a", "2").Obj(), smallNode("b", "2").Obj(),
		on("a", withPriority("low-a", "low", "2")), on("b", withPriority("low-b", "low", "2")))
	scheduleGroups(t, e)
	top := root().MinGroupCount(2).Obj()
	top.Spec.PriorityClassName = "high"
	e.Create(t, treeOf(), top)
	for _, name := range []string{"x", "y"} {
		g := leaf(name, "root").MinCount(1).Obj()
		g.Spec.PriorityClassName = "high"
		e.Create(t, g, cluster.WithClass(member(name+"-0", name, "2"), "high").Obj())
	}
	e.Gone(t, "low-a")
	e.Gone(t, "low-b")
	e.AllBound(t, "x", 1)
	e.AllBound(t, "y", 1)
}
