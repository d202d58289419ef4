package helper

import "math/bits"

// Draw returns a number from 0 to n-1, n being at least 1, that is a function of
// the seed of a cycle and of the stream; all numbers are equally likely over the
// seeds. A plugin that draws more than once in a cycle numbers its draws by
// stream. It is the stream-th output of SplitMix64 (Steele, Lea and Flood, OOPSLA
// 2014) started at the seed, scaled to n by the high half of the product: seeds may
// follow each other, and the bias is below n/2^64.
func Draw(seed, stream uint64, n int) int {
	x := seed + (stream+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	high, _ := bits.Mul64(x, uint64(n))
	return int(high)
}
