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

	mu    sync.Mutex
	users map[string]*limiter
	swept time.Time
}

// limiter is that of one user.
type limiter struct {
	*rate.Limiter
	used time.Time
}

// forgetAfter is when the limiter of a user who is quiet is forgotten.
const forgetAfter = 10 * time.Minute

func newLimits(l Limits) *limits {
	return &limits{rate: rate.Limit(l.Rate), burst: l.Burst, users: map[string]*limiter{}, swept: time.Now()}
}

// allow reports whether a request of somebody may be answered now.
func (l *limits) allow(who pki.Identity) bool {
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
	return u.AllowN(now, 1)
}
