package sidebyside

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// volumes are about pods with volumes: each has one of its own, read-only, that is
// bound to its claim already, except for the last row.
var volumes = []Workload{
	{
		Name: "secrets", Upstream: "volumes/SchedulingSecrets", UpstreamCounts: Counts{Nodes: 5000, Placed: 1000, Measured: 10000},
		placed: []maker{withSecret}, measured: withSecret,
	},
	{
		Name: "intreepvs", Upstream: "volumes/SchedulingInTreePVs", UpstreamCounts: Counts{Nodes: 5000, Placed: 1000, Measured: 2000},
		owned: volumesOf(inTree), placed: []maker{withVolume(small)}, measured: withVolume(small),
	},
	{
		Name: "migratedpvs", Upstream: "volumes/SchedulingMigratedInTreePVs",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		node:           attachingNode, objects: csiNodes(map[string]string{migratedPlugins: "kubernetes.io/aws-ebs"}),
		owned: volumesOf(inTree), placed: []maker{withVolume(small)}, measured: withVolume(small),
	},
	{
		Name: "csipvs", Upstream: "volumes/SchedulingCSIPVs", UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		node: attachingNode, objects: csiNodes(nil),
		owned: volumesOf(csi), placed: []maker{withVolume(small)}, measured: withVolume(small),
	},
	{
		Name: "dynamicpvs", counts: func(nodes int) Counts { return Counts{Nodes: nodes, Measured: min(most, nodes)} },
		node: attachingNode, objects: dynamic, owned: unboundClaims, measured: withVolume(small), beside: provision,
	},
}

const (
	ebs             = "ebs.csi.aws.com"
	attachable      = 39 // volumes that a node can have
	migratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins"
)

// attachingNode says how many volumes it can have, as kubelets did for old.
func attachingNode(i int) *corev1.Node {
	capacity := size()
	capacity["attachable-volumes-csi-"+ebs] = "39"
	return makeNode(i, capacity).Obj()
}

// csiNodes says of all nodes how many volumes the driver can attach there.
func csiNodes(annotations map[string]string) func(Counts) []runtime.Object {
	return func(n Counts) []runtime.Object {
		var all []runtime.Object
		for i := range n.Nodes {
			node := st.MakeCSINode().Name(nodeName(i)).Driver(storagev1.CSINodeDriver{
				Name: ebs, NodeID: nodeName(i), Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](attachable)},
			}).Obj()
			node.Annotations = annotations
			all = append(all, node)
		}
		return all
	}
}

// withVolume makes pods that each have a claim of their own name.
func withVolume(of maker) maker {
	return func(p *st.PodWrapper, i int) *st.PodWrapper { return of(p, i).PVC(p.Obj().Name) }
}

func csi(name string) corev1.PersistentVolumeSource {
	return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: ebs, VolumeHandle: name}}
}

// inTree is a volume of the kind that Kubernetes once served itself.
func inTree(name string) corev1.PersistentVolumeSource {
	return corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-" + name}}
}

// volumesOf makes the claims that pods have, and volumes that are bound to them.
func volumesOf(source func(name string) corev1.PersistentVolumeSource) func(*corev1.Pod, int) []runtime.Object {
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
	return func(p *corev1.Pod, _ int) []runtime.Object {
		var all []runtime.Object
		for _, v := range p.Spec.Volumes {
			name := v.PersistentVolumeClaim.ClaimName
			volume := cluster.Volume(name, "", ebs).AccessModes(modes).PersistentVolumeSource(source(name)).Obj()
			volume.Spec.ClaimRef = cluster.ClaimRef(name)
			volume.Status.Phase = corev1.VolumeBound
			all = append(all, volume, cluster.BoundClaim(volume))
		}
		return all
	}
}

// byNode is the class of volumes that are made for the node that is chosen.
const byNode = "by-node"

func dynamic(n Counts) []runtime.Object {
	return append(csiNodes(nil)(n), cluster.StorageClass(byNode, ebs, storagev1.VolumeBindingWaitForFirstConsumer))
}

// unboundClaims makes the claims that pods have, and nothing that they could get.
func unboundClaims(p *corev1.Pod, _ int) []runtime.Object {
	var all []runtime.Object
	for _, v := range p.Spec.Volumes {
		all = append(all, cluster.Claim(v.PersistentVolumeClaim.ClaimName, byNode).Obj())
	}
	return all
}
