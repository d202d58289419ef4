package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// caller is a plugin and a listener that calls the engine back.
type caller struct{ call func(point string) }

func (*caller) Name() string { return "Caller" }
func (p *caller) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	p.call("Filter")
	return nil
}

func (p *caller) PreEnqueue(*model.Workload) *extpoints.Status {
	p.call("PreEnqueue")
	return nil
}

func (p *caller) bound(engine.PlacedEvent) { p.call("bound") }

// calledBack returns the configuration of an engine in which call is called by two
// points of a plugin, on the workers' goroutines too, and by Listener.Bound.
func calledBack(t *testing.T, call func(point string)) engine.Config {
	t.Helper()
	p := &caller{call}
	cfg := config(&world{})
	cfg.Workers = 4
	cfg.Listener.Bound = p.bound
	use(&cfg, p)
	return cfg
}

// What may be called from a listener or a plugin, and what is refused there.
func TestCallingTheEngineBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method string
		call   func(e *engine.Engine) error
		fails  bool
	}{
		{"View", func(e *engine.Engine) error { e.View(); return nil }, false},
		{"QueueCounts", func(e *engine.Engine) error { e.QueueCounts(); return nil }, false},
		{"Running", func(e *engine.Engine) error { e.Running(); return nil }, false},
		{"Apply", func(e *engine.Engine) error { return e.Apply(node("another", 1)) }, true},
		{"A large Apply", func(e *engine.Engine) error { return e.Apply(tasks(1000, 1)...) }, true},
		{"Evict", func(e *engine.Engine) error { return e.Evict("w", "") }, true},
		{"Explain", func(e *engine.Engine) error { _, err := e.Explain("w", engine.ExplainOptions{}); return err }, true},
		{"Run", func(e *engine.Engine) error { return e.Run(context.Background()) }, true},
		{"Branch", func(e *engine.Engine) error { return panics(func() { e.Branch() }) }, true},
		{"Queue", func(e *engine.Engine) error { return panics(func() { e.Queue("w") }) }, true},
	}
	for _, test := range tests {
		t.Run(test.method, func(t *testing.T) {
			t.Parallel()
			var e *engine.Engine
			var mu sync.Mutex
			answers := map[string]error{}
			e, err := engine.New(calledBack(t, func(point string) {
				err := test.call(e)
				mu.Lock()
				defer mu.Unlock()
				answers[point] = err
			}))
			require.NoError(t, err)
			changes := []engine.Change{task("w", 100)}
			for i := range 200 {
				changes = append(changes, node(fmt.Sprint("n", i), 1000))
			}
			require.NoError(t, e.Apply(changes...))
			untilBound(t, e, "w")
			mu.Lock()
			defer mu.Unlock()
			for _, point := range []string{"PreEnqueue", "Filter", "bound"} {
				err, called := answers[point]
				require.True(t, called, point)
				if !test.fails {
					require.NoError(t, err, point)
					continue
				}
				require.ErrorIs(t, err, engine.ErrCalledBack, point)
				require.ErrorContains(t, err, strings.TrimPrefix(test.method, "A large ")+" was called from github.com/berth-project/berth/engine_test.(*caller)."+point)
			}
		})
	}
}

