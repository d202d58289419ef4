package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// submission is a job that was accepted.
type submission struct {
	key string
	id  job.ID
	// cancelled: a request to cancel it was sent, whatever came of it; cancelledAt is
	// when it had been accepted.
	cancelled   bool
	cancelledAt time.Time
	// mistaken: it cannot be started anywhere.
	mistaken bool
}

// load submits jobs until it is told to stop.
type load struct {
	c       *cluster.Cluster
	program string
	ledger  string
	seed    uint64
	// change, where it is not nil, changes a job before it is submitted, and reports whether
	// it is mistaken then.
	change func(*rand.Rand, *job.Spec) (mistaken bool)

	mu       sync.Mutex
	accepted []*submission
	broken   []error // what must not be, seen while it ran

	repeats atomic.Int64 // requests that were repeated because their outcome was unknown
	reads   atomic.Int64
}

// clients submit at once; each has jobsAtOnce that have not ended.
const (
	clients    = 3
	jobsAtOnce = 4
)

// run runs the clients until ctx ends; what they have begun they bring to its end.
func (l *load) run(ctx context.Context) {
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(l.seed, uint64(n)+100))
			var open []*submission
			for i := 0; ctx.Err() == nil; i++ {
				spec, mistaken := l.spec(rng), false
				if l.change != nil {
					mistaken = l.change(rng, &spec)
				}
				s := l.submit(fmt.Sprintf("load-%d-%d", n, i), spec)
				if s == nil {
					return
				}
				s.mistaken = mistaken
				l.readBack(s, rng)
				if rng.IntN(12) == 0 && !mistaken {
					l.cancel(s)
				}
				open = append(open, s)
				for len(open) >= jobsAtOnce && ctx.Err() == nil {
					open = l.unended(ctx, open)
				}
			}
		})
	}
	all.Wait()
}

// spec is a job by random choice: a single one, an array, or a gang.
func (l *load) spec(rng *rand.Rand) job.Spec {
	milli := []int64{150, 300, 400, 700}[rng.IntN(4)]
	d := time.Duration(100+rng.IntN(3000)) * time.Millisecond
	grace, pause, longest := job.Duration(2*time.Second), job.Duration(500*time.Millisecond), job.Duration(4*time.Second)
	s := job.Spec{
		Command:   []string{l.program, l.ledger, fmt.Sprint(milli), d.String()},
		Resources: job.Resources{CPU: job.MilliCPU(milli)},
		KillGrace: &grace,
		Retry:     job.Retry{Backoff: &pause, MaxBackoff: &longest, SameNode: rng.IntN(2) == 0},
	}
	switch rng.IntN(5) {
	case 0, 1:
		s.Array, _ = job.ParseArray(fmt.Sprintf("0-%d%%4", 1+rng.IntN(5))) // it is one
	case 2:
		s.Tasks = 2
	}
	return s
}

// insist repeats a request until it has an answer that counts. A refusal is an error
// of the test.
func (l *load) insist(what string, ask func(context.Context) error) error {
	for {
		ctx, cancel := cluster.Context()
		err := ask(ctx)
		cancel()
		if err == nil {
			return nil
		}
		var answered *api.Error
		if errors.As(err, &answered) && answered.Status < 500 && answered.Code != api.CodeRate {
			return fmt.Errorf("%s: %w", what, err)
		}
		l.repeats.Add(1)
		time.Sleep(50 * time.Millisecond) // the client's own patience is over
	}
}

func (l *load) submit(key string, spec job.Spec) *submission {
	spec.Name = key
	s := &submission{key: key}
	err := l.insist("submit "+key, func(ctx context.Context) error {
		got, err := l.c.Client.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{spec}, Key: key})
		if err == nil {
			s.id = got.Jobs[0]
		}
		return err
	})
	if err != nil {
		l.breaks(err)
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted = append(l.accepted, s)
	return s
}

func (l *load) breaks(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = append(l.broken, err)
}

// readBack reads what was just accepted, from a server by random choice: it may not
// answer, but never say that there is no such job.
func (l *load) readBack(s *submission, rng *rand.Rand) {
	servers := l.c.Servers()
	name := servers[rng.IntN(len(servers))]
	one, err := l.c.One(name)
	if err != nil {
		l.breaks(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	j, err := one.Job(ctx, s.id)
	var answered *api.Error
	switch {
	case err == nil && j.Name != s.key:
		l.breaks(fmt.Errorf("server %s: job %s is %q, and was accepted as %q", name, s.id, j.Name, s.key))
	case errors.As(err, &answered) && answered.Code == api.CodeNotFound:
		l.breaks(fmt.Errorf("server %s does not know job %s, which was accepted: %w", name, s.id, err))
	case err == nil:
		l.reads.Add(1)
	}
}

// cancel cancels a job.
func (l *load) cancel(s *submission) {
	l.mu.Lock()
	s.cancelled = true
	l.mu.Unlock()
	err := l.insist("cancel "+s.key, func(ctx context.Context) error {
		_, err := l.c.Client.Cancel(ctx, s.id, api.Selection{})
		if err == nil {
			l.mu.Lock()
			s.cancelledAt = time.Now()
			l.mu.Unlock()
		}
		return err
	})
	if err != nil {
		l.breaks(err)
	}
}

// unended are those of the jobs that have not ended, after a while.
func (l *load) unended(ctx context.Context, jobs []*submission) []*submission {
	var out []*submission
	for _, s := range jobs {
		if j, err := l.c.Job(s.id); err != nil || j.Ended.IsZero() {
			out = append(out, s)
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
	return out
}

// records are all attempts that have ended.
func records(c *client.Client) ([]api.Record, error) {
	var out []api.Record
	for after := ""; ; {
		ctx, cancel := cluster.Context()
		page, err := c.Records(ctx, client.RecordFilter{Limit: api.MaxPage, After: after})
		cancel()
		if err != nil {
			return nil, err
		}
		out = append(out, page.Records...)
		if after = page.After; after == "" {
			return out, nil
		}
	}
}
