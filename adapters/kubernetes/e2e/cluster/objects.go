package cluster

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// Labels of nodes that say where they are.
const (
	Zone     = corev1.LabelTopologyZone
	Hostname = corev1.LabelHostname
)

// Resources is an amount of each resource, as the wrappers want it.
type Resources = map[corev1.ResourceName]string

// CPU is an amount of CPU alone, such as "1" or "500m".
func CPU(amount string) Resources { return Resources{corev1.ResourceCPU: amount} }

// Pod starts a pod in [Namespace] that is gone at once when it is deleted: nobody
// would shut it down. [Cluster.Create] gives it a container if it has none.
func Pod(name string) *st.PodWrapper {
	return st.MakePod().Name(name).Namespace(Namespace).ZeroTerminationGracePeriod()
}

// Node starts a node with 4 CPUs, 16 GiB and room for 110 pods, whose host name is
// its own.
func Node(name string) *st.NodeWrapper {
	return st.MakeNode().Name(name).Label(Hostname, name).Capacity(Resources{
		corev1.ResourceCPU: "4", corev1.ResourceMemory: "16Gi", corev1.ResourcePods: "110",
	})
}

// ZonedNode starts a [Node] in a zone.
func ZonedNode(name, zone string) *st.NodeWrapper { return Node(name).Label(Zone, zone) }

// App is the selector of the pods whose label app has the value.
func App(value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": value}}
}

// PriorityClass is a class of pods' priorities.
func PriorityClass(name string, value int32) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
}

// WithClass gives the pod the priority of the class.
func WithClass(pod *st.PodWrapper, class string) *st.PodWrapper {
	pod.Spec.PriorityClassName = class
	return pod
}

// Claim starts a claim in [Namespace] to a gibibyte of the storage class, for one
// node at a time.
func Claim(name, class string) *st.PersistentVolumeClaimWrapper {
	return st.MakePersistentVolumeClaim().Name(name).Namespace(Namespace).
		AccessModes([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}).
		StorageClassName(&class).
		Resources(corev1.VolumeResourceRequirements{Requests: gibibyte()})
}

// Volume starts a volume with a gibibyte of the storage class, for one node at a
// time, which the CSI driver serves.
func Volume(name, class, driver string) *st.PersistentVolumeWrapper {
	return volume(name, class, corev1.PersistentVolumeSource{
		CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name},
	})
}

// LocalVolume is a volume as of [Volume] that is a disk of the node.
func LocalVolume(name, class, node string) *corev1.PersistentVolume {
	return volume(name, class, corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/disk"}}).
		NodeAffinityIn(Hostname, []string{node}).Obj()
}

func volume(name, class string, source corev1.PersistentVolumeSource) *st.PersistentVolumeWrapper {
	return st.MakePersistentVolume().Name(name).StorageClassName(class).Capacity(gibibyte()).
		AccessModes([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}).
		PersistentVolumeSource(source)
}

// CreateBound creates the volume and a claim of the same name that are bound to each
// other, as the controller of volumes would have done.
func (c *Cluster) CreateBound(t testing.TB, volume *corev1.PersistentVolume) {
	t.Helper()
	volume.Spec.ClaimRef = ClaimRef(volume.Name)
	claim := BoundClaim(volume)
	c.Create(t, claim, volume)
	c.UpdateStatus(t, claim)
}

// BoundClaim is the claim that the volume is for, bound to it.
func BoundClaim(volume *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	claim := Claim(volume.Spec.ClaimRef.Name, volume.Spec.StorageClassName).VolumeName(volume.Name).Annotation(bindCompleted, "yes").Obj()
	claim.Spec.AccessModes = volume.Spec.AccessModes
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: volume.Spec.AccessModes, Capacity: volume.Spec.Capacity}
	return claim
}

// ClaimRef is how a volume says that it is for the claim.
func ClaimRef(claim string) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: Namespace, Name: claim}
}

// bindCompleted is the annotation of claims that says that their binding is done.
const bindCompleted = "pv.kubernetes.io/bind-completed"

func gibibyte() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
}

// StorageClass is a class of the provisioner.
func StorageClass(name, provisioner string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return st.MakeStorageClass().Name(name).Provisioner(provisioner).VolumeBindingMode(mode).Obj()
}

// complete adds what the API server wants of a pod.
func complete(pod *corev1.Pod) {
	if len(pod.Spec.Containers) == 0 {
		pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if containers[i].Name == "" {
				containers[i].Name = fmt.Sprintf("c%d", i)
			}
			if containers[i].Image == "" {
				containers[i].Image = "example.com/image"
			}
			for j, port := range containers[i].Ports {
				containers[i].Ports[j].ContainerPort = max(port.ContainerPort, port.HostPort)
			}
		}
	}
}
