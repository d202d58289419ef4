package sidebyside

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// driver is the storage driver of all volumes. Each node can have as many as
// kube-scheduler's own benchmark allows (scheduler_perf, SchedulingCSIPVs).
const (
	driver     = "ebs.csi.aws.com"
	mostOnNode = 39
)

// nodeObjects makes what the i-th node has besides itself.
func (r Row) nodeObjects(i int) []runtime.Object {
	list := []runtime.Object{&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: nodeName(i), Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(mostOnNode))}}}}}}
	if r.ofNode != nil {
		list = append(list, r.ofNode(i)...)
	}
	return list
}

// hasVolume gives the pod a volume of its own.
func hasVolume(p *v1.Pod, _ bool) {
	p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: p.Name}}}}
}

// volumeOf makes the pod's volume and its claim, which belong to each other.
func volumeOf(p *v1.Pod) []runtime.Object {
	if len(p.Spec.Volumes) == 0 {
		return nil
	}
	volume, claim := boundVolume(p)
	return []runtime.Object{volume, claim}
}

// volumeOfZone is volumeOf, where the volume can be used in one zone only.
func volumeOfZone(p *v1.Pod) []runtime.Object {
	if len(p.Spec.Volumes) == 0 {
		return nil
	}
	volume, claim := boundVolume(p)
	zone := fmt.Sprintf("zone-%d", int(p.Name[len(p.Name)-1])%zones)
	if p.Spec.NodeName != "" {
		zone = zoneOf(p.Spec.NodeName)
	}
	volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{zone}}}}}}}
	return []runtime.Object{volume, claim}
}

func boundVolume(p *v1.Pod) (*v1.PersistentVolume, *v1.PersistentVolumeClaim) {
	size := v1.ResourceList{v1.ResourceStorage: amounts(0, 1<<30)[v1.ResourceMemory]}
	once := []v1.PersistentVolumeAccessMode{v1.ReadOnlyMany}
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID("claim-" + p.Name), Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "true"}},
		Spec:       v1.PersistentVolumeClaimSpec{VolumeName: p.Name, AccessModes: once, Resources: v1.VolumeResourceRequirements{Requests: size}},
		Status:     v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound},
	}
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name},
		Spec: v1.PersistentVolumeSpec{Capacity: size, AccessModes: once, ClaimRef: &v1.ObjectReference{Namespace: p.Namespace, Name: p.Name, UID: claim.UID},
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: p.Name}}},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeBound},
	}
	return volume, claim
}

// The classes of which volumes are made for the first pod that needs them. Of the
// second it is known how much room is left in each zone.
const (
	anywhere  = "anywhere"
	whereRoom = "where-room"
)

// classesOfVolumes makes the classes, their drivers, and what room there is.
func classesOfVolumes() []runtime.Object {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	counts := "room." + driver
	list := []runtime.Object{
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: anywhere}, Provisioner: driver, VolumeBindingMode: &wait},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: whereRoom}, Provisioner: counts, VolumeBindingMode: &wait},
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}},
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: counts}, Spec: storagev1.CSIDriverSpec{StorageCapacity: new(true)}},
	}
	for i := range zones {
		zone := fmt.Sprintf("zone-%d", i)
		list = append(list, &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: zone}, StorageClassName: whereRoom,
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelTopologyZone: zone}}, Capacity: new(*resource.NewQuantity(1<<40, resource.BinarySI))})
	}
	return list
}

// claimToMake makes claims of the class without a volume. Those of pods that are
// there already have one.
func claimToMake(class string) func(*v1.Pod) []runtime.Object {
	return func(p *v1.Pod) []runtime.Object {
		if len(p.Spec.Volumes) == 0 {
			return nil
		}
		volume, claim := boundVolume(p)
		volume.Spec.StorageClassName, claim.Spec.StorageClassName = class, &class
		if p.Spec.NodeName != "" {
			return []runtime.Object{volume, claim}
		}
		claim.Annotations, claim.Spec.VolumeName, claim.Status.Phase = nil, "", v1.ClaimPending
		return []runtime.Object{claim}
	}
}
