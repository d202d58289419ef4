package allocator

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/model"
)

// run is one search on one node. It belongs to one goroutine, and goes back to a
// pool to be used again: between searches inUse, shares and drawn are zero.
type run struct {
	*search
	model  *model.Node
	node   *nodePools
	states []*poolState // by pool; nil: not asked for yet
	steps  int64

	// By demand: how many devices it wants, and which, where it wants all.
	counts []int64
	all    [][]candidate

	taken  [][]taken // by claim
	chosen [][]int   // by claim and request: the alternative

	// whole counts, by device, how often it is taken as a whole; shares and
	// sums have the parts that are taken, and their sum by capacity.
	whole  []int32
	shares []int32
	sums   map[int][]int64
	drawn  [][]int64 // by pool: what is taken of its counters; nil: nothing
	// watching counts the devices that are taken without taking anything away.
	watching int

	trackers []tracker // by constraint
	columns  [][]*model.AttributeValue

	scratch []int64
}

// candidate is a device by its place in the pools of the node.
type candidate struct{ pool, device int }

// taken is a device that a claim is given, if the search comes to a good end.
type taken struct {
	candidate
	demand *demand
	// consumed is what is taken of the capacities; nil for a device that is
	// not shared, and where nothing is taken away.
	consumed []int64
}

// tracker is what a constraint has seen so far.
type tracker struct {
	// first and count are for one that wants the same value of all devices.
	first *model.AttributeValue
	count int
	// values are for one that wants different ones.
	values []*model.AttributeValue
}

// start gets a run ready.
func (s *search) start(node *model.Node) *run {
	r := s.runs.Get().(*run)
	r.search, r.model, r.node, r.steps = s, node, s.pools.on(node), 0
	pools := len(r.node.pools)
	r.states = sized(r.states, pools)
	r.counts = sized(r.counts, s.demands)
	r.all = grown(r.all, s.demands)
	r.taken, r.chosen = grown(r.taken, len(s.claims)), grown(r.chosen, len(s.claims))
	for i, c := range s.claims {
		r.taken[i], r.chosen[i] = r.taken[i][:0], sized(r.chosen[i], len(c.requests))
	}
	r.whole, r.shares = grown(r.whole, r.node.size), grown(r.shares, r.node.size)
	r.drawn = grown(r.drawn, pools)
	r.trackers = grown(r.trackers, s.constraints)
	for i := range r.trackers {
		r.trackers[i] = tracker{values: r.trackers[i].values[:0]}
	}
	r.columns = sized(r.columns, s.constraints*pools)
	return r
}

// sized returns a list of n zeros, in the memory of the old one if it will do.
func sized[T any](list []T, n int) []T {
	list = grown(list, n)
	clear(list)
	return list
}

// grown returns the list with n items, of which those that were there are as
// they were.
func grown[T any](list []T, n int) []T {
	if cap(list) < n {
		list = append(list[:cap(list)], make([]T, n-cap(list))...)
	}
	return list[:n]
}

// end gives the run back.
func (r *run) end() {
	for claim, list := range r.taken {
		for i := range list {
			at := r.node.pools[list[i].pool].base + list[i].device
			r.whole[at], r.shares[at] = 0, 0
		}
		clear(r.taken[claim])
	}
	clear(r.sums)
	for i := range r.drawn {
		clear(r.drawn[i])
		r.drawn[i] = r.drawn[i][:0]
	}
	clear(r.columns)
	clear(r.states)
	r.watching = 0
	runs := r.runs
	r.search, r.model, r.node = nil, nil, nil
	runs.Put(r)
}

// state returns what is in use of the pool.
func (r *run) state(pool int) *poolState {
	if r.states[pool] == nil {
		p := r.node.pools[pool].pool
		r.states[pool] = p.in(r.devices.Use(p.id), r.options.Compat)
	}
	return r.states[pool]
}

func (r *run) device(at candidate) *device { return r.node.pools[at.pool].devices[at.device] }

// number is the place of the device among all of the node.
func (r *run) number(at candidate) int { return r.node.pools[at.pool].base + at.device }

// inUse reports whether the device is given away as a whole, to others or in
// this search.
func (r *run) inUse(at candidate) bool {
	return r.state(at.pool).whole[at.device] || r.whole[r.number(at)] > 0
}

// has reports whether the claim has taken the device, which is not shared.
func (r *run) has(claim int, at candidate) bool {
	return (r.whole[r.number(at)] > 0 || r.watching > 0) && !r.device(at).Shared &&
		slices.ContainsFunc(r.taken[claim], func(t taken) bool { return t.candidate == at })
}

// selects reports whether the demand selects the device, and it can be used
// from here.
func (r *run) selects(d *demand, at candidate) (bool, error) {
	ok, err := d.selects(r.options.Evaluator, r.device(at))
	here := r.node.pools[at.pool].here
	return ok && (here == nil || here[at.device]), err
}

// offers reports whether the device, if nothing of it were given away, had the
// capacity that is wanted.
func (r *run) offers(d *demand, at candidate) (bool, error) {
	device := r.device(at)
	if len(device.capacities) == 0 && len(d.Capacity) == 0 {
		return true, nil
	}
	var ok bool
	var err error
	if r.scratch, ok, err = device.consumed(r.scratch[:0], d.Capacity); err != nil {
		return false, r.capacityError(d, device.Name, err)
	}
	for i, amount := range r.scratch {
		ok = ok && amount <= device.capacities[i].Amount
	}
	return ok, nil
}

func (r *run) capacityError(d *demand, device string, err error) error {
	return fmt.Errorf("claim %s, request %s: checking capacity for device %s: %w", d.claim, d.label, device, err)
}

// affords is offers with what of the device is given away, which does not matter to
// those who take nothing. What is taken ends up in scratch.
func (r *run) affords(d *demand, at candidate) (bool, error) {
	device := r.device(at)
	state := r.state(at.pool)
	if !device.Shared && !device.limited && len(d.Capacity) == 0 && !state.parts[at.device] {
		return true, nil
	}
	var ok bool
	var err error
	if r.scratch, ok, err = device.consumed(r.scratch[:0], d.Capacity); err != nil {
		return false, r.capacityError(d, name(device.id), err)
	}
	if !ok {
		return false, nil
	}
	var used, sum []int64
	if d.takes && state.consumed != nil {
		used = state.consumed[at.device]
	}
	if d.takes && r.shares[r.number(at)] > 0 {
		sum = r.sums[r.number(at)]
	}
	for i, amount := range r.scratch {
		left := device.capacities[i].Amount
		if used != nil {
			left -= used[i]
		}
		if sum != nil {
			left -= sum[i]
		}
		if amount > left {
			return false, nil
		}
	}
	return true, nil
}
