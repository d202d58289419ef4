package snapshot

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// devices is what a View knows of devices.
type devices struct {
	claims     pmap[*model.DeviceClaim]
	classes    pmap[*model.DeviceClass]
	byResource lists[*model.DeviceClass] // by name of the scalar resource, the newest first
	use        pmap[*extpoints.PoolUse]  // by driver and pool
	slices     list[*model.DeviceSlice]  // with the taints of the rules
	published  *published                // slices, for others; anew with each change
	plain      list[*model.DeviceSlice]  // as they were put
	rules      list[*model.DeviceTaintRule]
	sliceByID  pmap[*model.DeviceSlice] // as they were put
	ruleByID   pmap[*model.DeviceTaintRule]
}

// devicesView is a View as an [extpoints.Devices].
type devicesView View

var _ extpoints.Devices = (*devicesView)(nil)

// Devices are the device slices and the claims to them.
func (v *View) Devices() extpoints.Devices { return (*devicesView)(v) }

func (d *devicesView) Claim(id string) *model.DeviceClaim {
	c, _ := d.devices.claims.get(id)
	return c
}

func (d *devicesView) Class(name string) *model.DeviceClass {
	c, _ := d.devices.classes.get(name)
	return c
}

func (d *devicesView) ClassFor(resource string) *model.DeviceClass {
	if list := d.devices.byResource.get(resource); len(list) > 0 {
		return list[0]
	}
	return nil
}

func (d *devicesView) Slices() *extpoints.DeviceSlices {
	if d.devices.published == nil {
		return &noSlices
	}
	return d.devices.published.get(d.devices.slices.items)
}

func (d *devicesView) Use(pool model.PoolID) *extpoints.PoolUse {
	u, _ := d.devices.use.get(poolKey(pool))
	return u
}

var noSlices extpoints.DeviceSlices

// published is a list of slices that nobody changes any more, made when it is
// first asked for.
type published struct {
	once sync.Once
	made extpoints.DeviceSlices
}

func (p *published) get(items []*model.DeviceSlice) *extpoints.DeviceSlices {
	p.once.Do(func() { p.made.List = slices.Clone(items) })
	return &p.made
}

func poolKey(p model.PoolID) string { return p.Driver + "\x00" + p.Pool }

// use counts the allocation among what is given away, or no more.
func (v *View) use(a *model.Allocation, change func(*extpoints.PoolUse, model.PoolID, *model.Allocation) *extpoints.PoolUse) {
	if a == nil {
		return
	}
	tok, use := v.own(), &v.devices.use
	for _, pool := range a.Pools() {
		key := poolKey(pool)
		old, _ := use.get(key)
		if changed := change(old, pool, a); changed != nil {
			use.set(tok, key, changed)
		} else {
			use.unset(tok, key)
		}
	}
}

// newestFirst is the order of classes that stand for the same resource.
func newestFirst(a, b *model.DeviceClass) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.Name, b.Name))
}

// addDevices puts the object of devices into what is kept because of what it says.
func (v *View) addDevices(o model.Object) {
	tok, d := v.own(), &v.devices
	switch o := o.(type) {
	case *model.DeviceClaim:
		v.use(o.Allocation, (*extpoints.PoolUse).With)
	case *model.DeviceClass:
		if o.Resource != "" {
			d.byResource.set(tok, o.Resource, o, newestFirst)
		}
	case *model.DeviceSlice:
		d.plain = d.plain.set(tok, o, byID)
		d.slices, d.published = d.slices.set(tok, tainted(o, d.rules.items), byID), &published{}
	case *model.DeviceTaintRule:
		d.rules = d.rules.set(tok, o, byID)
		v.taintAgain()
	}
}

// dropDevices takes the object of devices out of what is kept because of what it
// says. Slices and rules stay: [View.addDevices] replaces them by ID, and
// [View.removeSlice] removes them.
func (v *View) dropDevices(o model.Object) {
	switch o := o.(type) {
	case *model.DeviceClaim:
		v.use(o.Allocation, (*extpoints.PoolUse).Without)
	case *model.DeviceClass:
		if o.Resource != "" {
			v.devices.byResource.unset(v.own(), o.Resource, o, newestFirst)
		}
	}
}

// removeSlice removes the object, if it is a slice or a rule about the taints of
// slices.
func (v *View) removeSlice(o model.Object) {
	tok, d := v.own(), &v.devices
	switch o := o.(type) {
	case *model.DeviceSlice:
		d.plain = d.plain.unset(tok, o, byID)
		d.slices, d.published = d.slices.unset(tok, o, byID), &published{}
	case *model.DeviceTaintRule:
		d.rules = d.rules.unset(tok, o, byID)
		v.taintAgain()
	}
}

// taintAgain puts the taints of the rules on all slices, when the rules have
// changed, which is rare.
func (v *View) taintAgain() {
	d := &v.devices
	all := make([]*model.DeviceSlice, len(d.plain.items))
	for i, s := range d.plain.items {
		all[i] = tainted(s, d.rules.items)
	}
	d.slices, d.published = list[*model.DeviceSlice]{tok: v.own(), items: all}, &published{}
}

// tainted returns the slice with the taints of the rules on its devices: itself
// where none is about it.
func tainted(s *model.DeviceSlice, rules []*model.DeviceTaintRule) *model.DeviceSlice {
	var changed *model.DeviceSlice
	for _, r := range rules {
		for i := range s.Devices {
			if !r.AppliesTo(s, i) {
				continue
			}
			if changed == nil {
				c := *s
				c.Devices = slices.Clone(s.Devices)
				changed = &c
			}
			d := &changed.Devices[i]
			d.Taints = append(slices.Clip(d.Taints), r.Taint)
		}
	}
	if changed == nil {
		return s
	}
	return changed
}
