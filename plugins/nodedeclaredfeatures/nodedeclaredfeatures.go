package nodedeclaredfeatures

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeDeclaredFeatures"

// Reason is given for nodes that do not declare every feature that the workload
// needs.
const Reason = "node(s) didn't match workload's required features"

var (
	rejected = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, Reason)
	skip     = extpoints.NewStatus(extpoints.Skip)
)

// signFeatures is the key of the signature fragment.
const signFeatures = "Features"

// NodeDeclaredFeatures is the plugin. It has no state.
//
// Rules: kube-scheduler plugins/nodedeclaredfeatures/nodedeclaredfeatures.go,
// 1.37.1. There the features that a pod needs are worked out from its
// specification and the version of the scheduler; here the workload lists them
// ([model.Workload].Features), and every name counts, not only those that a
// version knows. What the reference does for pods that are being resized in
// their place has no counterpart.
type NodeDeclaredFeatures struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*NodeDeclaredFeatures, error) {
	return &NodeDeclaredFeatures{}, nil
}

// Name returns the plugin's name.
func (*NodeDeclaredFeatures) Name() string { return Name }

// PreFilter skips workloads that need no feature.
func (*NodeDeclaredFeatures) PreFilter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if len(w.Features) == 0 {
		return nil, skip
	}
	return nil, nil
}

// Filter rejects nodes that lack a feature.
func (*NodeDeclaredFeatures) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if !hasAll(node.Node.Features, w.Features) {
		return rejected
	}
	return nil
}

// hasAll reports whether every one of the wanted names is in the list. Both are
// short.
func hasAll(list, wanted []string) bool {
	for _, name := range wanted {
		if !slices.Contains(list, name) {
			return false
		}
	}
	return true
}

// EventsToRegister asks for nodes that declare other features than before, and
// for other needs of the workload.
func (*NodeDeclaredFeatures) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeFeatures},
			Hint:  afterNodeChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.Update},
			Hint:  afterWorkloadChange,
		},
	}, nil
}

// afterNodeChange says Queue for a new node and for one whose features changed.
// Like the reference it does not look at what the workload needs.
func afterNodeChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if before != nil && slices.Equal(before.Features, after.Features) {
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}

// afterWorkloadChange says Queue where the workload needs other features than
// before; their order has no meaning.
func afterWorkloadChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.UpdatedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if hasAll(before.Features, after.Features) && hasAll(after.Features, before.Features) {
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the features.
func (*NodeDeclaredFeatures) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.Canon(key).Strs(w.Features), true
}

// Sign signs the features, in any order.
func (*NodeDeclaredFeatures) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	features := slices.Clone(w.Features)
	slices.Sort(features)
	value := helper.Canon(nil).Strs(slices.Compact(features))
	return []extpoints.SignFragment{{Key: signFeatures, Value: string(value)}}, nil
}

var (
	_ extpoints.PreFilterPlugin   = (*NodeDeclaredFeatures)(nil)
	_ extpoints.FilterPlugin      = (*NodeDeclaredFeatures)(nil)
	_ extpoints.EnqueueExtensions = (*NodeDeclaredFeatures)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodeDeclaredFeatures)(nil)
	_ extpoints.SignPlugin        = (*NodeDeclaredFeatures)(nil)
)
