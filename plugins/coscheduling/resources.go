package coscheduling

import (
	"fmt"
	"math"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// lacks is why the group must wait for its MinResources; empty where there is enough left on all
// nodes together, what its own members have there included, and room for MinCount members. It
// says nothing of where: that is for the members to find. A group that is complete without
// them lacks nothing.
func lacks(v extpoints.ClusterView, g *model.Group, placed int) string {
	names := g.MinResources.Names()
	if len(names) == 0 || placed+1 >= int(g.MinCount) {
		return ""
	}
	gaps := make([]int64, len(names)+1)
	for i, name := range names {
		gaps[i] = g.MinResources.Get(name)
	}
	gaps[len(names)] = int64(g.MinCount)
	nodes := v.Nodes()
	for i := range nodes.Len() {
		if fill(gaps, names, nodes.At(i), g.ID) {
			return ""
		}
	}
	list := make([]string, 0, len(gaps))
	for i, gap := range gaps {
		switch {
		case gap <= 0:
		case i < len(names):
			list = append(list, fmt.Sprintf("%d of %s", gap, names[i]))
		default:
			list = append(list, fmt.Sprintf("room for %d members", gap))
		}
	}
	return fmt.Sprintf("group %q lacks %s on all nodes together", g.ID, strings.Join(list, ", "))
}

// fill takes what the node has left out of the gaps; true: none is left. A node that has less than
// nothing left takes nothing from the others.
func fill(gaps []int64, names []string, n *extpoints.NodeInfo, group string) (enough bool) {
	var own model.Resources
	members := 0
	for _, w := range n.Workloads {
		if w.Group == group {
			own.Add(&w.Requests)
			members++
		}
	}
	enough = true
	for i, name := range names {
		left := n.Node.Allocatable.Get(name) - n.Requested.Get(name) + own.Get(name)
		gaps[i] -= max(left, 0)
		enough = enough && gaps[i] <= 0
	}
	last := len(names)
	switch most := n.Node.MaxWorkloads; most {
	case model.Unlimited:
		gaps[last] = math.MinInt64 / 2
	case model.NoWorkloads:
	default:
		gaps[last] -= max(most-int64(len(n.Workloads)-members), 0)
	}
	return enough && gaps[last] <= 0
}
