package reference

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	resourceclient "k8s.io/client-go/kubernetes/typed/resource/v1"
	schedulingclient "k8s.io/client-go/kubernetes/typed/scheduling/v1beta1"
)

// PersistentVolumes implements [corev1.CoreV1Interface].
func (c core) PersistentVolumes() corev1.PersistentVolumeInterface {
	return volumes{c.CoreV1Interface.PersistentVolumes(), c.s}
}

type volumes struct {
	corev1.PersistentVolumeInterface
	s *Scheduler
}

// Update implements [corev1.PersistentVolumeInterface].
func (v volumes) Update(_ context.Context, pv *v1.PersistentVolume, _ metav1.UpdateOptions) (*v1.PersistentVolume, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	v.s.changed.volumes[pv.Name] = pv
	return pv, nil
}

// PersistentVolumeClaims implements [corev1.CoreV1Interface].
func (c core) PersistentVolumeClaims(namespace string) corev1.PersistentVolumeClaimInterface {
	return volumeClaims{c.CoreV1Interface.PersistentVolumeClaims(namespace), c.s}
}

type volumeClaims struct {
	corev1.PersistentVolumeClaimInterface
	s *Scheduler
}

// Update implements [corev1.PersistentVolumeClaimInterface].
func (c volumeClaims) Update(_ context.Context, pvc *v1.PersistentVolumeClaim, _ metav1.UpdateOptions) (*v1.PersistentVolumeClaim, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.changed.volumeClaims[pvc.Namespace+"/"+pvc.Name] = pvc
	return pvc, nil
}

// ResourceV1 implements [clientset.Interface].
func (c client) ResourceV1() resourceclient.ResourceV1Interface {
	return resources{c.Interface.ResourceV1(), c.s}
}

type resources struct {
	resourceclient.ResourceV1Interface
	s *Scheduler
}

// ResourceClaims implements [resourceclient.ResourceV1Interface].
func (r resources) ResourceClaims(namespace string) resourceclient.ResourceClaimInterface {
	return deviceClaims{r.ResourceV1Interface.ResourceClaims(namespace), r.s, namespace}
}

type deviceClaims struct {
	resourceclient.ResourceClaimInterface
	s         *Scheduler
	namespace string
}

var claimResource = resourcev1.Resource("resourceclaims")

// Get implements [resourceclient.ResourceClaimInterface].
func (d deviceClaims) Get(_ context.Context, name string, _ metav1.GetOptions) (*resourcev1.ResourceClaim, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	claim := d.s.changed.claims[claimKey(d.namespace, name)]
	if claim == nil {
		return nil, apierrors.NewNotFound(claimResource, name)
	}
	return claim.DeepCopy(), nil
}

// Update implements [resourceclient.ResourceClaimInterface].
func (d deviceClaims) Update(_ context.Context, claim *resourcev1.ResourceClaim, _ metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	return d.change(claim.Name, claim.ResourceVersion, func(changed *resourcev1.ResourceClaim) error {
		changed.ObjectMeta, changed.Spec = *claim.ObjectMeta.DeepCopy(), *claim.Spec.DeepCopy()
		return nil
	})
}

// UpdateStatus implements [resourceclient.ResourceClaimInterface].
func (d deviceClaims) UpdateStatus(_ context.Context, claim *resourcev1.ResourceClaim, _ metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	return d.change(claim.Name, claim.ResourceVersion, func(changed *resourcev1.ResourceClaim) error {
		changed.Status = *claim.Status.DeepCopy()
		return nil
	})
}

// Patch implements [resourceclient.ResourceClaimInterface]: of the status.
func (d deviceClaims) Patch(_ context.Context, name string, _ types.PatchType, patch []byte, _ metav1.PatchOptions, _ ...string) (*resourcev1.ResourceClaim, error) {
	return d.change(name, "", func(changed *resourcev1.ResourceClaim) error {
		return patched(changed, patch)
	})
}

// change changes a claim, if it is of the version, and tells the handlers later.
func (d deviceClaims) change(name, version string, f func(*resourcev1.ResourceClaim) error) (*resourcev1.ResourceClaim, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	key := claimKey(d.namespace, name)
	old := d.s.changed.claims[key]
	if old == nil {
		return nil, apierrors.NewNotFound(claimResource, name)
	}
	if version != "" && version != old.ResourceVersion {
		return nil, apierrors.NewConflict(claimResource, name, fmt.Errorf("version %s is not %s", version, old.ResourceVersion))
	}
	changed := old.DeepCopy()
	if err := f(changed); err != nil {
		return nil, err
	}
	d.s.version(changed)
	d.s.changed.claims[key] = changed
	d.s.changed.touched[key] = true
	d.s.pending = append(d.s.pending, func() { d.s.tellClaim(key) })
	return changed.DeepCopy(), nil
}

