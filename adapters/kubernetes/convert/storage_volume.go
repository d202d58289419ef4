package convert

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/berth-project/berth/model"
)

var (
	ownersPath         = field.NewPath("metadata", "ownerReferences")
	volumeClassPath    = specPath.Child("storageClassName")
	attributesPath     = specPath.Child("volumeAttributesClassName")
	annotationsPath    = field.NewPath("metadata", "annotations")
	accessModesPath    = specPath.Child("accessModes")
	volumeModePath     = specPath.Child("volumeMode")
	volumeNamePath     = specPath.Child("volumeName")
	volumeCapacityPath = specPath.Child("capacity")
	volumeNodesPath    = specPath.Child("nodeAffinity", "required")
	volumeSelectorPath = specPath.Child("selector")
	claimRefPath       = specPath.Child("claimRef", "name")
	claimRequestsPath  = specPath.Child("resources", "requests")
	phasePath          = field.NewPath("status", "phase")
)

// VolumeClaimID is the identity of a persistent volume claim as a volume claim:
// namespace/name.
func VolumeClaimID(namespace, name string) string { return namespace + "/" + name }

// VolumeClaim translates a persistent volume claim. The result shares slices with
// the argument, which must not be changed any more.
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated, by their names in Kubernetes' API. The claim is there even so, and
// valid, without those fields. A selector that cannot be read selects nothing.
//
// Owner is the pod that is the claim's controller, as [ID] has it; what kind of
// controller that is the scheduler does not ask.
//
// Rules: kube-scheduler plugins/volumebinding (volume_binding.go, binder.go), and
// component-helpers storage/volume (helpers.go, pv_helpers.go), 1.37.1.
func VolumeClaim(v *v1.PersistentVolumeClaim) (*model.VolumeClaim, error) {
	var c problems
	m := &model.VolumeClaim{
		ID:              c.text(namePath, VolumeClaimID(v.Namespace, v.Name)),
		Namespace:       c.text(namespacePath, v.Namespace),
		Name:            c.text(namePath, v.Name),
		UID:             c.text(uidPath, string(v.UID)),
		Class:           c.text(volumeClassPath, storagehelpers.GetPersistentVolumeClaimClass(v)),
		Request:         c.amount(claimRequestsPath, v.Spec.Resources.Requests, v1.ResourceStorage, 0),
		AccessModes:     c.accessModes(v.Spec.AccessModes),
		Mode:            c.volumeMode(v.Spec.VolumeMode),
		AttributesClass: c.text(attributesPath, deref(v.Spec.VolumeAttributesClassName)),
		Volume:          c.text(volumeNamePath, v.Spec.VolumeName),
		SelectedNode:    c.text(annotationsPath, v.Annotations[storagehelpers.AnnSelectedNode]),
		Deleting:        v.DeletionTimestamp != nil,
	}
	if selector, ok := c.selector(volumeSelectorPath, v.Spec.Selector); ok {
		m.Selector = selector
	} else {
		m.Selector = &model.Selector{Requirements: never}
	}
	if v.Spec.VolumeName != "" {
		m.Bound = metav1.HasAnnotation(v.ObjectMeta, storagehelpers.AnnBindCompleted)
		m.Lost = v.Status.Phase == v1.ClaimLost
	} else if v.Status.Phase == v1.ClaimLost {
		c.report(volumeNamePath, "must not be empty where the phase is %s", v1.ClaimLost)
	}
	if metav1.HasAnnotation(v.ObjectMeta, storagehelpers.AnnSelectedNode) && m.SelectedNode == "" {
		c.report(annotationsPath.Key(storagehelpers.AnnSelectedNode), "must not be empty")
	}
	if owner := metav1.GetControllerOfNoCopy(v); owner != nil {
		m.Owner = c.text(ownersPath, workloadID(v.Namespace, owner.Name, owner.UID))
	}
	return m, c.err("volume claim", VolumeClaimID(v.Namespace, v.Name))
}

