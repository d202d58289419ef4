package convert

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

const (
	toMake      = "says how volumes are made, which the provisioner does"
	toMount     = "says how the volume is mounted, which the node does"
	forDriver   = "is for the driver and its helpers"
	onlyLimited = "the scheduler has no use for volumes of this kind"
)

// volumeClaimFields: what is read of a persistent volume claim.
var volumeClaimFields = fieldTest{
	kind: "PersistentVolumeClaim",
	fates: slices.Concat(
		meta("metadata.name", "metadata.namespace", "metadata.uid", "metadata.annotations", "metadata.ownerReferences", "metadata.deletionTimestamp"),
		unread("the controller is found by its UID", "metadata.ownerReferences[].apiVersion", "metadata.ownerReferences[].kind"),
		unread("is for the garbage collector", "metadata.ownerReferences[].blockOwnerDeletion"),
		read("spec.accessModes", "spec.selector", "spec.resources.requests", "spec.volumeName", "spec.storageClassName", "spec.volumeMode",
			"spec.volumeAttributesClassName", "status.phase"),
		unread("is not used by claims", "spec.resources.limits"),
		unread(toMake, "spec.dataSource", "spec.dataSourceRef"),
		unread("is for the resizing of volumes and for people", "status"),
	),
	zero: func() any { return &v1.PersistentVolumeClaim{} },
	bases: map[string]func(any){
		"bound": func(o any) {
			goodVolumeClaim(o).Annotations[storagehelpers.AnnBindCompleted] = "yes"
		},
		"class in an annotation": func(o any) { goodVolumeClaim(o).Annotations[v1.BetaStorageClassAnnotation] = "slow" },
		"node selected": func(o any) {
			c := goodVolumeClaim(o)
			c.Annotations[storagehelpers.AnnSelectedNode] = "n"
			c.Spec.VolumeName, c.Spec.VolumeMode, c.Status.Phase = "", nil, v1.ClaimPending
		},
		"lost":                    func(o any) { goodVolumeClaim(o).Status.Phase = v1.ClaimLost },
		"owned by a nameless one": func(o any) { goodVolumeClaim(o).OwnerReferences[0].UID = "" },
	},
	result: func(o any) any {
		c, err := VolumeClaim(o.(*v1.PersistentVolumeClaim))
		return []any{c, text(err)}
	},
}

func goodVolumeClaim(o any) *v1.PersistentVolumeClaim {
	c := o.(*v1.PersistentVolumeClaim)
	yes, block := true, v1.PersistentVolumeBlock
	c.OwnerReferences[0].Controller = &yes
	c.Spec.AccessModes[0], c.Spec.VolumeMode, c.Status.Phase = v1.ReadWriteOncePod, &block, v1.ClaimBound
	c.Spec.Resources.Requests = storage(c.Spec.Resources.Requests)
	in(c.Spec.Selector)
	return c
}

// storage is a list of the same quantity, of storage.
func storage(l v1.ResourceList) v1.ResourceList { return v1.ResourceList{v1.ResourceStorage: l["x"]} }

// volumeFields: what is read of a persistent volume.
var volumeFields = fieldTest{
	kind: "PersistentVolume",
	fates: slices.Concat(
		meta("metadata.name", "metadata.labels", "metadata.annotations", "metadata.deletionTimestamp"),
		read("spec.capacity", "spec.accessModes", "spec.claimRef.namespace", "spec.claimRef.name", "spec.claimRef.uid", "spec.storageClassName",
			"spec.volumeMode", "spec.nodeAffinity", "spec.volumeAttributesClassName", "status.phase",
			"spec.csi.driver", "spec.csi.volumeHandle", "spec.gcePersistentDisk.pdName", "spec.awsElasticBlockStore.volumeID", "spec.azureDisk.diskURI",
			"spec.azureDisk.kind", "spec.cinder.volumeID", "spec.portworxVolume.volumeID"),
		unread("the claim is found by its namespace, name and UID", "spec.claimRef"),
		unread(forDriver, "spec.csi", "spec.cinder"),
		unread(toMount, "spec.gcePersistentDisk", "spec.awsElasticBlockStore", "spec.azureDisk", "spec.portworxVolume", "spec.mountOptions"),
		unread(onlyLimited, "spec.hostPath", "spec.glusterfs", "spec.nfs", "spec.rbd", "spec.iscsi", "spec.cephfs", "spec.fc", "spec.flocker", "spec.flexVolume",
			"spec.azureFile", "spec.vsphereVolume", "spec.quobyte", "spec.photonPersistentDisk", "spec.scaleIO", "spec.local", "spec.storageos"),
		unread("is for what comes after the claim", "spec.persistentVolumeReclaimPolicy"),
		unread("is for people", "status.message", "status.reason", "status.lastPhaseTransitionTime"),
	),
	zero: func() any { return &v1.PersistentVolume{} },
	bases: map[string]func(any){
		"csi": func(o any) { goodVolume(o, func(from, to *v1.PersistentVolumeSource) { to.CSI = from.CSI }) },
		"gce": func(o any) {
			goodVolume(o, func(from, to *v1.PersistentVolumeSource) { to.GCEPersistentDisk = from.GCEPersistentDisk })
		},
		"ebs": func(o any) {
			goodVolume(o, func(from, to *v1.PersistentVolumeSource) { to.AWSElasticBlockStore = from.AWSElasticBlockStore })
		},
		"azure": func(o any) {
			goodVolume(o, func(from, to *v1.PersistentVolumeSource) {
				managed := v1.AzureManagedDisk
				to.AzureDisk = from.AzureDisk
				to.AzureDisk.Kind = &managed
			})
		},
		"cinder": func(o any) { goodVolume(o, func(from, to *v1.PersistentVolumeSource) { to.Cinder = from.Cinder }) },
		"portworx": func(o any) {
			goodVolume(o, func(from, to *v1.PersistentVolumeSource) { to.PortworxVolume = from.PortworxVolume })
		},
		"others": func(o any) {
			goodVolume(o, func(from, to *v1.PersistentVolumeSource) {
				*to = *from
				to.CSI, to.GCEPersistentDisk, to.AWSElasticBlockStore, to.AzureDisk, to.Cinder, to.PortworxVolume = nil, nil, nil, nil, nil, nil
			})
		},
		"class in an annotation": func(o any) {
			v := goodVolume(o, func(_, to *v1.PersistentVolumeSource) {})
			v.Annotations[v1.BetaStorageClassAnnotation] = "slow"
		},
	},
	result: func(o any) any {
		v, err := Volume(o.(*v1.PersistentVolume))
		return []any{v, text(err)}
	},
}

