package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultpreemption"
)

// reclaimHistory is a random history of queues that win room back from each other. Whoever
// is displaced waits again at once.
type reclaimHistory struct {
	t    *testing.T
	seed uint64
	rng  *rand.Rand
	cfg  engine.Config
	r    *engine.Raw
	now  time.Time
	made int

	queues  map[string]*model.Queue
	batch   []engine.EvictingEvent // of this attempt
	events  []string
	log     bytes.Buffer
	reached map[string]int
	// lost is who was displaced for whom since anything else has happened; earlier is the same
	// since something was changed from outside.
	lost, earlier map[string][]string
}

var reclaimingQueues = []string{"a", "b", "c", "b/x", "b/y", "c/x"}

func newReclaimHistory(t *testing.T, seed uint64, workers int, reached map[string]int) *reclaimHistory {
	h := &reclaimHistory{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), now: epoch, queues: map[string]*model.Queue{}, reached: reached, lost: map[string][]string{}, earlier: map[string][]string{}}
	h.cfg = config(&world{})
	h.cfg.Order, h.cfg.Workers, h.cfg.Seed = engine.OrderByQueues, workers, seed
	for i := range h.cfg.Profiles[0].Plugins {
		if p := &h.cfg.Profiles[0].Plugins[i]; p.Name == plugins.DefaultPreemption {
			p.Args = &defaultpreemption.Args{Synchronous: seed%2 == 0}
		}
	}
	h.cfg.Recorder = engine.NewRecorder(&h.log)
	h.cfg.Listener = engine.Tee(simulate.EventLines(&h.events), engine.Listener{
		Evicting: func(e engine.EvictingEvent) { h.batch = append(h.batch, e) },
		Reserved: func(e engine.PlacedEvent) {
			for victim, by := range h.lost {
				if !slices.Contains(by, e.Workload.ID) {
					delete(h.lost, victim) // not for this one
				}
			}
		},
	})
	r, err := engine.NewRaw(h.cfg)
	require.NoError(t, err)
	h.r = r
	var changes []engine.Change
	for i := range 1 + h.rng.IntN(3) {
		changes = append(changes, node(fmt.Sprint("n", i), 4+h.rng.Int64N(9)))
	}
	for _, name := range reclaimingQueues {
		changes = append(changes, engine.PutObject(h.queue(name)))
	}
	h.apply(changes...)
	return h
}

func (h *reclaimHistory) queue(name string) *model.Queue {
	q := &model.Queue{Name: name, Weight: h.rng.Int64N(4), Reclaim: model.ReclaimAny, Guaranteed: map[string]int64{}}
	if len(name) > 1 {
		q.Parent = name[:1]
	}
	if h.rng.IntN(2) == 0 {
		q.Guaranteed[model.CPU] = h.rng.Int64N(6)
	}
	switch h.rng.IntN(8) {
	case 0:
		q.Reclaim = model.ReclaimLower
	case 1:
		q.Reclaim = model.ReclaimNever
	case 2:
		q.Protected = h.rng.Int64N(model.PerMillion)
	case 3:
		q.MinRuntime = time.Duration(h.rng.IntN(60)) * time.Second
	case 4:
		q.Priority = 1
	case 5:
		q.Policy = []model.OrderPolicy{model.OrderFIFO, model.OrderPriority}[h.rng.IntN(2)]
	}
	h.queues[name] = q
	return q
}

func (h *reclaimHistory) apply(changes ...engine.Change) {
	require.NoError(h.t, h.r.Apply(h.now, changes...), "seed %d", h.seed)
}

