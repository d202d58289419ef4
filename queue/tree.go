package queue

import (
	"cmp"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// GroupTrees is what the queue asks about groups; [extpoints.Groups] has it. The
// answers are those of the moment: a change is told with
// [Queue.GroupChanged] as soon as the answers differ.
type GroupTrees interface {
	// Get returns the group with the ID, nil where there is none.
	Get(id string) *model.Group
	// Root returns the highest of the groups above the group, which may be
	// itself; nil where one of them is not there, or is not composite.
	Root(id string) *model.Group
	// Children lists the groups that have the group as their parent, in the
	// order of [model.Group.CompareAge], also where the group itself is not
	// there.
	Children(id string) []*model.Group
}

var _ GroupTrees = extpoints.Groups(nil)

// groups knows the trees of groups with members in the queue. (kube-scheduler
// pkg/scheduler/backend/queue/{workload_forest,pod_group_member_pods}.go and
// QueuedPodGroupInfo, 1.37.1.)
type groups struct {
	// byRoot has the items of trees with members that wait, and those that are
	// being tried.
	byRoot map[string]*Item
	leaves map[string]*leaf
	seq    uint64 // of the last member that became incomplete or joining
	// items and members are how many trees, and members that wait with one, are
	// in each place.
	items, members [places]int
}

// growTree makes the tree and puts the members in its order.
func (it *Item) growTree(groups GroupTrees) {
	rank := make(map[string]int)
	var nodes []*extpoints.GroupInfo
	var grow func(g *model.Group) *extpoints.GroupInfo
	grow = func(g *model.Group) *extpoints.GroupInfo {
		node := &extpoints.GroupInfo{Group: g}
		rank[g.ID] = len(nodes)
		nodes = append(nodes, node)
		if g.Composite {
			for _, child := range groups.Children(g.ID) {
				node.Children = append(node.Children, grow(child))
			}
		}
		return node
	}
	it.Tree = grow(it.Group)
	slices.SortStableFunc(it.Members, func(a, b *Item) int {
		return cmp.Compare(rank[a.Workload.Group], rank[b.Workload.Group])
	})
	for _, m := range it.Members {
		node := nodes[rank[m.Workload.Group]]
		node.Members = append(node.Members, m.Info)
	}
}

// insert puts a member in its place among the others. (kube-scheduler
// framework/types.go PodGroupMemberPodsOrderingFunc, 1.37.1, which has the name
// in place of the arrival, for clocks that are too coarse.)
func (it *Item) insert(m *Item) {
	i, _ := slices.BinarySearchFunc(it.Members, m, func(a, b *Item) int {
		return cmp.Or(
			cmp.Compare(b.Priority, a.Priority),
			cmp.Compare(b.Attempts, a.Attempts),
			a.Timestamp.Compare(b.Timestamp),
			cmp.Compare(a.arrival, b.arrival))
	})
	it.Members = slices.Insert(it.Members, i, m)
}

// refresh brings what the order is made from up to date, after the members or
// the group have changed.
func (it *Item) refresh() {
	it.Priority = it.Group.Priority
	if len(it.Members) > 0 {
		it.Workload = it.Members[0].Workload
	}
	it.tell()
}

// any reports whether f holds for the workload, or for any member.
func (it *Item) any(f func(*model.Workload) bool) bool {
	if it.Group == nil {
		return f(it.Workload)
	}
	return slices.ContainsFunc(it.Members, func(m *Item) bool { return f(m.Workload) })
}

func (it *Item) setFlushed(flushed bool) {
	it.Flushed = flushed
	for _, m := range it.Members {
		m.Flushed = flushed
	}
}
