package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// meter measures from submission to running.
type meter struct {
	want int
	done chan struct{}

	mu        sync.Mutex
	submitted map[job.ID]time.Time
	began     map[job.ID]time.Time
	calls     []time.Duration
}

func (m *meter) submit(id job.ID, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.submitted[id] = at
	m.calls = append(m.calls, time.Since(at))
}

func (m *meter) running(k job.TaskID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.began[k.Job]; ok {
		return
	}
	m.began[k.Job] = time.Now()
	if len(m.began) == m.want {
		close(m.done)
	}
}

func (m *meter) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.began)
}

func (m *meter) latencies() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []time.Duration
	for id, at := range m.submitted {
		out = append(out, m.began[id].Sub(at))
	}
	return out
}

// spread says how times are spread.
func spread(took []time.Duration) string {
	slices.Sort(took)
	at := func(q float64) time.Duration { return round(took[int(q*float64(len(took)-1))]) }
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s, max %s", at(0.5), at(0.95), at(0.99), at(1))
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
