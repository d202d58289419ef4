package meter

import (
	"math"
	"slices"
	"time"
)

// Series are measurements of one thing, the latest last. The zero value has none.
type Series struct {
	// Every is the time from one measurement to the next, as far as all goes well, and Keep
	// how long they are kept. Both must be positive.
	Every, Keep time.Duration

	samples []sample
}

type sample struct {
	at    time.Time
	value float64
}

// Add adds what was measured at a time, and drops what is too old. What is no finite number
// from 0 on is not added; a time before the last measurement begins anew.
func (s *Series) Add(at time.Time, value float64) {
	if !(value >= 0 && value <= math.MaxFloat64) {
		return
	}
	if n := len(s.samples); n > 0 && at.Before(s.samples[n-1].at) {
		s.samples = s.samples[:0]
	}
	old := 0
	for old < len(s.samples) && at.Sub(s.samples[old].at) >= s.Keep {
		old++
	}
	if most := 2 * int(s.Keep/s.Every); len(s.samples)-old > most {
		old = len(s.samples) - most // they came faster than they should
	}
	s.samples = append(slices.Delete(s.samples, 0, old), sample{at, value})
}

// Stats sum up measurements.
type Stats struct {
	Average, StdDev    float64 // StdDev is that of the measurements themselves, not an estimate
	P50, P90, P95, P99 float64 // what as many percent of the measurements do not exceed
}

// Over sums up the last window of time before the last measurement. It is false where less
// than nine tenths of the measurements are there that should be: then it says nothing of
// so long a time.
func (s *Series) Over(window time.Duration) (Stats, bool) {
	n := len(s.samples)
	if n == 0 {
		return Stats{}, false
	}
	from := n
	for from > 0 && s.samples[n-1].at.Sub(s.samples[from-1].at) < window {
		from--
	}
	if should := int(window / s.Every); should == 0 || (n-from)*10 < should*9 {
		return Stats{}, false
	}
	values := make([]float64, 0, n-from)
	sum := 0.0
	for _, x := range s.samples[from:] {
		values = append(values, x.value)
		sum += x.value
	}
	average, squares := sum/float64(len(values)), 0.0
	for _, v := range values {
		squares += (v - average) * (v - average)
	}
	slices.Sort(values)
	return Stats{
		Average: average, StdDev: math.Sqrt(squares / float64(len(values))),
		P50: rank(values, 50), P90: rank(values, 90), P95: rank(values, 95), P99: rank(values, 99),
	}, true
}

// Last is when it was measured last, zero where it was not.
func (s *Series) Last() time.Time {
	if n := len(s.samples); n > 0 {
		return s.samples[n-1].at
	}
	return time.Time{}
}

// rank is the least of the sorted values that so many percent of them do not exceed.
func rank(sorted []float64, percent int) float64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}
