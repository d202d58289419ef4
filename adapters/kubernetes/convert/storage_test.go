package convert

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/model"
)

// podVolumes are a few volumes with one source each.
func (g *generator) podVolumes() []v1.Volume {
	names := []string{"a", "b", "c"}
	var list []v1.Volume
	for i := range g.IntN(4) {
		name, readOnly := oneOf(g, names), g.p(50)
		list = append(list, v1.Volume{Name: fmt.Sprint("v", i), VolumeSource: oneOf(g, []v1.VolumeSource{
			{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: oneOf(g, names, "", "\xff")}},
			{Ephemeral: &v1.EphemeralVolumeSource{}},
			{EmptyDir: &v1.EmptyDirVolumeSource{}},
			{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}},
			{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: oneOf(g, []string{"vol-1", "aws://z/vol-1"}, "aws://z/1", "aws://%"), ReadOnly: readOnly}},
			{AzureDisk: &v1.AzureDiskVolumeSource{DataDiskURI: name, Kind: oneOf(g, []*v1.AzureDataDiskKind{nil, new(v1.AzureManagedDisk)}, new(v1.AzureSharedBlobDisk))}},
			{Cinder: &v1.CinderVolumeSource{VolumeID: name}},
			{PortworxVolume: &v1.PortworxVolumeSource{VolumeID: name}},
			{ISCSI: &v1.ISCSIVolumeSource{IQN: name, ReadOnly: readOnly}},
			{RBD: &v1.RBDVolumeSource{CephMonitors: []string{name, oneOf(g, names)}, RBDPool: oneOf(g, names[:2]), RBDImage: oneOf(g, names[:2]), ReadOnly: readOnly}},
			{AzureFile: &v1.AzureFileVolumeSource{}},
		})})
	}
	return list
}

func (g *generator) modes() []v1.PersistentVolumeAccessMode {
	return some(g, 2, func() v1.PersistentVolumeAccessMode {
		return oneOf(g, []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce, v1.ReadOnlyMany, v1.ReadWriteMany, v1.ReadWriteOncePod}, "", "Sometimes")
	})
}

func (g *generator) volumeMode() *v1.PersistentVolumeMode {
	return maybe(g, func() v1.PersistentVolumeMode {
		return oneOf(g, []v1.PersistentVolumeMode{v1.PersistentVolumeFilesystem, v1.PersistentVolumeBlock}, "", "Raw")
	})
}

func (g *generator) bytes() v1.ResourceList {
	return v1.ResourceList{v1.ResourceStorage: resource.MustParse(oneOf(g, []string{"0", "1500m", "1Gi", "10Gi"}, badAmounts...))}
}

func (g *generator) volumeClaim(i int) *v1.PersistentVolumeClaim {
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: oneOf(g, []string{fmt.Sprint("c", i)}, "", "\xff"), Annotations: map[string]string{}}}
	c.Spec.AccessModes, c.Spec.VolumeMode, c.Spec.Resources.Requests, c.Spec.Selector = g.modes(), g.volumeMode(), g.bytes(), g.labelSelector()
	if g.p(50) {
		c.Spec.VolumeName = "v"
		c.Status.Phase = oneOf(g, []v1.PersistentVolumeClaimPhase{v1.ClaimPending, v1.ClaimBound, v1.ClaimLost})
	} else {
		c.Status.Phase = oneOf(g, []v1.PersistentVolumeClaimPhase{"", v1.ClaimPending}, v1.ClaimLost)
	}
	if g.p(50) {
		c.Annotations[storagehelpers.AnnBindCompleted] = "yes"
	}
	if g.p(30) {
		c.Annotations[storagehelpers.AnnSelectedNode] = oneOf(g, nodeNames, "")
	}
	return c
}

