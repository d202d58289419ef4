package generate

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// How many names of volumes and claims there are. A volume is only ever kept for
// the claim of the same number, so that no claim has two.
const (
	volumeNames = 14
	claimNames  = 12
)

var (
	storageDrivers = []string{"csi1.x.io", "csi2.x.io", "pd.csi.storage.gke.io"}
	// The last has no object.
	storageClasses = []string{"late", "made", "made-here", "soon", "odd", "ghost"}
)

// VolumeName is the name of the i-th volume.
func VolumeName(i int) string { return fmt.Sprintf("v%d", i) }

func volumeClaimName(i int) string { return fmt.Sprintf("c%d", i) }

// claimNamespace is where the i-th claim is.
func claimNamespace(i int) string { return Namespaces[i%2] }

// StorageObjects draws everything about storage but what belongs to a node.
func (s *Source) StorageObjects() []runtime.Object {
	var list []runtime.Object
	for i := range len(storageClasses) - 1 {
		list = append(list, s.StorageClass(i))
	}
	for i := range storageDrivers {
		if s.Percent(80) {
			list = append(list, s.StorageDriver(i))
		}
	}
	for i := range claimNames {
		list = append(list, s.volumeAndClaim(i)...)
	}
	for i := claimNames; i < volumeNames; i++ {
		list = append(list, s.Volume(i))
	}
	for i := range s.Zones {
		if s.Percent(70) {
			list = append(list, s.StorageCapacity(i))
		}
	}
	return list
}

// StorageClass draws the i-th class. How it binds belongs to the name.
func (s *Source) StorageClass(i int) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: storageClasses[i]}}
	c.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
	c.Provisioner = storageDrivers[0]
	switch storageClasses[i] {
	case "late":
		c.Provisioner = "kubernetes.io/no-provisioner"
	case "made":
		if s.Percent(20) {
			c.Provisioner = storageDrivers[1]
		}
	case "made-here":
		c.AllowedTopologies = s.topologies()
	case "soon":
		c.VolumeBindingMode = new(storagev1.VolumeBindingImmediate)
	case "odd":
		c.VolumeBindingMode = nil
	}
	return c
}

func (s *Source) topologies() []v1.TopologySelectorTerm {
	var terms []v1.TopologySelectorTerm
	for range s.IntN(3) {
		t := v1.TopologySelectorTerm{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{
			{Key: v1.LabelTopologyZone, Values: []string{s.zone(), s.zone()}}}}
		if s.Percent(30) {
			t.MatchLabelExpressions = append(t.MatchLabelExpressions, v1.TopologySelectorLabelRequirement{Key: "rack", Values: []string{Pick(s, "a", "b", "c")}})
		}
		terms = append(terms, t)
	}
	return terms
}

// StorageDriver draws the i-th driver.
func (s *Source) StorageDriver(i int) *storagev1.CSIDriver {
	d := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: storageDrivers[i]}}
	if s.Percent(80) {
		d.Spec.StorageCapacity = new(s.Percent(60))
	}
	if s.Percent(50) {
		d.Spec.PreventPodSchedulingIfMissing = new(s.Percent(50))
	}
	return d
}

// NodeStorage draws what a node has of drivers.
func (s *Source) NodeStorage(node string) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for _, name := range storageDrivers {
		if !s.Percent(70) {
			continue
		}
		d := storagev1.CSINodeDriver{Name: name, NodeID: node}
		if s.Percent(70) {
			d.Allocatable = &storagev1.VolumeNodeResources{}
			if s.Percent(90) {
				d.Allocatable.Count = new(int32(Pick(s, 0, 1, 1, 2, 3, 20)))
			}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	if s.Percent(50) {
		n.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: Pick(s, "kubernetes.io/gce-pd", "kubernetes.io/gce-pd,kubernetes.io/aws-ebs", "kubernetes.io/aws-ebs")}
	}
	return n
}

// StorageCapacity draws the i-th capacity. No node sees two of a class: which of
// two is enough kube-scheduler finds out in the order of a map. Nor is there one
// with a largest size and no capacity, over whose score kube-scheduler panics
// (plugins/volumebinding/volume_binding.go Score, 1.37.1).
func (s *Source) StorageCapacity(i int) *storagev1.CSIStorageCapacity {
	c := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: Namespaces[0], Name: fmt.Sprintf("room%d", i)}}
	c.StorageClassName = storageClasses[1+i%2]
	c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelTopologyZone: fmt.Sprintf("z%d", i)}}
	if s.Percent(10) {
		c.NodeTopology = nil
	}
	if s.Percent(85) {
		c.Capacity = new(s.quantities("0", "1Gi", "2Gi", "3Gi", "100Gi"))
	}
	if s.Percent(30) && c.Capacity != nil {
		c.MaximumVolumeSize = new(s.quantities("0", "1Gi", "2Gi", "50Gi"))
	}
	return c
}

