package bridge

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Calls for two cycles never overlap, calls for one do, and nobody waits for ever.
func TestTurns(t *testing.T) {
	turn := newTurnstile()
	roots := []*root{{}, {}, {}}
	var within [3]atomic.Int64
	var overlapped, mixed atomic.Int64
	var all sync.WaitGroup
	for worker := range 12 {
		all.Go(func() {
			mine := worker % len(roots)
			for range 2000 {
				turn.enter(roots[mine])
				if within[mine].Add(1) > 1 {
					overlapped.Add(1)
				}
				turn.enter(roots[mine]) // a call within the call, by way of the engine
				for other := range roots {
					if other != mine && within[other].Load() > 0 {
						mixed.Add(1)
					}
				}
				if turn.now() != roots[mine] {
					mixed.Add(1)
				}
				turn.leave()
				within[mine].Add(-1)
				turn.leave()
			}
		})
	}
	all.Wait()
	if mixed.Load() > 0 {
		t.Errorf("%d calls saw another cycle", mixed.Load())
	}
	if turn.state.Load() != 0 || turn.waiting.Load() != 0 {
		t.Errorf("%d calls under way and %d waiting after all", turn.state.Load(), turn.waiting.Load())
	}
	t.Logf("%d calls overlapped", overlapped.Load())
}
