package allocator

import (
	"fmt"

	"github.com/berth-project/berth/model"
)

// outcome is how a search, or a part of it, ended where there is no error.
type outcome uint8

const (
	failed outcome = iota
	found
	// exceeded: a claim would get more than MaxResults devices. Other devices
	// for the requests before cannot help, only other alternatives. It does not
	// get out of its claim, because check has found alternatives that are few
	// enough, and the search for them ends in another way.
	exceeded
)

// place is where a search is: at the device-th device of a demand.
type place struct {
	claim, request, alternative, device int
	// inside: the alternative is decided on, for now.
	inside bool
}

// Fits implements [Search].
func (s *search) Fits(node *model.Node) (bool, error) {
	r := s.start(node)
	ok, err := r.find()
	r.end()
	return ok, err
}

// Allocate implements [Search].
func (s *search) Allocate(node *model.Node, seed uint64) ([]*model.Allocation, error) {
	r := s.start(node)
	defer r.end()
	if ok, err := r.find(); err != nil || !ok {
		return nil, err
	}
	return r.allocations(seed)
}

// find searches. Afterwards taken and chosen are the solution, where there is
// one.
func (r *run) find() (bool, error) {
	for i := range r.claims {
		if err := r.check(i); err != nil {
			return false, err
		}
	}
	end, err := r.next(place{}, candidate{})
	if err != nil {
		return false, err
	}
	if end == found {
		return true, nil
	}
	for i := range r.node.pools {
		if r.node.pools[i].invalid {
			return false, &NodeError{"invalid resource pools were encountered"}
		}
	}
	return false, nil
}

// check looks whether the claim can be served at all, and finds out how many
// "all" devices are.
func (r *run) check(i int) error {
	c := r.claims[i]
	total := int64(0)
	for j := range c.requests {
		if len(c.requests[j].alternatives) == 0 {
			return fmt.Errorf("claim %s, request %s: unknown request type", c.name, c.requests[j].Name)
		}
		least := int64(-1)
		for _, d := range c.requests[j].alternatives {
			if err := r.count(d); err != nil {
				return err
			}
			if n := r.counts[d.index]; least < 0 || n < least {
				least = n
			}
		}
		if least > MaxResults-total {
			return fmt.Errorf("claim %s, request %s: adding %d devices exceeds the claim limit of %d, with %d already accounted for", c.name, c.requests[j].Name, least, MaxResults, total)
		}
		total += least
	}
	return c.err
}

// count finds out how many devices the demand wants.
func (r *run) count(d *demand) error {
	if d.err != nil {
		return d.err
	}
	if !d.All {
		r.counts[d.index] = d.Count
		return nil
	}
	all := r.all[d.index][:0]
	for p := range r.node.pools {
		pool := &r.node.pools[p]
		if pool.incomplete || pool.invalid {
			state := "being updated"
			if pool.invalid {
				state = "invalid"
			}
			return fmt.Errorf("claim %s, request %s: asks for all devices, but resource pool %s/%s is currently %s", d.claim, d.label, pool.id.Driver, pool.id.Pool, state)
		}
		for i := range pool.devices {
			at := candidate{p, i}
			ok, err := r.selects(d, at)
			if err != nil {
				return err
			}
			if ok {
				ok, err = r.offers(d, at)
			}
			if err != nil {
				return err
			}
			if ok {
				all = append(all, at)
			}
		}
	}
	r.all[d.index], r.counts[d.index] = all, int64(len(all))
	return nil
}

