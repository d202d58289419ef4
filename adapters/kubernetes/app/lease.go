package app

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease knows whether this process may write to the API server: while it holds the
// lease, by its own clock. It wraps the lock that leader election works with, and
// sees there when the lease is won, renewed, taken by another and given back.
//
// Leader election by itself finds out late: a process that was stopped for a minute
// goes on writing until its next renewal fails, and while one that cannot renew tries
// to give the lease back, which takes up to the renew deadline, it still acts as the
// leader. Others may take the lease when it was not renewed for its duration, counted
// from when they have seen the last renewal. That was written after it was sent, so who
// counts from when it was sent is never the last to know.
//
// Its methods may be called from any goroutine.
type lease struct {
	resourcelock.Interface
	duration time.Duration

	mu    sync.Mutex
	until time.Time // it is ours until then; zero before it was won
	over  bool      // it was lost, or given back
	timer *time.Timer
	lost  chan struct{} // closed with over
}

func newLease(lock resourcelock.Interface, duration time.Duration) *lease {
	return &lease{Interface: lock, duration: duration, lost: make(chan struct{})}
}

// held reports whether the lease is this process's at this moment.
func (l *lease) held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over && time.Now().Before(l.until)
}

// Lost is closed when the lease was this process's and is not any more. It will not
// be again.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Get implements [resourcelock.Interface].
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.end()
	}
	return record, raw, err
}

// Create implements [resourcelock.Interface].
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	sent := time.Now()
	err := l.Interface.Create(ctx, record)
	if err == nil {
		l.extend(sent)
	}
	return err
}

// Update implements [resourcelock.Interface].
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != l.Identity() {
		l.end() // it is given back: first we stop, and then others may know
		return l.Interface.Update(ctx, record)
	}
	sent := time.Now()
	err := l.Interface.Update(ctx, record)
	if err == nil {
		l.extend(sent)
	}
	return err
}

// extend notes a renewal that was sent at the time.
func (l *lease) extend(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.until = sent.Add(l.duration)
	left := time.Until(l.until)
	if l.timer == nil {
		l.timer = time.AfterFunc(left, l.expire)
		return
	}
	l.timer.Reset(left)
}

// expire is called when the lease may have run out.
func (l *lease) expire() {
	l.mu.Lock()
	left := time.Until(l.until)
	l.mu.Unlock()
	if left <= 0 {
		l.end()
	}
}

// end notes that the lease is not ours any more, if it was.
func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.until.IsZero() {
		return
	}
	l.over = true
	l.timer.Stop()
	close(l.lost)
}

// errNotLeading is the error of writes by a scheduler that does not lead. It is a kind
// of [context.Canceled], so that callers do not retry.
var errNotLeading = fmt.Errorf("not written, because this scheduler does not hold the lease: %w", context.Canceled)

// guard lets requests pass that change nothing, and others while they are allowed.
// It stands before everything else that happens to a request.
type guard struct {
	next     http.RoundTripper
	mayWrite func() bool
}

// RoundTrip implements [http.RoundTripper].
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return g.next.RoundTrip(r)
	}
	if g.mayWrite() {
		return g.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // a RoundTripper must
	}
	return nil, errNotLeading
}
