package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// rude is a plugin, and more, that does something at its points. The node is empty where it is not
// asked about one.
type rude struct {
	act func(point, workload, node string)
}

func (*rude) Name() string { return "Rude" }

func (p *rude) PreEnqueue(w *model.Workload) *extpoints.Status {
	p.act("PreEnqueue", w.ID, "")
	return nil
}

func (p *rude) EventsToRegister() ([]extpoints.EventHint, error) {
	hint := func(w *model.Workload, _ *extpoints.Event) (extpoints.Hint, error) {
		p.act("hint", w.ID, "")
		return extpoints.HintSkip, nil
	}
	return []extpoints.EventHint{{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}, Hint: hint}}, nil
}

func (p *rude) PreFilter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	p.act("PreFilter", w.ID, "")
	return nil, nil
}

func (p *rude) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
	p.act("Filter", w.ID, n.Node.Name)
	return nil
}

func (p *rude) PreScore(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	p.act("PreScore", w.ID, "")
	return nil
}

func (p *rude) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) (int64, *extpoints.Status) {
	p.act("Score", w.ID, n.Node.Name)
	return 0, nil
}

func (p *rude) Reserve(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	p.act("Reserve", w.ID, "")
	return nil
}

func (p *rude) Unreserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {}

func (p *rude) Permit(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	p.act("Permit", w.ID, "")
	return nil, 0
}

func (p *rude) PreBindPreFlight(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	return extpoints.PreFlight{AllowParallel: true}, nil
}

func (p *rude) PreBind(_ context.Context, _ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	p.act("PreBind", w.ID, "")
	return nil
}

func (p *rude) PostBind(_ context.Context, _ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) {
	p.act("PostBind", w.ID, "")
}