// next finds devices for the place and all after it. Candidates for the device
// are those from the given one on: within a demand devices are taken in their
// order, so that each set of them is tried once. (allocateOne.)
func (r *run) next(p place, from candidate) (outcome, error) {
	if r.steps++; r.steps > r.options.MaxSteps {
		return failed, ErrTooManySteps
	}
	if p.claim >= len(r.claims) {
		return found, nil
	}
	c := r.claims[p.claim]
	if p.request >= len(c.requests) {
		return r.next(place{claim: p.claim + 1}, candidate{})
	}
	request := &c.requests[p.request]
	if request.Prioritized && !p.inside {
		return r.alternatives(p, len(request.alternatives))
	}
	d := request.alternatives[p.alternative]
	n := r.counts[d.index]
	switch {
	case d.All && n == 0:
		return failed, nil
	case int64(p.device) >= n:
		return r.next(place{claim: p.claim, request: p.request + 1}, candidate{})
	case n-int64(p.device) > int64(MaxResults-len(r.taken[p.claim])):
		return exceeded, nil
	case d.All:
		return r.take(p, d, r.all[d.index][p.device])
	}
	return r.candidates(p, d, from)
}

// alternatives tries one alternative of a request after the other.
func (r *run) alternatives(p place, n int) (outcome, error) {
	end := exceeded // if all exceed
	p.inside = true
	for p.alternative = range n {
		switch e, err := r.next(p, candidate{}); {
		case err != nil:
			return failed, err
		case e == found:
			r.chosen[p.claim][p.request] = p.alternative
			return found, nil
		case e == failed:
			end = failed
		}
	}
	return end, nil
}

// candidates tries one device after the other.
func (r *run) candidates(p place, d *demand, from candidate) (outcome, error) {
	if few, err := r.tooFew(p.claim, d, r.counts[d.index]-int64(p.device), from); err != nil || few {
		return failed, err
	}
	for at := from; at.pool < len(r.node.pools); at = (candidate{at.pool + 1, 0}) {
		pool := &r.node.pools[at.pool]
		if pool.incomplete || pool.invalid {
			continue
		}
		for ; at.device < len(pool.devices); at.device++ {
			if r.steps++; r.steps > r.options.MaxSteps {
				return failed, ErrTooManySteps
			}
			if r.closed(p.claim, d, at) {
				continue
			}
			ok, err := r.selects(d, at)
			if err != nil {
				return failed, err
			}
			if ok {
				ok, err = r.affords(d, at)
			}
			if err != nil {
				return failed, err
			}
			if !ok {
				continue
			}
			if end, err := r.take(p, d, at); end != failed || err != nil {
				return end, err
			}
		}
	}
	return failed, nil
}

// tooFew reports whether there cannot be as many devices as are needed from the
// place on. It saves going through all sets of too few devices, which is what
// the reference does. What that would find out on the way is found out here too:
// an expression that fails for a device. (Where amounts of capacity are wanted
// there is more to find out, so all sets are gone through.)
func (r *run) tooFew(claim int, d *demand, need int64, from candidate) (bool, error) {
	if need <= 1 || len(d.Capacity) > 0 {
		return false, nil
	}
	have, err := r.usable(claim, d, need, from, !d.expressions)
	if err != nil || have >= need {
		return false, err
	}
	if d.expressions {
		_, err = r.usable(claim, d, need, from, true)
	}
	return true, err
}

// usable counts the devices from the place on that the demand could have, or
// where selected is false could have if it selected them, up to as many as are
// needed.
func (r *run) usable(claim int, d *demand, need int64, from candidate, selected bool) (have int64, err error) {
	for at := from; at.pool < len(r.node.pools); at = (candidate{at.pool + 1, 0}) {
		pool := &r.node.pools[at.pool]
		if pool.incomplete || pool.invalid {
			continue
		}
		for ; at.device < len(pool.devices) && have < need; at.device++ {
			if r.closed(claim, d, at) {
				continue
			}
			ok := true
			if selected {
				if ok, err = r.selects(d, at); err != nil {
					return have, err
				}
			}
			if ok {
				have++
			}
		}
	}
	return have, nil
}

// take takes the device, if that can be done, and goes on to the next; where
// there is no solution with it, it is given back.
func (r *run) take(p place, d *demand, at candidate) (outcome, error) {
	undo, ok, err := r.give(p.claim, d, at)
	if err != nil || !ok {
		return failed, err
	}
	after := p
	after.device++
	end, err := r.next(after, candidate{at.pool, at.device + 1})
	if end != found || err != nil {
		r.takeBack(p.claim, d, at, undo)
	}
	return end, err
}
