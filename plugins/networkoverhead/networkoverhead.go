package networkoverhead

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NetworkOverhead"

// Args are the arguments.
type Args struct {
	// Labels say which workloads are of which component.
	Labels helper.AppLabels
	// Costs is the name of the model.NetworkCosts. With Labels.Namespaces it is looked up in
	// these, as the graphs are. Default: "network".
	Costs string
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	a.Labels.Check(&p)
	return p.Err(Name)
}

// NetworkOverhead is the plugin. It has no state.
type NetworkOverhead struct {
	handle extpoints.Handle
	labels helper.AppLabels
	costs  string
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*NetworkOverhead, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &NetworkOverhead{handle: h, labels: a.Labels.WithDefaults(), costs: a.Costs}
	if p.costs == "" {
		p.costs = "network"
	}
	return p, nil
}

// Name returns the plugin's name.
func (*NetworkOverhead) Name() string { return Name }

const (
	// sameCost is that between two nodes of one place, otherCost that between places of which
	// none is known. On one node it is 0.
	sameCost, otherCost = 1, 100
	maxLevels           = 4
)

// place is where a node is: its place on each level; "" where it is in none.
type place [maxLevels]string

// count is how the workloads that the one talks to are placed for a node.
type count struct{ satisfied, violated, cost int64 }

func (c *count) add(o count, times int64) {
	c.satisfied += times * o.satisfied
	c.violated += times * o.violated
	c.cost += times * o.cost
}

// peers are workloads of one component in one place.
type peers struct {
	maxCost int64
	at      place
	n       int64
}

// state is what PreFilter has found.
type state struct {
	graph  *model.AppGraph
	needs  []model.AppNeed
	levels []model.CostLevel
	cost   []map[[2]string]int64 // by level
	// of is what a node counts by its place, with those on it taken for others of its place.
	of map[place]count
	// local are those on a node, by need and by name of the node.
	local []map[string]int64
	// moved are workloads that were put on a node, or taken off it, since.
	moved []move
}

type move struct {
	need int
	at   place
	node string
	n    int64
}

// Clone returns a copy for trying something out.
func (s *state) Clone() *state {
	c := *s
	c.moved = append([]move(nil), s.moved...)
	return &c
}

var stateKey = extpoints.NewStateKey[*state](Name)

// PreFilter looks where the workloads are that this one talks to. Where there are none, or
// nothing is known of them or of the costs, all nodes are as good.
func (p *NetworkOverhead) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	v := s.View()
	graph := p.labels.GraphOf(v, w.Workload)
	if graph == nil {
		return nil, extpoints.NewStatus(extpoints.Skip)
	}
	needs, costs := p.needsOf(graph, w.Workload), p.costsIn(v)
	if len(needs) == 0 || costs == nil {
		return nil, extpoints.NewStatus(extpoints.Skip)
	}
	st := &state{graph: graph, needs: needs, levels: costs.Levels, local: make([]map[string]int64, len(needs)), of: map[place]count{}}
	for i := range st.levels {
		st.cost = append(st.cost, make(map[[2]string]int64, len(st.levels[i].Costs)))
		for _, c := range st.levels[i].Costs {
			st.cost[i][[2]string{c.From, c.To}] = c.Cost
		}
	}
	p.find(st, v, w.Labels[p.labels.Graph])
	stateKey.Set(s, st)
	return nil, nil
}

// needsOf are what the component of the workload talks to.
func (p *NetworkOverhead) needsOf(g *model.AppGraph, w *model.Workload) []model.AppNeed {
	for i := range g.Components {
		if g.Components[i].Name == w.Labels[p.labels.Component] {
			return g.Components[i].Needs
		}
	}
	return nil
}

// costsIn are the costs that the arguments name, nil where there are none.
func (p *NetworkOverhead) costsIn(v extpoints.ClusterView) *model.NetworkCosts {
	for id := range p.labels.IDs(p.costs) {
		if c := v.NetworkCosts(id); c != nil {
			return c
		}
	}
	return nil
}

// find counts the workloads that the one talks to: those on each node and, for each place in
// which there are nodes, what they all come to.
func (p *NetworkOverhead) find(st *state, v extpoints.ClusterView, graph string) {
	nodes, index := v.Nodes(), v.Index()
	bySlot := make([]*extpoints.NodeInfo, index.Slots())
	for i := range nodes.Len() {
		n := nodes.At(i)
		bySlot[n.Slot] = n
		st.of[st.placeOf(n.Node)] = count{}
	}
	var all []peers
	for need := range st.needs {
		local, there := map[string]int64{}, map[place]int64{}
		selector := model.SelectLabels(map[string]string{p.labels.Graph: graph, p.labels.Component: st.needs[need].Component})
		index.ClassesWhere(func(string) bool { return true }, selector, func(c *extpoints.WorkloadClass) {
			c.Counts.Each(func(slot, n int32) {
				local[bySlot[slot].Node.Name] += int64(n)
				there[st.placeOf(bySlot[slot].Node)] += int64(n)
			})
		})
		st.local[need] = local
		for at, n := range there {
			all = append(all, peers{st.needs[need].MaxCost, at, n})
		}
	}
	for at := range st.of {
		var c count
		for i := range all {
			c.add(st.between(at, all[i].at, all[i].maxCost), all[i].n)
		}
		st.of[at] = c
	}
}

