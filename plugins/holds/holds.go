package holds

import (
	"fmt"
	"slices"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeHolds"

// signLimit is the key of the signature fragment of Workload.Limit and MinLimit.
const signLimit = "Limit"

var (
	skip       = extpoints.NewStatus(extpoints.Skip)
	inTheWayOf = extpoints.NewStateKey[*inTheWay](Name)
)

// NodeHolds is the plugin. It has no state.
type NodeHolds struct{ handle extpoints.Handle }

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, h extpoints.Handle) (*NodeHolds, error) { return &NodeHolds{h}, nil }

// Name returns the plugin's name.
func (*NodeHolds) Name() string { return Name }

// inTheWay are the holds of whole nodes that do not let a workload in, and those of amounts.
type inTheWay struct {
	whole []refusal
	keeping
}

// refusal is a hold that does not let the workload in, and what is said on its nodes.
type refusal struct {
	hold   *model.Hold
	status func() *extpoints.Status // made when somebody is rejected: a plan asks about many times
}

// PreFilter finds the holds that do not let the workload in, and skips one for which there
// are none.
func (*NodeHolds) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	holds := s.View().Holds()
	if len(holds) == 0 {
		return nil, skip // whatever time it is
	}
	in := &inTheWay{keeping: keeping{run: runOf(s.Now(), w), w: w}}
	concerned := false
	for _, h := range holds {
		switch {
		case !h.Amounts.IsZero():
			in.all = append(in.all, h)
			concerned = concerned || in.run.overlaps(h) && keeps(h, w.Workload)
		case in.run.overlaps(h) && !in.run.allowed(h, w.Labels):
			in.whole = append(in.whole, refusal{h, sync.OnceValue(func() *extpoints.Status {
				return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, reason(h, w.Labels))
			})})
		}
	}
	if in.whole == nil && !concerned {
		return nil, skip
	}
	inTheWayOf.Set(s, in)
	return nil, nil
}

// Filter rejects the nodes of these holds, and those on which too little would be left of what is kept.
// Of several the first by name is the reason.
func (*NodeHolds) Filter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	in, found := inTheWayOf.Get(s)
	if !found {
		return nil
	}
	for i := range in.whole {
		if in.whole[i].hold.Covers(node.Node) {
			return in.whole[i].status()
		}
	}
	return in.lacking(s.Now(), node)
}

// reason says which hold it is, when it is on and, to one who may use it, why it cannot.
func reason(h *model.Hold, labels map[string]string) string {
	why := fmt.Sprintf("node(s) are held by %q%s", h.Name, interval(h))
	if h.Users.Matches(labels) {
		why += ", and the workload would not run wholly inside"
	}
	return why
}

// EventsToRegister asks for holds that end, begin, change or go (one that comes never helps:
// each must let the workload in), for nodes that come, get other labels or more to offer, and for other
// labels of the workload, and that it asks for less. That it has another limit is an event for every
// plugin. Where amounts are held it helps that something else leaves a node, asks for less, ends sooner or
// is one of those whom a hold lets in.
func (p *NodeHolds) EventsToRegister() ([]extpoints.EventHint, error) {
	const change = extpoints.UpdateWorkloadLabel | extpoints.UpdateWorkloadScaleDown
	return []extpoints.EventHint{
		{Event: extpoints.ClusterEvent{Resource: model.HoldKind, Action: extpoints.Update | extpoints.Delete}, Hint: afterHoldChange},
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeLabel | extpoints.UpdateNodeAllocatable}},
		{Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete | change}, Hint: p.afterNeighbour},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: change}},
	}, nil
}

// afterNeighbour says Queue where amounts are held on the node of another workload, and where that is not
// known.
func (p *NodeHolds) afterNeighbour(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.WorkloadNode == "" {
		return extpoints.HintQueue, nil
	}
	view := p.handle.View()
	node := view.Nodes().Get(c.WorkloadNode)
	return helper.QueueIf(node != nil && slices.ContainsFunc(view.Holds(), func(h *model.Hold) bool {
		return keeps(h, w) && h.Covers(node.Node)
	}))
}

// afterHoldChange says Queue where the hold, as it was, may have kept the workload away.
func afterHoldChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	was, _ := extpoints.ObjectsOf[*model.Hold](c)
	if was == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	// One that it lets in takes from it, and not from another hold of amounts.
	return helper.QueueIf(!was.Flex || !was.Users.Matches(w.Labels) || !was.Amounts.IsZero())
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is while there are no holds.
func (*NodeHolds) NodeLocal(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, len(s.View().Holds()) == 0
}

// Sign signs who the workload is, what it asks for and for how long it runs.
func (*NodeHolds) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{
		helper.LabelsFragment(w),
		helper.RequestsFragment(w),
		{Key: signLimit, Value: string(helper.Canon(nil).Int(int64(w.Limit)).Int(int64(w.MinLimit)))},
	}, nil
}

var (
	_ extpoints.PreFilterPlugin   = (*NodeHolds)(nil)
	_ extpoints.FilterPlugin      = (*NodeHolds)(nil)
	_ extpoints.EnqueueExtensions = (*NodeHolds)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodeHolds)(nil)
	_ extpoints.SignPlugin        = (*NodeHolds)(nil)
)
