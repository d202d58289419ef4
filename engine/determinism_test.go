package engine_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var (
	seed = flag.Uint64("seed", 0, "take only the history of this seed")
	soak = flag.Bool("soak", false, "begin at a random seed")
	long = flag.Bool("long", false, "take twelve times as many histories")
)

// seeds are the seeds of a test's histories, a third of n: always the same ones, and with
// -soak others. With -long there are twelve times as many, with -short a sixth of them.
func seeds(t *testing.T, n int) []uint64 {
	if *seed != 0 {
		return []uint64{*seed}
	}
	switch {
	case *long:
		n *= 4
	case testing.Short():
		n = (n + 17) / 18
	default:
		n = (n + 2) / 3
	}
	first := uint64(1)
	if *soak {
		first = rand.Uint64()
	}
	t.Logf("%d seeds from %d", n, first)
	list := make([]uint64, n)
	for i := range list {
		list[i] = first + uint64(i)
	}
	return list
}

// recorded runs one history and keeps what the engines were told and did.
func recorded(t *testing.T, seed uint64, workers int) *simulate.Result {
	t.Helper()
	o := simulate.Options{Record: true, Workers: workers, TieBreak: engine.TieBreak(seed % 3), Broken: seed%4 == 0, Queues: seed%3 == 1}
	if seed%5 == 0 {
		// Enough for blocks of nodes, and for a search that ends early.
		o.Nodes, o.Steps = 110+int(seed%250), 60
	}
	return simulate.Run(t, seed, o)
}

// The number of workers changes nothing: not an event, not an input.
func TestWorkersDoNotShow(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 20) {
		one := recorded(t, seed, 1)
		for _, workers := range []int{2, 16} {
			many := recorded(t, seed, workers)
			require.Len(t, many.Lives, len(one.Lives), "seed %d", seed)
			for i := range one.Lives {
				requireSameLines(t, one.Lives[i].Events, many.Lives[i].Events, "seed %d, 1 and %d workers", seed, workers)
				requireSameLog(t, one.Lives[i].Log, many.Lives[i].Log, "seed %d, 1 and %d workers", seed, workers)
			}
		}
	}
}

// What a recorder wrote down leads to the same events again, and is itself
// written down again.
func TestReplayIsTheSame(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 40) {
		r := recorded(t, seed, 1)
		for _, life := range r.Lives {
			log := life.Log
			for _, workers := range []int{1, 2, 16} {
				var events []string
				var again bytes.Buffer
				cfg := r.Config(&events)
				cfg.Recorder = engine.NewRecorder(&again)
				cfg.Workers = workers
				_, err := engine.Replay(cfg, bytes.NewReader(log))
				require.NoError(t, err, "seed %d", seed)
				requireSameLines(t, life.Events, events, "seed %d", seed)
				requireSameLog(t, log, again.Bytes(), "seed %d", seed)
				log = again.Bytes()
			}
		}
	}
}

// The store writes the rows of many commits to memdb at once. Whether it does, and of how many,
// changes nothing: not an event, not an input, not a row. A replay is where nobody reads rows
// in between.
func TestRowsWrittenTogetherDoNotShow(t *testing.T) { // not parallel: it changes how stores are made
	rows := store.RecentRows
	defer func() { store.RecentRows = rows }()
	for _, seed := range seeds(t, 8) {
		store.RecentRows = rows
		r := recorded(t, seed, 1)
		for _, life := range r.Lives {
			var want []model.WorkloadRecord
			for _, store.RecentRows = range []int{0, 5, rows} {
				var events []string
				var log bytes.Buffer
				cfg := r.Config(&events)
				cfg.Recorder = engine.NewRecorder(&log)
				raw, err := engine.Replay(cfg, bytes.NewReader(life.Log))
				require.NoError(t, err, "seed %d, %d rows", seed, store.RecentRows)
				requireSameLines(t, life.Events, events, "seed %d, %d rows", seed, store.RecentRows)
				requireSameLog(t, life.Log, log.Bytes(), "seed %d, %d rows", seed, store.RecentRows)
				have := slices.Collect(raw.View().Workloads())
				if want == nil {
					want = have
				}
				require.Equal(t, want, have, "seed %d, %d rows", seed, store.RecentRows)
			}
		}
	}
}

