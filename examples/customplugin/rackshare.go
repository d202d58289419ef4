package main

import (
	"errors"
	"fmt"
	"maps"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// RackShareName is the plugin's name.
const RackShareName = "RackShare"

// RackShareArgs are the plugin's arguments.
type RackShareArgs struct {
	// Label is the node label that says in which rack a node is.
	Label string
	// PerRack is how many workloads of one app a rack may have.
	PerRack int
}

// RackShare keeps an app from having too much in one rack: at most PerRack
// workloads, and rather where it has few. An app is the workloads with the same
// value of the label "app"; the plugin has nothing to say about others, and
// keeps nodes without a rack from them all.
//
// It is an example of a plugin that looks at more than one node. What it needs
// to know it counts once, in PreFilter, and keeps in the cycle's state: Filter
// and Score are called for many nodes, on several goroutines, and only read.
type RackShare struct {
	args RackShareArgs
}

// A plugin says which points it serves, and the compiler checks it.
var (
	_ extpoints.PreFilterPlugin     = (*RackShare)(nil)
	_ extpoints.PreFilterExtensions = (*RackShare)(nil)
	_ extpoints.FilterPlugin        = (*RackShare)(nil)
	_ extpoints.ScorePlugin         = (*RackShare)(nil)
	_ extpoints.EnqueueExtensions   = (*RackShare)(nil)
)

// counts is how many workloads of the cycle's app are in each rack.
type counts map[string]int

// Clone makes the counts safe to change on a copy of the cycle's state.
func (c counts) Clone() counts { return maps.Clone(c) }

var rackCounts = extpoints.NewStateKey[counts](RackShareName)

// NewRackShare makes the plugin. All problems of the arguments are reported at once.
func NewRackShare(a RackShareArgs, _ extpoints.Handle) (*RackShare, error) {
	var problems []error
	if a.Label == "" {
		problems = append(problems, errors.New("args: Label is empty"))
	}
	if a.PerRack < 1 {
		problems = append(problems, fmt.Errorf("args: PerRack is %d, less than 1", a.PerRack))
	}
	return &RackShare{args: a}, errors.Join(problems...)
}

// Name returns the plugin's name.
func (*RackShare) Name() string { return RackShareName }

// PreFilter counts. For a workload without an app it says Skip, so that Filter
// is not asked; Score is, and finds no counts.
func (p *RackShare) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	app := w.Labels["app"]
	if app == "" {
		return nil, extpoints.NewStatus(extpoints.Skip)
	}
	c := counts{}
	nodes := s.View().Nodes()
	for i := range nodes.Len() {
		node := nodes.At(i)
		for _, other := range node.Workloads {
			if other.Labels["app"] == app {
				c[node.Node.Labels[p.args.Label]]++
			}
		}
	}
	rackCounts.Set(s, c)
	return nil, nil
}

// AddWorkload and RemoveWorkload keep the counts right while others, above all
// preemption, try out what would be if a workload were on a node, or not.
func (p *RackShare) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return p.change(s, w, added, node, +1)
}

// RemoveWorkload is the opposite of AddWorkload.
func (p *RackShare) RemoveWorkload(s *extpoints.CycleState, w, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return p.change(s, w, removed, node, -1)
}

func (p *RackShare) change(s *extpoints.CycleState, w, other *extpoints.WorkloadInfo, node *extpoints.NodeInfo, by int) *extpoints.Status {
	if c, ok := rackCounts.Get(s); ok && w.Labels["app"] == other.Labels["app"] {
		c[node.Node.Labels[p.args.Label]] += by
	}
	return nil
}

// Made once: a status never changes.
var (
	noRack = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "node(s) in no rack")
	full   = extpoints.NewStatus(extpoints.Unschedulable, "node(s) in a rack that has its share of the app")
)

// Filter rejects nodes in racks that have their share. That could be resolved
// by displacing others; that the node is in no rack could not.
func (p *RackShare) Filter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	c, ok := rackCounts.Get(s)
	rack := node.Node.Labels[p.args.Label]
	switch {
	case !ok:
		return nil // no app
	case rack == "":
		return noRack
	case c[rack] >= p.args.PerRack:
		return full
	}
	return nil
}

// Score prefers racks in which the app has little.
func (p *RackShare) Score(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	c, ok := rackCounts.Get(s)
	if !ok {
		return extpoints.MinScore, nil // no app: all nodes are the same to us
	}
	used := int64(min(c[node.Node.Labels[p.args.Label]], p.args.PerRack))
	return extpoints.MaxScore - extpoints.MaxScore*used/int64(p.args.PerRack), nil
}

// EventsToRegister says what may change the plugin's mind: that a workload of
// the same app leaves, or becomes one of another app; that a node comes, goes
// with what it has, or is moved to another rack; and that the workload itself
// changes its app.
func (p *RackShare) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete | extpoints.UpdateWorkloadLabel},
			Hint:  afterLeaving,
		},
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.Delete | extpoints.UpdateNodeLabel}},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel}},
	}, nil
}

// afterLeaving looks closer: who left matters only if it was of the same app.
func afterLeaving(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.OldWorkload == nil {
		return extpoints.HintQueue, errors.New("there is no old workload")
	}
	if c.OldWorkload.Labels["app"] == w.Labels["app"] {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}
