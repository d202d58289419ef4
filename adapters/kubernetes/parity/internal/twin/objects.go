package twin

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// PutObject adds or replaces an object of storage, devices or groups.
func (t *Twin) PutObject(object runtime.Object) {
	t.tick()
	t.Reference.Put(object)
	change, err := subject.Put(object, t.gates)
	t.check(err)
	t.Subject.Apply(change)
}

// RemoveObject removes an object of storage, devices or groups.
func (t *Twin) RemoveObject(object runtime.Object) {
	t.tick()
	t.Reference.Delete(object)
	change, err := subject.Gone(object)
	t.check(err)
	t.Subject.Apply(change)
}

// ModelObject converts an object of storage or devices.
func (t *Twin) ModelObject(object runtime.Object) model.Object {
	m, err := subject.Object(object)
	t.check(err)
	return m
}

// populateObjects adds what the mood wants besides nodes and pods.
func (t *Twin) populateObjects() {
	var list []runtime.Object
	if t.Storage {
		list = t.StorageObjects()
		for _, name := range t.nodes {
			if t.Percent(85) {
				list = append(list, t.NodeStorage(name))
			}
		}
	}
	if t.Devices {
		list = append(list, t.DeviceObjects(t.nodes)...)
	}
	for _, object := range list {
		t.PutObject(object)
	}
}

// companions adds the objects that are made for a pod alone.
func (t *Twin) companions(p *v1.Pod) {
	if t.Storage {
		for _, object := range t.ClaimsOf(p) {
			t.PutObject(object)
		}
	}
	if t.Devices {
		for _, object := range t.DeviceClaimsOf(p) {
			t.PutObject(object)
		}
	}
}

// AnyObject draws objects of storage or devices as they may be now: some that
// there are, in another form, and some that there are not.
func (t *Twin) AnyObject() []runtime.Object {
	var drawn []runtime.Object
	node := t.AnyNode()
	if node == "" {
		node = generate.NodeName(0)
	}
	if t.Devices {
		drawn = t.AnyDeviceObject(node)
	} else {
		drawn = []runtime.Object{t.AnyStorageObject(node)}
	}
	for i, object := range drawn {
		old := t.Reference.Get(object)
		if old != nil && !t.Devices {
			drawn[i] = generate.Revise(old.DeepCopyObject(), object)
		}
		// What a claim asks for cannot be changed, nor that it is to go.
		if claim, ok := object.(*resourcev1.ResourceClaim); ok && old != nil {
			before := old.(*resourcev1.ResourceClaim).DeepCopy()
			claim.Spec = before.Spec
			if before.DeletionTimestamp != nil {
				claim.DeletionTimestamp = before.DeletionTimestamp
			}
		}
	}
	return drawn
}

// DisturbObjects makes a random change to objects of storage or devices, and
// says what it was.
func (t *Twin) DisturbObjects() string {
	if t.Devices && t.Percent(30) && t.give() {
		return "a claim given devices"
	}
	what := "no change of objects"
	for _, object := range t.AnyObject() {
		old := t.Reference.Get(object)
		switch {
		case old != nil && t.Percent(30):
			t.RemoveObject(old.DeepCopyObject())
			what = fmt.Sprintf("removal of a %T", object)
		case t.replaceable(old, object):
			t.PutObject(object)
			what = fmt.Sprintf("a change of a %T", object)
			if old == nil {
				what = fmt.Sprintf("a new %T", object)
			}
		}
	}
	return strings.ReplaceAll(what, "*v1.", "")
}

// replaceable reports whether the new object may take the place of the old one.
// A claim that has been given something keeps it until it is removed.
func (t *Twin) replaceable(old, object runtime.Object) bool {
	claim, ok := old.(*resourcev1.ResourceClaim)
	return !ok || claim.Status.Allocation == nil && object != nil
}

