package snapshot

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// devices is what a View knows of devices. It implements [extpoints.Devices].
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

var _ extpoints.Devices = (*devices)(nil)

func (d *devices) Claim(id string) *model.DeviceClaim {
	c, _ := d.claims.get(id)
	return c
}

func (d *devices) Class(name string) *model.DeviceClass {
	c, _ := d.classes.get(name)
	return c
}

func (d *devices) ClassFor(resource string) *model.DeviceClass {
	if list := d.byResource.get(resource); len(list) > 0 {
		return list[0]
	}
	return nil
}

func (d *devices) Slices() *extpoints.DeviceSlices {
	if d.published == nil {
		return &noSlices
	}
	return d.published.get(d.slices.items)
}

func (d *devices) Use(pool model.PoolID) *extpoints.PoolUse {
	u, _ := d.use.get(poolKey(pool))
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

// give counts the allocation among what is given away, or no more.
func (d *devices) give(tok *token, a *model.Allocation, change func(*extpoints.PoolUse, model.PoolID, *model.Allocation) *extpoints.PoolUse) {
	if a == nil {
		return
	}
	for _, pool := range a.Pools() {
		key := poolKey(pool)
		old, _ := d.use.get(key)
		if changed := change(old, pool, a); changed != nil {
			d.use.set(tok, key, changed)
		} else {
			d.use.unset(tok, key)
		}
	}
}

// newestFirst is the order of classes that stand for the same resource.
func newestFirst(a, b *model.DeviceClass) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.Name, b.Name))
}

// add puts the object of devices into what is kept because of what it says.
func (d *devices) add(tok *token, o model.Object) {
	switch o := o.(type) {
	case *model.DeviceClaim:
		d.give(tok, o.Allocation, (*extpoints.PoolUse).With)
	case *model.DeviceClass:
		if o.Resource != "" {
			d.byResource.set(tok, o.Resource, o, newestFirst)
		}
	case *model.DeviceSlice:
		d.plain = d.plain.set(tok, o, byID)
		d.slices, d.published = d.slices.set(tok, tainted(o, d.rules.items), byID), &published{}
	case *model.DeviceTaintRule:
		d.rules = d.rules.set(tok, o, byID)
		d.taintAgain(tok)
	}
}

// drop takes the object of devices out of what is kept because of what it says.
// Slices and rules stay: add replaces them by ID, and removeSlice removes them.
func (d *devices) drop(tok *token, o model.Object) {
	switch o := o.(type) {
	case *model.DeviceClaim:
		d.give(tok, o.Allocation, (*extpoints.PoolUse).Without)
	case *model.DeviceClass:
		if o.Resource != "" {
			d.byResource.unset(tok, o.Resource, o, newestFirst)
		}
	}
}

// removeSlice removes the object, if it is a slice or a rule about the taints of
// slices.
func (d *devices) removeSlice(tok *token, o model.Object) {
	switch o := o.(type) {
	case *model.DeviceSlice:
		d.plain = d.plain.unset(tok, o, byID)
		d.slices, d.published = d.slices.unset(tok, o, byID), &published{}
	case *model.DeviceTaintRule:
		d.rules = d.rules.unset(tok, o, byID)
		d.taintAgain(tok)
	}
}

// taintAgain puts the taints of the rules on all slices, when the rules have
// changed, which is rare.
func (d *devices) taintAgain(tok *token) {
	all := make([]*model.DeviceSlice, len(d.plain.items))
	for i, s := range d.plain.items {
		all[i] = tainted(s, d.rules.items)
	}
	d.slices, d.published = list[*model.DeviceSlice]{tok: tok, items: all}, &published{}
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
