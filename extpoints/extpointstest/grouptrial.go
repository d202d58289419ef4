package extpointstest

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// GroupTrial is an [extpoints.GroupTrial] over a [View]. It places each member on
// the first node that the filters accept, and is meant to be obviously right
// rather than fast. Its fields must be set before it is used.
type GroupTrial struct {
	// Group is what Schedule places, with the groups below it.
	Group *extpoints.GroupInfo
	// Engine has the filters, and the extensions that proposals watch with.
	Engine *Preemption
	// PreFilter prepares the state of a member's cycle; nil does nothing.
	PreFilter func(s *extpoints.CycleState, w *extpoints.WorkloadInfo)
	// Decide is what the Reserve plugins do: it says which device shares a
	// workload gets on a node; nil: none.
	Decide func(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) []model.DeviceShare
	// Refusals are what Refused lists, by member, whatever the plugin;
	// of members that are not there it says that they were not asked about.
	Refusals map[string][]extpoints.Refusal
	// Fails, where not nil, is what Schedule says in place of trying.
	Fails *extpoints.Status

	cluster *View
}

// NewGroupTrial makes a trial that starts as the view is, which it leaves alone.
func NewGroupTrial(view *View, g *extpoints.GroupInfo, engine *Preemption) *GroupTrial {
	return &GroupTrial{Group: g, Engine: engine, cluster: view.branch()}
}

// branch copies the view; the nodes are shared until they are replaced.
func (v *View) branch() *View {
	c := *v
	c.NodeInfos = slices.Clone(v.NodeInfos)
	return &c
}

// change gives the view another node in place of the one with the name, with what
// f does to it.
func (v *View) change(name string, f func(*extpoints.NodeInfo)) {
	i := slices.IndexFunc(v.NodeInfos, func(n *extpoints.NodeInfo) bool { return n.Node.Name == name })
	c := v.NodeInfos[i].Clone()
	f(c)
	v.NodeInfos[i] = c
}

// Refused implements [extpoints.GroupTrial].
func (t *GroupTrial) Refused(workload, _ string) ([]extpoints.Refusal, bool) {
	list, ok := t.Refusals[workload]
	return list, ok
}

// View implements [extpoints.GroupTrial].
func (t *GroupTrial) View() extpoints.ClusterView { return t.cluster }

// Remove implements [extpoints.GroupTrial].
func (t *GroupTrial) Remove(list []extpoints.PlacedMember) {
	t.cluster = t.cluster.branch()
	for _, m := range list {
		t.cluster.change(m.Node, func(n *extpoints.NodeInfo) { n.RemoveWorkload(m.ID) })
	}
}

var groupUnschedulable = extpoints.NewStatus(extpoints.Unschedulable, "group is unschedulable")

// Schedule implements [extpoints.GroupTrial].
func (t *GroupTrial) Schedule() (*extpoints.Assignments, *extpoints.Status) {
	if t.Fails != nil {
		return nil, t.Fails
	}
	a := &extpoints.Assignments{Placement: &extpoints.Placement{Nodes: t.cluster.NodeInfos}}
	try := t.cluster.branch()
	if !t.place(try, t.Group, a) || len(a.Proposals) == 0 {
		return nil, groupUnschedulable
	}
	return a, nil
}

// place reports whether there is room for enough of the group.
func (t *GroupTrial) place(try *View, g *extpoints.GroupInfo, a *extpoints.Assignments) bool {
	_, enough := try.Groups().Members(g.ID)
	for _, w := range g.Members {
		if t.placeOne(try, g, w, a) {
			enough++
		}
	}
	for _, child := range g.Children {
		before, proposals := slices.Clone(try.NodeInfos), len(a.Proposals)
		if t.place(try, child, a) {
			enough++
		} else {
			try.NodeInfos, a.Proposals = before, a.Proposals[:proposals]
		}
	}
	return enough >= max(1, int(g.MinCount))
}

func (t *GroupTrial) placeOne(try *View, g *extpoints.GroupInfo, w *extpoints.WorkloadInfo, a *extpoints.Assignments) bool {
	s := extpoints.NewCycle(extpoints.CycleOptions{View: try.branch(), Now: Now, Seed: 1, Group: g}).State()
	if t.PreFilter != nil {
		t.PreFilter(s, w)
	}
	for _, n := range try.NodeInfos {
		if t.Engine.RunFilters(s, w, n).IsSuccess() {
			p := extpoints.Proposal{Workload: w, Binding: model.Binding{Workload: w.ID, Node: n.Node.Name}, State: s}
			placed := t.Reserve(&p, n)
			p.Binding.Devices = placed.Shares
			a.Proposals = append(a.Proposals, p)
			try.change(n.Node.Name, func(n *extpoints.NodeInfo) { n.AddWorkload(placed) })
			return true
		}
	}
	return false
}

// Watches implements [extpoints.GroupTrial].
func (t *GroupTrial) Watches(*extpoints.Proposal) bool { return t.Engine.Extensions != nil }

// Reserve implements [extpoints.GroupTrial].
func (t *GroupTrial) Reserve(p *extpoints.Proposal, node *extpoints.NodeInfo) *extpoints.WorkloadInfo {
	placed := *p.Workload
	if t.Decide != nil {
		placed.Shares = t.Decide(p.Workload, node)
	}
	return &placed
}

var _ extpoints.GroupTrial = (*GroupTrial)(nil)
