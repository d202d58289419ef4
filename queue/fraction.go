package queue

import (
	"cmp"
	"math"
	"math/bits"
)

// total is a sum of amounts. It cannot overflow, so that what was added can be taken
// away again, however absurd it was.
type total struct{ hi, lo uint64 }

// add adds an amount, which is not negative.
func (t *total) add(n int64) {
	lo, carry := bits.Add64(t.lo, uint64(n), 0)
	t.hi, t.lo = t.hi+carry, lo
}

// sub takes away an amount that was added.
func (t *total) sub(n int64) {
	lo, borrow := bits.Sub64(t.lo, uint64(n), 0)
	t.hi, t.lo = t.hi-borrow, lo
}

// plus adds another sum.
func (t *total) plus(o total) {
	lo, carry := bits.Add64(t.lo, o.lo, 0)
	t.hi, t.lo = t.hi+o.hi+carry, lo
}

// amount is the sum, or the largest amount where it is more.
func (t total) amount() int64 {
	if t.hi != 0 || t.lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(t.lo)
}

// share is a part of a whole: used of capacity. Nothing of nothing is nothing; anything
// of nothing is more than any other share.
type share struct{ used, capacity int64 }

// compare compares two shares, exactly.
func (s share) compare(o share) int { return s.compareWeighted(1, o, 1) }

// compareWeighted compares used / (capacity * weight), exactly. Those without a weight
// come after all that have one, and are equal to each other in that.
func (s share) compareWeighted(weight int64, o share, other int64) int {
	if (weight == 0) != (other == 0) {
		return cmp.Compare(other, weight)
	}
	left := product(s.used, o.capacity, max(other, 1))
	right := product(o.used, s.capacity, max(weight, 1))
	for i := range left {
		if c := cmp.Compare(left[i], right[i]); c != 0 {
			return c
		}
	}
	return 0
}

// product is a*b*c, none of which is negative, the highest part first.
func product(a, b, c int64) [3]uint64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	carry, low := bits.Mul64(lo, uint64(c))
	high, middle := bits.Mul64(hi, uint64(c))
	middle, overflow := bits.Add64(middle, carry, 0)
	return [3]uint64{high + overflow, middle, low}
}

const never = math.MaxInt64
