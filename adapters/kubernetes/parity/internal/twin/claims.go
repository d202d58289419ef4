package twin

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// UsesClaimOfGone reports whether the pod has a claim that is in use by a pod on a node that is gone.
// kube-scheduler counts that one until it counts all anew (backend/cache/snapshot.go, usedPVCRefCounts).
func (t *Twin) UsesClaimOfGone(pod *v1.Pod) bool {
	return slices.ContainsFunc(t.Pods(), func(p *Pod) bool {
		if p.Node == "" || t.Node(p.Node) != nil {
			return false
		}
		other := t.Object(p)
		return other.Namespace == pod.Namespace && ShareClaimName(pod, other)
	})
}

// ShareClaimName reports whether both pods name a claim by the same name.
func ShareClaimName(a, b *v1.Pod) bool {
	names := map[string]bool{}
	for _, v := range a.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names[v.PersistentVolumeClaim.ClaimName] = true
		}
	}
	for _, v := range b.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && names[v.PersistentVolumeClaim.ClaimName] {
			return true
		}
	}
	return false
}
