package extpointstest

import (
	"math/rand/v2"
	"time"

	"github.com/berth-project/berth/extpoints"
)

func tryPreEnqueue(tr *trial) {
	pre, ok := tr.plugin.(extpoints.PreEnqueuePlugin)
	if !ok {
		return
	}
	accepted, rejected := 0, 0
	tr.each(func(s *Situation) {
		status := pre.PreEnqueue(s.Workload.Workload)
		tr.allowed(s, "PreEnqueue", status, orRejected(extpoints.Success)...)
		if again := pre.PreEnqueue(s.Workload.Workload); !sameStatus(status, again) {
			tr.failf(s, "asked again PreEnqueue says %v and not %v", again, status)
		}
		if status.IsSuccess() {
			accepted++
		} else {
			rejected++
		}
	})
	tr.mustGive("PreEnqueue", given{"accepted", accepted}, given{"rejected", rejected})
}

// tryQueueSort proves that Less is a strict weak order, on triples of things
// that agree in many of their fields.
func tryQueueSort(tr *trial) {
	sort, ok := tr.plugin.(extpoints.QueueSortPlugin)
	if !ok {
		return
	}
	for range tr.suite.Rounds * 10 {
		var q [3]*extpoints.Queued
		for i := range q {
			q[i] = randomQueued(tr.random)
		}
		a, b, c := q[0], q[1], q[2]
		equal := func(x, y *extpoints.Queued) bool { return !sort.Less(x, y) && !sort.Less(y, x) }
		switch {
		case sort.Less(a, a):
			tr.failf(nil, "%+v goes before itself", *a)
		case sort.Less(a, b) && sort.Less(b, a):
			tr.failf(nil, "%+v and %+v go before each other", *a, *b)
		case sort.Less(a, b) && sort.Less(b, c) && !sort.Less(a, c):
			tr.failf(nil, "%+v goes before %+v and that before %+v, but the first not before the last", *a, *b, *c)
		case equal(a, b) && equal(b, c) && !equal(a, c):
			tr.failf(nil, "%+v is equal to %+v and that to %+v, but the first not to the last", *a, *b, *c)
		}
		if len(tr.problems) >= maxProblems {
			return
		}
	}
}

func randomQueued(r *rand.Rand) *extpoints.Queued {
	w := randomWorkload(r, pick(r, []string{"w1", "w2", "w3"}))
	return &extpoints.Queued{
		Workload:  w,
		Priority:  w.Priority,
		Timestamp: Now.Add(time.Duration(r.IntN(3)) * time.Second),
		AddedAt:   Now.Add(time.Duration(r.IntN(3)) * -time.Second),
		Attempts:  r.IntN(3),
	}
}
