package nodevolumelimits

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// volume says which volume of which driver it is.
type volume struct {
	driver, handle string
	// unbound: handle is the ID of a claim without a volume.
	unbound bool
}

// compareVolumes is an order of the volumes of one driver.
func compareVolumes(a, b volume) int {
	if c := strings.Compare(a.handle, b.handle); c != 0 || a.unbound == b.unbound {
		return c
	}
	if a.unbound {
		return 1
	}
	return -1
}

// eachVolume calls f for the volumes of the workload, as far as they are known;
// for one that is used twice, twice.
func eachVolume(storage extpoints.Storage, w *model.Workload, f func(v volume, builtIn bool)) {
	for i := range w.VolumeClaims {
		if claim := storage.Claim(w.VolumeClaims[i].ID); claim != nil {
			if v, builtIn := volumeOf(storage, claim); v.driver != "" {
				f(v, builtIn)
			}
		}
	}
	for i := range w.Disks {
		if d := &w.Disks[i]; d.Driver != "" && d.Handle != "" {
			f(volume{driver: d.Driver, handle: d.Handle}, d.Plugin != "")
		}
	}
}

// volumeOf returns the volume that the claim has, or else, without a class that
// is known not even that, one that its class will make; no driver where it does
// not count. builtIn is whether it is one of a built-in plugin.
func volumeOf(storage extpoints.Storage, claim *model.VolumeClaim) (v volume, builtIn bool) {
	if claim.Volume != "" {
		if v := storage.Volume(claim.Volume); v != nil {
			if v.Driver == "" || v.Handle == "" {
				return volume{}, false
			}
			return volume{driver: v.Driver, handle: v.Handle}, v.Plugin != ""
		}
	}
	if claim.Class == "" {
		return volume{}, false
	}
	class := storage.Class(claim.Class)
	if class == nil {
		return volume{}, false
	}
	if class.Driver != "" {
		return volume{driver: class.Driver, handle: claim.ID, unbound: true}, true
	}
	return volume{driver: class.Provisioner, handle: claim.ID, unbound: true}, false
}

// attached returns the volume of an attachment, without a driver where it does
// not count: where the volume is not there, or one of a built-in plugin.
func attached(storage extpoints.Storage, a *model.VolumeAttachment) volume {
	if a.Volume == "" {
		if a.Handle == "" {
			return volume{}
		}
		return volume{driver: a.Driver, handle: a.Handle}
	}
	if v := storage.Volume(a.Volume); v != nil && v.Driver != "" && v.Handle != "" && v.Plugin == "" {
		return volume{driver: a.Driver, handle: v.Handle}
	}
	return volume{}
}