// step changes something from outside, and lets the engine come to rest.
func (h *reclaimHistory) step() {
	clear(h.lost)
	clear(h.earlier)
	h.now = h.now.Add(time.Duration(h.rng.IntN(20_000)) * time.Millisecond)
	switch h.rng.IntN(12) {
	case 0:
		h.apply(engine.PutObject(h.queue(reclaimingQueues[h.rng.IntN(len(reclaimingQueues))])))
	case 1, 2, 3:
		var running []string
		for w := range h.r.View().WorkloadsIn(model.Bound) {
			running = append(running, w.Workload.ID)
		}
		if len(running) > 0 {
			h.apply(engine.Finish(running[h.rng.IntN(len(running))]))
		}
	case 4:
		h.gang()
	default:
		for range 1 + h.rng.IntN(3) {
			h.apply(engine.Submit(h.workload(reclaimingQueues[h.rng.IntN(len(reclaimingQueues))])))
		}
	}
	if due, ok := h.r.NextDue(h.now); ok && !due.After(h.now) {
		h.r.Tick(h.now)
	}
	h.rest()
}

func (h *reclaimHistory) workload(queue string) *model.Workload {
	h.made++
	return &model.Workload{
		ID: fmt.Sprintf("w%03d", h.made), Queue: queue, Priority: h.rng.Int32N(3),
		Requests: model.Resources{CPU: 1 + h.rng.Int64N(4)},
	}
}

func (h *reclaimHistory) gang() {
	h.made++
	g := &model.Group{ID: fmt.Sprintf("g%03d", h.made), Policy: model.Gang, MinCount: 2, Priority: h.rng.Int32N(3)}
	if h.rng.IntN(2) == 0 {
		g.Disruption = model.DisruptAll
	}
	changes, queue := []engine.Change{engine.PutGroup(g)}, reclaimingQueues[h.rng.IntN(len(reclaimingQueues))]
	for range 2 {
		w := h.workload(queue)
		w.Group = g.ID
		changes = append(changes, engine.Submit(w))
	}
	h.apply(changes...)
}

// rest lets the engine do all that it wants to. It must come to an end.
func (h *reclaimHistory) rest() {
	for n := 0; ; n++ {
		require.Less(h.t, n, 2000, "seed %d: it does not come to rest", h.seed)
		h.batch = nil
		tried := h.r.Schedule(h.now)
		h.checkBatch()
		var back []engine.Change
		for task := h.r.NextTask(); task != nil; task = h.r.NextTask() {
			task.Run(context.Background())
			h.r.Finish(h.now, task)
		}
		for w := range h.r.View().WorkloadsIn(model.Terminating) {
			back = append(back, engine.Requeue(w.Workload.ID))
		}
		if len(back) > 0 {
			h.apply(back...)
		}
		if !tried && len(back) == 0 {
			return
		}
	}
}

// checkBatch checks those who were asked to leave in one attempt.
func (h *reclaimHistory) checkBatch() {
	for _, e := range h.batch {
		by := e.For
		if by == nil || by.Queue == e.Workload.Queue {
			h.reached["victim in its own queue"]++
			continue
		}
		h.reached["victim in another queue"]++
		if e.ByGroup != "" || e.Workload.Group != "" {
			h.reached["of a gang, or for one"]++
		}
		h.checkLoser(e)
		require.NotContains(h.t, h.lost[by.ID], e.Workload.ID, "seed %d: %s is displaced for %s, and the other way round just before", h.seed, e.Workload.ID, by.ID)
		if slices.Contains(h.earlier[by.ID], e.Workload.ID) {
			h.reached["the other way round before, and others have started since"]++
		}
		h.lost[e.Workload.ID] = append(h.lost[e.Workload.ID], by.ID)
		h.earlier[e.Workload.ID] = append(h.earlier[e.Workload.ID], by.ID)
	}
}

// checkLoser: the queues that lose the workload had more than they are guaranteed, and it
// has run long enough.
func (h *reclaimHistory) checkLoser(e engine.EvictingEvent) {
	row, _ := h.r.View().Workload(e.Workload.ID)
	for q := h.queues[e.Workload.Queue]; q != nil && !h.inside(e.For.Queue, q.Name); q = h.queues[q.Parent] {
		after, largest := h.use(q.Name), h.largest(q.Name)
		require.Greater(h.t, after+largest, q.Guaranteed[model.CPU], "seed %d: %s of queue %s leaves for %s", h.seed, e.Workload.ID, q.Name, e.For.ID)
		if e.Workload.Group == "" {
			require.GreaterOrEqual(h.t, h.now.Sub(row.PlacedAt), q.MinRuntime, "seed %d: %s of queue %s leaves for %s", h.seed, e.Workload.ID, q.Name, e.For.ID)
		}
		if q.MinRuntime > 0 {
			h.reached["after its least time"]++
		}
		if q.Guaranteed[model.CPU] > 0 {
			h.reached["of a queue with a guarantee"]++
		}
	}
}

