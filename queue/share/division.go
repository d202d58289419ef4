package share

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Claim is what one queue may have of a capacity that is divided.
type Claim struct {
	Name     string // of the queue; decides last between equal fractions
	Sequence uint64 // decides between equal fractions, before the name
	Priority int64  // what is over is divided among higher priorities first
	Deserved int64  // guaranteed, as far as it is requested; Unlimited: the whole capacity
	Weight   int64  // its part of what is over; 0: none
	Limit    int64  // the most that it may have; Unlimited: any
	Request  int64  // what it has and asks for
	Usage    uint64 // what it used in the past, of the capacity there was: a Q32 number
}

// Capacity is what is divided.
type Capacity struct {
	Amount int64  // of one resource, in the unit of the claims; 0 or more
	Unit   int64  // shares of what is over are rounded down to multiples of it; 0 is 1
	Memory uint64 // how much past usage counts: a Q32 number, 0: not at all
}

// Division is how a capacity was divided.
type Division struct {
	Shares   []int64 // by claim
	Rest     int64   // what nobody may have or wants
	Oversold int64   // by how much the guarantees are more than the capacity
}

// Divide divides a capacity, of one resource, among the children of one queue.
//
// First each gets what it deserves, as far as it requests it and its limit allows. If
// that is more than the capacity (Oversold), each gets the same part of it, whatever
// its priority.
//
// The rest goes to those that want more, by priority: in rounds, each is offered a
// part in proportion to W+Memory*(W-Usage), if that is above 0, where W is its part
// of the weights. It takes what it wants, if that is no more than the offer, and
// else the offer rounded down to whole units. There is another round if somebody
// wanted less than the offer. What was lost by rounding is then handed out within the
// priority, one unit each at most, by the largest fraction that was cut off, then
// sequence and name. Only then it is the turn of the next priority.
//
// So the shares are never more than the capacity in sum, nor one of them more than its
// request or limit. The error lists all that is wrong: an amount or a weight below 0.
func Divide(capacity Capacity, claims []Claim) (Division, error) {
	if err := checkDivision(capacity, claims); err != nil {
		return Division{}, err
	}
	d := divider{claims: claims, unit: max(1, capacity.Unit), memory: capacity.Memory, shares: make([]int64, len(claims)), rest: capacity.Amount}
	oversold := d.guarantee()
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(claims[b].Priority, claims[a].Priority) })
	for len(order) > 0 {
		end := 1
		for end < len(order) && claims[order[end]].Priority == claims[order[0]].Priority {
			end++
		}
		d.divide(order[:end])
		order = order[end:]
	}
	return Division{Shares: d.shares, Rest: d.rest, Oversold: oversold}, nil
}

func checkDivision(capacity Capacity, claims []Claim) error {
	var wrong []error
	if capacity.Amount < 0 || capacity.Unit < 0 {
		wrong = append(wrong, fmt.Errorf("share: a capacity of %d in units of %d: %w", capacity.Amount, capacity.Unit, ErrNegative))
	}
	for _, c := range claims {
		if c.Deserved < 0 || c.Limit < 0 || c.Request < 0 {
			wrong = append(wrong, fmt.Errorf("share: claim %q deserves %d, limit %d, request %d: %w", c.Name, c.Deserved, c.Limit, c.Request, ErrNegative))
		}
		if c.Weight < 0 {
			wrong = append(wrong, fmt.Errorf("share: weight %d of claim %q is below 0: %w", c.Weight, c.Name, ErrWeight))
		}
	}
	return errors.Join(wrong...)
}

type divider struct {
	claims []Claim
	unit   int64
	memory uint64
	shares []int64
	rest   int64
}

// wants returns how much more the claim may have.
func (d *divider) wants(i int) int64 {
	return max(0, min(d.claims[i].Request, d.claims[i].Limit)-d.shares[i])
}

