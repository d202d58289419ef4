package nodevolumelimits

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeVolumeLimits"

// The reasons.
const (
	// Reason is given for nodes that would have too many volumes of a driver.
	Reason = "node(s) exceed max volume count"
	// ReasonNotInstalled, after the name of a driver, is given for nodes that
	// must have it and have not.
	ReasonNotInstalled = " CSI driver is not installed on the node"
)

var (
	tooMany   = extpoints.NewStatus(extpoints.Unschedulable, Reason)
	skip      = extpoints.NewStatus(extpoints.Skip)
	errNoName = extpoints.AsStatus(errors.New("volume claim had no name"))
	stateKey  = extpoints.NewStateKey[*state](Name)
)

// NodeVolumeLimits is the plugin.
//
// Rules: kube-scheduler plugins/nodevolumelimits (csi.go, utils.go), 1.37.1.
type NodeVolumeLimits struct {
	compat extpoints.Compat
}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, h extpoints.Handle) (*NodeVolumeLimits, error) {
	return &NodeVolumeLimits{compat: h.Compat()}, nil
}

// Name returns the plugin's name.
func (*NodeVolumeLimits) Name() string { return Name }

// state is what PreFilter finds out. It is not changed afterwards.
type state struct {
	// failure, where not nil, is what is wrong with a claim, for every node.
	failure *extpoints.Status
	// volumes are those of the workload, each once, in its order.
	volumes []wanted
}

// wanted is a volume that the workload wants to use.
type wanted struct {
	volume
	// builtIn: it is one of a built-in plugin, which a driver stands in for only
	// on nodes with a NodeStorage. Elsewhere it does not count.
	builtIn bool
	// missing, where not nil, is said to nodes without the driver.
	missing *extpoints.Status
}

// PreFilter finds out which volumes of which drivers the workload uses. It skips
// workloads without any. What is wrong with a claim is for Filter to say.
func (*NodeVolumeLimits) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if !usesVolumes(w.Workload) {
		return nil, skip
	}
	storage := s.View().Storage()
	st := &state{failure: checkClaims(storage, w.Workload, true)}
	if st.failure == nil {
		eachVolume(storage, w.Workload, func(v volume, builtIn bool) { st.add(storage, v, builtIn) })
	}
	stateKey.Set(s, st)
	return nil, nil
}

// usesVolumes reports whether the workload may have a volume that counts.
func usesVolumes(w *model.Workload) bool {
	return len(w.VolumeClaims) > 0 || slices.ContainsFunc(w.Disks, mayCount)
}

// mayCount reports whether the disk is one that drivers may count.
func mayCount(d model.Disk) bool { return d.Driver != "" && (d.Handle != "" || d.Plugin != "") }

func (st *state) add(storage extpoints.Storage, v volume, builtIn bool) {
	for i := range st.volumes {
		if st.volumes[i].volume == v {
			st.volumes[i].builtIn = st.volumes[i].builtIn && builtIn
			return
		}
	}
	w := wanted{volume: v, builtIn: builtIn}
	if d := storage.Driver(v.driver); d != nil && d.MustBeInstalled {
		w.missing = extpoints.NewStatus(extpoints.Unschedulable, v.driver+ReasonNotInstalled)
	}
	st.volumes = append(st.volumes, w)
}

// checkClaims returns what is wrong with a claim of the workload, the first in
// its order. That one is not there is only wrong where all are needed.
func checkClaims(storage extpoints.Storage, w *model.Workload, needed bool) *extpoints.Status {
	for i := range w.VolumeClaims {
		ref := &w.VolumeClaims[i]
		if ref.ID == "" {
			return errNoName
		}
		if !needed && !ref.Generated {
			continue
		}
		claim := storage.Claim(ref.ID)
		switch {
		case claim == nil && needed:
			return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable,
				fmt.Sprintf("looking up volume claim %s: %s", helper.ClaimPath(w, ref), helper.ClaimNotFound(ref)))
		case claim != nil && ref.Generated && claim.Owner != w.ID:
			return extpoints.AsStatus(errors.New(helper.ClaimIsForeign(w, ref)))
		}
	}
	return nil
}

// Filter rejects nodes that lack a driver or would have too many volumes of one.
func (*NodeVolumeLimits) Filter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	st, ok := stateKey.Get(s)
	switch {
	case !ok:
		return nil
	case st.failure != nil:
		return st.failure
	}
	storage := s.View().Storage()
	on := storage.NodeStorage(node.Node.Name)
	limited := false
	for i := range st.volumes {
		v := &st.volumes[i]
		if !v.countsOn(on) {
			continue
		}
		if v.missing != nil && !has(on, v.driver) {
			return v.missing
		}
		limited = true
	}
	if !limited || !hasLimits(on) {
		return nil
	}
	return st.checkLimits(storage, node, on)
}

// countsOn reports whether the volume counts on a node with the storage.
func (v *wanted) countsOn(on *model.NodeStorage) bool { return on != nil || !v.builtIn }

func has(on *model.NodeStorage, driver string) bool {
	return on != nil && slices.ContainsFunc(on.Drivers, func(d model.NodeDriver) bool { return d.Name == driver })
}

func hasLimits(on *model.NodeStorage) bool {
	return on != nil && slices.ContainsFunc(on.Drivers, func(d model.NodeDriver) bool { return d.MaxVolumes != nil })
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is for
// workloads that use no volumes.
func (*NodeVolumeLimits) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, len(w.VolumeClaims) == 0 && len(w.Disks) == 0
}

// Sign signs the volumes.
func (*NodeVolumeLimits) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.VolumesFragment(w)}, nil
}

var (
	_ extpoints.PreFilterPlugin   = (*NodeVolumeLimits)(nil)
	_ extpoints.FilterPlugin      = (*NodeVolumeLimits)(nil)
	_ extpoints.EnqueueExtensions = (*NodeVolumeLimits)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodeVolumeLimits)(nil)
	_ extpoints.SignPlugin        = (*NodeVolumeLimits)(nil)
)
