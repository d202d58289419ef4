package snapshot

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
)

// Nominate makes the workload the last of those that wait for room on the node,
// which need not be there. Where it waits for it already, the old one goes.
func (v *View) Nominate(w *extpoints.WorkloadInfo, node string) {
	list := withoutWorkload(v.Nominated(node), w.ID)
	v.nominated.set(v.own(), node, append(list, w))
}

// Unnominate ends the waiting of the workload with the ID for the node.
func (v *View) Unnominate(id, node string) {
	old := v.Nominated(node)
	switch list := withoutWorkload(old, id); len(list) {
	case len(old):
	case 0:
		v.nominated.unset(v.own(), node)
	default:
		v.nominated.set(v.own(), node, list)
	}
}

// NominatedWhere lists the workloads that wait for room on a node and of which the function says yes, by
// the names of the nodes. Nodes that are not there are left out.
func (v *View) NominatedWhere(is func(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) bool) (list []*extpoints.WorkloadInfo) {
	v.nominated.each(func(name string, waiting []*extpoints.WorkloadInfo) {
		node := v.Nodes().Get(name)
		if node == nil {
			return
		}
		for _, w := range waiting {
			if is(w, node) {
				list = append(list, w)
			}
		}
	})
	slices.SortStableFunc(list, func(a, b *extpoints.WorkloadInfo) int { return strings.Compare(a.Nominated, b.Nominated) })
	return list
}

// withoutWorkload returns a copy of the list, with room for one more, from
// which the workload with the ID is missing.
func withoutWorkload(list []*extpoints.WorkloadInfo, id string) []*extpoints.WorkloadInfo {
	rest := make([]*extpoints.WorkloadInfo, 0, len(list)+1)
	for _, w := range list {
		if w.ID != id {
			rest = append(rest, w)
		}
	}
	return rest
}
