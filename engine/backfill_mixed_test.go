package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// mixture is a fleet of 20 nodes of eight cores to which jobs of very different sizes come: most are
// small, and most of the work is in gangs. All of them end long before their limits.
type mixture struct {
	*testing.T
	r    *engine.Raw
	now  time.Time
	jobs []*mixedJob
	of   map[string]*mixedJob // by the ID of a task
}

type mixedJob struct {
	id      string
	tasks   int
	cpu     int64 // of each
	limit   time.Duration
	runs    time.Duration
	arrives time.Time
	start   time.Time // zero: it waits
	ended   bool
	first   time.Time // the first promise, zero while there is none
}

// newMixture makes jobs that come one after the other.
func newMixture(t *testing.T, seed uint64, jobs int, how engine.Backfill) *mixture {
	t.Helper()
	m := &mixture{T: t, now: epoch, of: map[string]*mixedJob{}}
	profile := historyProfile()
	var err error
	m.r, err = engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: &world{}, Backfill: how})
	require.NoError(t, err)
	for i := range 20 {
		m.apply(node(fmt.Sprintf("n%02d", i), 8000))
	}
	rng := rand.New(rand.NewPCG(seed, 20))
	for i := range jobs {
		j := &mixedJob{id: fmt.Sprintf("j%03d", i), arrives: epoch.Add(time.Duration(i) * time.Second / 4)}
		switch kind := rng.IntN(100); {
		case kind < 54:
			j.tasks, j.cpu, j.limit = 1, 1000, 10*time.Second
		case kind < 87:
			j.tasks, j.cpu, j.limit = 1, 1000, time.Minute
		case kind < 97:
			j.tasks, j.cpu, j.limit = 16, 2000, 40*time.Second
		default:
			j.tasks, j.cpu, j.limit = 8, 8000, 40*time.Second
		}
		j.runs = j.limit * time.Duration(20+rng.IntN(55)) / 100
		m.jobs = append(m.jobs, j)
	}
	return m
}

func (m *mixture) apply(changes ...engine.Change) {
	m.Helper()
	require.NoError(m, m.r.Apply(m.now, changes...))
}

// run goes on until all jobs have ended. Each second what is promised is noted.
func (m *mixture) run() {
	for m.now.Sub(epoch) < time.Hour && slices.ContainsFunc(m.jobs, func(j *mixedJob) bool { return !j.ended }) {
		m.r.Tick(m.now)
		for _, j := range m.jobs {
			switch {
			case !j.start.IsZero() && !j.ended && !m.now.Before(j.start.Add(j.runs)):
				m.end(j)
			case j.start.IsZero() && j.arrives.Equal(m.now):
				m.submit(j)
			}
		}
		m.settle()
		for _, r := range m.r.Reservations() {
			if j := m.of[r.Places[0].ID]; j.first.IsZero() {
				j.first = r.At
			}
		}
		m.now = m.now.Add(time.Second / 4)
	}
}

func (m *mixture) submit(j *mixedJob) {
	group := ""
	if j.tasks > 1 {
		group = j.id
		m.apply(engine.PutGroup(&model.Group{ID: group, Policy: model.Gang, MinCount: int32(j.tasks)}))
	}
	for i := range j.tasks {
		w := &model.Workload{
			ID: fmt.Sprintf("%s-%02d", j.id, i), Namespace: "default", Group: group,
			Requests: model.Resources{CPU: j.cpu}, Limit: j.limit,
		}
		m.of[w.ID] = j
		m.apply(engine.Submit(w))
	}
}

func (m *mixture) end(j *mixedJob) {
	j.ended = true
	for i := range j.tasks {
		m.apply(engine.Remove(fmt.Sprintf("%s-%02d", j.id, i)))
	}
}

func (m *mixture) settle() {
	for again := true; again; again = m.r.Schedule(m.now) {
		for task := m.r.NextTask(); task != nil; task = m.r.NextTask() {
			task.Run(m.Context())
			if _, binds := task.Binding(); binds {
				m.of[task.Workload().ID].start = m.now
			}
			m.r.Finish(m.now, task)
		}
	}
}

// Where all that wait have a reservation, each job starts within a second or has been promised a
// start, and none starts later than it was promised first; with slack, too.
func TestEveryJobOfAMixtureIsPromisedAStart(t *testing.T) {
	oneGoroutine(t)
	jobs := 120
	if *long {
		jobs = 450
	}
	for _, seed := range seeds(t, 2) {
		for _, slack := range []bool{false, true} {
			m := newMixture(t, seed, jobs, engine.Backfill{Mode: engine.Conservative, Depth: jobs, Every: time.Second, Slack: slack})
			m.run()
			promised := 0
			for _, j := range m.jobs {
				require.True(t, j.ended, "seed %d, slack %v: %s has not started", seed, slack, j.id)
				if j.first.IsZero() {
					require.LessOrEqual(t, j.start.Sub(j.arrives), time.Second, "seed %d, slack %v: %s was promised no start", seed, slack, j.id)
					continue
				}
				promised++
				require.False(t, j.start.After(j.first), "seed %d, slack %v: %s started at %v, and was promised %v",
					seed, slack, j.id, j.start.Sub(epoch), j.first.Sub(epoch))
			}
			require.NotZero(t, promised, "seed %d, slack %v: none had to wait", seed, slack)
		}
	}
}
