package server

import (
	"context"
	"sync"

	"github.com/berth-project/berth/adapters/fleet/pki"
)

// watched are the answers that go on for long: streams, and polls of agents. Each ends
// when what was shown for it is good no longer, before the removal or the revocation is
// acknowledged.
type watched struct {
	mu  sync.Mutex
	all map[*watch]struct{}
}

// watch is one of them.
type watch struct {
	shown *credential
	end   context.CancelCauseFunc
}

// watch ends the context of a request when what it shows is good no longer, until done is
// called.
func (s *Server) watch(r *request) (done func(), err error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watch{shown: r.shown, end: cancel}
	s.watched.mu.Lock()
	s.watched.all[w] = struct{}{}
	s.watched.mu.Unlock()
	done = func() {
		s.watched.mu.Lock()
		delete(s.watched.all, w)
		s.watched.mu.Unlock()
		cancel(nil)
	}
	// It may have been removed since it was looked at.
	if _, err := s.who(r.shown); err != nil {
		done()
		return nil, err
	}
	r.Request = r.WithContext(ctx)
	return done, nil
}

// recheck ends what is good no longer.
func (w *watched) recheck(who func(*credential) (pki.Identity, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		if _, err := who(one.shown); err != nil {
			one.end(err)
		}
	}
}
