package allocator

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/model"
)

// undo says what giving a device away has changed, so that it can be taken back.
type undo struct {
	drew        []draw
	constraints int // of the claim, from the first on
	whole       bool
	share       bool
	watch       bool
	result      bool
}

// give gives the device to the claim, where nothing is against it. The device
// must be selected by the demand. (allocateDevice.)
func (r *run) give(claim int, d *demand, at candidate) (u undo, ok bool, err error) {
	device := r.device(at)
	if r.closed(claim, d, at) {
		return u, false, nil
	}
	if draws := r.toDraw(d, at); len(draws) > 0 {
		if !r.draw(at.pool, draws) {
			return u, false, nil
		}
		u.drew = draws
	}
	if slices.ContainsFunc(device.Taints, func(t model.Taint) bool { return repels(&t, d.Tolerations) }) {
		r.takeBack(claim, d, at, u)
		return u, false, nil
	}
	for i := range r.claims[claim].constraints {
		if d.concerns[i] && !r.add(&r.claims[claim].constraints[i], at) {
			r.takeBack(claim, d, at, u)
			if d.All {
				err = fmt.Errorf("claim %s, request %s: cannot add device %s because a claim constraint would not be satisfied", d.claim, d.label, name(device.id))
			}
			return u, false, err
		}
		u.constraints++
	}
	if ok, err = r.affords(d, at); err != nil || !ok {
		r.takeBack(claim, d, at, u)
		return u, false, err
	}
	t := taken{candidate: at, demand: d}
	switch {
	case !d.takes:
		r.watching++
		u.watch = true
	case device.Shared:
		t.consumed = append(make([]int64, 0, len(r.scratch)), r.scratch...)
		r.share(at, t.consumed, 1)
		u.share = true
	default:
		r.whole[r.number(at)]++
		u.whole = true
	}
	r.taken[claim] = append(r.taken[claim], t)
	u.result = true
	return u, true, nil
}

// closed reports whether the device is not asked about at all. Administrative access
// may have what others use, and they what it watches; but no claim has a device
// twice.
func (r *run) closed(claim int, d *demand, at candidate) bool {
	if d.admin || r.watching > 0 { // seldom, and apart so that the rest is inlined
		return !d.admin && r.inUse(at) || r.has(claim, at)
	}
	return r.inUse(at)
}

// takeBack undoes what give has done.
func (r *run) takeBack(claim int, d *demand, at candidate, u undo) {
	if u.result {
		last := len(r.taken[claim]) - 1
		if u.share {
			r.share(at, r.taken[claim][last].consumed, -1)
		}
		r.taken[claim] = r.taken[claim][:last]
	}
	if u.whole {
		r.whole[r.number(at)]--
	}
	if u.watch {
		r.watching--
	}
	for i := range u.constraints {
		if d.concerns[i] {
			r.remove(&r.claims[claim].constraints[i])
		}
	}
	for _, draw := range u.drew {
		r.drawn[at.pool][draw.stock] -= draw.amount
	}
}

// toDraw is what giving the device draws on counters. What parts of it draw is paid for
// once: where parts are given away in this search nothing is drawn, and where they are
// given to others only what it draws more than then.
func (r *run) toDraw(d *demand, at candidate) []draw {
	draws := r.node.pools[at.pool].draws[at.device]
	switch {
	case !d.takes || len(draws) == 0:
		return nil
	case !r.device(at).Shared:
		return draws
	case r.shares[r.number(at)] > 0:
		return nil
	}
	state := r.state(at.pool)
	switch {
	case !state.parts[at.device]:
		return draws
	case state.more == nil:
		return nil
	}
	return state.more[at.device]
}

// draw takes the amounts off the counters of the pool, if there is enough. What is
// drawn of a counter is never more than what is left of it, so no sum is beyond the
// largest amount.
func (r *run) draw(pool int, draws []draw) bool {
	state := r.state(pool)
	if state.shut {
		return false
	}
	if len(r.drawn[pool]) == 0 {
		r.drawn[pool] = sized(r.drawn[pool], len(state.left))
	}
	drawn := r.drawn[pool]
	for i, d := range draws {
		if d.amount > state.left[d.stock]-drawn[d.stock] {
			for _, done := range draws[:i] {
				drawn[done.stock] -= done.amount
			}
			return false
		}
		drawn[d.stock] += d.amount
	}
	return true
}

// share counts a part of the device as taken, or no more.
func (r *run) share(at candidate, amounts []int64, by int32) {
	n := r.number(at)
	if r.sums == nil {
		r.sums = map[int][]int64{}
	}
	sum := r.sums[n]
	if len(sum) == 0 {
		sum = make([]int64, len(amounts))
		r.sums[n] = sum
	}
	r.shares[n] += by
	for i, amount := range amounts {
		sum[i] += int64(by) * amount
	}
}

// add reports whether the constraint allows the device besides those that it
// has, and if so adds it. (matchAttributeConstraint, distinctAttributeConstraint.)
func (r *run) add(c *constraint, at candidate) bool {
	column := &r.columns[c.index*len(r.node.pools)+at.pool]
	if *column == nil {
		*column = r.node.pools[at.pool].column(c.attribute)
	}
	value, t := (*column)[at.device], &r.trackers[c.index]
	if value == nil {
		return false
	}
	if c.Match != "" {
		if t.count > 0 && !value.Equal(*t.first) {
			return false
		}
		if t.count == 0 {
			t.first = value
		}
		t.count++
		return true
	}
	if slices.ContainsFunc(t.values, func(v *model.AttributeValue) bool { return value.Equal(*v) }) {
		return false
	}
	t.values = append(t.values, value)
	return true
}

// remove takes the last device added out again.
func (r *run) remove(c *constraint) {
	t := &r.trackers[c.index]
	if c.Match != "" {
		t.count--
	} else {
		t.values = t.values[:len(t.values)-1]
	}
}

// repels reports whether the taint keeps a claim with these tolerations off its
// device.
func repels(t *model.Taint, tolerations []model.Toleration) bool {
	if t.Effect != model.NoSchedule && t.Effect != model.NoExecute {
		return false
	}
	return !slices.ContainsFunc(tolerations, func(o model.Toleration) bool { return o.Tolerates(t) })
}