// requireSameLines points to the first line that differs.
func requireSameLines(t *testing.T, want, got []string, format string, args ...any) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("%s: line %d after\n%s\nis\n%s\nand should be\n%s", fmt.Sprintf(format, args...), i,
				strings.Join(want[max(0, i-10):i], "\n"), got[i], want[i])
		}
	}
	require.Len(t, got, len(want), "%s", fmt.Sprintf(format, args...))
}

func requireSameLog(t *testing.T, want, got []byte, format string, args ...any) {
	t.Helper()
	if !bytes.Equal(want, got) {
		requireSameLines(t, strings.Split(string(want), "\n"), strings.Split(string(got), "\n"), format, args...)
	}
}

// slowWorld binds after a while, or fails, by lot.
type slowWorld struct {
	world
	rng *rand.Rand
}

var errNoRoute = errors.New("no route to the node")

func (o *slowWorld) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	o.mu.Lock()
	latency, fails := time.Duration(o.rng.IntN(5000))*time.Millisecond, o.rng.IntN(5) == 0
	o.mu.Unlock()
	select {
	case <-time.After(latency):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if fails {
		return errNoRoute
	}
	return o.world.Bind(ctx, w, b)
}

// The log of an engine with goroutines, under load from several sides, makes a
// Raw do the same.
func TestReplayOfAnEngineAtWork(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 24) {
		synctest.Test(t, func(t *testing.T) { replayEngineAtWork(t, seed) })
	}
}

func replayEngineAtWork(t *testing.T, seed uint64) {
	var events []string
	var log bytes.Buffer
	o := &slowWorld{rng: rand.New(rand.NewPCG(seed, 2))}
	cfg := config(o)
	cfg.TieBreak, cfg.Workers, cfg.MaxBindings = engine.TieBreak(seed%3), 1+int(seed%4), 8
	cfg.Listener, cfg.Recorder = simulate.EventLines(&events), engine.NewRecorder(&log)
	e, stop := start(t, cfg)
	nodes := make([]engine.Change, 120)
	for i := range nodes {
		nodes[i] = node(fmt.Sprintf("n%03d", i), 400)
	}
	require.NoError(t, e.Apply(nodes...))
	done := make(chan struct{})
	for client := range 3 {
		go func() {
			load(e, rand.New(rand.NewPCG(seed, 10+uint64(client))), fmt.Sprintf("c%d", client))
			done <- struct{}{}
		}()
	}
	for range 3 {
		<-done
	}
	time.Sleep(10 * time.Minute) // the fake clock: let it come to rest
	require.NoError(t, stop())
	require.Zero(t, count(e.View(), model.Assumed))

	var again []string
	var copied bytes.Buffer
	cfg.Listener, cfg.Recorder, cfg.Workers = simulate.EventLines(&again), engine.NewRecorder(&copied), 1
	raw, err := engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	requireSameLines(t, events, again, "seed %d", seed)
	requireSameLog(t, log.Bytes(), copied.Bytes(), "seed %d", seed)
	require.Equal(t, e.View().Index(), raw.View().Index())
	require.Equal(t, e.QueueCounts(), raw.QueueCounts())
}

// load is one client: it submits, removes, evicts, takes nodes away and brings
// them back, and looks at things, with pauses.
func load(e *engine.Engine, rng *rand.Rand, client string) {
	for i := range 60 {
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		id := fmt.Sprintf("%s-%d", client, rng.IntN(i+1))
		name := fmt.Sprintf("n%03d", rng.IntN(120))
		// Errors are part of it: what is evicted may be gone already.
		switch rng.IntN(10) {
		case 0:
			_ = e.Apply(engine.Remove(id))
		case 1:
			_ = e.Evict(id, "by lot")
		case 2:
			_ = e.Apply(engine.RemoveNode(name))
		case 3:
			_ = e.Apply(node(name, 600))
		case 4:
			_ = e.Apply(engine.Requeue(id))
		case 5:
			_, _ = e.Explain(id, engine.ExplainOptions{})
			_ = e.Branch()
		default:
			_ = e.Apply(task(fmt.Sprintf("%s-%d", client, i), 100+100*rng.Int64N(4)))
		}
	}
}

