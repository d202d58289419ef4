package pluginlevel

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/plugins"
)

// miscounted says that kube-scheduler may count the pods wrongly that use a claim
// of the pod: those on nodes that are gone count until it counts all anew, and
// where pods come and go it counts by name, whatever the namespace.
func (a *asked) miscounted(point string) string {
	if !strings.HasPrefix(a.name, plugins.VolumeRestrictions) {
		return ""
	}
	if a.UsesClaimOfGone(a.pod) {
		return ", of a claim in use on a node that is gone"
	}
	if strings.Contains(point, "AddPod") {
		others := slices.Clone(a.changes)
		for _, p := range a.Pods() {
			others = append(others, a.Object(p))
		}
		for _, other := range others {
			if other != nil && other.Namespace != a.pod.Namespace && twin.ShareClaimName(a.pod, other) {
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
