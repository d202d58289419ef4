package reference

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

// changed is what kube-scheduler has asked of the API server about objects of
// storage and devices. The scheduler's mutex guards it.
type changed struct {
	// volumes and volumeClaims are as they were asked for in the last cycle;
	// nobody has been told yet.
	volumes      map[string]*v1.PersistentVolume
	volumeClaims map[string]*v1.PersistentVolumeClaim
	// claims are all device claims as the API server has them, which handlers
	// may not have been told yet.
	claims map[string]*resourcev1.ResourceClaim
	// touched are the keys of the claims changed in the last cycle.
	touched map[string]bool
}

func claimKey(namespace, name string) string { return namespace + "/" + name }

// told notes that an object is what it is by another's doing.
func (c *changed) told(object runtime.Object) {
	if claim, ok := object.(*resourcev1.ResourceClaim); ok {
		c.claims[claimKey(claim.Namespace, claim.Name)] = claim
	}
}

// gone notes that an object is no more.
func (c *changed) gone(object runtime.Object) {
	if claim, ok := object.(*resourcev1.ResourceClaim); ok {
		delete(c.claims, claimKey(claim.Namespace, claim.Name))
	}
}

// begin forgets what was asked for in the cycle before.
func (c *changed) begin() {
	c.volumes, c.volumeClaims, c.touched = map[string]*v1.PersistentVolume{}, map[string]*v1.PersistentVolumeClaim{}, map[string]bool{}
}

// Volumes lists the volumes that the last cycle wanted to have bound to claims,
// by name: copies that say to which. Nothing comes of it by itself.
func (s *Scheduler) Volumes() []*v1.PersistentVolume {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inOrder(s.changed.volumes)
}

// VolumeClaims lists the claims for which the last cycle wanted volumes to be
// made, by key: copies that say for which node. Nothing comes of it by itself.
func (s *Scheduler) VolumeClaims() []*v1.PersistentVolumeClaim {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inOrder(s.changed.volumeClaims)
}

// DeviceClaims lists the device claims that the last cycle has changed, made or
// deleted, by key. A deleted one is nil.
func (s *Scheduler) DeviceClaims() map[string]*resourcev1.ResourceClaim {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[string]*resourcev1.ResourceClaim{}
	for key := range s.changed.touched {
		list[key] = s.changed.claims[key]
	}
	return list
}

// ForResources reports whether the claim is one that kube-scheduler has made for a
// pod that asks for devices by the name of a resource.
func ForResources(c *resourcev1.ResourceClaim) bool {
	return c != nil && c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true"
}

func inOrder[T any](m map[string]T) []T {
	var list []T
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[key])
	}
	return list
}

// ClaimsFor lists the claims that were made for resources of the pod.
func (s *Scheduler) ClaimsFor(p *v1.Pod) []*resourcev1.ResourceClaim {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*resourcev1.ResourceClaim
	for _, c := range inOrder(s.changed.claims) {
		if ForResources(c) && metav1.IsControlledBy(c, p) {
			list = append(list, c)
		}
	}
	return list
}

// Plugin returns the plugin with the name that the profile runs, nil where it runs
// none or one that wants no events.
func (s *Scheduler) Plugin(name string) fwk.Plugin {
	for _, p := range s.Framework.EnqueueExtensions() {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// Decided says in words what was asked for since Begin.
func (s *Scheduler) Decided() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed.decided()
}

// Begin forgets what has been asked for, as each cycle does.
func (s *Scheduler) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.begin()
}

// decided says in words what the cycle wanted about storage and devices.
func (c *changed) decided() []string {
	var words []string
	for _, v := range inOrder(c.volumes) {
		words = append(words, fmt.Sprintf("volume %s for claim %s/%s", v.Name, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name))
	}
	for _, claim := range inOrder(c.volumeClaims) {
		words = append(words, fmt.Sprintf("volume for claim %s/%s on %s", claim.Namespace, claim.Name, claim.Annotations["volume.kubernetes.io/selected-node"]))
	}
	for _, key := range slices.Sorted(maps.Keys(c.touched)) {
		name := "claim " + key
		if ForResources(c.claims[key]) {
			name = "resources"
		}
		words = append(words, "devices for "+name+": "+DescribeClaim(c.claims[key]))
	}
	slices.Sort(words)
	return words
}
