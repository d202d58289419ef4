package queue

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var (
	seed = flag.Uint64("seed", 0, "play only the history of this seed")
	soak = flag.Bool("soak", false, "begin at a random seed")
)

// seeds are the seeds of a test's histories: always the same ones, and with -soak others.
func seeds(t *testing.T, n int) []uint64 {
	first := uint64(1)
	switch {
	case *seed != 0:
		first, n = *seed, 1
	case *soak:
		first = rand.Uint64()
	}
	t.Logf("%d seeds from %d", n, first)
	list := make([]uint64, n)
	for i := range list {
		list[i] = first + uint64(i)
	}
	return list
}
