package volumebinding

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// gathered holds, from PreFilter on, what there is to know of the workload's
// claims.
var gathered = extpoints.NewStateKey[*claims](Name + "/claims")

// VolumeBinding is the plugin.
//
// Rules: kube-scheduler plugins/volumebinding (volume_binding.go, binder.go,
// scorer.go) and k8s.io/component-helpers storage/volume/pv_helpers.go, 1.37.1.
// There the choice among volumes of the same size, among several volumes kept
// for one claim, and among several capacities with enough room is random. Here
// it is the first by name.
type VolumeBinding struct {
	handle      extpoints.Handle
	bindTimeout time.Duration
	score       func(utilization int64) int64
	compat      extpoints.Compat
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, h extpoints.Handle) (*VolumeBinding, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	a = a.WithDefaults()
	return &VolumeBinding{handle: h, bindTimeout: a.BindTimeout, score: curve(a.Shape), compat: h.Compat()}, nil
}

// Name returns the plugin's name.
func (*VolumeBinding) Name() string { return Name }

// PreFilter skips workloads without claims, rejects those with a claim that is
// not there, not theirs, or not bound yet by its provisioner, and gathers what
// Filter needs to know of the others.
func (p *VolumeBinding) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if len(w.VolumeClaims) == 0 {
		return nil, skip
	}
	c, status := gather(s.View().Storage(), w.Workload, p.compat)
	if !status.IsSuccess() {
		return nil, status
	}
	gathered.Set(s, c)
	return nil, nil
}

// claimsOf returns what PreFilter gathered, or gathers it for a profile in which
// that is disabled, and after a Skip. It is nil for a workload without claims.
func (p *VolumeBinding) claimsOf(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*claims, *extpoints.Status) {
	if len(w.VolumeClaims) == 0 {
		return nil, nil
	}
	if c, ok := gathered.Get(s); ok {
		return c, nil
	}
	return gather(s.View().Storage(), w.Workload, p.compat)
}

// Filter rejects nodes from which the volume of a bound claim cannot be used,
// and nodes for which there is no volume for one of the other claims.
func (p *VolumeBinding) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	c, status := p.claimsOf(s, w)
	if c == nil {
		return status
	}
	var room [usualClaims]gift
	_, v := c.find(s, node.Node, room[:0])
	return statuses[v]
}

// usualClaims is how many claims there is room for without going to the heap.
const usualClaims = 4

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is for
// workloads that use no claims.
func (*VolumeBinding) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, len(w.VolumeClaims) == 0
}

// Sign signs the volumes that the workload uses.
func (*VolumeBinding) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.VolumesFragment(w)}, nil
}

var (
	_ extpoints.PreFilterPlugin   = (*VolumeBinding)(nil)
	_ extpoints.FilterPlugin      = (*VolumeBinding)(nil)
	_ extpoints.PreScorePlugin    = (*VolumeBinding)(nil)
	_ extpoints.ScorePlugin       = (*VolumeBinding)(nil)
	_ extpoints.ReservePlugin     = (*VolumeBinding)(nil)
	_ extpoints.PreBindPlugin     = (*VolumeBinding)(nil)
	_ extpoints.EnqueueExtensions = (*VolumeBinding)(nil)
	_ extpoints.NodeLocalPlugin   = (*VolumeBinding)(nil)
	_ extpoints.SignPlugin        = (*VolumeBinding)(nil)
)
