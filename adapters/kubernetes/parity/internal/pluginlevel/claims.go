package pluginlevel

import (
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/plugins"
)

// miscounted says that kube-scheduler may count the pods wrongly that use a claim
// of the pod: those on nodes that are gone count until it counts all anew, and
// where pods come and go it counts by name, whatever the namespace.
func (a *asked) miscounted(point string) string {
	if !strings.HasPrefix(a.name, plugins.VolumeRestrictions) {
		return ""
	}
	others := []*v1.Pod{}
	for _, p := range a.Pods() {
		other := a.Object(p)
		if p.Node != "" && a.Node(p.Node) == nil && other.Namespace == a.pod.Namespace && shareClaimName(a.pod, other) {
			return ", of a claim in use on a node that is gone"
		}
		others = append(others, other)
	}
	if strings.Contains(point, "AddPod") {
		for _, other := range append(others, a.changes...) {
			if other != nil && other.Namespace != a.pod.Namespace && shareClaimName(a.pod, other) {
				return ", of a claim with a namesake in use"
			}
		}
	}
	return ""
}

// ofOneRoom says that several claims of the pod may need room of the same capacity, where the subject finds
// it for them together.
func (a *asked) ofOneRoom() string {
	if a.name != plugins.VolumeBinding+" ("+allHints+")" {
		return ""
	}
	storage, classes := a.views.Subject.Storage(), map[string]bool{}
	for _, ref := range a.info.VolumeClaims {
		c := storage.Claim(ref.ID)
		if c == nil || c.Volume != "" || c.Request == 0 {
			continue
		}
		if classes[c.Class] {
			return ", of several claims of one class"
		}
		classes[c.Class] = true
	}
	return ""
}

// shareClaimName reports whether both pods name a claim by the same name.
func shareClaimName(a, b *v1.Pod) bool {
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
