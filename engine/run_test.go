package engine_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// start runs the engine in a synctest bubble; the bubble itself fails the test
// if a goroutine is left behind.
func start(t *testing.T, cfg engine.Config) (e *engine.Engine, stop func() error) {
	t.Helper()
	e, err := engine.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	return e, func() error {
		cancel()
		return <-done
	}
}

func TestRunPlacesWhatIsSubmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &world{}
		e, stop := start(t, config(o))
		require.NoError(t, e.Apply(node("n1", 1000), node("n2", 1000)))
		require.NoError(t, e.Apply(tasks(25, 100)...))
		synctest.Wait()
		require.Equal(t, 20, count(e.View(), model.Bound))
		require.Equal(t, 5, count(e.View(), model.Pending))
		require.Len(t, o.bound, 20)

		require.NoError(t, e.Apply(engine.Remove(firstOn(e, "n1"))))
		time.Sleep(time.Minute) // the fake clock: the one that is woken sits out its backoff
		synctest.Wait()
		require.Equal(t, 20, count(e.View(), model.Bound), "the freed room is used")
		require.Equal(t, 4, count(e.View(), model.Pending))
		require.NoError(t, stop())
		for id, nodes := range o.bound {
			require.Len(t, nodes, 1, "%s is bound once", id)
		}
	})
}

func firstOn(e *engine.Engine, node string) string {
	for w := range e.View().WorkloadsOn(node) {
		return w.ID
	}
	return ""
}

func TestRunBoundsTheBindingsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &world{onBind: func(ctx context.Context, _ string) error {
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		cfg := config(o)
		cfg.MaxBindings, cfg.MaxBindingsPerNode = 3, 3
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 100_000)))
		require.NoError(t, e.Apply(tasks(10, 100)...))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 10, count(e.View(), model.Bound))
		require.Equal(t, 3, o.most)
		require.NoError(t, stop())
	})
}

func TestStopLetsBindingsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &world{onBind: func(context.Context, string) error {
			time.Sleep(10 * time.Second)
			return nil
		}}
		e, stop := start(t, config(o))
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		synctest.Wait()
		require.NoError(t, stop())
		require.Equal(t, []string{"n1"}, o.nodesOf("a"))
		require.Equal(t, 1, count(e.View(), model.Bound), "what finished while draining is recorded")
	})
}

func TestStopCancelsBindingsThatTakeTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		o := &world{onBind: func(ctx context.Context, _ string) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return ctx.Err()
		}}
		cfg := config(o)
		cfg.DrainTimeout = 5 * time.Second
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		synctest.Wait()
		began := time.Now()
		require.NoError(t, stop())
		require.Equal(t, 5*time.Second, time.Since(began))
		require.ErrorIs(t, cause, engine.ErrStopped)
		require.Equal(t, 1, count(e.View(), model.Pending), "it is queued again, not lost")
	})
}

func TestStopWithoutDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &world{onBind: func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		cfg := config(o)
		cfg.DrainTimeout = -1
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		synctest.Wait()
		began := time.Now()
		require.NoError(t, stop())
		require.Zero(t, time.Since(began))
	})
}

func TestRunOnlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := start(t, config(&world{}))
		synctest.Wait()
		require.ErrorIs(t, e.Run(t.Context()), engine.ErrRunning)
		require.NoError(t, stop())
		require.ErrorIs(t, e.Run(t.Context()), engine.ErrRunning)
	})
}

func TestEngineAnswersWithoutRun(t *testing.T) {
	e, err := engine.New(config(&world{}))
	require.NoError(t, err)
	require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
	ex, err := e.Explain("a", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "n1", ex.Node)
	require.Equal(t, 1, e.QueueCounts().Active)
	p, ok := e.Queue("a")
	require.True(t, ok)
	require.Zero(t, p.Attempts)
	d, err := e.Branch().Schedule(epoch, "a")
	require.NoError(t, err)
	require.Equal(t, "n1", d.Binding.Node)
	require.Equal(t, 1, count(e.View(), model.Pending), "a branch changes nothing")
}

func TestFailedBindsAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := 3
		o := &world{onBind: func(context.Context, string) error {
			if failures > 0 {
				failures--
				return errors.New("no route to n1")
			}
			return nil
		}}
		e, stop := start(t, config(o))
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"n1"}, o.nodesOf("a"))
		require.Equal(t, 1, count(e.View(), model.Bound))
		require.NoError(t, stop())
	})
}

// While an eviction is being asked it is not asked twice; afterwards it is, as the orchestrator may have
// forgotten it.
func TestEvictIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &world{}
		e, stop := start(t, config(o))
		require.ErrorIs(t, e.Evict("a", "drain"), engine.ErrNotFound)
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		synctest.Wait()
		o.mu.Lock() // the orchestrator answers when both have been asked
		require.NoError(t, e.Evict("a", "drain"))
		require.NoError(t, e.Evict("a", "drain"))
		o.mu.Unlock()
		synctest.Wait()
		require.Equal(t, []string{"a"}, o.evicted)
		require.Equal(t, 1, count(e.View(), model.Terminating))
		require.NoError(t, e.Evict("a", "drain"))
		synctest.Wait()
		require.Equal(t, []string{"a", "a"}, o.evicted)
		require.NoError(t, stop())
	})
}

// A Bind that ends its goroutine is a failure that says so.
func TestABindThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exits := true
		o := &world{onBind: func(context.Context, string) error {
			if exits {
				exits = false
				runtime.Goexit()
			}
			return nil
		}}
		cfg := config(o)
		var failure error
		cfg.Listener.Rejected = func(e engine.RejectedEvent) { failure = e.Err }
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ErrorContains(t, failure, "runtime.Goexit")
		require.Equal(t, 1, count(e.View(), model.Bound))
		require.NoError(t, stop())
	})
}
