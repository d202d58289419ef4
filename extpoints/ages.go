package extpoints

import (
	"sync/atomic"
	"time"
)

// ages is for how long the answers to what was asked about ages hold: how far from the present
// the next moments are at which one changes, in nanoseconds. 0: never.
type ages struct{ behind, ahead atomic.Int64 }

// tooOld reports whether what is of so long ago is older than the age, and notes when it changes.
func (a *ages) tooOld(ago, age time.Duration) bool {
	switch {
	case ago > age:
		nearer(&a.behind, ago-age)
		return true
	case ago < -age:
		nearer(&a.ahead, -age-ago)
		return true
	}
	nearer(&a.behind, age+ago+1)
	nearer(&a.ahead, age-ago+1)
	return false
}

// nearer notes that an answer changes at the distance, unless one does before. What is too large
// for a number never comes.
func nearer(least *atomic.Int64, distance time.Duration) {
	for distance > 0 {
		old := least.Load()
		if old != 0 && old <= int64(distance) || least.CompareAndSwap(old, int64(distance)) {
			return
		}
	}
}