// Volume draws the i-th volume, of nobody. No two are of the same size: which of
// two is taken kube-scheduler finds out in the order of a map.
func (s *Source) Volume(i int) *v1.PersistentVolume {
	v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: VolumeName(i), Labels: s.volumeLabels()}}
	v.Spec.StorageClassName = Pick(s, "late", "late", "late", "made", "soon", "")
	size := s.quantities("1Gi", "2Gi", "3Gi", "5Gi")
	size.Add(*resource.NewQuantity(int64(i), resource.BinarySI))
	v.Spec.Capacity = v1.ResourceList{v1.ResourceStorage: size}
	v.Spec.AccessModes = s.accessModes()
	v.Spec.VolumeMode = s.volumeMode()
	if s.Percent(50) {
		v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: s.volumeNodes()}
	}
	v.Spec.PersistentVolumeSource = s.volumeSource(i)
	if v.Spec.GCEPersistentDisk != nil {
		v.Labels = nil // its driver has another idea of what a zone's name is
	}
	v.Status.Phase = v1.VolumeAvailable
	if s.Percent(8) {
		v.Status.Phase = Pick(s, v1.VolumeReleased, v1.VolumeFailed, v1.VolumePending, "")
	}
	if s.Percent(4) {
		v.DeletionTimestamp = &metav1.Time{}
	}
	return v
}

func (s *Source) volumeLabels() map[string]string {
	l := map[string]string{}
	if s.Percent(30) {
		l["kind"] = Pick(s, "fast", "slow")
	}
	if s.Percent(40) {
		l[Pick(s, v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone)] = Pick(s, "z0", "z1", "z0__z1", "z2__z1__z0", "")
	}
	if s.Percent(10) {
		l[Pick(s, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaRegion)] = Pick(s, "r1", "r2")
	}
	return l
}

func (s *Source) accessModes() []v1.PersistentVolumeAccessMode {
	modes := []v1.PersistentVolumeAccessMode{Pick(s, v1.ReadWriteOnce, v1.ReadWriteOnce, v1.ReadWriteMany, v1.ReadWriteOncePod, v1.ReadWriteOncePod)}
	if s.Percent(40) {
		modes = append(modes, Pick(s, v1.ReadOnlyMany, v1.ReadWriteMany))
	}
	return modes
}

func (s *Source) volumeMode() *v1.PersistentVolumeMode {
	if s.Percent(80) {
		return nil
	}
	return new(Pick(s, v1.PersistentVolumeFilesystem, v1.PersistentVolumeBlock))
}

// volumeNodes are the nodes from which a volume can be used.
func (s *Source) volumeNodes() *v1.NodeSelector {
	in := func(key string, values ...string) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}}}
	}
	switch s.IntN(4) {
	case 0:
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in(v1.LabelHostname, NodeName(s.IntN(s.Nodes)))}}
	case 1:
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in(v1.LabelHostname, NodeName(s.IntN(s.Nodes)), NodeName(s.IntN(s.Nodes)))}}
	case 2:
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in("rack", Pick(s, "a", "b", "c")), in(v1.LabelTopologyZone, "z0")}}
	}
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in(v1.LabelTopologyZone, Pick(s, "z0", "z1", "z2"), "z3")}}
}

func (s *Source) volumeSource(i int) v1.PersistentVolumeSource {
	switch s.IntN(6) {
	case 0:
		return v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/disk"}}
	case 1:
		return v1.PersistentVolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: fmt.Sprintf("pd%d", i)}}
	case 2:
		return v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/x"}}
	}
	// Several may be the same piece of storage.
	return v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: Pick(s, storageDrivers...), VolumeHandle: fmt.Sprintf("h%d", s.IntN(volumeNames))}}
}

// VolumeClaim draws the i-th claim, without a volume.
func (s *Source) VolumeClaim(i int) *v1.PersistentVolumeClaim {
	c := s.volumeClaim(claimNamespace(i), volumeClaimName(i))
	if s.Percent(5) {
		c.Spec.VolumeName = VolumeName(i) // asked for by name, and not given yet
	}
	return c
}

func (s *Source) volumeClaim(namespace, name string) *v1.PersistentVolumeClaim {
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("claim-" + name), Annotations: map[string]string{}}}
	class := Pick(s, "late", "late", "late", "made", "made", "made-here", "made-here", "soon", "odd", "ghost", "")
	switch {
	case s.Percent(90):
		c.Spec.StorageClassName = &class
	case s.Percent(50):
		// The annotation counts, but kube-scheduler panics where it is alone and
		// the capacity for the claim is scored (plugins/volumebinding/
		// volume_binding.go Score, 1.37.1).
		c.Annotations[v1.BetaStorageClassAnnotation] = class
		c.Spec.StorageClassName = &class
	}
	c.Spec.AccessModes = s.accessModes()
	c.Spec.VolumeMode = s.volumeMode()
	c.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: s.quantities("512Mi", "1Gi", "2Gi", "2Gi", "4Gi")}
	if s.Percent(15) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"kind": Pick(s, "fast", "slow")}}
	}
	c.Status.Phase = v1.ClaimPending
	if s.Percent(8) {
		c.Annotations["volume.kubernetes.io/selected-node"] = NodeName(s.IntN(s.Nodes))
	}
	if s.Percent(4) {
		c.DeletionTimestamp = &metav1.Time{}
	}
	return c
}

