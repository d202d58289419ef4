package nodename

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeName"

// Reason is given for every node but the one that the workload names.
const Reason = "node(s) didn't match the requested node name"

var rejected = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, Reason)

// NodeName is the plugin. It has no state.
//
// Rules: kube-scheduler plugins/nodename/node_name.go, 1.37.1.
type NodeName struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*NodeName, error) {
	return &NodeName{}, nil
}

// Name returns the plugin's name.
func (*NodeName) Name() string { return Name }

// PreFilter narrows the search down to the named node. Where there is none it
// does not say Skip, as the reference does not: its Filter is called and
// accepts every node.
func (*NodeName) PreFilter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if w.NodeName == "" {
		return nil, nil
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

// EventsToRegister asks for new nodes, whichever they are, as the reference
// does: a workload is seldom rejected by this plugin, and then it waits for
// just one node.
func (*NodeName) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add},
	}}, nil
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
