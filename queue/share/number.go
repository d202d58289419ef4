package share

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// Unlimited stands for a limit that there is not, in amounts that are limits.
const Unlimited = math.MaxInt64

// One is the share 1 in Q32 numbers: integers in units of 2^-32, which are rounded
// down.
const One uint64 = 1 << 32

// Uint128 is a sum of usage, for 64 bits hold one TiB for 194 days only if it is
// counted in byte seconds. The zero value is 0.
type Uint128 struct {
	Hi, Lo uint64 // the upper and the lower 64 bits
}

// Compare returns -1, 0 or 1 as a is below, equal to or above b.
func (a Uint128) Compare(b Uint128) int {
	switch {
	case a == b:
		return 0
	case a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo:
		return -1
	}
	return 1
}

// Plus returns a+b, and false if that does not fit: the sum is then the largest number.
func (a Uint128) Plus(b Uint128) (Uint128, bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, over := bits.Add64(a.Hi, b.Hi, carry)
	if over != 0 {
		return Uint128{math.MaxUint64, math.MaxUint64}, false
	}
	return Uint128{hi, lo}, true
}

// String is the number in decimal.
func (a Uint128) String() string {
	n := new(big.Int).SetUint64(a.Hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(a.Lo)).String()
}

// minus returns a-b, where b is at most a.
func (a Uint128) minus(b Uint128) Uint128 {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(a.Hi, b.Hi, borrow)
	return Uint128{hi, lo}
}

// shiftRight returns a>>n, for n below 128.
func (a Uint128) shiftRight(n uint) Uint128 {
	if n >= 64 {
		return Uint128{0, a.Hi >> (n - 64)}
	}
	return Uint128{a.Hi >> n, a.Lo>>n | a.Hi<<(64-n)} // a shift by 64 gives 0
}

func product(a, b uint64) Uint128 {
	hi, lo := bits.Mul64(a, b)
	return Uint128{hi, lo}
}

// wide is an unsigned integer of 256 bits, the lowest first.
type wide [4]uint64

func wideOf(n uint64) wide { return wide{n} }

func wideOf128(n Uint128) wide { return wide{n.Lo, n.Hi} }

// times returns w*n. The policies multiply at most 64, 64 and 128 bits, so that
// nothing is lost.
func (w wide) times(n uint64) (p wide) {
	var carry uint64
	for i := range w {
		hi, lo := bits.Mul64(w[i], n)
		var c uint64
		p[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return p
}

func (w wide) shiftRight(n uint) (s wide) {
	words, n := n/64, n%64
	for i := uint(0); i+words < 4; i++ {
		s[i] = w[i+words] >> n
		if i+words+1 < 4 {
			s[i] |= w[i+words+1] << (64 - n)
		}
	}
	return s
}

// low returns the lower 128 bits.
func (w wide) low() Uint128 { return Uint128{w[1], w[0]} }

func (w wide) float() float64 {
	f := 0.0
	for i := len(w) - 1; i >= 0; i-- {
		f = f*0x1p64 + float64(w[i])
	}
	return f
}

// product512 multiplies exactly.
func (w wide) product512(v wide) (p [8]uint64) {
	for i := range w {
		if w[i] == 0 {
			continue
		}
		var carry uint64
		for j := range v {
			hi, lo := bits.Mul64(w[i], v[j])
			var c uint64
			lo, c = bits.Add64(lo, p[i+j], 0)
			hi += c
			p[i+j], c = bits.Add64(lo, carry, 0)
			carry = hi + c
		}
		p[i+4] = carry
	}
	return p
}

// Fraction is a share as it is, not rounded: zero or more, or infinite. Compare it by
// Compare, not by ==. The zero value is 0.
type Fraction struct {
	num, den wide // den 0: 0 if num is 0 too, else infinite
}

var infinite = Fraction{num: wide{1}}

// Ratio returns num/den. It is 0 if num is not above 0, and else infinite if den is
// not.
func Ratio(num, den int64) Fraction {
	switch {
	case num <= 0:
		return Fraction{}
	case den <= 0:
		return infinite
	}
	return Fraction{wideOf(uint64(num)), wideOf(uint64(den))}
}

// Compare returns -1, 0 or 1 as f is below, equal to or above g. It is exact. Two
// infinite fractions are equal.
func (f Fraction) Compare(g Fraction) int {
	if f.den == (wide{}) || g.den == (wide{}) {
		return cmp.Compare(f.class(), g.class())
	}
	if f.num[1]|f.num[2]|f.num[3]|f.den[1]|f.den[2]|f.den[3]|g.num[1]|g.num[2]|g.num[3]|g.den[1]|g.den[2]|g.den[3] == 0 {
		return product(f.num[0], g.den[0]).Compare(product(g.num[0], f.den[0]))
	}
	a, b := f.num.product512(g.den), g.num.product512(f.den)
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// class is -1 for 0, 1 for what is infinite, and 0 else.
func (f Fraction) class() int {
	switch {
	case f.num == (wide{}):
		return -1
	case f.den == (wide{}):
		return 1
	}
	return 0
}

// Infinite reports whether the share is above every other.
func (f Fraction) Infinite() bool { return f.den == (wide{}) && f.num != (wide{}) }

// Zero reports whether the share is 0.
func (f Fraction) Zero() bool { return f.num == (wide{}) }

// Float64 is for people to read. Nothing is decided by it.
func (f Fraction) Float64() float64 {
	switch {
	case f.Zero():
		return 0
	case f.Infinite():
		return math.Inf(1)
	}
	return f.num.float() / f.den.float()
}

func (w wide) int() *big.Int {
	n := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(w[i]))
	}
	return n
}

// ceil returns f*scale rounded up, and the largest int64 if it is above or infinite.
func (f Fraction) ceil(scale uint64) int64 {
	switch {
	case f.Zero():
		return 0
	case f.Infinite():
		return math.MaxInt64
	}
	num, den := f.num.int(), f.den.int()
	num.Mul(num, new(big.Int).SetUint64(scale)).Add(num, den).Sub(num, big.NewInt(1)).Quo(num, den)
	if !num.IsInt64() {
		return math.MaxInt64
	}
	return num.Int64()
}

// q32 returns a/b as a Q32 number, which is below 2^64: the caller sees to a being
// at most 2^31 times b. Of numbers above 2^64 the upper 64 bits count, so that it is
// right to one part in 2^62. It is 0 if b is.
func q32(a, b Uint128) uint64 {
	if b.Hi != 0 {
		n := uint(64 - bits.LeadingZeros64(b.Hi))
		a, b = a.shiftRight(n), b.shiftRight(n)
	}
	if b.Lo == 0 {
		return 0
	}
	hi, lo := a.Hi<<32|a.Lo>>32, a.Lo<<32
	if hi >= b.Lo {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, b.Lo)
	return q
}

// mulDiv returns a*b/c, rounded down, and the largest number if that does not fit or
// c is 0.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// quotient returns a/c, rounded down, and the largest number if that does not fit.
func quotient(a Uint128, c uint64) uint64 {
	if a.Hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(a.Hi, a.Lo, c)
	return q
}