// goodVolume makes a volume of the sources that keep keeps.
func goodVolume(o any, keep func(from, to *v1.PersistentVolumeSource)) *v1.PersistentVolume {
	v := o.(*v1.PersistentVolume)
	var kept v1.PersistentVolumeSource
	keep(&v.Spec.PersistentVolumeSource, &kept)
	v.Spec.PersistentVolumeSource = kept
	block := v1.PersistentVolumeBlock
	v.Spec.Capacity = storage(v.Spec.Capacity)
	v.Spec.AccessModes[0], v.Spec.VolumeMode, v.Status.Phase = v1.ReadWriteOncePod, &block, v1.VolumeReleased
	term := &v.Spec.NodeAffinity.Required.NodeSelectorTerms[0]
	term.MatchExpressions[0].Operator = v1.NodeSelectorOpIn
	term.MatchFields[0].Key, term.MatchFields[0].Operator = "metadata.name", v1.NodeSelectorOpIn
	return v
}

// storageClassFields: what is read of a storage class.
var storageClassFields = fieldTest{
	kind: "StorageClass",
	fates: slices.Concat(
		meta("metadata.name"),
		read("provisioner", "volumeBindingMode", "allowedTopologies"),
		unread(toMake, "parameters", "reclaimPolicy", "mountOptions", "allowVolumeExpansion"),
	),
	zero: func() any { return &storagev1.StorageClass{} },
	bases: map[string]func(any){"good": func(o any) {
		mode := storagev1.VolumeBindingImmediate
		o.(*storagev1.StorageClass).VolumeBindingMode = &mode
	}},
	result: func(o any) any {
		c, err := StorageClass(o.(*storagev1.StorageClass))
		return []any{c, text(err)}
	},
}

// storageDriverFields: what is read of a CSI driver.
var storageDriverFields = fieldTest{
	kind: "CSIDriver",
	fates: slices.Concat(
		meta("metadata.name"),
		read("spec.storageCapacity", "spec.preventPodSchedulingIfMissing"),
		unread("says what kubelets and controllers do with volumes of the driver", "spec"),
	),
	zero:  func() any { return &storagev1.CSIDriver{} },
	bases: map[string]func(any){"good": func(any) {}},
	result: func(o any) any {
		d, err := StorageDriver(o.(*storagev1.CSIDriver))
		return []any{d, text(err)}
	},
}

// nodeStorageFields: what is read of a CSI node.
var nodeStorageFields = fieldTest{
	kind: "CSINode",
	fates: slices.Concat(
		meta("metadata.name", "metadata.annotations"),
		read("spec.drivers[].name", "spec.drivers[].allocatable.count"),
		unread(forDriver, "spec.drivers[].nodeID", "spec.drivers[].topologyKeys"),
		unread("is for people and for the controllers that repair volumes", "status"),
	),
	zero: func() any { return &storagev1.CSINode{} },
	bases: map[string]func(any){"good": func(o any) {
		o.(*storagev1.CSINode).Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: "x"}
	}},
	result: func(o any) any {
		n, err := NodeStorage(o.(*storagev1.CSINode))
		return []any{n, text(err)}
	},
}

// storageCapacityFields: what is read of a CSI storage capacity.
var storageCapacityFields = fieldTest{
	kind: "CSIStorageCapacity",
	fates: slices.Concat(
		meta("metadata.name", "metadata.namespace"),
		read("nodeTopology", "storageClassName", "capacity", "maximumVolumeSize"),
	),
	zero:  func() any { return &storagev1.CSIStorageCapacity{} },
	bases: map[string]func(any){"good": func(o any) { in(o.(*storagev1.CSIStorageCapacity).NodeTopology) }},
	result: func(o any) any {
		c, err := StorageCapacity(o.(*storagev1.CSIStorageCapacity))
		return []any{c, text(err)}
	},
}

// volumeAttachmentFields: what is read of a volume attachment.
var volumeAttachmentFields = fieldTest{
	kind: "VolumeAttachment",
	fates: slices.Concat(
		meta("metadata.name"),
		read("spec.attacher", "spec.nodeName", "spec.source.persistentVolumeName"),
		unread("volumes that pods name themselves are not counted by their attachments", "spec.source.inlineVolumeSpec"),
		unread("an attachment counts before the volume is attached, and until it is gone", "status"),
	),
	zero:  func() any { return &storagev1.VolumeAttachment{} },
	bases: map[string]func(any){"good": func(any) {}},
	result: func(o any) any {
		a, err := VolumeAttachment(o.(*storagev1.VolumeAttachment))
		return []any{a, text(err)}
	},
}
