package decide

import (
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// groupTrial implements [extpoints.GroupTrial] on a core whose view is its own.
type groupTrial struct {
	d    *Decider
	now  time.Time
	fw   *framework.Framework
	root *extpoints.GroupInfo
	last []*Cycle // the members that were tried in the cycle that is about to end
	// cycles are those of the members in it, once somebody asks.
	cycles map[string]*Cycle
	// tries are the members that Schedule has tried, for the meter.
	tries []*Cycle
}

var _ extpoints.GroupTrial = (*groupTrial)(nil)

// Refused implements [extpoints.GroupTrial].
func (t *groupTrial) Refused(workload, plugin string) ([]extpoints.Refusal, bool) {
	if t.cycles == nil {
		t.cycles = map[string]*Cycle{}
		for _, c := range t.last {
			t.cycles[c.Info.ID] = c
		}
	}
	c := t.cycles[workload]
	if c == nil || !c.pre.Status.IsSuccess() {
		return nil, false
	}
	var list []extpoints.Refusal
	for _, r := range c.refused {
		if r.plugin == plugin {
			list = append(list, r.Refusal)
		}
	}
	return list, true
}

// View implements [extpoints.GroupTrial].
func (t *groupTrial) View() extpoints.ClusterView { return t.d.Record.View }

// Remove implements [extpoints.GroupTrial].
func (t *groupTrial) Remove(list []extpoints.PlacedMember) {
	for _, m := range list {
		t.d.Record.View.Unplace(m.ID, m.Node)
		if m.Group != "" {
			t.d.Record.View.UnplaceMember(m.WorkloadInfo)
		}
	}
}

// Schedule implements [extpoints.GroupTrial].
func (t *groupTrial) Schedule() (*extpoints.Assignments, *extpoints.Status) {
	fork := t.d.forkView()
	try := &groupTry{d: fork, now: t.now, fw: t.fw, room: true}
	result := try.try(t.root)
	t.d.rejoin(fork)
	if t.d.Meter != nil {
		t.tries = append(t.tries, result.tried(nil)...)
	}
	a := &extpoints.Assignments{Placement: result.placement}
	result.proposeAll(a)
	return a, result.Status
}

// Watches implements [extpoints.GroupTrial].
func (t *groupTrial) Watches(p *extpoints.Proposal) bool { return t.fw.HasExtensions(p.State) }

// Reserve implements [extpoints.GroupTrial].
func (t *groupTrial) Reserve(p *extpoints.Proposal, node *extpoints.NodeInfo) *extpoints.WorkloadInfo {
	b := model.Binding{Workload: p.Workload.ID, Node: p.Binding.Node}
	s := p.State
	copied := func() *extpoints.CycleState {
		return extpoints.NewCycle(extpoints.CycleOptions{
			Context: s.Context(), View: oneNode{s.View(), node}, Now: s.Now(), Present: s.Present(), Seed: s.Seed(),
			Trial: true, MakingRoom: s.MakingRoom(), Group: s.Group(), Shared: s.Shared(), Values: s,
		}).State()
	}
	placed := &extpoints.WorkloadInfo{Workload: p.Workload.Workload, PlacedAt: t.now}
	if st := t.fw.ReserveOnCopy(copied, p.Workload, &b); st == nil {
		placed.Shares = b.Devices
	}
	return placed
}

// oneNode is a view in which one node is another than in the view below it. Who
// reserves looks at no other.
type oneNode struct {
	extpoints.ClusterView
	node *extpoints.NodeInfo
}

// Nodes implements [extpoints.ClusterView].
func (v oneNode) Nodes() extpoints.Nodes { return oneOfNodes{v.ClusterView.Nodes(), v.node} }

type oneOfNodes struct {
	extpoints.Nodes
	node *extpoints.NodeInfo
}

// Get implements [extpoints.Nodes].
func (n oneOfNodes) Get(name string) *extpoints.NodeInfo {
	if name == n.node.Node.Name {
		return n.node
	}
	return n.Nodes.Get(name)
}

// tellFilters tells the meter of the filters that a GroupPostFilter plugin has tried
// in the cycles of members that it was given.
func (t *groupTrial) tellFilters() {
	for _, c := range t.tries {
		c.Framework.TellFilters(c.State)
	}
}
