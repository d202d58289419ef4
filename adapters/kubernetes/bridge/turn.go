package bridge

import (
	"sync"
	"sync/atomic"
)

// turnstile lets the plugins of a profile be called for one cycle at a time, so that
// a lister that a plugin has kept shows the cluster of that cycle. Calls for the same cycle
// may be under way side by side. Calls for another wait until none is.
//
// The simple specification is a mutex that all calls for one cycle hold together. state is
// the number of calls under way, with the cycle that they are for in current; while it is
// above 0, current does not change. enter and leave are one compare-and-swap each where the
// cycle stays the same, which is nearly always.
type turnstile struct {
	state   atomic.Int64 // calls under way; changing while somebody changes current
	current atomic.Pointer[root]
	waiting atomic.Int64

	mu   sync.Mutex
	free *sync.Cond // signalled when no call is under way and somebody waits
}

// changing is the state while current is being changed.
const changing = -1

func newTurnstile() *turnstile {
	t := &turnstile{}
	t.free = sync.NewCond(&t.mu)
	return t
}

// enter begins a call for the cycle.
func (t *turnstile) enter(r *root) {
	for range 4 {
		if t.waiting.Load() > 0 && t.state.Load() == 0 {
			break // others have waited, and would wait on if this one were always first
		}
		if t.try(r) {
			return
		}
	}
	t.mu.Lock()
	t.waiting.Add(1)
	for !t.try(r) {
		// Whoever leaves takes the mutex after it has changed the state, if it sees
		// that somebody waits; so the signal cannot come between try and Wait.
		if t.state.Load() > 0 && t.current.Load() != r {
			t.free.Wait()
		}
	}
	t.waiting.Add(-1)
	t.mu.Unlock()
}

// try begins a call if it can at once.
func (t *turnstile) try(r *root) bool {
	n := t.state.Load()
	switch {
	case n == changing:
		return false
	case n > 0:
		// A call is under way, so current stays as long as the count is not 0. If it was
		// 0 in between, the count may be the same again for another cycle; looked at
		// after the swap, current is what this call holds.
		if t.current.Load() != r || !t.state.CompareAndSwap(n, n+1) {
			return false
		}
		if t.current.Load() != r {
			t.leave()
			return false
		}
		return true
	}
	if !t.state.CompareAndSwap(0, changing) {
		return false
	}
	t.current.Store(r)
	t.state.Store(1)
	return true
}

// leave ends a call.
func (t *turnstile) leave() {
	if t.state.Add(-1) == 0 && t.waiting.Load() > 0 {
		t.mu.Lock()
		t.free.Broadcast()
		t.mu.Unlock()
	}
}

// now is the cycle for which plugins are being called, or were last; nil where none was
// yet.
func (t *turnstile) now() *root { return t.current.Load() }
