package gangscheduling

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Name is the plugin's name.
const Name = "GangScheduling"

// permitTimeout is how long a member waits on Permit for the others.
const permitTimeout = 5 * time.Minute

// GangScheduling is the plugin. What it knows of groups it asks for each time.
type GangScheduling struct {
	handle extpoints.Handle
}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, h extpoints.Handle) (*GangScheduling, error) {
	return &GangScheduling{handle: h}, nil
}

// Name returns the plugin's name.
func (*GangScheduling) Name() string { return Name }

// PreEnqueue holds a member back until its group is there and has enough
// members, or for a group with a parent until the whole tree is there and ready.
func (p *GangScheduling) PreEnqueue(w *model.Workload) *extpoints.Status {
	if w.Group == "" {
		return nil
	}
	groups := p.handle.View().Groups()
	g := leaf(groups, w.Group)
	switch {
	case g == nil:
		return gated(fmt.Sprintf("waiting for workload's group %q to appear in scheduling queue", nameOf(w.Group, w.Namespace)))
	case g.Parent == "":
		if g.Policy == model.Gang && !enough(groups, g, everybody) {
			return gated("waiting for minCount workloads from a gang to appear in scheduling queue")
		}
		return nil
	}
	root, err := rootOf(groups, g)
	if err != nil {
		return gated(err.Error())
	}
	if !ready(groups, root, everybody) {
		return gated(waitingForTree(root))
	}
	return nil
}

func gated(reason string) *extpoints.Status {
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, reason)
}

// PlacementFeasible says Success when enough members have a node (for a group
// of groups: enough children), Wait while those that are left may do, and
// Unschedulable when they cannot.
func (*GangScheduling) PlacementFeasible(_ *extpoints.CycleState, g *extpoints.GroupInfo, p extpoints.PlacementProgress) *extpoints.Status {
	switch need := needed(g.Group); {
	case p.Remaining+p.Scheduled < need:
		return extpoints.NewStatus(extpoints.Unschedulable,
			fmt.Sprintf("minCount (%d) cannot be satisfied: %d scheduled, %d remaining", need, p.Scheduled, p.Remaining))
	case p.Scheduled < need:
		return extpoints.NewStatus(extpoints.Wait,
			fmt.Sprintf("minCount (%d) is not yet satisfied: %d scheduled, %d remaining", need, p.Scheduled, p.Remaining))
	}
	return nil
}

// Permit holds a member until enough members have a node, the waiting ones
// included, and asks that those without one be tried; the member that makes them
// enough lets all the others through. For a group with a parent "enough" is
// about the whole tree.
func (p *GangScheduling) Permit(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	if w.Group == "" {
		return nil, 0
	}
	groups := p.handle.View().Groups()
	g := leaf(groups, w.Group)
	if g == nil {
		path := w.Namespace + "/" + nameOf(w.Group, w.Namespace)
		return extpoints.AsStatus(fmt.Errorf("failed to get group %s: group not found", path)), 0
	}
	if g.Parent == "" {
		if g.Policy != model.Gang {
			return nil, 0
		}
		return p.permit(groups, g, "waiting for minCount workloads from a gang to be scheduled")
	}
	root, err := rootOf(groups, g)
	if err != nil {
		return extpoints.AsStatus(err), 0
	}
	return p.permit(groups, root, waitingForTree(root))
}

// permit decides for all members of the highest group of a tree.
func (p *GangScheduling) permit(groups extpoints.Groups, root *model.Group, reason string) (*extpoints.Status, time.Duration) {
	if !ready(groups, root, withNode) {
		leaves(groups, root, func(id string) { p.handle.Activate(groups.Pending(id)...) })
		return extpoints.NewStatus(extpoints.Wait, reason), permitTimeout
	}
	// Through those that wait, who are few, and not through the members.
	p.handle.Waiting().Each(func(other extpoints.WaitingWorkload) bool {
		if at := groups.Root(other.Workload().Group); at != nil && at.ID == root.ID {
			other.Allow(Name)
		}
		return true
	})
	return nil, 0
}

var (
	_ extpoints.PreEnqueuePlugin        = (*GangScheduling)(nil)
	_ extpoints.PlacementFeasiblePlugin = (*GangScheduling)(nil)
	_ extpoints.PermitPlugin            = (*GangScheduling)(nil)
	_ extpoints.EnqueueExtensions       = (*GangScheduling)(nil)
)
