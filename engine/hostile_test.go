package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// An engine at work survives whatever its surroundings do to it from several sides at once: each caller gets an answer,
// nothing starts twice, nothing is given twice, and once they are friendly again all that it has accepted is bound. Or it
// says to everybody that it is broken, and why, and another takes over what it knows.
func TestAnEngineInHostileSurroundings(t *testing.T) {
	t.Parallel()
	done := map[string]int{}
	for _, seed := range seeds(t, 60) {
		synctest.Test(t, func(t *testing.T) {
			h := newHostileRun(t, seed)
			h.run()
			for what, n := range h.m.done {
				done[what] += n
			}
		})
	}
	t.Log(done)
}

// hostileRun is the life of one engine.
type hostileRun struct {
	*testing.T
	seed    uint64
	m       *mischief
	w       *hostileWorld
	e       *engine.Engine
	nodes   []engine.Change
	clients []*hostileClient

	mu       sync.Mutex // Failed may be told off the lock
	bound    map[string]int
	requeued map[string]int
	broke    []error
}

func newHostileRun(t *testing.T, seed uint64) *hostileRun {
	h := &hostileRun{T: t, seed: seed, bound: map[string]int{}, requeued: map[string]int{}}
	h.m = newMischief(seed, seed%2 == 0)
	h.w = newHostileWorld(h.m)
	count := 12
	if seed%3 == 0 {
		count = 150 // enough for several workers
	}
	for i := range count {
		n := node(fmt.Sprintf("n%d", i), 1000)
		nodeOf(n).Zone = fmt.Sprint("z", i%3)
		h.nodes = append(h.nodes, n)
	}
	cfg := config(h.w)
	cfg.FastPath = engine.FastPath(seed % 3)
	cfg.Workers, cfg.MaxBindings, cfg.BindTimeout = 1+int(seed%4), 8, 20*time.Second
	cfg.Listener = engine.Listener{
		Bound:    func(e engine.PlacedEvent) { h.bound[e.Workload.ID]++ },
		Requeued: func(e engine.LeavingEvent) { h.requeued[e.Workload.ID]++ },
		Failed: func(e engine.FailedEvent) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if errors.Is(e.Err, engine.ErrBroken) {
				h.broke = append(h.broke, e.Err)
			}
		},
	}
	h.m.surround(&cfg)
	var err error
	h.e, err = engine.New(cfg)
	require.NoError(t, err)
	require.NoError(t, h.e.Apply(h.nodes...))
	h.m.engine = h.e
	for i := range 4 {
		h.clients = append(h.clients, &hostileClient{
			name: fmt.Sprint("c", i), rng: rand.New(rand.NewPCG(seed, 10+uint64(i))), m: h.m, w: h.w, accepted: map[string]bool{},
		})
	}
	return h
}

func (h *hostileRun) run() {
	ctx, cancel := context.WithCancel(h.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- h.e.Run(ctx) }()
	early := h.seed%5 == 0 // Run ends while all go on
	var work sync.WaitGroup
	for _, c := range h.clients {
		work.Go(func() {
			for i := range 60 {
				time.Sleep(time.Duration(c.rng.IntN(400)) * time.Millisecond)
				if early && i == 30 {
					cancel()
				}
				beside(func() { c.act(h.nodes) })
			}
		})
	}
	work.Wait()
	h.m.off.Store(true)
	close(h.m.release)
	time.Sleep(10 * time.Second) // whatever hung has returned, and all goroutines of their own have ended
	if broken := h.e.Apply(h.nodes[0]); errors.Is(broken, engine.ErrBroken) {
		h.broken(broken, <-ended)
	} else {
		require.NoError(h, broken, "seed %d", h.seed)
		h.whole(early)
		cancel()
		if err := <-ended; !early || !errors.Is(err, engine.ErrTasksLeft) {
			require.NoError(h, err, "seed %d", h.seed)
		}
		h.settled()
	}
	require.Empty(h, h.m.complaints, "seed %d", h.seed)
	for id, n := range h.bound {
		require.LessOrEqual(h, n, 1+h.requeued[id], "seed %d: %s was bound", h.seed, id)
	}
}

// whole checks an engine that is not broken: with friendly surroundings all that it has accepted is bound.
func (h *hostileRun) whole(early bool) {
	require.Empty(h, h.broke, "seed %d", h.seed)
	for w := range h.e.View().WorkloadsIn(model.Terminating) { // of some nobody has said that they have gone
		h.w.leaves(w.ID)
		require.NoError(h, h.e.Apply(engine.Remove(w.ID)))
	}
	for _, put := range h.nodes {
		h.w.up(nodeOf(put).Name)
	}
	require.NoError(h, h.e.Apply(slices.Concat(h.nodes, []engine.Change{node("large", 10_000_000)})...))
	time.Sleep(time.Hour)
	require.NoError(h, h.e.Apply(task("last", 100)))
	synctest.Wait()
	v := h.e.View()
	h.clients[0].accepted["last"] = true
	for _, c := range h.clients {
		c.look()
		for id := range c.accepted {
			w, there := v.Workload(id)
			switch {
			case h.w.hasLeft(id), w.Phase == model.Finished: // it was terminating when its node was lost
				continue
			case !there:
				h.m.complain("%s was accepted and is not there", id)
			case w.Phase == model.Pending:
				h.waits(&w, early)
			case w.Phase != model.Bound && w.Phase != model.Confirmed:
				h.m.complain("%s is %v on %s", id, w.Phase, w.Node)
			case h.w.runs[id] != w.Node && id != "last":
				h.m.complain("%s is on %s, and runs on %q", id, w.Node, h.w.runs[id])
			}
		}
	}
}

// waits checks that what waits does so for a reason: it is one of a gang of which others have left, or the engine does not run.
func (h *hostileRun) waits(w *model.WorkloadRecord, early bool) {
	p, ok := h.e.Queue(w.ID)
	switch {
	case !ok || p.Place == queue.None:
		h.m.complain("%s waits in no place", w.ID)
	case early:
	case p.Place != queue.Gated || p.Gate == nil || p.Gate.Message() == "" || w.Group == "":
		h.m.complain("%s waits at rest: %+v", w.ID, p)
	}
}

// settled checks an engine that has stopped: nothing is left between two places.
func (h *hostileRun) settled() {
	require.Zero(h, count(h.e.View(), model.Assumed), "seed %d", h.seed)
}

// broken checks that a broken engine says so to every caller, with the cause, and that another can go on from what it knows.
func (h *hostileRun) broken(broken, run error) {
	h.m.note("the engine is broken")
	require.True(h, h.m.deadly, "seed %d: %v", h.seed, broken)
	require.ErrorContains(h, broken, "its goroutine was ended, in ", "seed %d", h.seed)
	require.Equal(h, []error{broken}, h.broke, "seed %d", h.seed)
	if !errors.Is(run, broken) { // it may have ended before
		require.True(h, run == nil || errors.Is(run, engine.ErrTasksLeft), "seed %d: %v", h.seed, run)
	}
	require.Equal(h, broken, h.e.Evict("last", ""))
	require.ErrorIs(h, h.e.StartRecording(h.Context(), engine.NewRecorder(io.Discard)), engine.ErrBroken)
	h.e.Branch()
	h.e.Queue("last")
	h.clients[0].look()
	again := newRaw(h, &world{})
	require.NoError(h, again.Apply(time.Now(), slices.Collect(h.e.View().Changes())...), "seed %d", h.seed)
}
