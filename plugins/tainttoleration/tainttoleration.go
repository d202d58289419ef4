package tainttoleration

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "TaintToleration"

// Reason is given for nodes with a taint that the workload does not tolerate.
const Reason = "node(s) had untolerated taint(s)"

var rejected = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, Reason)

// preferences holds, from PreScore to Score, the tolerations that may cover a
// PreferNoSchedule taint.
var preferences = extpoints.NewStateKey[[]model.Toleration](Name + "/preferences")

// TaintToleration is the plugin. It has no state. The reference also has a
// PreFilter, which only concerns workloads that already are on a node.
//
// Rules: kube-scheduler plugins/tainttoleration/taint_toleration.go, 1.37.1.
type TaintToleration struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*TaintToleration, error) {
	return &TaintToleration{}, nil
}

// Name returns the plugin's name.
func (*TaintToleration) Name() string { return Name }

// Filter rejects nodes with a NoSchedule or NoExecute taint that the workload
// does not tolerate.
func (*TaintToleration) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if helper.FirstUntolerated(node.Node.Taints, w.Tolerations) != nil {
		return rejected
	}
	return nil
}

// PreScore picks the tolerations that matter to Score. It never says Skip,
// because after normalisation a node without such taints scores full marks.
func (*TaintToleration) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	preferences.Set(s, preferring(w.Tolerations))
	return nil
}

// preferring lists the tolerations that may cover a PreferNoSchedule taint.
func preferring(tolerations []model.Toleration) []model.Toleration {
	var list []model.Toleration
	for _, t := range tolerations {
		if t.Effect == "" || t.Effect == model.PreferNoSchedule {
			list = append(list, t)
		}
	}
	return list
}

// Score counts the PreferNoSchedule taints that the workload does not tolerate;
// NormalizeScore turns the count round.
func (*TaintToleration) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	taints := node.Node.Taints
	if len(taints) == 0 {
		return 0, nil
	}
	tolerations, ok := preferences.Get(s)
	if !ok {
		tolerations = w.Tolerations
	}
	var count int64
	for i := range taints {
		if taints[i].Effect == model.PreferNoSchedule && !helper.Tolerates(tolerations, &taints[i]) {
			count++
		}
	}
	return count, nil
}

// NormalizeScore gives the nodes without such taints full marks and the one
// with most of them 0.
func (*TaintToleration) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	return helper.DefaultNormalizeScore(extpoints.MaxScore, true, scores)
}

// EventsToRegister asks for nodes whose taints become tolerable, and for new
// tolerations of the workload, whichever they are.
func (*TaintToleration) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeTaint},
			Hint:  afterNodeChange,
		},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadToleration}},
	}, nil
}

// afterNodeChange says Queue for a node whose taints are now tolerated and were
// not, or which was not there.
func afterNodeChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	tolerable := helper.FirstUntolerated(after.Taints, w.Tolerations) == nil
	wasTolerable := before != nil && helper.FirstUntolerated(before.Taints, w.Tolerations) == nil
	if tolerable && !wasTolerable {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the tolerations.
func (*TaintToleration) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendTolerations(key, w.Workload), true
}

// Sign signs the tolerations.
func (*TaintToleration) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.TolerationsFragment(w)}, nil
}

var (
	_ extpoints.FilterPlugin      = (*TaintToleration)(nil)
	_ extpoints.PreScorePlugin    = (*TaintToleration)(nil)
	_ extpoints.ScoreNormalizer   = (*TaintToleration)(nil)
	_ extpoints.EnqueueExtensions = (*TaintToleration)(nil)
	_ extpoints.NodeLocalPlugin   = (*TaintToleration)(nil)
	_ extpoints.SignPlugin        = (*TaintToleration)(nil)
)
