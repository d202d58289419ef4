package extpointstest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
)

// TestView proves that a view keeps the contract of [extpoints.ClusterView] as far as
// can be seen from outside: its lists agree with each other, asking twice gives
// the same, and its index finds what there is on its nodes.
func TestView(t *testing.T, view extpoints.ClusterView) {
	t.Helper()
	for _, problem := range viewProblems(view) {
		t.Error(problem)
	}
}

func viewProblems(view extpoints.ClusterView) []string {
	var problems []string
	nodes := view.Nodes()
	var all []*extpoints.NodeInfo
	names := map[string]bool{}
	for i := range nodes.Len() {
		n := nodes.At(i)
		if n == nil || n.Node == nil {
			problems = append(problems, "At returns a node without the node")
			continue
		}
		all = append(all, n)
		if names[n.Node.Name] {
			problems = append(problems, "the node "+n.Node.Name+" is listed twice")
		}
		names[n.Node.Name] = true
		if nodes.Get(n.Node.Name) != n {
			problems = append(problems, "Get and At disagree on the node "+n.Node.Name)
		}
		if nodes.At(i) != n {
			problems = append(problems, "At returns another node the second time")
		}
	}
	if nodes.Get("no such node") != nil {
		problems = append(problems, "Get returns a node for a name that there is not")
	}
	affinity := keep(all, func(n *extpoints.NodeInfo) bool { return len(n.WithAffinity) > 0 })
	if !slices.Equal(affinity, nodes.WithAffinity()) {
		problems = append(problems, "WithAffinity does not list the nodes with affinity in visiting order")
	}
	anti := keep(all, func(n *extpoints.NodeInfo) bool { return len(n.WithRequiredAntiAffinity) > 0 })
	if !slices.Equal(anti, nodes.WithRequiredAntiAffinity()) {
		problems = append(problems, "WithRequiredAntiAffinity does not list the nodes with required anti-affinity in visiting order")
	}
	if view.Namespace("no such namespace") != nil || view.Groups().Get("no such group") != nil {
		problems = append(problems, "the view knows a namespace or a group that there is not")
	}
	budgets := view.Budgets()
	for i := 1; i < len(budgets); i++ {
		if budgets[i-1].ID >= budgets[i].ID {
			problems = append(problems, "the budgets are not in the order of their IDs")
		}
	}
	holds := view.Holds()
	for i := 1; i < len(holds); i++ {
		if holds[i-1].Name >= holds[i].Name {
			problems = append(problems, "the holds are not in the order of their names")
		}
	}
	problems = append(problems, nodeProblems(all)...)
	if len(names) == len(all) {
		problems = append(problems, indexProblems(view.Index(), all)...)
	}
	return problems
}

// indexProblems compares an index with what one finds by looking at the nodes,
// which are in visiting order.
func indexProblems(x extpoints.Index, nodes []*extpoints.NodeInfo) []string {
	in := map[int32]string{}
	for _, n := range nodes {
		if n.Slot < 0 || int(n.Slot) >= x.Slots() {
			return []string{fmt.Sprintf("node %s has the slot %d of %d", n.Node.Name, n.Slot, x.Slots())}
		}
		if other, taken := in[n.Slot]; taken {
			return []string{fmt.Sprintf("the nodes %s and %s have the slot %d", other, n.Node.Name, n.Slot)}
		}
		in[n.Slot] = n.Node.Name
	}
	questions := QuestionsAbout(nodes, 5)
	return questions.Compare(x, (&View{NodeInfos: nodes}).Index())
}

// nodeProblems compares each node with one that is built anew from its
// workloads.
func nodeProblems(nodes []*extpoints.NodeInfo) []string {
	var problems []string
	for _, n := range nodes {
		fresh := extpoints.NewNodeInfo(n.Node)
		for _, w := range n.Workloads {
			fresh.AddWorkload(w)
		}
		if difference := CompareSums(n, fresh); difference != "" {
			problems = append(problems, "node "+n.Node.Name+": "+difference)
		}
	}
	return problems
}

// CompareSums says which sum over its workloads a node has wrong, compared with
// another that has the same workloads; empty where none.
func CompareSums(got, want *extpoints.NodeInfo) string {
	for _, name := range slices.Concat(got.Requested.Names(), want.Requested.Names()) {
		if got.Requested.Get(name) != want.Requested.Get(name) {
			return "Requested " + name + " is not the sum over the workloads"
		}
	}
	switch {
	case got.EstimatedCPU != want.EstimatedCPU || got.EstimatedMemory != want.EstimatedMemory:
		return "the estimated load is not the sum over the workloads"
	case !slices.Equal(got.DeviceFree, want.DeviceFree):
		return "DeviceFree is not what the workloads leave"
	case len(got.WithAffinity) != len(want.WithAffinity):
		return "WithAffinity does not have the workloads with affinity"
	case len(got.WithRequiredAntiAffinity) != len(want.WithRequiredAntiAffinity):
		return "WithRequiredAntiAffinity does not have the workloads with required anti-affinity"
	}
	// Ports may lack one that a workload has, where another has left it.
	for i := range got.Ports {
		if !slices.Contains(want.Ports, got.Ports[i]) {
			return "there is a port in Ports that no workload has"
		}
	}
	return ""
}
