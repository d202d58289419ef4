package volumezone

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "VolumeZone"

// Reason is given for nodes that are not where a volume is.
const Reason = "node(s) had no available volume zone"

// The labels that say where a node or a volume is, the last two under the names
// that they had before.
const (
	ZoneLabel      = "topology.kubernetes.io/zone"
	RegionLabel    = "topology.kubernetes.io/region"
	OldZoneLabel   = "failure-domain.beta.kubernetes.io/zone"
	OldRegionLabel = "failure-domain.beta.kubernetes.io/region"
)

// Labels are the labels that count.
var Labels = [...]string{OldZoneLabel, OldRegionLabel, ZoneLabel, RegionLabel}

// delimiter stands between the zones of a volume that is in several.
const delimiter = "__"

var (
	rejected   = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, Reason)
	noClaim    = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "volume claim had no name")
	noClass    = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "volume claim had no volume name and storage class name")
	noVolume   = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "volume had no name")
	skip       = extpoints.NewStatus(extpoints.Skip)
	topologies = extpoints.NewStateKey[[]topology](Name)
)

// VolumeZone is the plugin.
//
// Rules: kube-scheduler plugins/volumezone/volume_zone.go, 1.37.1.
type VolumeZone struct {
	compat extpoints.Compat
}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, h extpoints.Handle) (*VolumeZone, error) {
	return &VolumeZone{compat: h.Compat()}, nil
}

// Name returns the plugin's name.
func (*VolumeZone) Name() string { return Name }

// topology is a condition on one label of the node.
type topology struct {
	key string
	// other is the label that is asked where the node lacks key; the same
	// where there is no other.
	other  string
	values []string // sorted
}

// PreFilter collects where the workload's volumes are.
func (*VolumeZone) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	var list []topology
	storage := s.View().Storage()
	for i := range w.VolumeClaims {
		ref := &w.VolumeClaims[i]
		if ref.Generated {
			continue
		}
		volume, status := volumeOf(storage, ref)
		if status != nil {
			return nil, status
		}
		if volume != nil {
			list = appendTopologies(list, volume)
		}
	}
	if len(list) == 0 {
		return nil, skip
	}
	topologies.Set(s, list)
	return nil, nil
}

// volumeOf returns the claim's volume, or nil where it gets one only when the
// workload has its node.
func volumeOf(storage extpoints.Storage, ref *model.VolumeClaimRef) (*model.Volume, *extpoints.Status) {
	if ref.ID == "" {
		return nil, noClaim
	}
	claim := storage.Claim(ref.ID)
	if claim == nil {
		return nil, unresolvable(helper.ClaimNotFound(ref))
	}
	if claim.Volume != "" {
		if volume := storage.Volume(claim.Volume); volume != nil {
			return volume, nil
		}
		return nil, unresolvable(fmt.Sprintf("volume %q of the claim not found", claim.Volume))
	}
	if claim.Class == "" {
		return nil, noClass
	}
	class := storage.Class(claim.Class)
	switch {
	case class == nil:
		return nil, unresolvable(fmt.Sprintf("storage class %q of the claim not found", claim.Class))
	case class.Binding == "":
		return nil, unresolvable(fmt.Sprintf("binding mode not set for storage class %q", claim.Class))
	case class.Binding == model.BindWhenConsumed:
		return nil, nil
	}
	return nil, noVolume
}

func unresolvable(reason string) *extpoints.Status {
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, reason)
}

// appendTopologies appends what the volume's labels ask of nodes. A label whose
// value is no list of zones asks for nothing.
func appendTopologies(list []topology, v *model.Volume) []topology {
	for _, key := range &Labels {
		value, ok := v.Labels[key]
		if !ok {
			continue
		}
		if values := split(value); values != nil {
			list = append(list, topology{key: key, other: newName(key), values: values})
		}
	}
	return list
}

// split returns the zones of a label's value, sorted, each once; nil where one
// of them is empty.
//
// Rule: k8s.io/cloud-provider volume/helpers/zones.go LabelZonesToSet, 0.37.1.
func split(value string) []string {
	zones := strings.Split(value, delimiter)
	for i := range zones {
		zones[i] = strings.TrimSpace(zones[i])
		if zones[i] == "" {
			return nil
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// newName is the label's name today.
func newName(label string) string {
	switch label {
	case OldZoneLabel:
		return ZoneLabel
	case OldRegionLabel:
		return RegionLabel
	}
	return label
}

// Filter rejects nodes that are somewhere else than a volume.
func (*VolumeZone) Filter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	list, ok := topologies.Get(s)
	if !ok || isNowhere(node.Node.Labels) {
		return nil
	}
	for i := range list {
		if !list[i].has(node.Node.Labels) {
			return rejected
		}
	}
	return nil
}

// isNowhere reports whether a node with the labels does not say where it is.
func isNowhere(labels map[string]string) bool {
	for _, key := range &Labels {
		if _, ok := labels[key]; ok {
			return false
		}
	}
	return true
}

// has reports whether a node with the labels meets the condition.
func (t *topology) has(labels map[string]string) bool {
	value, ok := labels[t.key]
	if !ok {
		value, ok = labels[t.other]
	}
	return ok && slices.Contains(t.values, value)
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is for
// workloads that use no claims.
func (*VolumeZone) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, len(w.VolumeClaims) == 0
}

// Sign signs the volumes.
func (*VolumeZone) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.VolumesFragment(w)}, nil
}

var (
	_ extpoints.PreFilterPlugin   = (*VolumeZone)(nil)
	_ extpoints.FilterPlugin      = (*VolumeZone)(nil)
	_ extpoints.EnqueueExtensions = (*VolumeZone)(nil)
	_ extpoints.NodeLocalPlugin   = (*VolumeZone)(nil)
	_ extpoints.SignPlugin        = (*VolumeZone)(nil)
)
