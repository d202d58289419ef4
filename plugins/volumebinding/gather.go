package volumebinding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// claims are the claims of a workload, with all that does not depend on the
// node. It is not changed once it is made.
type claims struct {
	// bound are the volumes of bound claims, in the order of the claims, less
	// those that can be used from everywhere; nil for one that is not there.
	bound []*model.Volume
	// selected are the claims for which a volume is to be made for a node
	// already, in the order of the workload.
	selected []need
	// open are the other claims without a volume, those that ask for less
	// first.
	open   []need
	compat extpoints.Compat
}

// need is a claim without a volume.
type need struct {
	claim *model.VolumeClaim
	class *model.StorageClass
	// kept is the volume that is kept for the claim, which is then the only one
	// that will do; nil for none.
	kept *model.Volume
	// volumes are those that will do otherwise, the smallest first, of equal
	// ones by name.
	volumes []*model.Volume
	places  places // of volumes
	// tracked: a new volume needs room. rooms are the capacities with enough of
	// it, by ID.
	tracked bool
	rooms   []space
	near    places // of rooms
}

// space is a capacity that has a volume of the claim's size, and what other claims take of it.
type space struct {
	*model.StorageCapacity
	taken int64
}

// has reports whether there is room for so much beside what is taken. Where nothing is, the
// size of the largest volume says it, as in the reference.
func (s *space) has(request, more int64) bool {
	taken := s.taken + min(more, math.MaxInt64-s.taken)
	return taken == 0 || s.Capacity == nil || request <= *s.Capacity-min(taken, *s.Capacity)
}

// gather returns a rejection where a claim is not as it must be.
func gather(storage extpoints.Storage, w *model.Workload, compat extpoints.Compat) (*claims, *extpoints.Status) {
	for i := range w.VolumeClaims {
		if reason := unfit(storage, w, &w.VolumeClaims[i]); reason != "" {
			return nil, extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, reason)
		}
	}
	c, rejected := &claims{compat: compat}, false
	for i := range w.VolumeClaims {
		claim := storage.Claim(w.VolumeClaims[i].ID)
		if claim.Bound {
			v := storage.Volume(claim.Volume)
			if v == nil || v.Nodes != nil || v.StandInNodes != nil {
				c.bound = append(c.bound, v)
			}
			continue
		}
		class, err := delayed(storage, claim)
		switch {
		case err != nil:
			return nil, extpoints.AsStatus(err)
		case class == nil:
			rejected = true
		case claim.SelectedNode != "":
			c.selected = append(c.selected, need{claim: claim, class: class})
		default:
			c.open = append(c.open, need{claim: claim, class: class})
		}
	}
	if rejected {
		return nil, immediate
	}
	sort.Sort(byRequest(c.open))
	c.supply(storage)
	return c, nil
}

// byRequest sorts claims that ask for less to the front. Like the reference it
// leaves the order of equals to package sort, which settles it.
type byRequest []need

func (l byRequest) Len() int           { return len(l) }
func (l byRequest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l byRequest) Less(i, j int) bool { return l[i].claim.Request < l[j].claim.Request }

// unfit says what is wrong with a claim of the workload; empty for nothing.
func unfit(storage extpoints.Storage, w *model.Workload, ref *model.VolumeClaimRef) string {
	claim := storage.Claim(ref.ID)
	switch {
	case claim == nil && ref.Generated:
		return fmt.Sprintf("waiting for volume claim %q to be created for the workload", ref.DisplayName())
	case claim == nil:
		return helper.ClaimNotFound(ref)
	case claim.Lost:
		return fmt.Sprintf("volume claim %q bound to non-existent volume %q", claim.DisplayName(), claim.Volume)
	case claim.Deleting:
		return fmt.Sprintf("volume claim %q is being deleted", claim.DisplayName())
	case ref.Generated && claim.Owner != w.ID:
		return helper.ClaimIsForeign(w, ref)
	}
	return ""
}

// delayed returns the class of a claim that is the plugin's to bind, nil for one
// that is somebody else's.
func delayed(storage extpoints.Storage, claim *model.VolumeClaim) (*model.StorageClass, error) {
	if claim.Class == "" {
		return nil, nil
	}
	class := storage.Class(claim.Class)
	switch {
	case class == nil:
		return nil, nil
	case class.Binding == "":
		return nil, fmt.Errorf("binding mode not set for storage class %q", class.Name)
	case class.Binding != model.BindWhenConsumed || claim.Volume != "":
		return nil, nil
	}
	return class, nil
}