func (g *generator) volume(i int) *v1.PersistentVolume {
	v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, []string{fmt.Sprint("v", i)}, "", "\xff"), Labels: g.labels()}}
	v.Spec.AccessModes, v.Spec.VolumeMode, v.Spec.Capacity = g.modes(), g.volumeMode(), g.bytes()
	if g.p(50) {
		v.Spec.ClaimRef = &v1.ObjectReference{Namespace: "default", Name: oneOf(g, []string{"c"}, ""), UID: types.UID(oneOf(g, []string{"", "u"}))}
	}
	if g.p(70) {
		terms := some(g, 3, func() v1.NodeSelectorTerm { return g.nodeTerm(oddValues, oddValues) })
		if len(terms) > 0 || g.wild {
			v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: terms}}
		}
	}
	v.Status.Phase = oneOf(g, []v1.PersistentVolumePhase{"", v1.VolumeAvailable, v1.VolumeBound, v1.VolumeReleased, v1.VolumeFailed, v1.VolumePending}, "Ready")
	v.Spec.PersistentVolumeSource = oneOf(g, []v1.PersistentVolumeSource{
		{CSI: &v1.CSIPersistentVolumeSource{Driver: oneOf(g, []string{"csi.example.com"}, ""), VolumeHandle: "h"}},
		{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "d"}},
		{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: oneOf(g, []string{"vol-1", "aws:///vol-1", "aws://z/1"})}},
		{AzureDisk: &v1.AzureDiskVolumeSource{DataDiskURI: "d", Kind: oneOf(g, []*v1.AzureDataDiskKind{nil, new(v1.AzureManagedDisk), new(v1.AzureSharedBlobDisk)})}},
		{Cinder: &v1.CinderPersistentVolumeSource{VolumeID: "d"}},
		{PortworxVolume: &v1.PortworxVolumeSource{VolumeID: "d"}},
		{AzureFile: &v1.AzureFilePersistentVolumeSource{ShareName: "d"}},
		{Local: &v1.LocalVolumeSource{Path: "/d"}},
	})
	return v
}

func (g *generator) storageClass(i int) *storagev1.StorageClass {
	s := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, []string{fmt.Sprint("s", i)}, "", "\xff")}}
	s.Provisioner = oneOf(g, []string{"csi.example.com", "kubernetes.io/gce-pd"})
	s.VolumeBindingMode = maybe(g, func() storagev1.VolumeBindingMode {
		return oneOf(g, []storagev1.VolumeBindingMode{storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer}, "")
	})
	s.AllowedTopologies = some(g, 2, func() v1.TopologySelectorTerm {
		return v1.TopologySelectorTerm{MatchLabelExpressions: some(g, 2, func() v1.TopologySelectorLabelRequirement {
			return v1.TopologySelectorLabelRequirement{Key: oneOf(g, keys, "", "no key!"), Values: oneOf(g, [][]string{{"a"}, {"a", "b"}}, nil, badValues)}
		})}
	})
	return s
}

func (g *generator) nodeStorage() *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, nodeNames, "", "\xff")}}
	n.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: oneOf(g, []string{"", "kubernetes.io/gce-pd", "a,,b"})}
	for _, name := range []string{"a", "b", "c"} {
		d := storagev1.CSINodeDriver{Name: oneOf(g, []string{name}, "", "a", "\xff")}
		if g.p(70) {
			d.Allocatable = &storagev1.VolumeNodeResources{Count: maybe(g, func() int32 { return oneOf(g, []int32{0, 25}, -1) })}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	return n
}

func (g *generator) storageCapacity(i int) *storagev1.CSIStorageCapacity {
	size := func() resource.Quantity { return g.bytes()[v1.ResourceStorage] }
	return &storagev1.CSIStorageCapacity{
		ObjectMeta:       metav1.ObjectMeta{Namespace: "default", Name: oneOf(g, []string{fmt.Sprint("c", i)}, "", "\xff")},
		StorageClassName: oneOf(g, []string{"s"}, ""), NodeTopology: g.labelSelector(), Capacity: maybe(g, size), MaximumVolumeSize: maybe(g, size),
	}
}

func (g *generator) volumeAttachment(i int) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, []string{fmt.Sprint("a", i)}, "", "\xff")}}
	a.Spec.Attacher, a.Spec.NodeName = oneOf(g, []string{"a"}, ""), oneOf(g, nodeNames, "")
	a.Spec.Source.PersistentVolumeName = maybe(g, func() string { return oneOf(g, []string{"v"}, "") })
	return a
}

