package nodename

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeName"

// Reason is given for every node but the one that the workload names.
const Reason = "node(s) didn't match the requested node name"

var rejected = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, Reason)

// NodeName is the plugin.
//
// Rules: kube-scheduler plugins/nodename/node_name.go, 1.37.1.
type NodeName struct {
	compat extpoints.Compat
}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, h extpoints.Handle) (*NodeName, error) {
	return &NodeName{compat: h.Compat()}, nil
}

// Name returns the plugin's name.
func (*NodeName) Name() string { return Name }

// PreFilter narrows the search down to the named node, and rejects a workload whose node
// is not there. Where none is named it does not say Skip, as the reference does not: its
// Filter is called and accepts every node.
func (p *NodeName) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if w.NodeName == "" {
		return nil, nil
	}
	if p.compat == extpoints.Improved && s.View().Nodes().Get(w.NodeName) == nil {
		return nil, extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, fmt.Sprintf("node %q is not there", w.NodeName))
	}
	return &extpoints.PreFilterResult{Nodes: map[string]struct{}{w.NodeName: {}}}, nil
}

// Filter accepts the named node only.
func (*NodeName) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if w.NodeName != "" && w.NodeName != node.Node.Name {
		return rejected
	}
	return nil
}

// EventsToRegister asks for the node that is named. The reference asks for any new one.
func (p *NodeName) EventsToRegister() ([]extpoints.EventHint, error) {
	h := extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}}
	if p.compat == extpoints.Improved {
		h.Hint = isNamed
	}
	return []extpoints.EventHint{h}, nil
}

// isNamed: one of many that wait for nodes which are away is not tried for the others'.
func isNamed(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.NewNode != nil && c.NewNode.Name != w.NodeName {
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the node's name.
func (*NodeName) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.Canon(key).Str(w.NodeName), true
}

// Sign signs the node's name.
func (*NodeName) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{{Key: helper.SignNodeName, Value: w.NodeName}}, nil
}

var (
	_ extpoints.PreFilterPlugin   = (*NodeName)(nil)
	_ extpoints.FilterPlugin      = (*NodeName)(nil)
	_ extpoints.EnqueueExtensions = (*NodeName)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodeName)(nil)
	_ extpoints.SignPlugin        = (*NodeName)(nil)
)
