package convert

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

var (
	bindingModePath       = field.NewPath("volumeBindingMode")
	allowedTopologiesPath = field.NewPath("allowedTopologies")
	driversPath           = specPath.Child("drivers")
	storageClassPath      = field.NewPath("storageClassName")
	capacityPath          = field.NewPath("capacity")
	maximumSizePath       = field.NewPath("maximumVolumeSize")
	nodeTopologyPath      = field.NewPath("nodeTopology")
	attacherPath          = specPath.Child("attacher")
	provisionerPath       = field.NewPath("provisioner")
	sourcePath            = specPath.Child("source", "persistentVolumeName")
	nodeNamePath          = specPath.Child("nodeName")
)

// nameless reports an object without a name, which nothing can be made of.
func (p *problems) nameless(name string) bool {
	if name == "" {
		p.report(namePath, "must not be empty")
	}
	return name == ""
}

// StorageClass translates a storage class. The result shares slices with the
// argument, which must not be changed any more.
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated, by their names in Kubernetes' API. The class is there even so, and
// valid, without those fields; it is nil only where it would have no name. A term
// of the topologies that cannot be read selects no node.
//
// Rules: kube-scheduler plugins/volumebinding/binder.go and
// pkg/apis/core/v1/helper/helpers.go (MatchTopologySelectorTerms), 1.37.1.
func StorageClass(s *storagev1.StorageClass) (*model.StorageClass, error) {
	var c problems
	m := &model.StorageClass{
		Name:         c.text(namePath, s.Name),
		Provisioner:  c.text(provisionerPath, s.Provisioner),
		Driver:       standIn(s.Provisioner),
		AllowedNodes: c.topologies(s.AllowedTopologies),
	}
	if mode := s.VolumeBindingMode; mode != nil {
		switch *mode {
		case storagev1.VolumeBindingImmediate:
			m.Binding = model.BindImmediate
		case storagev1.VolumeBindingWaitForFirstConsumer:
			m.Binding = model.BindWhenConsumed
		default:
			c.report(bindingModePath, "%q is neither %s nor %s", *mode, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)
		}
	}
	if c.nameless(s.Name) {
		m = nil
	}
	return m, c.err("storage class", s.Name)
}

// topologies are the nodes that the terms select; without terms, nil for all.
func (p *problems) topologies(terms []v1.TopologySelectorTerm) *model.NodeTerms {
	if len(terms) == 0 {
		return nil
	}
	m := &model.NodeTerms{Terms: make([]model.NodeTerm, len(terms))}
	for i := range terms {
		for j := range terms[i].MatchLabelExpressions {
			e := &terms[i].MatchLabelExpressions[j]
			in := v1.NodeSelectorRequirement{Key: e.Key, Operator: v1.NodeSelectorOpIn, Values: e.Values}
			if p.readable(allowedTopologiesPath.Index(i).Child("matchLabelExpressions").Index(j), &in, goodValues) {
				m.Terms[i].Labels = append(m.Terms[i].Labels, model.Requirement{Key: e.Key, Operator: model.In, Values: e.Values})
			} else {
				m.Terms[i].Labels = append(m.Terms[i].Labels, never...)
			}
		}
	}
	return m
}

// StorageDriver translates a CSI driver. It is nil, with an error, only where it
// would have no name.
//
// Rules: kube-scheduler plugins/volumebinding/binder.go (hasEnoughCapacity) and
// plugins/nodevolumelimits/csi.go (checkCSIDriverOnNode), 1.37.1.
func StorageDriver(d *storagev1.CSIDriver) (*model.StorageDriver, error) {
	var c problems
	m := &model.StorageDriver{
		Name:            c.text(namePath, d.Name),
		TracksCapacity:  d.Spec.StorageCapacity != nil && *d.Spec.StorageCapacity,
		MustBeInstalled: d.Spec.PreventPodSchedulingIfMissing != nil && *d.Spec.PreventPodSchedulingIfMissing,
	}
	if c.nameless(d.Name) {
		m = nil
	}
	return m, c.err("CSI driver", d.Name)
}