// supply adds to the needs what there is for them.
func (c *claims) supply(storage extpoints.Storage) {
	for i := range c.open {
		d := &c.open[i]
		d.findVolumes(storage.Volumes(d.class.Name))
		d.findRooms(storage)
	}
	for i := range c.selected {
		c.selected[i].findRooms(storage)
	}
}

// sized is a volume with what it is sorted by. There may be many, and sorting is
// much faster where it need not look at each volume again and again.
type sized struct {
	capacity int64
	at       int // in the list by name
	volume   *model.Volume
}

// findVolumes picks from the volumes of the claim's class, which are by name.
func (d *need) findVolumes(all []*model.Volume) {
	var list []sized
	for _, v := range all {
		if v.Claim != nil && !keptFor(v, d.claim) || v.Capacity < d.claim.Request || modeOf(v.Mode) != modeOf(d.claim.Mode) ||
			v.AttributesClass != d.claim.AttributesClass || v.Deleting {
			continue
		}
		if v.Claim != nil {
			d.kept = v
			return
		}
		if isFree(v) && (d.claim.Selector == nil || d.claim.Selector.Matches(v.Labels)) && hasModes(v, d.claim) {
			list = append(list, sized{v.Capacity, len(list), v})
		}
	}
	slices.SortFunc(list, func(a, b sized) int { return cmp.Or(cmp.Compare(a.capacity, b.capacity), a.at-b.at) })
	d.volumes = make([]*model.Volume, len(list))
	for i := range list {
		d.volumes[i] = list[i].volume
	}
	d.places = placesOf(len(d.volumes), func(i int) []model.NodeTerm {
		if nodes := d.volumes[i].Nodes; nodes != nil {
			return nodes.Terms
		}
		return nil
	})
}

// keptFor reports whether a volume with a claim is for this one.
func keptFor(v *model.Volume, c *model.VolumeClaim) bool {
	return v.Claim.ID == c.ID && (v.Claim.UID == "" || v.Claim.UID == c.UID)
}

func modeOf(m model.VolumeMode) model.VolumeMode {
	if m == "" {
		return model.FilesystemVolume
	}
	return m
}

func isFree(v *model.Volume) bool { return v.Phase == "" || v.Phase == model.VolumeAvailable }

// hasModes reports whether the volume has all access modes of the claim.
func hasModes(v *model.Volume, c *model.VolumeClaim) bool {
	for _, m := range c.AccessModes {
		if !slices.Contains(v.AccessModes, m) {
			return false
		}
	}
	return true
}

// provisions reports whether volumes of the class can be made.
func provisions(class *model.StorageClass) bool {
	return class.Provisioner != "" && class.Provisioner != model.NoProvisioner
}

// findRooms picks the capacities of the claim's class with enough room, if the
// claim needs any.
func (d *need) findRooms(storage extpoints.Storage) {
	if d.claim.Request == 0 || !provisions(d.class) {
		return
	}
	driver := storage.Driver(d.class.Provisioner)
	if driver == nil || !driver.TracksCapacity {
		return
	}
	d.tracked = true
	for _, c := range storage.Capacities(d.class.Name) {
		limit, room := largestVolume(c), space{c, takenOf(c, d.claim.ID)}
		if limit != nil && *limit >= d.claim.Request && room.has(d.claim.Request, 0) && c.Nodes != nil {
			d.rooms = append(d.rooms, room)
		}
	}
	d.near = placesOf(len(d.rooms), func(i int) []model.NodeTerm {
		if q := d.rooms[i].Nodes.Requirements; len(q) > 0 {
			return []model.NodeTerm{{Labels: q}}
		}
		return nil
	})
}

// takenOf is how much of what is reported has been given since, to claims other than those.
func takenOf(c *model.StorageCapacity, but string) (taken int64) {
	if len(c.Taken) == 0 {
		return 0
	}
	counted := map[string]bool{but: true} // several workloads may have decided on one claim
	for _, t := range c.Taken {
		if !counted[t.Claim] {
			counted[t.Claim] = true
			taken += min(t.Bytes, math.MaxInt64-taken)
		}
	}
	return taken
}

// largestVolume is the size of the largest volume that there is room for, nil
// where that is not known.
func largestVolume(c *model.StorageCapacity) *int64 {
	if c.MaxVolumeSize != nil {
		return c.MaxVolumeSize
	}
	return c.Capacity
}