// Write makes it the writer of the recorder: it has come to w when its line is written.
func (p *rude) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"w"`)) {
		p.act("Write", "w", "")
	}
	return len(line), nil
}

// friend is a second plugin with a PreBind, so that the two run side by side.
type friend struct{}

func (friend) Name() string { return "Friend" }

func (friend) PreBindPreFlight(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	return extpoints.PreFlight{AllowParallel: true}, nil
}

func (friend) PreBind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	return nil
}

// surroundings are a configuration whose plugin, listener, orchestrator and recorder do
// something at one point, for the workload "w".
func surroundings(at string, workers int, do func()) engine.Config {
	p := &rude{func(point, workload, node string) {
		if point == at && workload == "w" && (node == "" || node == "n150") { // of a worker, where there are several
			do()
		}
	}}
	cfg := config(&world{onBind: func(_ context.Context, id string) error {
		p.act("Bind", id, "")
		return nil
	}})
	cfg.Workers, cfg.PercentageOfNodesToScore = workers, 100
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: io.Discard})
	cfg.Recorder = engine.NewRecorder(p)
	cfg.Listener = engine.Listener{
		Submitted: func(e engine.SubmittedEvent) { p.act("Submitted", e.Workload.ID, "") },
		Popped:    func(e engine.PoppedEvent) { p.act("Popped", e.Workload.ID, "") },
		Bound:     func(e engine.PlacedEvent) { p.act("Bound", e.Workload.ID, "") },
	}
	use(&cfg, friend{})
	use(&cfg, p)
	return cfg
}

// beside calls f on a goroutine of its own, which f may end.
func beside(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// live runs an engine with the surroundings through a short life, which "w" has a part in:
// it is submitted, a node joins, and all is bound for which there is room.
func live(t *testing.T, cfg engine.Config) (e *engine.Engine, stop func() error) {
	e, stop = start(t, cfg)
	var nodes []engine.Change
	for i := range 200 {
		nodes = append(nodes, node(fmt.Sprint("n", i), 1000))
	}
	require.NoError(t, e.Apply(nodes...))
	beside(func() { _ = e.Apply(task("large", 2000)) })
	beside(func() { _ = e.Apply(task("w", 100)) })
	synctest.Wait()
	beside(func() { _ = e.Apply(node("another", 1000)) })
	synctest.Wait()
	beside(func() { _ = e.Apply(task("next", 100)) })
	synctest.Wait()
	return e, stop
}

// Whatever panics in what the engine calls ends one step, and the engine goes on.
func TestThePanicsOfOthersBreakNothing(t *testing.T) {
	t.Parallel()
	for _, at := range []string{
		"PreEnqueue", "PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind", "Write", "Submitted", "Popped", "Bound",
	} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprint(at, " with workers: ", workers), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					asked := 0
					e, stop := live(t, surroundings(at, workers, func() { asked++; panic("on purpose") }))
					require.NotZero(t, asked)
					next, _ := e.View().Workload("next")
					require.Equal(t, model.Bound, next.Phase)
					require.NoError(t, e.Apply(node("last", 1)))
					require.NoError(t, stop())
				})
			})
		}
	}
}

// What ends the goroutine of the engine breaks it: everybody is told so at once, and who it
// was. Nothing is placed on nodes that were not looked at, whoever was to look at them.
func TestWhatEndsTheGoroutineOfAnEngineBreaksIt(t *testing.T) {
	t.Parallel()
	for _, at := range []string{
		"PreEnqueue", "PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "Write", "Submitted", "Popped", "Bound",
	} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprint(at, " with workers: ", workers), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e, stop := live(t, surroundings(at, workers, runtime.Goexit))
					for what, err := range map[string]error{
						"Run": stop(), "Apply": e.Apply(node("last", 1)), "Evict": e.Evict("w", ""),
						"StartRecording": e.StartRecording(t.Context(), engine.NewRecorder(io.Discard)),
					} {
						require.ErrorIs(t, err, engine.ErrBroken, what)
						require.ErrorContains(t, err, "its goroutine was ended, in ", what)
					}
					w, _ := e.View().Workload("w")
					require.NotEqual(t, model.Confirmed, w.Phase)
					if at != "Permit" && at != "Bound" {
						require.Empty(t, w.Node)
					}
					e.Branch()
					e.Queue("w")
					e.QueueCounts()
				})
			})
		}
	}
}

// The log has the stack of what broke the engine, also where that was a worker.
func TestTheLogHasTheStackOfAWorker(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			cfg := surroundings("Filter", workers, runtime.Goexit)
			cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: &log})
			_, stop := live(t, cfg)
			require.ErrorIs(t, stop(), engine.ErrBroken)
			require.Contains(t, log.String(), "engine_test.(*rude).Filter(", "workers: %d", workers)
		})
	}
}

// What ends the goroutine of a task has failed, and the engine goes on.
func TestWhatEndsTheGoroutineOfATaskHasFailed(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"PreBind", "Bind"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var rejected []error
				cfg := surroundings(at, 1, runtime.Goexit)
				cfg.Listener.Rejected = func(e engine.RejectedEvent) {
					if e.Workload.ID == "w" {
						rejected = append(rejected, e.Err)
					}
				}
				e, stop := live(t, cfg)
				w, _ := e.View().Workload("w")
				require.Equal(t, model.Pending, w.Phase)
				require.NotEmpty(t, rejected)
				require.ErrorContains(t, rejected[0], "goroutine")
				require.NoError(t, stop())
			})
		})
	}
}

// What ends the goroutine once the workload is bound takes nothing back: it runs there.
func TestWhatEndsTheGoroutineOfPostBindUnbindsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failed []error
		cfg := surroundings("PostBind", 1, runtime.Goexit)
		cfg.Listener.Failed = func(e engine.FailedEvent) { failed = append(failed, e.Err) }
		e, stop := live(t, cfg)
		w, _ := e.View().Workload("w")
		require.Equal(t, model.Bound, w.Phase)
		require.Len(t, failed, 1)
		require.ErrorContains(t, failed[0], `PostBind of workload "w": its goroutine was ended, in github.com/berth-project/berth/engine_test.(*rude).PostBind`)
		require.NoError(t, stop())
	})
}

// brokenLogger panics whenever something is written.
type brokenLogger struct{}

func (brokenLogger) Write([]byte) (int, error) { panic("the log is full") }

// A logger that panics silences nobody else, and nothing is left half done.
func TestALoggerThatPanics(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: brokenLogger{}})
	told := 0
	cfg.Listener.Submitted = func(engine.SubmittedEvent) { told++; panic("and the listener too") }
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), task("w", 100)))
	settle(r, epoch)
	require.Equal(t, 1, told)
	require.Equal(t, 1, count(r.View(), model.Bound))
}

// endingLogger ends the goroutine that writes the first line.
type endingLogger struct{ ended bool }

func (l *endingLogger) Write(line []byte) (int, error) {
	if !l.ended {
		l.ended = true
		runtime.Goexit()
	}
	return len(line), nil
}

// The listener is told that the engine is broken also where the log is broken too.
func TestALoggerThatEndsTheGoroutineOfABrokenEngine(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: &endingLogger{}})
	var told []error
	cfg.Listener.Failed = func(e engine.FailedEvent) { told = append(told, e.Err) }
	cfg.Listener.Submitted = func(engine.SubmittedEvent) { runtime.Goexit() }
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	beside(func() { _ = r.Apply(epoch, task("w", 100)) })
	require.Len(t, told, 1)
	require.Equal(t, told[0], r.Apply(epoch, task("x", 100)))
}

// A panic where nobody expects one breaks the engine. The call says why, and so do all
// others after it, the listener is told once, and the record may be read.
func TestAPanicOfTheEngineBreaksIt(t *testing.T) {
	t.Parallel()
	var told []error
	cfg := config(&world{})
	cfg.Listener.Failed = func(e engine.FailedEvent) { told = append(told, e.Err) }
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), task("w", 100)))

	err = r.Panic(epoch, io.ErrShortBuffer)
	require.ErrorIs(t, err, engine.ErrBroken)
	require.ErrorIs(t, err, io.ErrShortBuffer)
	require.ErrorContains(t, err, "the engine is broken: Apply did not come to its end: panic: short buffer, in github.com/berth-project/berth/engine_test.")
	require.Equal(t, []error{err}, told)
	require.Equal(t, err, r.Apply(epoch, node("m", 1000)))
	require.Equal(t, err, r.Evict(epoch, "w", ""))
	for _, call := range []func(){
		func() { r.Schedule(epoch) }, func() { r.Tick(epoch) }, func() { r.Settle(epoch) }, func() { r.CallOff(epoch, nil) },
	} {
		require.Equal(t, err, panics(call))
	}
	require.Len(t, told, 1)

	again := newRaw(t, &world{})
	require.NoError(t, again.Apply(epoch, slices.Collect(r.View().Changes())...))
	settle(again, epoch)
	require.Equal(t, 1, count(again.View(), model.Bound))
}

// copied is a plugin that keeps something in the state of its cycles that may fail to be cloned.
type copied struct{ fails *bool }

var copiedKey = extpoints.NewStateKey[copied]("copied")

func (copied) Name() string { return "Copied" }

func (c copied) Clone() copied {
	if *c.fails {
		panic("on purpose")
	}
	return c
}

func (c copied) PreFilter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	copiedKey.Set(s, c)
	return nil, nil
}

// What a plugin keeps in a cycle is cloned where somebody is tried out. If that panics the plugin has
// failed, wherever it is, and the engine goes on.
func TestAPanicOfACloneBreaksNothing(t *testing.T) {
	t.Parallel()
	member := func(id string) engine.Change {
		w := task(id, 400)
		spec(w).Group = "g"
		return w
	}
	gang := []engine.Change{engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2}), member("a"), member("b")}
	runs := func(id string, cpu int64) engine.Change {
		w := task(id, cpu)
		spec(w).Limit = time.Hour
		return engine.Adopt(spec(w), model.Binding{Node: "n"})
	}
	for name, c := range map[string]struct {
		backfill engine.BackfillMode
		before   []engine.Change
		tried    []engine.Change
		placed   string // when clones do not fail any more
	}{
		"in the try of a group":       {tried: gang, placed: "a"},
		"in the plan":                 {backfill: engine.EASY, before: []engine.Change{runs("r", 900)}, tried: []engine.Change{task("w", 800)}},
		"in the plan of a group":      {backfill: engine.EASY, before: []engine.Change{runs("r", 900)}, tried: gang},
		"where somebody is nominated": {before: []engine.Change{task("nominated", 900), engine.Nominate("nominated", "n")}, tried: []engine.Change{task("w", 100)}, placed: "w"},
		"where a group displaces":     {before: []engine.Change{runs("r", 900)}, tried: append([]engine.Change{engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2, Priority: 5})}, gang[1:]...)},
		"where a workload displaces":  {before: []engine.Change{runs("r", 900)}, tried: []engine.Change{engine.Submit(&model.Workload{ID: "w", Priority: 5, Requests: model.Resources{CPU: 800}})}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := true
			cfg := config(&world{})
			cfg.Backfill.Mode = c.backfill
			use(&cfg, copied{&fails})
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, append([]engine.Change{node("n", 1000)}, c.before...)...))
			require.NoError(t, r.Apply(epoch, c.tried...))
			settle(r, epoch)
			fails = false
			later := epoch.Add(time.Minute)
			r.Tick(later)
			settle(r, later)
			if c.placed != "" {
				require.Equal(t, "Bound@n", phaseOf(r, c.placed))
			}
		})
	}
}
