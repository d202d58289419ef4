package scenario

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// volumes is about VolumeBinding, VolumeRestrictions, VolumeZone and
// NodeVolumeLimits.
var volumes = []Scenario{
	{Name: "volumes/a claim that is not there", Run: claimMissing},
	{Name: "volumes/a claim that is to be bound first", Run: claimImmediate},
	{Name: "volumes/the pod goes where its volume is", Run: volumeAffinity},
	{Name: "volumes/a volume is chosen with the node", Run: volumeWaits},
	{Name: "volumes/a volume is made for the node", Run: volumeDynamic},
	{Name: "volumes/a volume is made where there is storage left", Run: storageCapacity},
	{Name: "volumes/a claim for one pod at a time", Run: readWriteOncePod},
	{Name: "volumes/a node attaches so many and no more", Run: volumeLimits},
	{Name: "volumes/a volume is in a zone", Run: volumeZone},
}

const (
	driver = "csi.example.com"
	fast   = "fast" // the name of the storage class
	binder = "persistentvolume-binder-controller"
)

// notPlaced waits until the pod says that it is not placed on the only node, and why.
// In kube-scheduler 1.37.1 preemption is not tried then: the PostFilter of
// DynamicResources, which was not asked before, fails with "not found"
// (plugins/dynamicresources/dynamicresources.go), and the message says no more.
func notPlaced(t *testing.T, e *Env, why string) {
	t.Helper()
	more := "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
	if e.Kind == controlplane.Kube {
		more = "not found"
	}
	e.Unschedulable(t, "p", "0/1 nodes are available: "+why+". "+more)
}

// csiNode says that the driver is on the node, and how many volumes the node attaches;
// 0 means that it does not say.
func csiNode(node string, limit int32) *storagev1.CSINode {
	d := storagev1.CSINodeDriver{Name: driver, NodeID: node}
	if limit > 0 {
		d.Allocatable = &storagev1.VolumeNodeResources{Count: &limit}
	}
	return st.MakeCSINode().Name(node).Driver(d).Obj()
}

func claimMissing(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj(), csiNode("n", 0))
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").PVC("data").Obj())
	notPlaced(t, e, `persistentvolumeclaim "data" not found`)
	e.CreateBound(t, cluster.Volume("data", fast, driver).Obj())
	e.BoundTo(t, "p", "n")
}

func claimImmediate(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj(), csiNode("n", 0), cluster.StorageClass(fast, "kubernetes.io/no-provisioner", storagev1.VolumeBindingImmediate))
	e.Schedule(t, "")
	e.Create(t, cluster.Claim("data", fast).Obj(), cluster.Pod("p").PVC("data").Obj())
	notPlaced(t, e, "pod has unbound immediate PersistentVolumeClaims")
	e.Controllers(t, binder)
	e.Create(t, cluster.Volume("disk", fast, driver).Obj()) // which the controller binds
	e.BoundTo(t, "p", "n")
}

func volumeAffinity(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj())
	e.CreateBound(t, cluster.LocalVolume("data", fast, "b"))
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").PVC("data").Obj())
	e.BoundTo(t, "p", "b")
	e.Create(t, cluster.Pod("on-a").PVC("data").NodeSelector(map[string]string{cluster.Hostname: "a"}).Obj())
	e.Unschedulable(t, "on-a", "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, "+
		"1 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: "+
		"2 Preemption is not helpful for scheduling.")
}

func volumeWaits(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj(), cluster.Node("c").Obj(),
		cluster.StorageClass(fast, "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
		cluster.Claim("data", fast).Obj(), cluster.LocalVolume("disk-b", fast, "b"))
	e.Controllers(t, binder)
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").PVC("data").Obj())
	e.BoundTo(t, "p", "b")
	e.AwaitClaim(t, "data", "is bound to the disk", func(c *corev1.PersistentVolumeClaim) error {
		if c.Spec.VolumeName != "disk-b" || c.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("it is %s to %q", c.Status.Phase, c.Spec.VolumeName)
		}
		return nil
	})
	e.Create(t, cluster.Claim("more", fast).Obj(), cluster.Pod("q").PVC("more").Obj())
	e.Unschedulable(t, "q", "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. "+
		"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
	e.Create(t, cluster.LocalVolume("disk-c", fast, "c"))
	e.BoundTo(t, "q", "c")
}

// selectedNode is the annotation by which the scheduler asks for a volume.
const selectedNode = "volume.kubernetes.io/selected-node"

