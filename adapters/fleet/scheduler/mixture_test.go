package scheduler_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

var (
	mixtureJobs         = flag.Int("mixture", 60, "jobs in the mixture")
	mixtureReservations = flag.Int("mixture.reservations", 500, "reservations while it runs")
)

// mixture is jobs of very different sizes on 20 nodes of eight cores: most are small, and most of the
// work is in gangs. All of them end long before their limits.
type mixture struct {
	*world
	rng             *rand.Rand
	lasts           map[job.ID]time.Duration
	arrived         map[job.ID]time.Time
	first           map[job.ID]time.Time // promises
	start           map[job.ID]time.Time
	ids             []job.ID
	work, wait, end time.Duration // of all cores, of all jobs, of the last
}

// Where all that wait have a reservation, each job is promised a start at once, and none starts later,
// whatever goes before it.
func TestAMixtureIsPromised(t *testing.T) {
	const seed = 450
	var nodes []*api.Registration
	for i := range 20 {
		nodes = append(nodes, node(fmt.Sprintf("n%02d", i), 8))
	}
	in(t, nodes, func(w *world) {
		m := &mixture{world: w, rng: rand.New(rand.NewPCG(1, seed)), lasts: map[job.ID]time.Duration{}, arrived: map[job.ID]time.Time{}, start: map[job.ID]time.Time{}, first: map[job.ID]time.Time{}}
		w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
			c.Reservations = *mixtureReservations
			return scheduler.New(c)
		}
		// Tasks of a gang do not end at the same moment.
		w.runs = func(k *state.Task) run {
			return run{lasts: m.lasts[k.ID.Job] + time.Duration(k.ID.Rank)*time.Millisecond, ends: job.Completed}
		}
		w.lead()
		m.run(*mixtureJobs)
		require.NotEmpty(t, m.first, "seed %d: none had to wait", seed)
		for _, id := range m.ids {
			started := m.start[id]
			require.False(t, started.IsZero(), "seed %d: job %v has not started", seed, id)
			m.wait += started.Sub(m.arrived[id])
			if by, promised := m.first[id]; promised {
				require.False(t, started.After(by.Add(time.Second)), "seed %d: job %v was promised %v and started at %v", seed, id, by, started)
			}
		}
		t.Logf("seed %d: %d of %d jobs were promised a start, none late; %.1f %% of the cores busy for %v, mean wait %v", seed, len(m.first), len(m.ids),
			100*m.work.Seconds()/(20*8*m.end.Seconds()), m.end, m.wait/time.Duration(len(m.ids)))
	})
}

// run submits so many jobs, 4.5 a second, and waits for the ends of all.
func (m *mixture) run(jobs int) {
	began := time.Now()
	for range jobs {
		m.submitOne()
		m.pass(time.Second * 10 / 45)
		m.note()
	}
	for m.waits() || len(m.where()) > 0 {
		m.pass(time.Second / 5)
		m.note()
	}
	m.end = time.Since(began)
}

func (m *mixture) submitOne() {
	tasks, cores, from, to, limit := 1, 1, 2, 7, 10
	switch kind := m.rng.IntN(450); {
	case kind < 14:
		tasks, cores, from, to, limit = 8, 8, 10, 30, 40
	case kind < 57:
		tasks, cores, from, to, limit = 16, 2, 10, 30, 40
	case kind < 206:
		from, to, limit = 15, 45, 60
	}
	lasts := time.Duration(from)*time.Second + time.Duration(m.rng.Int64N(int64(to-from)*int64(time.Second)))
	m.mu.Lock()
	m.lasts[job.ID(len(m.ids)+1)] = lasts
	m.mu.Unlock()
	id := m.submit(fmt.Sprintf("tasks: %d\nresources: {cpu: %d}\ntimeLimit: %ds\nkillGrace: 1s", tasks, cores, limit))[0]
	require.Equal(m.t, job.ID(len(m.ids)+1), id)
	m.ids, m.arrived[id] = append(m.ids, id), time.Now()
	m.work += time.Duration(tasks*cores) * lasts
}

// waits reports whether any job has not started.
func (m *mixture) waits() bool { return len(m.start) < len(m.ids) }

// note notes what jobs are promised first, and when they start: what is known of one that ended is
// not kept for ever.
func (m *mixture) note() {
	for _, id := range m.ids {
		if !m.start[id].IsZero() {
			continue
		}
		if e := m.state.View().Element(id, 0); e != nil && !e.Started.IsZero() {
			m.start[id] = e.Started
		} else if at, _ := m.expected(id); m.first[id].IsZero() && !at.IsZero() {
			m.first[id] = at
		}
	}
}