// give lets somebody else give devices to a claim.
func (t *Twin) give() bool {
	c := t.Source.DeviceClaim(t.IntN(4))
	old, ok := t.Reference.Get(c).(*resourcev1.ResourceClaim)
	if !ok || old.Status.Allocation != nil || old.DeletionTimestamp != nil {
		return false
	}
	var devices []*resourcev1.ResourceSlice
	for _, name := range t.nodes {
		if s, ok := t.Reference.Get(&resourcev1.ResourceSlice{ObjectMeta: named("", name+"-1")}).(*resourcev1.ResourceSlice); ok {
			devices = append(devices, s)
		}
	}
	var pods []string
	if p := t.AnyPod(Placed); p != nil && t.Percent(50) {
		pods = append(pods, p.Name)
	}
	given := t.Given(old, devices, pods)
	if given == nil || t.givenTwice(given.Status.Allocation) {
		return false
	}
	t.PutObject(given)
	return true
}

// givenTwice reports whether a claim has one of the devices already. The
// reference forgets the second claim when the first gives the device back
// (plugins/dynamicresources/allocateddevices.go, 1.37.1).
func (t *Twin) givenTwice(a *resourcev1.AllocationResult) bool {
	for object := range t.Subject.View().Objects(model.DeviceClaimKind) {
		has := object.Object.(*model.DeviceClaim).Allocation
		if has == nil {
			continue
		}
		for _, d := range has.Devices {
			if slices.ContainsFunc(a.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
				return r.ShareID == nil && (model.DeviceID{Driver: r.Driver, Pool: r.Pool, Device: r.Device}) == d.DeviceID
			}) {
				return true
			}
		}
	}
	return false
}

// bindVolumes does what the controllers of volumes do after a cycle that has
// asked for it: volumes and claims belong to each other.
func (t *Twin) bindVolumes() {
	for _, asked := range t.Reference.Volumes() {
		ref := asked.Spec.ClaimRef
		claim, ok := t.Reference.Get(&v1.PersistentVolumeClaim{ObjectMeta: named(ref.Namespace, ref.Name)}).(*v1.PersistentVolumeClaim)
		if !ok {
			continue
		}
		v, c := asked.DeepCopy(), claim.DeepCopy()
		generate.Bind(v, c)
		t.PutObject(v)
		t.PutObject(c)
	}
	for _, asked := range t.Reference.VolumeClaims() {
		c := asked.DeepCopy()
		v := t.Made(c)
		generate.Bind(v, c)
		t.PutObject(v)
		t.PutObject(c)
	}
}

// tellDeviceClaims tells what the last cycle has made of device claims. The
// reference knows already.
func (t *Twin) tellDeviceClaims() {
	claims := t.Reference.DeviceClaims()
	for _, key := range sortedNames(claims) {
		change := engine.RemoveObject(model.ObjectRef{Kind: model.DeviceClaimKind, ID: key})
		if claims[key] != nil {
			var err error
			change, err = subject.Put(claims[key], t.gates)
			t.check(err)
			if c := change.Value().(*model.DeviceClaim); reference.ForResources(claims[key]) {
				c.ID = resourcesClaim(c.Owner) // the engine has given it a name of its own
			}
		}
		t.Subject.Apply(change)
	}
}

// release does what the controllers of device claims do when a pod is no more:
// it has none reserved, those that nobody else has are free again, and those that
// were made for it go.
func (t *Twin) release(p *v1.Pod) {
	for _, claim := range t.Reference.ClaimsFor(p) {
		t.tick()
		t.Reference.Delete(claim)
		t.Subject.Apply(engine.RemoveObject(model.ObjectRef{Kind: model.DeviceClaimKind, ID: resourcesClaim(string(p.UID))}))
	}
	for _, ref := range p.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(p, &ref)
		if err != nil || name == nil {
			continue
		}
		claim, ok := t.Reference.Get(&resourcev1.ResourceClaim{ObjectMeta: named(p.Namespace, *name)}).(*resourcev1.ResourceClaim)
		if !ok {
			continue
		}
		if metav1.IsControlledBy(claim, p) {
			t.RemoveObject(claim.DeepCopy())
			continue
		}
		c := claim.DeepCopy()
		c.Status.ReservedFor = slices.DeleteFunc(c.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == p.UID })
		if len(c.Status.ReservedFor) < len(claim.Status.ReservedFor) {
			if len(c.Status.ReservedFor) == 0 {
				c.Status = resourcev1.ResourceClaimStatus{}
			}
			t.PutObject(c)
		}
	}
}

// resourcesClaim is what the engine calls the claim that stands for resources of
// the workload.
func resourcesClaim(workload string) string { return workload + "-extended-resources" }

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}