// panics returns the error that f panics with.
func panics(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// untilBound runs the engine until the listeners have been told that the workload is bound.
func untilBound(t *testing.T, e *engine.Engine, id string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	for v := e.View(); ; {
		if w, ok := v.Workload(id); ok && w.Phase == model.Bound {
			break
		}
		var err error
		v, err = v.Wait(ctx, engine.QueryWorkload(id))
		require.NoError(t, err)
	}
	stop()
	require.NoError(t, <-done)
}

// A view that a listener takes has what it is told of.
func TestViewFromAListener(t *testing.T) {
	var e *engine.Engine
	var phase model.Phase
	cfg := config(&world{})
	cfg.Listener.Bound = func(ev engine.PlacedEvent) {
		w, _ := e.View().Workload(ev.Workload.ID)
		phase = w.Phase
	}
	e, err := engine.New(cfg)
	require.NoError(t, err)
	require.NoError(t, e.Apply(node("n", 1000), task("w", 100)))
	untilBound(t, e, "w")
	require.Equal(t, model.Bound, phase)
}

// Others wait while a listener is called, and go on after it.
func TestAnotherGoroutineWaitsForAListener(t *testing.T) {
	t.Parallel()
	var e *engine.Engine
	var others sync.WaitGroup
	cfg := config(&world{})
	cfg.Listener.Submitted = func(ev engine.SubmittedEvent) {
		if ev.Workload.ID == "first" {
			for i := range 20 {
				others.Go(func() { require.NoError(t, e.Apply(task(fmt.Sprint("w", i), 100))) })
			}
		}
	}
	e, err := engine.New(cfg)
	require.NoError(t, err)
	require.NoError(t, e.Apply(task("first", 100)))
	others.Wait()
	require.Equal(t, queue.Counts{Active: 21}, e.QueueCounts())
}

// While a large Apply is under way nobody who reads waits for it: the view has all of
// it, the others answer as of before it.
func TestReadersDoNotWaitForALargeApply(t *testing.T) {
	t.Parallel()
	var e *engine.Engine
	told := 0
	cfg := config(&world{})
	cfg.Listener.Submitted = func(engine.SubmittedEvent) {
		if told++; told != 600 {
			return
		}
		read := make(chan struct{})
		go func() {
			defer close(read)
			require.Equal(t, 2100, count(e.View(), model.Pending))
			require.Equal(t, 100, count(e.Branch().View(), model.Pending))
			require.Equal(t, 100, e.QueueCounts().Active)
			require.False(t, e.Running())
			require.Empty(t, e.Queues())
			p, waits := e.Queue("early7")
			require.True(t, waits)
			require.Equal(t, queue.Active, p.Place)
			for _, id := range []string{"t000", "t1999", "nobody"} { // submitted now, followed or not, and never
				_, waits = e.Queue(id)
				require.False(t, waits, id)
			}
		}()
		<-read
	}
	e, err := engine.New(cfg)
	require.NoError(t, err)
	for i := range 100 {
		require.NoError(t, e.Apply(task(fmt.Sprint("early", i), 100)))
	}
	require.NoError(t, e.Apply(tasks(2000, 100)...))
	require.Equal(t, 2100, e.QueueCounts().Active)
	require.Equal(t, 2100, count(e.Branch().View(), model.Pending))
	_, waits := e.Queue("t1999")
	require.True(t, waits)
}

// A reader that has begun to wait before a large Apply has the lock does not wait for all of it.
func TestAReaderThatCameBeforeALargeApply(t *testing.T) {
	t.Parallel()
	var e *engine.Engine
	held, goOn, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
	cfg := config(&world{})
	cfg.Listener.Submitted = func(ev engine.SubmittedEvent) {
		switch ev.Workload.ID {
		case "small": // holds the lock until a reader and a large Apply may have come
			close(held)
			<-goOn
		case "t000":
			<-told
		}
	}
	e, err := engine.New(cfg)
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() { require.NoError(t, e.Apply(task("small", 100))) })
	<-held
	all.Go(func() { require.NoError(t, e.Apply(tasks(2000, 100)...)) })
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			_, waits := e.Queue("small")
			require.True(t, waits)
		})
	}
	close(goOn)
	readers.Wait()
	close(told)
	all.Wait()
}

// Readers beside an engine that works, for the race detector.
func TestReadersBesideARunningEngine(t *testing.T) {
	t.Parallel()
	e, err := engine.New(config(&world{}))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { require.NoError(t, e.Run(ctx)) })
	require.NoError(t, e.Apply(node("n", 1_000_000)))
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				e.QueueCounts()
				e.Running()
				e.Queue("w0-0")
				e.Queues()
				e.Waiting()
				b := e.Branch()
				for w := range e.View().WorkloadsIn(model.Pending) {
					_, _ = b.Schedule(time.Now(), w.ID)
					break
				}
			}
		})
	}
	for i := range 3 {
		var changes []engine.Change
		for j := range 1100 {
			changes = append(changes, task(fmt.Sprint("w", i, "-", j), 1))
		}
		require.NoError(t, e.Apply(changes...))
	}
	stop()
	all.Wait()
}

// A Raw is not to be changed while one of its methods is under way.
func TestCallingARawBack(t *testing.T) {
	t.Parallel()
	var r *engine.Raw
	var errs []error
	cfg := config(&world{})
	cfg.Listener.Submitted = func(engine.SubmittedEvent) {
		r.View()
		r.Branch()
		r.QueueCounts()
		errs = []error{
			r.Apply(epoch, node("n", 1)), r.Evict(epoch, "w", ""), panics(func() { r.Schedule(epoch) }),
			panics(func() { r.Tick(epoch) }), panics(func() { r.Settle(epoch) }), panics(func() { r.CallOff(epoch, nil) }),
		}
	}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, task("w", 1)))
	require.Len(t, errs, 6)
	for _, err := range errs {
		require.ErrorIs(t, err, engine.ErrCalledBack)
		require.ErrorContains(t, err, "while Apply was under way")
	}
	require.NoError(t, r.Apply(epoch, node("n", 1000)))
	require.True(t, r.Schedule(epoch))
}
