package dynamicresources

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
	"github.com/berth-project/berth/plugins/helper"
)

// DynamicResources is the plugin. Besides what its allocator remembers of
// slices it has no state of its own.
type DynamicResources struct {
	handle    extpoints.Handle
	timeout   time.Duration
	allocator allocator.Allocator
	compat    extpoints.Compat
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, h extpoints.Handle) (*DynamicResources, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	a = a.withDefaults(h.Compat())
	return &DynamicResources{handle: h, timeout: a.BindingTimeout, allocator: a.Allocator, compat: h.Compat()}, nil
}

// Name returns the plugin's name.
func (*DynamicResources) Name() string { return Name }

// state is what PreFilter found out about the workload.
type state struct {
	claims []claim
	// search is for the claims without devices, in their order; nil where all
	// have some.
	search allocator.Search
	// resources is for scalar resources that devices may serve; nil: there are
	// none.
	resources *resources
}

// claim is a claim that the workload uses.
type claim struct {
	*model.DeviceClaim
	consumer model.Consumer // for whom it is to be reserved
	// broken: the devices that it has will not become ready.
	broken bool
	// givenUp: that it be given up has been asked for already.
	givenUp bool
}

// unavailable reports whether the claim has devices that cannot be used on the
// node.
func (c *claim) unavailable(n *model.Node) bool {
	return c.Allocation != nil && (c.broken || !c.Allocation.Nodes.Matches(n))
}

var stateKey = extpoints.NewStateKey[*state](Name)

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is for
// workloads that use no claims, and ask for nothing that devices may serve.
func (*DynamicResources) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, len(w.DeviceClaims) == 0 && !helper.WantsDeviceResources(s.View, w.Workload)
}

// Sign signs no workload that uses claims, or that devices may serve.
func (p *DynamicResources) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	if len(w.DeviceClaims) > 0 {
		return nil, claimsUnsignable
	}
	if p.handle != nil && helper.WantsDeviceResources(p.handle.View, w) {
		return nil, resourcesUnsignable
	}
	return nil, nil
}

var (
	_ extpoints.PreEnqueuePlugin      = (*DynamicResources)(nil)
	_ extpoints.PreFilterPlugin       = (*DynamicResources)(nil)
	_ extpoints.FilterPlugin          = (*DynamicResources)(nil)
	_ extpoints.PostFilterPlugin      = (*DynamicResources)(nil)
	_ extpoints.GroupPostFilterPlugin = (*DynamicResources)(nil)
	_ extpoints.ScoreNormalizer       = (*DynamicResources)(nil)
	_ extpoints.ReservePlugin         = (*DynamicResources)(nil)
	_ extpoints.PreBindPlugin         = (*DynamicResources)(nil)
	_ extpoints.EnqueueExtensions     = (*DynamicResources)(nil)
	_ extpoints.NodeLocalPlugin       = (*DynamicResources)(nil)
	_ extpoints.SignPlugin            = (*DynamicResources)(nil)
)
