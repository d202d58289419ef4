package share

import (
	"errors"
	"fmt"
)

// Kind says how a resource counts in the billing rules that take a maximum.
type Kind int

// The values of Kind.
const (
	NodeResource   Kind = iota // cores and memory
	DeviceResource             // devices of a node
	GlobalResource             // licences, and what else belongs to no node
)

// Tariff is what a resource costs: Price for each Per of its units.
type Tariff struct {
	Kind  Kind  // what it is compared with where the rule takes a maximum; BillSum ignores it
	Price int64 // 0 or more
	Per   int64 // 1 or more
}

// BillingRule says how the prices of the resources of a workload become one number.
type BillingRule int

// The values of BillingRule.
const (
	BillSum           BillingRule = iota // of all resources
	BillMax                              // the largest of node and device resources, and the sum of global ones
	BillMaxAndDevices                    // the largest of node resources, and the sum of all others
)

// Billing turns amounts of resources into one number, so that different workloads can be
// charged to one ledger. Use NewBilling.
type Billing struct {
	rule   BillingRule
	kinds  []Kind
	prices []uint64 // by resource, for each unit, in units of 1/scale
	scale  uint64
}

// NewBilling makes billing by resource from tariffs. The error lists all that is wrong: a price
// below 0, a Per below 1, and denominators that have no common multiple that fits.
func NewBilling(rule BillingRule, tariffs []Tariff) (*Billing, error) {
	b := &Billing{rule: rule, scale: 1}
	var wrong []error
	for r, t := range tariffs {
		if t.Price < 0 || t.Per < 1 {
			wrong = append(wrong, fmt.Errorf("share: resource %d costs %d for each %d: %w", r, t.Price, t.Per, ErrWeight))
			continue
		}
		step := uint64(t.Per) / gcd(uint64(t.Per), b.scale)
		next := product(b.scale, step)
		if next.Hi != 0 || next.Lo > 1<<62 {
			wrong = append(wrong, fmt.Errorf("share: the common multiple of the denominators up to resource %d: %w", r, ErrOverflow))
			continue
		}
		b.scale = next.Lo
	}
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	for r, t := range tariffs {
		price := product(uint64(t.Price), b.scale/uint64(t.Per))
		if price.Hi != 0 {
			wrong = append(wrong, fmt.Errorf("share: the price of resource %d: %w", r, ErrOverflow))
		}
		b.kinds, b.prices = append(b.kinds, t.Kind), append(b.prices, price.Lo)
	}
	return b, errors.Join(wrong...)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Bill returns the price of the amounts, by resource; missing ones are 0. It is exact, and the
// total rounded down. An amount below 0, more amounts than tariffs, and a price that does not
// fit are errors.
func (b *Billing) Bill(amounts []int64) (int64, error) {
	if len(amounts) > len(b.prices) {
		return 0, fmt.Errorf("share: %d amounts for %d resources: %w", len(amounts), len(b.prices), ErrLength)
	}
	var sum, top Uint128
	fits := true
	for r, amount := range amounts {
		if amount < 0 {
			return 0, fmt.Errorf("share: %d of resource %d: %w", amount, r, ErrNegative)
		}
		price := product(uint64(amount), b.prices[r])
		if b.rule == BillMax && b.kinds[r] != GlobalResource || b.rule == BillMaxAndDevices && b.kinds[r] == NodeResource {
			if price.Compare(top) > 0 {
				top = price
			}
			continue
		}
		var ok bool
		sum, ok = sum.Plus(price)
		fits = fits && ok
	}
	sum, ok := sum.Plus(top)
	bill := quotient(sum, b.scale)
	if !fits || !ok || bill > Unlimited {
		return 0, fmt.Errorf("share: a bill: %w", ErrOverflow)
	}
	return int64(bill), nil
}

// WeightedUsage returns the sum of what was used, each resource with its weight, over the weight
// of the user; its order is the order of admission by usage. A missing weight is 1, one below 0 is
// 0, as is usage below 0. With a user's weight of 0 or less it is infinite.
func WeightedUsage(used, weights []int64, weight int64) Fraction {
	if weight <= 0 {
		return infinite
	}
	var sum Uint128
	for r, u := range used {
		w := int64(1)
		if r < len(weights) {
			w = weights[r]
		}
		sum, _ = sum.Plus(product(uint64(max(0, u)), uint64(max(0, w))))
	}
	return Fraction{wideOf128(sum), wideOf(uint64(weight))}
}