// NodeStorage translates a CSI node, which has the name of its node.
//
// The error, a [*model.ValidationError], lists all drivers that cannot be
// translated. The node storage is there even so, and valid, without those; it is
// nil only where it would have no name.
//
// Rules: kube-scheduler plugins/nodevolumelimits/csi.go (getVolumeLimits) and
// plugins/volumebinding/binder.go (isPluginMigratedToCSIOnNode), 1.37.1.
func NodeStorage(n *storagev1.CSINode) (*model.NodeStorage, error) {
	var c problems
	m := &model.NodeStorage{Node: c.text(namePath, n.Name)}
	if plugins := n.Annotations[v1.MigratedPluginsAnnotationKey]; plugins != "" {
		m.StandsIn = c.names(annotationsPath.Key(v1.MigratedPluginsAnnotationKey), strings.Split(plugins, ","))
	}
	for i := range n.Spec.Drivers {
		d := &n.Spec.Drivers[i]
		at, before := driversPath.Index(i), len(c.list)
		driver := model.NodeDriver{Name: c.text(at.Child("name"), d.Name)}
		if d.Allocatable != nil {
			driver.MaxVolumes = d.Allocatable.Count
		}
		if d.Name == "" {
			c.report(at.Child("name"), "must not be empty")
		}
		if driver.MaxVolumes != nil && *driver.MaxVolumes < 0 {
			c.report(at.Child("allocatable", "count"), "%d is less than 0", *driver.MaxVolumes)
		}
		for _, earlier := range m.Drivers {
			if earlier.Name == driver.Name {
				c.report(at.Child("name"), "%q is listed twice", d.Name)
			}
		}
		if len(c.list) == before {
			m.Drivers = append(m.Drivers, driver)
		}
	}
	if c.nameless(n.Name) {
		m = nil
	}
	return m, c.err("CSI node", n.Name)
}

// StorageCapacityID is the identity of a CSI storage capacity: namespace/name.
func StorageCapacityID(namespace, name string) string { return namespace + "/" + name }

// StorageCapacity translates a CSI storage capacity.
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated. The capacity is there even so, and valid, without those: one whose
// selector cannot be read is for no node. It is nil only where it would have no
// class.
//
// Rules: kube-scheduler plugins/volumebinding/binder.go (volumeLimit,
// nodeHasAccess), 1.37.1.
func StorageCapacity(s *storagev1.CSIStorageCapacity) (*model.StorageCapacity, error) {
	var c problems
	m := &model.StorageCapacity{
		ID:            c.text(namePath, StorageCapacityID(s.Namespace, s.Name)),
		Class:         c.text(storageClassPath, s.StorageClassName),
		Capacity:      c.size(capacityPath, s.Capacity),
		MaxVolumeSize: c.size(maximumSizePath, s.MaximumVolumeSize),
	}
	m.Nodes, _ = c.selector(nodeTopologyPath, s.NodeTopology)
	if m.Class == "" {
		c.report(storageClassPath, "must not be empty")
		m = nil
	}
	return m, c.err("CSI storage capacity", StorageCapacityID(s.Namespace, s.Name))
}

// VolumeAttachment translates a volume attachment. The result is nil, without an
// error, for an attachment that names no persistent volume: the scheduler does
// not count those. It is nil with an error where the attacher or the node is
// missing.
//
// Rules: kube-scheduler plugins/nodevolumelimits/csi.go
// (getNodeVolumeAttachmentInfo), 1.37.1.
func VolumeAttachment(a *storagev1.VolumeAttachment) (*model.VolumeAttachment, error) {
	var c problems
	volume := a.Spec.Source.PersistentVolumeName
	if volume == nil || *volume == "" {
		return nil, nil
	}
	m := &model.VolumeAttachment{ID: c.text(namePath, a.Name), Driver: c.text(attacherPath, a.Spec.Attacher), Node: c.text(nodeNamePath, a.Spec.NodeName), Volume: c.text(sourcePath, *volume)}
	if a.Spec.Attacher == "" {
		c.report(attacherPath, "must not be empty")
	}
	if a.Spec.NodeName == "" {
		c.report(nodeNamePath, "must not be empty")
	}
	if c.nameless(a.Name) || a.Spec.Attacher == "" || a.Spec.NodeName == "" {
		m = nil
	}
	return m, c.err("volume attachment", a.Name)
}