// guarantee gives each what it deserves, or the same part of it.
func (d *divider) guarantee() (oversold int64) {
	var of []offer
	sum := new(big.Int)
	for i, c := range d.claims {
		deserved := c.Deserved
		if deserved == Unlimited {
			deserved = d.rest
		}
		deserved = min(deserved, c.Request, c.Limit)
		of = append(of, offer{claim: i, part: big.NewInt(deserved), most: deserved})
		sum.Add(sum, of[i].part)
	}
	if sum.Cmp(big.NewInt(d.rest)) <= 0 {
		for i, o := range of {
			d.shares[i] = o.most
			d.rest -= o.most
		}
		return 0
	}
	over := new(big.Int).Sub(sum, big.NewInt(d.rest))
	d.hand(of, sum)
	d.handUnits(of)
	if !over.IsInt64() {
		return Unlimited
	}
	return over.Int64()
}

// offer is a part of what is divided for one claim.
type offer struct {
	claim int
	part  *big.Int // the claim's part, of the sum of all parts
	most  int64    // what it may take at most
	cut   *big.Int // what was cut off by rounding, times the sum of all parts
}

// divide divides the rest among claims of one priority.
func (d *divider) divide(claims []int) {
	for d.rest > 0 {
		of, sum := d.offers(claims)
		if sum.Sign() == 0 {
			return
		}
		if !d.hand(of, sum) {
			d.handUnits(of)
			return
		}
	}
}

// offers computes the parts of those that want more. A part is (w*(1+k)-u*k*W) times
// what all have in common, for the weight w of all weights W, the usage u and the memory k.
func (d *divider) offers(claims []int) (of []offer, sum *big.Int) {
	all := new(big.Int)
	for _, i := range claims {
		if d.wants(i) > 0 {
			all.Add(all, big.NewInt(d.claims[i].Weight))
		}
	}
	sum = new(big.Int)
	memory, one := new(big.Int).SetUint64(d.memory), new(big.Int).SetUint64(One)
	for _, i := range claims {
		if d.wants(i) == 0 || d.claims[i].Weight == 0 {
			continue
		}
		part := new(big.Int).Add(one, memory)
		part.Mul(part, big.NewInt(d.claims[i].Weight)).Mul(part, one)
		past := new(big.Int).SetUint64(d.claims[i].Usage)
		part.Sub(part, past.Mul(past, memory).Mul(past, all))
		if part.Sign() > 0 {
			of = append(of, offer{claim: i, part: part, most: d.wants(i)})
			sum.Add(sum, part)
		}
	}
	return of, sum
}

// hand gives each its part of the rest, rounded down to units, or what it may take at
// most if that is no more. It reports whether somebody was satisfied with less than offered.
func (d *divider) hand(of []offer, sum *big.Int) (again bool) {
	rest, given := big.NewInt(d.rest), int64(0)
	for k := range of {
		o := &of[k]
		offered := new(big.Int).Mul(rest, o.part) // times sum
		wanted := new(big.Int).Mul(big.NewInt(o.most), sum)
		var give int64
		if order := wanted.Cmp(offered); order <= 0 {
			give, o.cut = o.most, new(big.Int)
			again = again || order < 0
		} else {
			units := new(big.Int).Quo(offered, sum).Int64() / d.unit
			give = units * d.unit
			o.cut = offered.Sub(offered, wanted.Mul(big.NewInt(give), sum))
		}
		o.most -= give
		d.shares[o.claim] += give
		given += give
	}
	d.rest -= given
	return again
}

// handUnits hands out what was lost by rounding: a unit each, or what is left or wanted,
// the largest fraction first.
func (d *divider) handUnits(of []offer) {
	slices.SortStableFunc(of, func(a, b offer) int {
		x, y := d.claims[a.claim], d.claims[b.claim]
		return cmp.Or(b.cut.Cmp(a.cut), cmp.Compare(x.Sequence, y.Sequence), strings.Compare(x.Name, y.Name))
	})
	for _, o := range of {
		give := min(d.unit, o.most, d.rest)
		d.shares[o.claim] += give
		d.rest -= give
	}
}
