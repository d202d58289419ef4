package volumerestrictions

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "VolumeRestrictions"

// The reasons.
const (
	// ReasonDisk is given for nodes on which another workload has a disk that
	// the workload wants for itself.
	ReasonDisk = "node(s) had no available disk"
	// ReasonClaim is given for all nodes where a claim that only one workload
	// may use is in use.
	ReasonClaim = "node(s) unavailable due to volume claim with ReadWriteOnceWorkload access mode already in-use by another workload"
)

var (
	diskInUse  = extpoints.NewStatus(extpoints.Unschedulable, ReasonDisk)
	claimInUse = extpoints.NewStatus(extpoints.Unschedulable, ReasonClaim)
	skip       = extpoints.NewStatus(extpoints.Skip)
	stateKey   = extpoints.NewStateKey[*state](Name)
)

// VolumeRestrictions is the plugin.
//
// Rules: kube-scheduler plugins/volumerestrictions/volume_restrictions.go,
// 1.37.1.
type VolumeRestrictions struct {
	compat extpoints.Compat
}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, h extpoints.Handle) (*VolumeRestrictions, error) {
	return &VolumeRestrictions{compat: h.Compat()}, nil
}

// Name returns the plugin's name.
func (*VolumeRestrictions) Name() string { return Name }

// state is what PreFilter finds out.
type state struct {
	// claims are the IDs of the claims that only one workload may use. It is
	// not changed any more.
	claims []string
	// conflicts is more than 0 where one of them is in use.
	conflicts int
}

// Clone returns a copy whose conflicts can be counted on their own.
func (s *state) Clone() *state {
	c := *s
	return &c
}

// PreFilter looks at the workload's claims. It skips workloads that want neither
// disks for themselves nor a claim that is in use.
func (*VolumeRestrictions) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	st := &state{}
	storage := s.View().Storage()
	for i := range w.VolumeClaims {
		ref := &w.VolumeClaims[i]
		if ref.Generated {
			continue
		}
		claim := storage.Claim(ref.ID)
		if claim == nil {
			return nil, extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, helper.ClaimNotFound(ref))
		}
		if isExclusive(claim) {
			st.claims = append(st.claims, ref.ID)
			if storage.Users(ref.ID) > 0 {
				st.conflicts++
			}
		}
	}
	if st.conflicts == 0 && !slices.ContainsFunc(w.Disks, func(d model.Disk) bool { return len(d.Keys) > 0 }) {
		return nil, skip
	}
	stateKey.Set(s, st)
	return nil, nil
}

// isExclusive reports whether only one workload may use the claim.
func isExclusive(c *model.VolumeClaim) bool {
	return slices.Contains(c.AccessModes, model.ReadWriteOnceWorkload)
}

// AddWorkload counts the claims that the added workload uses.
func (*VolumeRestrictions) AddWorkload(s *extpoints.CycleState, _, added *extpoints.WorkloadInfo, _ *extpoints.NodeInfo) *extpoints.Status {
	count(s, added, +1)
	return nil
}

// RemoveWorkload takes off the claims that the removed workload uses.
func (*VolumeRestrictions) RemoveWorkload(s *extpoints.CycleState, _, removed *extpoints.WorkloadInfo, _ *extpoints.NodeInfo) *extpoints.Status {
	count(s, removed, -1)
	return nil
}

func count(s *extpoints.CycleState, w *extpoints.WorkloadInfo, sign int) {
	st, ok := stateKey.Get(s)
	if !ok || len(st.claims) == 0 {
		return
	}
	for i := range w.VolumeClaims {
		if ref := &w.VolumeClaims[i]; !ref.Generated && slices.Contains(st.claims, ref.ID) {
			st.conflicts += sign
		}
	}
}

// Filter rejects nodes on which a disk is in use, and all nodes where a claim is.
func (*VolumeRestrictions) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if len(w.Disks) > 0 {
		for _, other := range node.Workloads {
			if conflict(w.Disks, other.Disks) {
				return diskInUse
			}
		}
	}
	if st, ok := stateKey.Get(s); ok && st.conflicts > 0 {
		return claimInUse
	}
	return nil
}

// conflict reports whether disks have a key in common and not both only read.
func conflict(a, b []model.Disk) bool {
	for i := range a {
		for j := range b {
			if (!a[i].ReadOnly || !b[j].ReadOnly) && haveCommon(a[i].Keys, b[j].Keys) {
				return true
			}
		}
	}
	return false
}

func haveCommon(a, b []string) bool {
	for _, key := range a {
		if slices.Contains(b, key) {
			return true
		}
	}
	return false
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is for
// workloads that use no volumes.
func (*VolumeRestrictions) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, len(w.VolumeClaims) == 0 && len(w.Disks) == 0
}

// Sign signs the volumes.
func (*VolumeRestrictions) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.VolumesFragment(w)}, nil
}

var (
	_ extpoints.PreFilterExtensions = (*VolumeRestrictions)(nil)
	_ extpoints.FilterPlugin        = (*VolumeRestrictions)(nil)
	_ extpoints.EnqueueExtensions   = (*VolumeRestrictions)(nil)
	_ extpoints.NodeLocalPlugin     = (*VolumeRestrictions)(nil)
	_ extpoints.SignPlugin          = (*VolumeRestrictions)(nil)
)
