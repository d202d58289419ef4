package simulate

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/model"
)

// overgiven lists everything about devices of which more is given than there is:
// devices, parts of them, and the stocks that they draw on.
func overgiven(list []*model.DeviceSlice, claims []*model.DeviceClaim) map[string]bool {
	devices := map[model.DeviceID]*model.SliceDevice{}
	left := map[string]int64{} // of the stocks
	for _, slice := range list {
		for i := range slice.Devices {
			devices[model.DeviceID{Driver: slice.Driver, Pool: slice.Pool, Device: slice.Devices[i].Name}] = &slice.Devices[i]
		}
		for _, set := range slice.Counters {
			for name, amount := range set.Counters {
				left[slice.Pool+" "+set.Name+" "+name] = amount
			}
		}
	}
	over := map[string]bool{}
	whole, given := map[model.DeviceID]bool{}, map[model.DeviceID]bool{}
	consumed := map[model.DeviceID]map[string]int64{}
	for _, c := range claims {
		if c.Allocation == nil {
			continue
		}
		for _, d := range c.Allocation.Devices {
			switch {
			case d.Share == "":
				if given[d.DeviceID] {
					over[fmt.Sprint(d.DeviceID)] = true
				}
				whole[d.DeviceID] = true
			case whole[d.DeviceID]:
				over[fmt.Sprint(d.DeviceID)] = true
			default:
				if consumed[d.DeviceID] == nil {
					consumed[d.DeviceID] = map[string]int64{}
				}
				for name, amount := range d.Consumed {
					consumed[d.DeviceID][name] += amount
				}
			}
			if first := !given[d.DeviceID]; first && devices[d.DeviceID] != nil {
				for _, use := range devices[d.DeviceID].Consumes {
					for name, amount := range use.Counters {
						left[d.Pool+" "+use.Set+" "+name] -= amount
					}
				}
			}
			given[d.DeviceID] = true
		}
	}
	for id, amounts := range consumed {
		for name, amount := range amounts {
			if d := devices[id]; d != nil && amount > d.Capacity[name].Amount {
				over[fmt.Sprint(id, name)] = true
			}
		}
	}
	for stock, amount := range left {
		if amount < 0 {
			over["stock "+stock] = true
		}
	}
	return over
}

// checkDevices: no decision gives away more than there is. More than that is given
// only where a report says so.
func checkDevices(before, after *observed) (p problems) {
	if after.told || before.index == after.index && after.index > 0 {
		return p
	}
	claims := all[*model.DeviceClaim](after.objects)
	over := overgiven(all[*model.DeviceSlice](after.objects), claims)
	if len(over) == 0 {
		return p
	}
	was := overgiven(all[*model.DeviceSlice](before.objects), all[*model.DeviceClaim](before.objects))
	for _, what := range sortedKeys(over) {
		if !was[what] {
			p.add("of device %s more is given away than there is: %v", what, holders(claims))
		}
	}
	return p
}

// checkReserved: whoever the engine has reserved a claim for is on a node and uses
// it.
func (o *observed) checkReserved(c *model.DeviceClaim, reported model.Object) (p problems) {
	known, _ := reported.(*model.DeviceClaim)
	held := false
	for _, by := range c.ReservedFor {
		if known != nil && known.Reserved(by) {
			held = true
			continue
		}
		if !slices.ContainsFunc(o.ids, func(id string) bool {
			row := o.rows[id]
			return isPlaced(&row) && consumes(row.Workload, c, by)
		}) {
			p.add("claim %s is reserved for %v, and nobody is on a node who is that and uses it", c.ID, by)
		}
		held = true
	}
	if c.Allocation != nil && !held {
		p.add("claim %s has been given %s, and is reserved for nobody", c.ID, devicesOf(c))
	}
	return p
}

// consumes reports whether the workload uses the claim as the consumer.
func consumes(w *model.Workload, c *model.DeviceClaim, by model.Consumer) bool {
	if c.ForResources {
		return by.Workload == w.ID && c.Owner == w.ID
	}
	return slices.ContainsFunc(w.DeviceClaims, func(r model.DeviceClaimRef) bool {
		if r.ID != c.ID {
			return false
		}
		return r.OfGroup && by.Group == w.Group || !r.OfGroup && by.Workload == w.ID
	})
}

// checkHasDevices looks at a workload that the engine has just put on a node: all
// its claims have devices that can be used there, and are reserved for it.
func (o *observed) checkHasDevices(row *model.WorkloadRecord) (p problems) {
	node := o.nodes[row.Node]
	if node == nil {
		return p
	}
	refs := slices.Clone(row.DeviceClaims)
	if o.wantsCard(row) && node.Allocatable.Get(cardResource) == 0 {
		refs = append(refs, model.DeviceClaimRef{ID: model.ResourceClaimID(row.ID)})
	}
	for _, ref := range refs {
		c := current[*model.DeviceClaim](o.objects, ref.ID)
		by := model.Consumer{Workload: row.ID}
		if ref.OfGroup {
			by = model.Consumer{Group: row.Group}
		}
		switch {
		case c == nil || c.Deleting:
			p.add("%s was put on %s, and its device claim %s is not there, or on its way out", row.ID, row.Node, ref.ID)
		case c.Allocation == nil || !c.Allocation.Nodes.Matches(node):
			p.add("%s was put on %s, where claim %s has no devices (%s)", row.ID, row.Node, ref.ID, devicesOf(c))
		case !c.Reserved(by):
			p.add("%s was put on %s, and claim %s is not reserved for %v", row.ID, row.Node, ref.ID, by)
		}
	}
	return p
}

// wantsCard reports whether the workload asks for the scalar resource that the
// cards stand for.
func (o *observed) wantsCard(row *model.WorkloadRecord) bool {
	class := current[*model.DeviceClass](o.objects, cardClass)
	return class != nil && class.Resource == cardResource && row.Requests.Get(cardResource) > 0
}
