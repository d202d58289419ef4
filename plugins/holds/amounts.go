package holds

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// keeping are the holds of amounts around a workload.
//
// At each moment at which such a hold is on, what is used on the node and what those who may use the
// holds have not taken yet of their amounts must fit there together, with the workload. As things end
// that only becomes less; so it is enough to look at now, and at each moment at which one begins. Whoever a
// hold lets in takes first what is kept for it, so that there is as much for others as before. It takes
// from one alone: else, when it ends, several would have more left than it gives back.
type keeping struct {
	all []*model.Hold // by name
	run run
	w   *extpoints.WorkloadInfo
}

// theirs is the hold from whose amounts the workload takes on the node, nil for none: of those that let it
// in the first by name.
func (k *keeping) theirs(r run, w *extpoints.WorkloadInfo, node *model.Node) *model.Hold {
	for _, h := range k.all {
		if r.overlaps(h) && r.allowed(h, w.Labels) && h.Covers(node) {
			return h
		}
	}
	return nil
}

// keeps reports whether a hold of amounts has any that the workload asks for.
func keeps(h *model.Hold, w *model.Workload) bool {
	for _, name := range h.Amounts.Names() {
		if h.Amounts.Get(name) > 0 && w.Requests.Get(name) > 0 {
			return true
		}
	}
	return false
}

// lacking returns why the workload may not go to the node, nil where it may.
func (k *keeping) lacking(now time.Time, node *extpoints.NodeInfo) *extpoints.Status {
	var here []*model.Hold
	own := k.theirs(k.run, k.w, node.Node)
	for _, h := range k.all {
		if h != own && k.run.overlaps(h) && keeps(h, k.w.Workload) && h.Covers(node.Node) {
			here = append(here, h)
		}
	}
	if here == nil {
		return nil
	}
	if st := k.lackingAt(now, now, node, here); st != nil {
		return st
	}
	for _, h := range here {
		if h.From.After(now) {
			if st := k.lackingAt(now, h.From, node, here); st != nil {
				return st
			}
		}
	}
	return nil
}

// lackingAt is lacking at one moment, now or later.
func (k *keeping) lackingAt(now, at time.Time, node *extpoints.NodeInfo, here []*model.Hold) *extpoints.Status {
	var used, kept model.Resources // kept: if nobody were there
	taken := map[*model.Hold]*model.Resources{}
	for _, o := range node.Workloads {
		r := runOf(now, o)
		if o.ID == k.w.ID || !r.lasts(now, at) {
			continue
		}
		used.Add(&o.Requests)
		if h := k.theirs(r, o, node.Node); h != nil {
			if taken[h] == nil {
				taken[h] = &model.Resources{}
			}
			taken[h].Add(&o.Requests)
		}
	}
	var by []*model.Hold
	for _, h := range here {
		if !at.Before(h.From) && before(at, h.Until) {
			left := leftOf(h, taken[h])
			by = append(by, h)
			used.Add(&left)
			kept.Add(&h.Amounts)
		}
	}
	for _, h := range by {
		for _, name := range h.Amounts.Names() {
			asked, has := k.w.Requests.Get(name), node.Node.Allocatable.Get(name)
			switch {
			case h.Amounts.Get(name) <= 0 || asked <= 0 || asked <= has-used.Get(name):
			case asked > has-kept.Get(name):
				return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, shortage(h, name))
			default:
				return extpoints.NewStatus(extpoints.Unschedulable, shortage(h, name))
			}
		}
	}
	return nil
}

// leftOf is what those who may use the hold have not taken of its amounts.
func leftOf(h *model.Hold, taken *model.Resources) model.Resources {
	if taken == nil {
		return h.Amounts
	}
	var left model.Resources
	for _, name := range h.Amounts.Names() {
		left.Set(name, max(h.Amounts.Get(name)-taken.Get(name), 0))
	}
	return left
}

// shortage says of what there is too little, and which hold keeps some of it.
func shortage(h *model.Hold, resource string) string {
	return fmt.Sprintf("node(s) lack %s beside what is held by %q%s", resource, h.Name, interval(h))
}