func volumeDynamic(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj(), csiNode("a", 0), csiNode("b", 0),
		cluster.StorageClass(fast, driver, storagev1.VolumeBindingWaitForFirstConsumer))
	e.Controllers(t, binder)
	e.Schedule(t, "")
	e.Create(t, cluster.Claim("data", fast).Obj(), cluster.Pod("p").PVC("data").NodeSelector(map[string]string{cluster.Hostname: "b"}).Obj())
	// What an external provisioner does.
	claim := e.AwaitClaim(t, "data", "is to be made", func(c *corev1.PersistentVolumeClaim) error {
		if got := c.Annotations[selectedNode]; got != "b" {
			return fmt.Errorf("it is for node %q", got)
		}
		return nil
	})
	e.NotBound(t, "p")
	made := cluster.Volume("made", fast, driver).NodeAffinityIn(cluster.Hostname, []string{"b"}).Obj()
	made.Spec.ClaimRef = cluster.ClaimRef("data")
	made.Spec.ClaimRef.UID = claim.UID
	e.Create(t, made)
	e.BoundTo(t, "p", "b")
}

func storageCapacity(t *testing.T, e *Env) {
	left := func(node, amount string) *storagev1.CSIStorageCapacity {
		c := st.MakeCSIStorageCapacity().Name(node).StorageClassName(fast).Capacity(ptr.To(resource.MustParse(amount))).Obj()
		c.Namespace = cluster.Namespace
		c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{cluster.Hostname: node}}
		return c
	}
	csi := st.MakeCSIDriver().Name(driver).StorageCapacity(ptr.To(true)).Obj()
	e.Create(t, cluster.Node("full").Obj(), cluster.Node("roomy").Obj(), csiNode("full", 0), csiNode("roomy", 0), csi,
		cluster.StorageClass(fast, driver, storagev1.VolumeBindingWaitForFirstConsumer), left("full", "100Mi"), left("roomy", "100Gi"))
	e.Schedule(t, "")
	e.Create(t, cluster.Claim("data", fast).Obj(), cluster.Pod("p").PVC("data").Obj())
	e.AwaitClaim(t, "data", "is to be made on the node with room", func(c *corev1.PersistentVolumeClaim) error {
		if got := c.Annotations[selectedNode]; got != "roomy" {
			return fmt.Errorf("it is for node %q", got)
		}
		return nil
	})
	e.Create(t, cluster.Claim("other", fast).Obj(), cluster.Pod("q").PVC("other").NodeSelector(map[string]string{cluster.Hostname: "full"}).Obj())
	e.Unschedulable(t, "q", "0/2 nodes are available: 1 node(s) did not have enough free storage, "+
		"1 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: "+
		"2 Preemption is not helpful for scheduling.")
}

func readWriteOncePod(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj(), csiNode("a", 0), csiNode("b", 0))
	e.CreateBound(t, cluster.Volume("data", fast, driver).AccessModes([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("first").PVC("data").Obj())
	e.Bound(t, "first")
	e.Create(t, cluster.Pod("second").PVC("data").Obj())
	e.Unschedulable(t, "second", "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "+
		"access mode already in-use by another pod. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.")
	e.Delete(t, cluster.Pod("first").Obj())
	e.Bound(t, "second")
}

func volumeLimits(t *testing.T, e *Env) {
	strict := st.MakeCSIDriver().Name(driver).Obj()
	strict.Spec.PreventPodSchedulingIfMissing = ptr.To(true)
	e.Create(t, strict, cluster.Node("n").Obj(), cluster.Node("no-driver").Obj(), csiNode("n", 1), st.MakeCSINode().Name("no-driver").Obj())
	e.CreateBound(t, cluster.Volume("one", fast, driver).Obj())
	e.CreateBound(t, cluster.Volume("two", fast, driver).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("first").PVC("one").Obj())
	e.BoundTo(t, "first", "n")
	e.Create(t, cluster.Pod("same").PVC("one").Obj())
	e.BoundTo(t, "same", "n") // it is attached already
	e.Create(t, cluster.Pod("second").PVC("two").Obj())
	e.Unschedulable(t, "second", "0/2 nodes are available: 1 csi.example.com CSI driver is not installed on the node, "+
		"1 node(s) exceed max volume count. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.")
	e.Delete(t, cluster.Pod("first").Obj(), cluster.Pod("same").Obj())
	e.BoundTo(t, "second", "n")
}

func volumeZone(t *testing.T, e *Env) {
	e.Create(t, cluster.ZonedNode("a1", "a").Obj(), cluster.ZonedNode("b1", "b").Obj(), csiNode("a1", 0), csiNode("b1", 0))
	e.CreateBound(t, cluster.Volume("data", fast, driver).Label(cluster.Zone, "b").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").PVC("data").Obj())
	e.BoundTo(t, "p", "b1")
	e.Create(t, cluster.Pod("in-a").PVC("data").NodeSelector(map[string]string{cluster.Zone: "a"}).Obj())
	e.Unschedulable(t, "in-a", "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "+
		"1 node(s) had no available volume zone. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
}
