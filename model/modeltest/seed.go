package modeltest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed returns where a test begins that makes things by chance, and logs it: 1, so that what was
// green stays green, or the number in the environment variable BERTH_SEED; "random" there is
// another number each time.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, text := uint64(1), os.Getenv("BERTH_SEED")
	if text == "random" {
		seed = rand.Uint64()
	} else if text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("BERTH_SEED: %v", err)
		}
	}
	t.Logf("BERTH_SEED=%d", seed)
	return seed
}