// placeOf is where the node is.
func (s *state) placeOf(n *model.Node) (at place) {
	for i := range s.levels {
		at[i], _ = n.TopologyValue(s.levels[i].Key)
	}
	return at
}

// between is what a workload in the one place counts for one in the other, where they are not
// on the same node.
func (s *state) between(from, to place, maxCost int64) count {
	if to == (place{}) {
		return count{violated: 1, cost: otherCost}
	}
	for i := range s.levels {
		if from[i] == to[i] {
			continue
		}
		switch cost, known := s.cost[i][[2]string{from[i], to[i]}]; {
		case !known:
			return count{cost: otherCost}
		case cost <= maxCost:
			return count{satisfied: 1, cost: cost}
		default:
			return count{violated: 1, cost: cost}
		}
	}
	return count{satisfied: 1, cost: sameCost}
}

// on is what the node counts.
func (s *state) on(n *model.Node) count {
	at := s.placeOf(n)
	c, known := s.of[at]
	if !known { // a node of a place that was not there
		return c
	}
	for need, local := range s.local {
		if here := local[n.Name]; here > 0 {
			c.add(s.between(at, at, s.needs[need].MaxCost), -here)
			c.add(count{satisfied: 1}, here)
		}
	}
	for _, m := range s.moved {
		if m.node == n.Name {
			c.add(count{satisfied: 1}, m.n)
			continue
		}
		c.add(s.between(at, m.at, s.needs[m.need].MaxCost), m.n)
	}
	return c
}

// Filter rejects nodes that are too far from more of the workloads that this one talks to than
// they are close enough to.
func (p *NetworkOverhead) Filter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	st, ok := stateKey.Get(s)
	if !ok {
		return nil
	}
	c := st.on(node.Node)
	switch {
	case c.violated <= c.satisfied:
		return nil
	case p.handle.Compat() == extpoints.KubeScheduler137:
		return extpoints.NewStatus(extpoints.Unschedulable, fmt.Sprintf(
			"Node %s does not meet several network requirements from Workload dependencies: Satisfied: %d Violated: %d", node.Node.Name, c.satisfied, c.violated))
	}
	return tooFar
}

var tooFar = extpoints.NewStatus(extpoints.Unschedulable, "node(s) were too far from the workloads that it talks to")

// Score is the sum of the costs to all workloads that this one talks to.
func (p *NetworkOverhead) Score(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	st, ok := stateKey.Get(s)
	if !ok {
		return 0, nil
	}
	return st.on(node.Node).cost, nil
}

// NormalizeScore makes the least cost the best. Where there are no costs at all the scores
// stay 0.
func (p *NetworkOverhead) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	var least, most int64
	for i, score := range scores {
		if i == 0 {
			least, most = score, score
		}
		least, most = min(least, score), max(most, score)
	}
	for i, score := range scores {
		switch {
		case most == 0:
			return nil
		case most == least:
			scores[i] = extpoints.MaxScore
		default:
			scores[i] = extpoints.MaxScore - helper.Stretch(score, least, most, extpoints.MaxScore)
		}
	}
	return nil
}

// AddWorkload counts one that is on the node now.
func (p *NetworkOverhead) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	p.move(s, w, added, node, 1)
	return nil
}

// RemoveWorkload no longer counts one.
func (p *NetworkOverhead) RemoveWorkload(s *extpoints.CycleState, w, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	p.move(s, w, removed, node, -1)
	return nil
}

func (p *NetworkOverhead) move(s *extpoints.CycleState, w, moved *extpoints.WorkloadInfo, node *extpoints.NodeInfo, n int64) {
	st, ok := stateKey.Get(s)
	if !ok || moved.Labels[p.labels.Graph] != w.Labels[p.labels.Graph] {
		return
	}
	for i := range st.needs {
		if st.needs[i].Component == moved.Labels[p.labels.Component] {
			st.moved = append(st.moved, move{i, st.placeOf(node.Node), node.Node.Name, n})
		}
	}
}

// Sign signs which component of which application the workload is.
func (p *NetworkOverhead) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{{Key: "Application", Value: string(helper.Canon(nil).Str(w.Labels[p.labels.Graph]).Str(w.Labels[p.labels.Component]))}}, nil
}

var (
	_ extpoints.PreFilterExtensions = (*NetworkOverhead)(nil)
	_ extpoints.FilterPlugin        = (*NetworkOverhead)(nil)
	_ extpoints.ScoreNormalizer     = (*NetworkOverhead)(nil)
	_ extpoints.EnqueueExtensions   = (*NetworkOverhead)(nil)
	_ extpoints.SignPlugin          = (*NetworkOverhead)(nil)
)