// volumeAndClaim draws the i-th claim and volume: mostly both, and some that
// belong together.
func (s *Source) volumeAndClaim(i int) []runtime.Object {
	v, c := s.Volume(i), s.VolumeClaim(i)
	switch {
	case s.Percent(40):
		Bind(v, c)
		if s.Percent(8) {
			c.Status.Phase = v1.ClaimLost
		}
		if s.Percent(8) {
			return []runtime.Object{c} // the volume is gone
		}
	case s.Percent(15): // kept for the claim
		v.Spec.ClaimRef = &v1.ObjectReference{Namespace: c.Namespace, Name: c.Name}
		if s.Percent(50) {
			v.Spec.ClaimRef.UID = c.UID
		}
		if s.Percent(20) {
			v.Spec.ClaimRef.UID = "another"
		}
	case s.Percent(8):
		return []runtime.Object{v}
	case s.Percent(8):
		return []runtime.Object{c}
	}
	return []runtime.Object{v, c}
}

// Bind makes the volume and the claim belong to each other for good, as the
// volume controller leaves them.
func Bind(v *v1.PersistentVolume, c *v1.PersistentVolumeClaim) {
	v.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	v.Status.Phase = v1.VolumeBound
	c.Spec.VolumeName = v.Name
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	c.Status.Phase = v1.ClaimBound
}

// VolumeAttachment draws an attachment of a volume to a node.
func (s *Source) VolumeAttachment(i int, node string) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("attachment%d", i)}}
	a.Spec.Attacher, a.Spec.NodeName = Pick(s, storageDrivers...), node
	a.Spec.Source.PersistentVolumeName = new(VolumeName(s.IntN(volumeNames)))
	a.Status.Attached = s.Percent(80)
	return a
}

// volumes draws the volumes of a pod.
func (s *Source) volumes(p *v1.Pod) {
	if !s.Storage || s.Percent(15) {
		return
	}
	// Of a claim that it uses twice kube-scheduler makes two, with a volume each.
	used := map[string]bool{}
	for i := range 1 + s.IntN(3) {
		v := s.podVolume(p.Namespace)
		if c := v.PersistentVolumeClaim; c != nil && used[c.ClaimName] {
			continue
		} else if c != nil {
			used[c.ClaimName] = true
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("vol%d", i), VolumeSource: v})
	}
}

func (s *Source) podVolume(namespace string) v1.VolumeSource {
	switch {
	case s.Percent(65):
		name := volumeClaimName(s.IntN(claimNames+1) / 2 * 2) // of the first namespace
		if namespace != Namespaces[0] {
			name = volumeClaimName(s.IntN(claimNames)/2*2 + 1)
		}
		return v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
	case s.Percent(30):
		return v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{}}}
	case s.Percent(30):
		return v1.VolumeSource{CSI: &v1.CSIVolumeSource{Driver: Pick(s, storageDrivers...)}}
	}
	readOnly := s.Percent(40)
	name := fmt.Sprintf("disk%d", s.IntN(3))
	switch s.IntN(5) {
	case 0:
		return v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
	case 1:
		return v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: name, ReadOnly: readOnly}}
	case 2:
		return v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{IQN: name, ReadOnly: readOnly}}
	case 3:
		return v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: append(some(s, 1, "a", "b"), "c"), RBDPool: Pick(s, "p", "q"), RBDImage: name, ReadOnly: readOnly}}
	}
	return v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}
}

// ClaimsOf draws the claims that are made for the pod alone: those of its
// ephemeral volumes. Some are missing, or made for another.
func (s *Source) ClaimsOf(p *v1.Pod) []runtime.Object {
	var list []runtime.Object
	for _, v := range p.Spec.Volumes {
		if v.Ephemeral == nil || s.Percent(10) {
			continue
		}
		c := s.volumeClaim(p.Namespace, p.Name+"-"+v.Name)
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
		if s.Percent(10) {
			c.OwnerReferences[0].UID = "another"
		}
		list = append(list, c)
	}
	return list
}

// Made draws the volume that a driver makes for the claim, on the node that has
// been selected.
func (s *Source) Made(c *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + c.Namespace + "-" + c.Name}}
	v.Spec.StorageClassName = c.Annotations[v1.BetaStorageClassAnnotation]
	if c.Spec.StorageClassName != nil {
		v.Spec.StorageClassName = *c.Spec.StorageClassName
	}
	v.Spec.AccessModes, v.Spec.VolumeMode = c.Spec.AccessModes, c.Spec.VolumeMode
	v.Spec.Capacity = c.Spec.Resources.Requests
	v.Spec.PersistentVolumeSource = v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: storageDrivers[0], VolumeHandle: v.Name}}
	if s.Percent(50) {
		v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{c.Annotations["volume.kubernetes.io/selected-node"]}}}}}}}
	}
	return v
}