// Volume translates a persistent volume. The result shares maps and slices with
// the argument, which must not be changed any more.
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated, by their names in Kubernetes' API. The volume is there even so, and
// valid, without those fields; it is nil only where it would have no name.
//
// Only storage of CSI drivers and of the built-in plugins that drivers stand in
// for counts against limits; other volumes have no driver.
//
// Rules: kube-scheduler plugins/volumebinding/binder.go (tryTranslatePVToCSI) and
// plugins/nodevolumelimits/csi.go (getCSIDriverInfo), and component-helpers
// storage/volume (helpers.go, pv_helpers.go), 1.37.1.
func Volume(v *v1.PersistentVolume) (*model.Volume, error) {
	var c problems
	m := &model.Volume{
		Name:            c.text(namePath, v.Name),
		Labels:          c.labels(labelsPath, v.Labels),
		Class:           c.text(volumeClassPath, storagehelpers.GetPersistentVolumeClass(v)),
		Capacity:        c.amount(volumeCapacityPath, v.Spec.Capacity, v1.ResourceStorage, 0),
		AccessModes:     c.accessModes(v.Spec.AccessModes),
		Mode:            c.volumeMode(v.Spec.VolumeMode),
		AttributesClass: c.text(attributesPath, deref(v.Spec.VolumeAttributesClassName)),
		Nodes:           c.volumeNodes(v.Spec.NodeAffinity),
		Phase:           c.volumePhase(v.Status.Phase),
		Deleting:        v.DeletionTimestamp != nil,
	}
	if r := v.Spec.ClaimRef; r != nil {
		if r.Name == "" {
			c.report(claimRefPath, "must not be empty")
		}
		m.Claim = &model.ClaimIdentity{ID: c.text(claimRefPath, VolumeClaimID(r.Namespace, r.Name)), UID: c.text(claimRefPath, string(r.UID))}
	}
	c.source(m, v)
	m.Driver, m.Handle = c.text(specPath, m.Driver), c.text(specPath, m.Handle)
	if c.nameless(v.Name) {
		m = nil
	}
	return m, c.err("volume", v.Name)
}

// source says which volume of which driver it is.
func (p *problems) source(m *model.Volume, v *v1.PersistentVolume) {
	if csi := v.Spec.CSI; csi != nil {
		if csi.Driver == "" {
			p.report(specPath.Child("csi", "driver"), "must not be empty")
			return
		}
		m.Driver, m.Handle = csi.Driver, csi.VolumeHandle
		return
	}
	standInFor(m, v)
}

// volumeNodes are the nodes from which a volume can be used. What the terms say
// of a node's name does not count, whatever it is.
//
// Rule: component-helpers storage/volume/helpers.go (CheckNodeAffinity), v0.37.1:
// it asks about a node that has labels, but no name.
func (p *problems) volumeNodes(a *v1.VolumeNodeAffinity) *model.NodeTerms {
	switch {
	case a == nil || a.Required == nil:
		return nil
	case len(a.Required.NodeSelectorTerms) == 0:
		return noNode()
	}
	m := &model.NodeTerms{}
	for i := range a.Required.NodeSelectorTerms {
		term := p.nodeTerm(volumeNodesPath.Child("nodeSelectorTerms").Index(i), &a.Required.NodeSelectorTerms[i], anyValues)
		if len(term.Fields) > 0 {
			term.Fields = anyName
		}
		m.Terms = append(m.Terms, term)
	}
	return m
}

// anyName is a requirement that every node meets.
var anyName = []model.Requirement{{Key: model.FieldName, Operator: model.NotIn, Values: []string{""}}}

var accessModes = map[v1.PersistentVolumeAccessMode]model.AccessMode{
	v1.ReadWriteOnce:    model.ReadWriteOnce,
	v1.ReadOnlyMany:     model.ReadOnlyMany,
	v1.ReadWriteMany:    model.ReadWriteMany,
	v1.ReadWriteOncePod: model.ReadWriteOnceWorkload,
}

func (p *problems) accessModes(list []v1.PersistentVolumeAccessMode) []model.AccessMode {
	var modes []model.AccessMode
	for i, name := range list {
		if mode, ok := accessModes[name]; ok {
			modes = append(modes, mode)
		} else {
			p.report(accessModesPath.Index(i), "%q is not an access mode", name)
		}
	}
	return modes
}

func (p *problems) volumeMode(mode *v1.PersistentVolumeMode) model.VolumeMode {
	switch {
	case mode == nil:
		return ""
	case *mode == v1.PersistentVolumeFilesystem:
		return model.FilesystemVolume
	case *mode == v1.PersistentVolumeBlock:
		return model.BlockVolume
	}
	p.report(volumeModePath, "%q is neither %s nor %s", *mode, v1.PersistentVolumeFilesystem, v1.PersistentVolumeBlock)
	return ""
}

// volumePhase is the phase; a volume that has none yet is not ready.
func (p *problems) volumePhase(phase v1.PersistentVolumePhase) model.VolumePhase {
	switch phase {
	case v1.VolumeAvailable, v1.VolumeBound, v1.VolumeReleased, v1.VolumeFailed, v1.VolumePending:
		return model.VolumePhase(phase)
	case "":
		return model.VolumePending
	}
	p.report(phasePath, "%q is not a phase of a volume", phase)
	return model.VolumePending
}

// size is the quantity in bytes, nil where there is none.
func (p *problems) size(at *field.Path, q *resource.Quantity) *int64 {
	if q == nil {
		return nil
	}
	n, problem := amount(*q, 0)
	if problem != "" {
		p.report(at, "%s is %s", q.String(), problem)
	}
	return &n
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