// inside reports whether the queue is the other, or below it.
func (h *reclaimHistory) inside(queue, other string) bool {
	return queue == other || h.queues[queue] != nil && h.queues[queue].Parent == other
}

// use is what the queue uses without those who leave, and with those who have room kept.
func (h *reclaimHistory) use(queue string) (sum int64) {
	for w := range h.r.View().Workloads() {
		leaves := slices.ContainsFunc(h.batch, func(e engine.EvictingEvent) bool { return e.Workload.ID == w.ID })
		takes := w.Phase.TakesRoom() && w.Phase != model.Terminating || w.Phase == model.Pending && w.Nominated != ""
		if takes && !leaves && h.inside(w.Queue, queue) {
			sum += w.Requests.CPU
		}
	}
	return sum
}

// largest is the most that the queue loses at once.
func (h *reclaimHistory) largest(queue string) (most int64) {
	groups := map[string]int64{}
	for _, e := range h.batch {
		if !h.inside(e.Workload.Queue, queue) {
			continue
		}
		n := e.Workload.Requests.CPU
		if g := e.Workload.Group; g != "" {
			groups[g] += n
			n = groups[g]
		}
		most = max(most, n)
	}
	return most
}

// Queues win room back from those who have more than they are entitled to, and from no
// others; no two displace each other; and it comes to rest. A replay does the same.
func TestReclaimHistories(t *testing.T) {
	t.Parallel()
	reached, histories := map[string]int{}, 0
	for _, seed := range seeds(t, 40) {
		histories++
		one, four := newReclaimHistory(t, seed, 1, reached), newReclaimHistory(t, seed, 4, map[string]int{})
		for range 60 {
			one.step()
			four.step()
		}
		requireSameLines(t, one.events, four.events, "seed %d, 1 and 4 workers", seed)
		var events []string
		cfg := one.cfg
		cfg.Recorder = nil
		cfg.Listener = simulate.EventLines(&events)
		_, err := engine.Replay(cfg, &one.log)
		require.NoError(t, err, "seed %d", seed)
		requireSameLines(t, one.events, events, "seed %d, replayed", seed)
	}
	t.Logf("%d histories: %v", histories, reached)
	for _, what := range []string{"victim in another queue", "of a gang, or for one", "of a queue with a guarantee", "after its least time", "victim in its own queue"} {
		require.Positive(t, reached[what], what)
	}
}

// A log that begins in the middle leads to the same: with it goes when those who were displaced
// may displace others, and who waits for others to have run long enough.
func TestReclaimHistoriesReplayFromTheMiddle(t *testing.T) {
	t.Parallel()
	begun := 0
	for _, seed := range seeds(t, 20) {
		h := newReclaimHistory(t, seed, 1, map[string]int{})
		for range 30 {
			h.step()
		}
		var log bytes.Buffer
		if err := h.r.StartRecording(h.now, engine.NewRecorder(&log)); errors.Is(err, engine.ErrUnderWay) {
			continue
		} else {
			require.NoError(t, err, "seed %d", seed)
		}
		begun++
		h.events = nil
		for range 30 {
			h.step()
		}
		var events []string
		cfg := h.cfg
		cfg.Recorder = nil
		cfg.Listener = simulate.EventLines(&events)
		_, err := engine.Replay(cfg, &log)
		require.NoError(t, err, "seed %d", seed)
		requireSameLines(t, h.events, events, "seed %d, replayed", seed)
	}
	require.Positive(t, begun)
}
