package share

import (
	"math/big"
	"math/bits"
)

// roots[k] is 2^(1/2^(k+1)) in units of 2^-63, rounded down. They are integer square
// roots of one another, made with bits to spare, so that each is right to its last
// bit on every machine.
var roots = func() (table [64]uint64) {
	const precision = 256
	root := new(big.Int).Lsh(big.NewInt(2), precision)
	for k := range table {
		root.Sqrt(root.Lsh(root, precision))
		table[k] = new(big.Int).Rsh(root, precision-63).Uint64()
	}
	return table
}()

// exp2 returns 2^(x/2^64) in units of 2^-63. It is never above the true value, and
// below it by less than one part in 2^56: each of 64 factors is rounded twice.
func exp2(x uint64) uint64 {
	m := uint64(1) << 63
	for k := 0; x != 0; k, x = k+1, x<<1 {
		if x>>63 != 0 {
			hi, lo := bits.Mul64(m, roots[k])
			m = hi<<1 | lo>>63
		}
	}
	return m
}

// halving returns 2^-x as a Q32 number, for a Q32 number x.
func halving(x uint64) uint64 {
	whole, part := x>>32, x<<32
	if whole > 32 {
		return 0
	}
	if part == 0 {
		return One >> whole
	}
	// 2^-(whole+part) = 2^(1-part) / 2^(whole+1)
	return exp2(-part) >> (63 - 32 + whole + 1)
}
