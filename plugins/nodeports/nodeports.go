package nodeports

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodePorts"

// Reason is given for nodes on which a port is taken.
const Reason = "node(s) didn't have free ports for the requested workload ports"

var (
	rejected = extpoints.NewStatus(extpoints.Unschedulable, Reason)
	skip     = extpoints.NewStatus(extpoints.Skip)
)

// NodePorts is the plugin. It has no state: what the reference collects from
// the containers of a pod is a field of the workload here.
//
// Rules: kube-scheduler plugins/nodeports/node_ports.go, 1.37.1.
type NodePorts struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*NodePorts, error) {
	return &NodePorts{}, nil
}

// Name returns the plugin's name.
func (*NodePorts) Name() string { return Name }

// PreFilter skips workloads that need no port.
func (*NodePorts) PreFilter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if !slices.ContainsFunc(w.Ports, func(p model.HostPort) bool { return p.Port > 0 }) {
		return nil, skip
	}
	return nil, nil
}

// Filter rejects nodes on which one of the ports is taken.
func (*NodePorts) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if conflicts(w.Ports, node.Ports) {
		return rejected
	}
	return nil
}

func conflicts(wanted []model.HostPort, used extpoints.PortSet) bool {
	for i := range wanted {
		if used.Conflicts(&wanted[i]) {
			return true
		}
	}
	return false
}

// EventsToRegister asks for workloads that leave their node, and for new nodes.
// A workload's ports never change.
func (*NodePorts) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
			Hint:  afterWorkloadDeleted,
		},
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}},
	}, nil
}

// afterWorkloadDeleted says Queue where the one that is gone had a port that w
// wants. That it was on a node (or nominated to one), which the reference checks
// here, the event's resource says already.
func afterWorkloadDeleted(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	gone, err := helper.DeletedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if len(gone.Ports) == 0 {
		return extpoints.HintSkip, nil
	}
	// A node with nothing but the deleted workload on it knows its ports.
	freed := extpoints.NewNodeInfo(&model.Node{})
	freed.AddWorkload(gone)
	if conflicts(w.Ports, freed.Ports) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the ports.
func (*NodePorts) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	c := helper.Canon(key)
	for i := range w.Ports {
		p := &w.Ports[i]
		c = c.Str(p.IP).Str(string(p.Protocol)).Int(int64(p.Port))
	}
	return c, true
}

// Sign signs the ports, in any order.
func (*NodePorts) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	ports := make([]string, 0, len(w.Ports))
	for _, p := range w.Ports {
		if p.IP == "" {
			p.IP = model.AllAddresses
		}
		if p.Protocol == "" {
			p.Protocol = model.TCP
		}
		if p.Port > 0 {
			ports = append(ports, string(helper.Canon(nil).Str(p.IP).Str(string(p.Protocol)).Int(int64(p.Port))))
		}
	}
	return []extpoints.SignFragment{{Key: helper.SignHostPorts, Value: string(helper.Canon(nil).Set(ports))}}, nil
}

var (
	_ extpoints.PreFilterPlugin   = (*NodePorts)(nil)
	_ extpoints.FilterPlugin      = (*NodePorts)(nil)
	_ extpoints.EnqueueExtensions = (*NodePorts)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodePorts)(nil)
	_ extpoints.SignPlugin        = (*NodePorts)(nil)
)
