package allocator

import (
	"fmt"
	"slices"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// search is the [Search] of a [Structured].
type search struct {
	options   Options
	runs      *sync.Pool     // of *run
	selectors *selectorTable // numbers those of the demands
	devices   extpoints.Devices
	pools     *catalogue
	claims    []*claim
	// demands and constraints count those of all claims.
	demands, constraints int
}

// claim is a claim to be served.
type claim struct {
	*model.DeviceClaim
	name        string // for messages
	requests    []request
	constraints []constraint
	err         error // wrong with the constraints
}

// request is a request with its alternatives, of which there is one unless it is
// prioritized.
type request struct {
	*model.ClaimRequest
	alternatives []*demand
}

// demand is one alternative of a request.
type demand struct {
	*model.DeviceDemand
	claim     string // for messages
	label     string // its own name, for messages
	ref       string // its name in results: request, or request/alternative
	index     int    // among all of the search
	class     *model.DeviceClass
	selectors selectorNumber
	admin     bool
	// takes: what it is given is taken away from others. Administrative access
	// takes nothing.
	takes bool
	// expressions: some selector has one.
	expressions bool
	// concerns says which of the claim's constraints are about it.
	concerns []bool
	err      error // it cannot be served anywhere
}

// constraint is one of a claim.
type constraint struct {
	*model.DeviceConstraint
	attribute string
	index     int // among all of the search
}

// prepare returns the claim with what is worked out once for all nodes.
func (s *search) prepare(m *model.DeviceClaim) *claim {
	c := &claim{DeviceClaim: m, name: m.DisplayName(), requests: make([]request, len(m.Requests))}
	for i := range m.Constraints {
		k := constraint{DeviceConstraint: &m.Constraints[i], index: s.constraints}
		if k.attribute = k.Match; k.attribute == "" {
			k.attribute = k.Distinct
		}
		if k.attribute == "" && c.err == nil {
			c.err = fmt.Errorf("claim %s, constraint #%d: empty constraint (unsupported constraint type?)", c.name, i)
		}
		c.constraints = append(c.constraints, k)
		s.constraints++
	}
	for i := range m.Requests {
		r := &m.Requests[i]
		c.requests[i].ClaimRequest = r
		for j := range r.Alternatives {
			d := s.demand(c, r, &r.Alternatives[j])
			c.requests[i].alternatives = append(c.requests[i].alternatives, d)
		}
	}
	return c
}

func (s *search) demand(c *claim, r *model.ClaimRequest, m *model.DeviceDemand) *demand {
	d := &demand{DeviceDemand: m, claim: c.name, label: r.Name, ref: r.Name, index: s.demands, admin: m.AdminAccess}
	s.demands++
	if r.Prioritized {
		d.label, d.ref, d.admin = m.Name, r.Name+"/"+m.Name, false
	}
	d.takes = !d.admin || s.options.Compat == extpoints.KubeScheduler137
	for i := range c.constraints {
		only := c.constraints[i].Requests
		d.concerns = append(d.concerns, len(only) == 0 || slices.Contains(only, r.Name) || slices.Contains(only, d.ref))
	}
	if d.class = s.devices.Class(m.Class); d.class == nil {
		d.err = fmt.Errorf("claim %s, request %s: could not retrieve device class %s: device class %q not found", c.name, d.label, m.Class, m.Class)
		return d
	}
	all := d.class.Selectors
	if len(m.Selectors) > 0 {
		all = slices.Concat(all, m.Selectors)
	}
	d.selectors = s.selectors.number(all)
	d.expressions = slices.ContainsFunc(all, func(s model.DeviceSelector) bool { return s.Expression != "" })
	return d
}
