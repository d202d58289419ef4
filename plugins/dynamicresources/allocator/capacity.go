package allocator

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
)

// The rules of capacity are those of consumable_capacity.go in the reference.

// capacity is one of the capacities of a device.
type capacity struct {
	name string
	model.DeviceCapacity
	// byDefault is how much a request gets that does not say, and allowed says
	// whether the policy allows that.
	byDefault int64
	allowed   bool
}

// capacitiesOf lists the capacities by name, and reports whether one of them has
// a policy.
func capacitiesOf(d *model.SliceDevice) (list []capacity, limited bool) {
	for name, c := range d.Capacity {
		of := capacity{name: name, DeviceCapacity: c, byDefault: c.Amount}
		if p := c.Policy; p != nil {
			limited = true
			if p.Default != nil {
				of.byDefault = *p.Default
			}
		}
		of.allowed = of.allows(of.byDefault)
		list = append(list, of)
	}
	slices.SortFunc(list, func(a, b capacity) int { return strings.Compare(a.name, b.name) })
	return list, limited
}

// roundUp returns the amount that is given to a request for wanted.
func (c *capacity) roundUp(wanted int64) (int64, error) {
	p := c.Policy
	switch {
	case p == nil:
		return wanted, nil
	case p.Min != nil:
		return roundUpStep(p, wanted)
	}
	for _, v := range p.Values {
		if wanted <= v {
			return v, nil
		}
	}
	return wanted, nil
}

// roundUpStep rounds up to the range of the policy.
func roundUpStep(p *model.CapacityPolicy, wanted int64) (int64, error) {
	least := *p.Min
	if wanted < least {
		return least, nil
	}
	if p.Step == nil {
		return wanted, nil
	}
	steps := (wanted - least) / *p.Step
	if (wanted-least)%*p.Step != 0 {
		steps++
	}
	if steps > (math.MaxInt64-least) / *p.Step {
		return 0, fmt.Errorf("capacity request cannot be represented in the device's range arithmetic: rounding request %d up to the next step passes MaxInt64", wanted)
	}
	return least + *p.Step*steps, nil
}

// allows reports whether the policy lets the amount be given.
func (c *capacity) allows(amount int64) bool {
	p := c.Policy
	switch {
	case p == nil || p.Default != nil && amount == *p.Default:
		return true
	case p.Min != nil:
		return (p.Max == nil || amount <= *p.Max) && (p.Step == nil || (amount-*p.Min)%*p.Step == 0)
	case len(p.Values) > 0:
		return slices.Contains(p.Values, amount)
	}
	return true
}