// storageObjects are one of each kind, and what they are translated to: nil where
// that is nothing.
func (g *generator) storageObjects(i int) (list []translated) {
	add := func(from any, to validator, isNil bool, err error) {
		if isNil {
			to = nil
		}
		list = append(list, translated{from, to, err})
	}
	claim, volume, class, driver := g.volumeClaim(i), g.volume(i), g.storageClass(i), &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, []string{"d"}, "")}}
	node, capacity, attachment := g.nodeStorage(), g.storageCapacity(i), g.volumeAttachment(i)
	c, err := VolumeClaim(claim)
	add(claim, c, c == nil, err)
	v, err := Volume(volume)
	add(volume, v, v == nil, err)
	s, err := StorageClass(class)
	add(class, s, s == nil, err)
	d, err := StorageDriver(driver)
	add(driver, d, d == nil, err)
	n, err := NodeStorage(node)
	add(node, n, n == nil, err)
	r, err := StorageCapacity(capacity)
	add(capacity, r, r == nil, err)
	a, err := VolumeAttachment(attachment)
	add(attachment, a, a == nil, err)
	return list
}

type translated struct {
	from any
	to   validator
	err  error
}

// TestStorageThatIsLetInIsTranslated: whatever the API server lets in becomes a
// valid object of the model, without complaint; attachments of volumes without an
// object become nothing.
func TestStorageThatIsLetInIsTranslated(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	for i := range rounds() {
		for _, o := range g.storageObjects(i) {
			if a, ok := o.from.(*storagev1.VolumeAttachment); ok && a.Spec.Source.PersistentVolumeName == nil {
				if o.to != nil || o.err != nil {
					t.Fatalf("%v, %v, of %s", o.to, o.err, show(o.from))
				}
				continue
			}
			if o.to == nil {
				t.Fatalf("nothing is left of %s", show(o.from))
			}
			mustBeValid(t, o.from, o.to, o.err)
		}
	}
}

// TestStorageThatIsLeftIsValid: of an object that nobody should let in, every
// problem is named, and what is left is valid.
func TestStorageThatIsLeftIsValid(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, true)
	for i := range rounds() {
		for _, o := range g.storageObjects(i) {
			a, attachment := o.from.(*storagev1.VolumeAttachment)
			switch {
			case o.to != nil:
				mustBeExplained(t, o.from, o.to, o.err)
			case o.err == nil && (!attachment || a.Spec.Source.PersistentVolumeName != nil && *a.Spec.Source.PersistentVolumeName != ""):
				t.Fatalf("nothing is left, without a word, of %s", show(o.from))
			}
		}
	}
}

// TestVolumesLikeTheReference: from which nodes a volume can be used, and which
// volume of which driver it is, is what the helpers of the scheduler say.
func TestVolumesLikeTheReference(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	translator := csitranslation.New()
	used, stoodIn, failed := map[bool]int{}, 0, 0
	for i := range rounds() {
		v := g.volume(i)
		got, err := Volume(v)
		if err != nil {
			t.Fatal(err)
		}
		node := &model.Node{Name: oneOf(g, nodeNames), Labels: g.labels()}
		want := storagehelpers.CheckNodeAffinity(v, node.Labels) == nil
		used[want]++
		if got.Nodes.Matches(node) != want {
			t.Fatalf("from a node with %v: not %v, of %s", node.Labels, want, show(v))
		}
		if !translator.IsPVMigratable(v) || v.Spec.AzureFile != nil {
			continue
		}
		csi, err := translator.TranslateInTreePVToCSI(klog.Logger{}, v)
		if err != nil {
			if failed++; got.Handle != "" || got.StandInNodes.Matches(node) {
				t.Fatalf("it cannot be translated, but it is %q, and can be used: %s", got.Handle, show(v))
			}
			continue
		}
		plugin, err := translator.GetInTreePluginNameFromSpec(v, nil)
		if err != nil || got.Driver != csi.Spec.CSI.Driver || got.Handle != csi.Spec.CSI.VolumeHandle || got.Plugin != plugin {
			t.Fatalf("it is %q, %q, %q of %s", got.Driver, got.Handle, got.Plugin, show(v))
		}
		nodes := got.Nodes
		if got.StandInNodes != nil {
			nodes, stoodIn = got.StandInNodes, stoodIn+1
		}
		if want := storagehelpers.CheckNodeAffinity(csi, node.Labels) == nil; nodes.Matches(node) != want {
			t.Fatalf("where the driver stands in, from a node with %v: not %v, of %s", node.Labels, want, show(v))
		}
	}
	if used[true] == 0 || used[false] == 0 || stoodIn == 0 || failed == 0 {
		t.Errorf("the test has not tried everything: %v, %d, %d", used, stoodIn, failed)
	}
}

