package replica

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Leader is the server that leads, as far as this one knows.
type Leader struct {
	ID      string // empty: none is known
	Address string // host:port; empty where ID is
	// Term is the newest that this server has seen.
	Term uint64
}

// Leader returns who leads; false where none is known.
func (r *Replica) Leader() (Leader, bool) {
	address, id := r.raft.LeaderWithID()
	return Leader{ID: string(id), Address: string(address), Term: r.raft.CurrentTerm()}, id != ""
}

// Leads reports whether this server leads and has applied what it took over, and
// in which term. It is a hint: by now another may lead. See Verify.
func (r *Replica) Leads() (term uint64, ok bool) {
	s, _ := r.leadership.now()
	return s.term, s.ready
}

// Lead runs the function, on a goroutine of its own, each time that this server
// leads: from when everything that earlier leaders acknowledged is applied here,
// with the term of this leadership. When leadership is lost, or a backup is
// restored, the function's context is cancelled; it must return then, and is not
// run again before it has. If it returns earlier it is run again at the next
// leadership.
//
// Lead returns when its context ends, with its cause, or when the replica is
// closed or fails, with ErrClosed; the function has returned then.
func (r *Replica) Lead(ctx context.Context, lead func(ctx context.Context, term uint64)) error {
	var last uint64 // the epoch that lead was last run in
	for {
		s, changed := r.leadership.now()
		if s.ready && s.epoch != last && ctx.Err() == nil && r.ctx.Err() == nil {
			last = s.epoch
			r.leadOnce(ctx, s, lead)
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.ctx.Done():
			return r.closedError()
		}
	}
}

// leadOnce runs the function for one leadership, and joins it.
func (r *Replica) leadOnce(ctx context.Context, s standing, lead func(context.Context, uint64)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		lead(ctx, s.term)
	}()
	for {
		now, changed := r.leadership.now()
		if now.epoch != s.epoch || r.ctx.Err() != nil {
			cancel()
			<-done
			return
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
		case <-done:
			return
		}
	}
}

// watch follows raft's changes of leadership. The channel has no buffer, so raft
// waits in each change until it is seen here: between the signs for gained and
// lost, a state of Leader means the leadership that the first was for.
//
// It goes on until raft has ended, since a raft that waits here answers nobody.
func (r *Replica) watch(signs <-chan bool) {
	closed := r.ctx.Done()
	for {
		select {
		case gained := <-signs:
			if !gained {
				r.leadership.lose()
				continue
			}
			// raft leaves the state before it takes a new term, so the term is right if
			// the state is Leader after it was read. Else the sign for lost is coming.
			term := r.raft.CurrentTerm()
			if r.raft.State() == raft.Leader && r.ctx.Err() == nil {
				r.leadership.gain(term)
			}
		case <-closed:
			r.leadership.lose()
			closed = nil
		case <-r.ended:
			return
		}
	}
}

// establish makes a leadership ready: it waits until all that was committed
// before is applied.
func (r *Replica) establish() {
	for {
		s, changed := r.leadership.now()
		if s.leading && !s.ready && !s.suspended {
			if term, err := r.barrier(r.ctx); err == nil && term == s.term {
				r.leadership.establish(s.epoch)
				continue
			}
			// It was lost, or is being handed over. Where it was neither, try again.
			select {
			case <-changed:
			case <-time.After(r.conf.stretch(100 * time.Millisecond)):
			case <-r.ctx.Done():
				return
			}
			continue
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			return
		}
	}
}

// standing is this server's part in who leads.
type standing struct {
	leading   bool
	term      uint64 // of its leadership
	ready     bool   // it leads, and all that was committed before is applied
	suspended bool   // a backup is being restored
	epoch     uint64 // grows with each gain, loss and suspension
}

// leadership is the standing as it changes.
type leadership struct {
	mu      sync.Mutex
	is      standing
	changed chan struct{} // closed at the next change
}

func newLeadership() *leadership { return &leadership{changed: make(chan struct{})} }

// now is the standing, and a channel that is closed when it changes.
func (l *leadership) now() (standing, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.is, l.changed
}

func (l *leadership) change(f func(s *standing)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.is)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *leadership) gain(term uint64) {
	l.change(func(s *standing) {
		s.leading, s.term, s.ready, s.epoch = true, term, false, s.epoch+1
	})
}

func (l *leadership) lose() {
	l.change(func(s *standing) {
		s.leading, s.term, s.ready, s.epoch = false, 0, false, s.epoch+1
	})
}

func (l *leadership) establish(epoch uint64) {
	l.change(func(s *standing) {
		if s.epoch == epoch {
			s.ready = true
		}
	})
}

// suspend ends what is led until resume is called.
func (l *leadership) suspend() (resume func()) {
	set := func(to bool) {
		l.change(func(s *standing) { s.suspended, s.ready, s.epoch = to, false, s.epoch+1 })
	}
	set(true)
	return func() { set(false) }
}

// waitReady waits while this server leads without being ready.
func (l *leadership) waitReady(ctx context.Context) (standing, error) {
	for {
		s, changed := l.now()
		if !s.leading || s.ready {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s, context.Cause(ctx)
		}
	}
}
