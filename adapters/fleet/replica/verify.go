package replica

import (
	"context"
	"sync"
)

// Verify makes sure that this server leads, at some moment between the call and
// the return, and that everything that was acknowledged before the call is
// applied here: what is read from the machine afterwards is not older than that.
// The errors are ErrNotLeader, ErrClosed and the context's. A new leader makes
// callers wait until it has applied what it took over.
//
// Callers share the message to the other servers, so it is cheap for many.
func (r *Replica) Verify(ctx context.Context) error { return r.verifier.verify(ctx) }

// verifier asks raft once for all who wait.
type verifier struct {
	r      *Replica
	ctx    context.Context // ends with drain, or with the replica
	stop   context.CancelFunc
	wake   chan struct{}
	joined sync.WaitGroup

	mu      sync.Mutex
	waiting []chan error
	closed  bool
}

func newVerifier(r *Replica) *verifier {
	v := &verifier{r: r, wake: make(chan struct{}, 1)}
	v.ctx, v.stop = context.WithCancel(r.ctx)
	v.joined.Go(v.run)
	return v
}

func (v *verifier) drain() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.stop()
	notify(v.wake)
	v.joined.Wait()
}

func (v *verifier) verify(ctx context.Context) error {
	done := make(chan error, 1)
	v.mu.Lock()
	if v.closed || v.r.ctx.Err() != nil {
		v.mu.Unlock()
		return v.r.closedError()
	}
	v.waiting = append(v.waiting, done)
	v.mu.Unlock()
	notify(v.wake)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-v.r.ctx.Done():
		return v.r.closedError()
	}
}

func (v *verifier) run() {
	for range v.wake {
		v.mu.Lock()
		waiting, closed := v.waiting, v.closed
		v.waiting = nil
		v.mu.Unlock()
		if len(waiting) > 0 {
			err := v.ask(closed)
			for _, done := range waiting {
				done <- err
			}
		}
		if closed {
			return
		}
	}
}

// ask is for those who came before it was called.
func (v *verifier) ask(closed bool) error {
	if closed {
		return v.r.closedError()
	}
	before, err := v.r.leadership.waitReady(v.ctx)
	if err != nil {
		return v.r.closedError()
	}
	if !before.leading {
		return v.r.notLeader()
	}
	if err := v.r.raft.VerifyLeader().Error(); err != nil {
		return v.r.notLeader()
	}
	if after, _ := v.r.leadership.now(); after.epoch != before.epoch {
		return v.r.notLeader()
	}
	return nil
}
