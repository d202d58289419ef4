package helper

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// SignVolumes is the key of [VolumesFragment].
const SignVolumes = "Volumes"

// ErrNoObject is the error of hint functions that got a change of an object
// without the object.
var ErrNoObject = errors.New("a change of an object without the object")

// VolumesFragment signs the volumes that a workload uses, in its order, because
// the first one with a problem is the one that is reported. A claim that is made
// for one workload is only its own.
func VolumesFragment(w *model.Workload) extpoints.SignFragment {
	if len(w.VolumeClaims) == 0 && len(w.Disks) == 0 {
		return extpoints.SignFragment{Key: SignVolumes}
	}
	c := Canon(nil).Str(w.Namespace)
	for i := range w.VolumeClaims {
		ref, owner := &w.VolumeClaims[i], ""
		if ref.Generated {
			owner = w.ID
		}
		c = append(c, "claim "...)
		c = c.Str(ref.ID).Str(ref.DisplayName()).Str(owner)
	}
	for i := range w.Disks {
		d := &w.Disks[i]
		c = append(c, "disk "...)
		if d.ReadOnly {
			c = append(c, "read-only "...)
		}
		c = c.Set(d.Keys).Str(d.Driver).Str(d.Handle).Str(d.Plugin)
	}
	return extpoints.SignFragment{Key: SignVolumes, Value: string(c)}
}

// ClaimNotFound is what is said of a claim that is not there.
func ClaimNotFound(ref *model.VolumeClaimRef) string {
	return fmt.Sprintf("volume claim %q not found", ref.DisplayName())
}

// ClaimIsForeign is what is said of a claim that should have been made for the
// workload, but was not (k8s.io/component-helpers storage/ephemeral/
// ephemeral.go, 0.37.1).
func ClaimIsForeign(w *model.Workload, ref *model.VolumeClaimRef) string {
	return fmt.Sprintf("volume claim %s was not created for workload %s (workload is not owner)", ClaimPath(w, ref), w.DisplayName())
}

// ClaimPath is what messages call the claim where they want its namespace too.
func ClaimPath(w *model.Workload, ref *model.VolumeClaimRef) string {
	if w.Namespace == "" {
		return ref.DisplayName()
	}
	return w.Namespace + "/" + ref.DisplayName()
}

// UsesClaim reports whether the workload uses the claim with the ID. generated
// says whether a claim that is made for it counts.
func UsesClaim(w *model.Workload, id string, generated bool) bool {
	for i := range w.VolumeClaims {
		if ref := &w.VolumeClaims[i]; ref.ID == id && (generated || !ref.Generated) {
			return true
		}
	}
	return false
}