// TestConflictsLikeTheReference: two pods' disks have a key in common, and are
// not both only read, just where the scheduler says that they conflict.
func TestConflictsLikeTheReference(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	seen := map[bool]int{}
	for range rounds() {
		a, b := &v1.Pod{}, &v1.Pod{}
		a.Spec.Volumes, b.Spec.Volumes = g.podVolumes(), g.podVolumes()
		want := false
		for i := range a.Spec.Volumes {
			for j := range b.Spec.Volumes {
				want = want || inEachOthersWay(&a.Spec.Volumes[i], &b.Spec.Volumes[j])
			}
		}
		x, _ := Pod(a)
		y, _ := Pod(b)
		got := false
		for _, d := range x.Disks {
			for _, e := range y.Disks {
				common := map[string]bool{}
				for _, key := range d.Keys {
					common[key] = true
				}
				for _, key := range e.Keys {
					got = got || common[key] && !(d.ReadOnly && e.ReadOnly)
				}
			}
		}
		if got != want {
			t.Fatalf("they conflict: %v, want %v: %s %s", got, want, show(a.Spec.Volumes), show(b.Spec.Volumes))
		}
		seen[want]++
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("the test has not tried everything: %v", seen)
	}
}

// inEachOthersWay is the rule of kube-scheduler
// plugins/volumerestrictions/volume_restrictions.go, 1.37.1.
func inEachOthersWay(a, b *v1.Volume) bool {
	switch {
	case a.GCEPersistentDisk != nil && b.GCEPersistentDisk != nil:
		x, y := a.GCEPersistentDisk, b.GCEPersistentDisk
		return x.PDName == y.PDName && !(x.ReadOnly && y.ReadOnly)
	case a.AWSElasticBlockStore != nil && b.AWSElasticBlockStore != nil:
		return a.AWSElasticBlockStore.VolumeID == b.AWSElasticBlockStore.VolumeID
	case a.ISCSI != nil && b.ISCSI != nil:
		return a.ISCSI.IQN == b.ISCSI.IQN && !(a.ISCSI.ReadOnly && b.ISCSI.ReadOnly)
	case a.RBD != nil && b.RBD != nil:
		x, y := a.RBD, b.RBD
		same := false
		for _, m := range x.CephMonitors {
			for _, n := range y.CephMonitors {
				same = same || m == n
			}
		}
		return same && x.RBDPool == y.RBDPool && x.RBDImage == y.RBDImage && !(x.ReadOnly && y.ReadOnly)
	}
	return false
}

// TestVolumeClaimOwners: a claim that is made for a pod has the identity of the pod as its
// owner, whether the pod has a UID or not.
func TestVolumeClaimOwners(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, uid := range []types.UID{"1", ""} {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: uid}}
		claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p-v", OwnerReferences: []metav1.OwnerReference{
			{Kind: "Other", Name: "o", UID: "2", Controller: &no}, {Kind: "Pod", Name: "p", UID: uid, Controller: &yes},
		}}}
		if c, err := VolumeClaim(claim); err != nil || c.Owner != ID(pod) {
			t.Errorf("%q: the owner is %q, %v", uid, c.Owner, err)
		}
		claim.OwnerReferences[1].Controller = &no
		if c, err := VolumeClaim(claim); err != nil || c.Owner != "" {
			t.Errorf("%q: without a controller the owner is %q, %v", uid, c.Owner, err)
		}
	}
}