// Looking changes nothing, not even the order of nodes that the next decision
// finds: a node that went and came back between two decisions keeps its place
// whether or not somebody took a branch in between.
func TestLookingDoesNotSettleTheOrder(t *testing.T) {
	t.Parallel()
	look := map[string]func(r *engine.Raw){
		"nobody":  func(*engine.Raw) {},
		"branch":  func(r *engine.Raw) { r.Branch() },
		"explain": func(r *engine.Raw) { _, _ = r.Explain(epoch, "w", engine.ExplainOptions{}) },
		"try": func(r *engine.Raw) {
			_, err := r.Branch().Schedule(epoch, "w")
			require.NoError(t, err)
		},
	}
	for name, look := range look {
		cfg := config(&world{})
		cfg.TieBreak = engine.TieBreakLowestIndex
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), task("first", 1)))
		settle(r, epoch)
		require.NoError(t, r.Apply(epoch, task("w", 100), engine.Remove("first"), engine.RemoveNode("n1")))
		look(r)
		require.NoError(t, r.Apply(epoch, node("n1", 1000)))
		settle(r, epoch)
		w, _ := r.View().Workload("w")
		require.Equal(t, "n1", w.Node, "where %s looks", name)
	}
}

var _ extpoints.Orchestrator = (*slowWorld)(nil)

// To be told the same again, in the very object that is on record, is an update
// like any other: in a replay it is another object.
func TestAnUpdateWithTheSameObjectIsReplayed(t *testing.T) {
	rejecting := func() engine.Config {
		cfg := config(&world{})
		use(&cfg, rejectAll{})
		return cfg
	}
	var log bytes.Buffer
	cfg := rejecting()
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	w := task("w", 1)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), w))
	require.True(t, r.Schedule(epoch))
	require.NoError(t, r.Apply(epoch.Add(time.Hour), engine.Update(spec(w))))
	again, err := engine.Replay(rejecting(), bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	want, _ := again.Queue("w")
	got, _ := r.Queue("w")
	require.Equal(t, want, got)
}

// rejectAll is a filter that rejects every node and does not say what may help.
type rejectAll struct{}

func (rejectAll) Name() string { return "RejectAll" }

func (rejectAll) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return extpoints.NewStatus(extpoints.Unschedulable, "no")
}

// A log that begins in the middle of an engine's life, with its state, leads to the same
// events as the engine has from then on, and beginning it breaks nothing.
func TestReplayFromTheMiddle(t *testing.T) {
	t.Parallel()
	begun := 0
	for _, seed := range seeds(t, 40) {
		r := simulate.Run(t, seed, simulate.Options{
			Record: true, Rotate: 3 + int(seed%40), TieBreak: engine.TieBreak(seed % 3), Compat: extpoints.Compat(seed % 2),
			Plugins: simulate.MoodGood, // the others count, and nobody writes that down
			Queues:  seed%3 == 0, Scarce: seed%4 == 1,
		})
		begun += r.Reached["rotated"]
		for i, life := range r.Lives {
			var events []string
			var again bytes.Buffer
			cfg := r.Config(&events)
			cfg.Recorder = engine.NewRecorder(&again)
			cfg.Workers = []int{1, 2, 16}[i%3]
			_, err := engine.Replay(cfg, bytes.NewReader(life.Log))
			require.NoError(t, err, "seed %d, life %d", seed, i)
			requireSameLines(t, life.Events, events, "seed %d, life %d", seed, i)
			requireSameLog(t, life.Log, again.Bytes(), "seed %d, life %d", seed, i)
		}
	}
	require.Positive(t, begun)
}