// Create implements [resourceclient.ResourceClaimInterface]. The handlers are told
// at once: the scheduler waits until it sees the claim.
func (d deviceClaims) Create(_ context.Context, claim *resourcev1.ResourceClaim, _ metav1.CreateOptions) (*resourcev1.ResourceClaim, error) {
	d.s.mu.Lock()
	created := claim.DeepCopy()
	d.s.created++
	created.Name = fmt.Sprintf("%s%d", created.GenerateName, d.s.created)
	created.UID = types.UID(created.Name)
	d.s.version(created)
	key := claimKey(d.namespace, created.Name)
	d.s.changed.claims[key] = created
	d.s.changed.touched[key] = true
	d.s.mu.Unlock()
	d.s.tellClaim(key)
	return created.DeepCopy(), nil
}

// Delete implements [resourceclient.ResourceClaimInterface].
func (d deviceClaims) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	key := claimKey(d.namespace, name)
	if d.s.changed.claims[key] == nil {
		return apierrors.NewNotFound(claimResource, name)
	}
	delete(d.s.changed.claims, key)
	d.s.changed.touched[key] = true
	d.s.pending = append(d.s.pending, func() { d.s.tellClaim(key) })
	return nil
}

// tellClaim tells the handlers what the API server has of a claim.
func (s *Scheduler) tellClaim(key string) {
	i := s.informer(&resourcev1.ResourceClaim{})
	s.mu.Lock()
	now := s.changed.claims[key]
	stored, ok, err := i.GetIndexer().GetByKey(key)
	must(err)
	s.mu.Unlock()
	switch {
	case now == nil && ok:
		must(i.GetIndexer().Delete(stored))
		for _, h := range i.handlers {
			h.OnDelete(stored)
		}
	case now == nil:
	case !ok:
		must(i.GetIndexer().Add(now))
		for _, h := range i.handlers {
			h.OnAdd(now, false)
		}
	case stored.(*resourcev1.ResourceClaim).ResourceVersion != now.ResourceVersion:
		must(i.GetIndexer().Update(now))
		for _, h := range i.handlers {
			h.OnUpdate(stored, now)
		}
	}
}

// SchedulingV1beta1 implements [clientset.Interface].
func (c client) SchedulingV1beta1() schedulingclient.SchedulingV1beta1Interface {
	return scheduling{c.Interface.SchedulingV1beta1(), c.s}
}

type scheduling struct {
	schedulingclient.SchedulingV1beta1Interface
	s *Scheduler
}

// PodGroups implements [schedulingclient.SchedulingV1beta1Interface].
func (c scheduling) PodGroups(namespace string) schedulingclient.PodGroupInterface {
	return podGroups{c.SchedulingV1beta1Interface.PodGroups(namespace), c.s, namespace}
}

type podGroups struct {
	schedulingclient.PodGroupInterface
	s         *Scheduler
	namespace string
}

// Patch implements [schedulingclient.PodGroupInterface]: of the status. The
// handlers are told later.
func (g podGroups) Patch(_ context.Context, name string, _ types.PatchType, patch []byte, _ metav1.PatchOptions, _ ...string) (*schedulingv1beta1.PodGroup, error) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	stored := g.s.informer(&schedulingv1beta1.PodGroup{}).get(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: name}})
	if stored == nil {
		return nil, apierrors.NewNotFound(schedulingv1beta1.Resource("podgroups"), name)
	}
	if g.s.held != nil {
		return stored.(*schedulingv1beta1.PodGroup), nil
	}
	changed := stored.DeepCopyObject().(*schedulingv1beta1.PodGroup)
	if err := patched(changed, patch); err != nil {
		return nil, err
	}
	g.s.later(changed)
	return changed, nil
}

// patched makes the changes of a strategic merge patch.
func patched[T any](object *T, patch []byte) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var empty T
	if text, err = strategicpatch.StrategicMergePatch(text, patch, empty); err != nil {
		return err
	}
	*object = empty
	return json.Unmarshal(text, object)
}

// later stores a changed object now and tells the handlers at Deliver.
func (s *Scheduler) later(object runtime.Object) {
	i := s.informer(object)
	old := i.get(object)
	s.version(object)
	must(i.GetIndexer().Update(object))
	s.pending = append(s.pending, func() {
		for _, h := range i.handlers {
			h.OnUpdate(old, object)
		}
	})
}
