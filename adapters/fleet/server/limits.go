package server

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/berth-project/berth/adapters/fleet/pki"
)

// limits keep one user from taking the server for herself.
type limits struct {
	rate  rate.Limit
	burst int

	streams, userStreams int // at most

	mu    sync.Mutex
	users map[string]*limiter
	swept time.Time
	open  map[pki.Identity]int // streams
	all   int                  // streams of all
}

// limiter is that of one user.
type limiter struct {
	*rate.Limiter
	used time.Time
}

// forgetAfter is when the limiter of a user who is quiet is forgotten.
const forgetAfter = 10 * time.Minute

func newLimits(l Limits) *limits {
	return &limits{
		rate: rate.Limit(l.Rate), burst: l.Burst, users: map[string]*limiter{}, swept: time.Now(),
		streams: l.Streams, userStreams: max(1, l.Streams/10), open: map[pki.Identity]int{},
	}
}

// openStream counts a stream of somebody until done is called; false: there is one
// too many. One user has no more than a tenth of all.
func (l *limits) openStream(who pki.Identity) (done func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.streams || who.Role == pki.User && l.open[who] >= l.userStreams {
		return nil, false
	}
	l.all++
	l.open[who]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.open[who]--; l.open[who] == 0 {
			delete(l.open, who)
		}
	}, true
}

// allow reports whether a request of somebody may be answered now. One that makes much
// work counts as so many.
func (l *limits) allow(who pki.Identity, count int) bool {
	if who.Role != pki.User {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.swept) > forgetAfter {
		for name, u := range l.users {
			if now.Sub(u.used) > forgetAfter {
				delete(l.users, name)
			}
		}
		l.swept = now
	}
	u := l.users[who.Name]
	if u == nil {
		u = &limiter{Limiter: rate.NewLimiter(l.rate, l.burst)}
		l.users[who.Name] = u
	}
	u.used = now
	return u.AllowN(now, min(count, max(1, l.burst)))
}
