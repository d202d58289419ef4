package nodeunschedulable

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeUnschedulable"

// Reason is given for unschedulable nodes.
const Reason = "node(s) were unschedulable"

// TaintKey is the key of the taint, of effect NoSchedule and without a value,
// that being unschedulable stands for: a workload that tolerates it may go to
// unschedulable nodes. The node need not have the taint. The key is kept as it
// is in Kubernetes (k8s.io/api core/v1 TaintNodeUnschedulable) so that
// tolerations mean the same on both sides.
const TaintKey = "node.kubernetes.io/unschedulable"

var (
	taint    = model.Taint{Key: TaintKey, Effect: model.NoSchedule}
	rejected = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, Reason)
)

// NodeUnschedulable is the plugin. It has no state. The reference also has a
// PreFilter, which only concerns workloads that already are on a node.
//
// Rules: kube-scheduler plugins/nodeunschedulable/node_unschedulable.go, 1.37.1.
type NodeUnschedulable struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*NodeUnschedulable, error) {
	return &NodeUnschedulable{}, nil
}

// Name returns the plugin's name.
func (*NodeUnschedulable) Name() string { return Name }

// Filter rejects unschedulable nodes unless the workload tolerates that.
func (*NodeUnschedulable) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if !node.Node.Unschedulable || helper.Tolerates(w.Tolerations, &taint) {
		return nil
	}
	return rejected
}

// EventsToRegister asks for nodes that become schedulable, which is reported
// as a change of taints, and for new tolerations of the workload.
func (*NodeUnschedulable) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeTaint},
			Hint:  afterNodeChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadToleration},
			Hint:  afterTolerationChange,
		},
	}, nil
}

// afterNodeChange says Queue for a node that is now schedulable and was not,
// or was not there.
func afterNodeChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if !after.Unschedulable && (before == nil || before.Unschedulable) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterTolerationChange says Queue where the workload now tolerates
// unschedulable nodes. It did not before, or it would not have been rejected.
func afterTolerationChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.NewWorkload == nil {
		return extpoints.HintQueue, helper.ErrNoWorkload
	}
	if helper.Tolerates(c.NewWorkload.Tolerations, &taint) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the tolerations.
func (*NodeUnschedulable) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendTolerations(key, w.Workload), true
}

// Sign signs the tolerations.
func (*NodeUnschedulable) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.TolerationsFragment(w)}, nil
}

var (
	_ extpoints.FilterPlugin      = (*NodeUnschedulable)(nil)
	_ extpoints.EnqueueExtensions = (*NodeUnschedulable)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodeUnschedulable)(nil)
	_ extpoints.SignPlugin        = (*NodeUnschedulable)(nil)
)
