package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// cutOff is an orchestrator of whose nodes one does not answer; it remembers why it
// was told to give up.
type cutOff struct {
	*world
	node   string
	causes chan error
}

func newCutOff(node string) *cutOff {
	return &cutOff{world: &world{}, node: node, causes: make(chan error, 100)}
}

func (o *cutOff) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	if b.Node == o.node {
		<-ctx.Done()
		o.causes <- context.Cause(ctx)
		return ctx.Err()
	}
	return o.world.Bind(ctx, w, b)
}

func TestANodeThatDoesNotAnswerDoesNotStopOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(newCutOff("cut"))
		cfg.MaxBindings = 8
		cfg.BindTimeout = -1
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("cut", 10_000), node("n1", 10_000)))
		require.NoError(t, e.Apply(tasks(100, 100)...))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 50, count(e.View(), model.Bound), "all that were meant for the other node")
		require.Equal(t, 50, count(e.View(), model.Assumed))
		require.NoError(t, stop())
	})
}

func TestBindTimeoutEndsABind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newCutOff("cut")
		cfg := config(o)
		cfg.BindTimeout = time.Minute
		var failure error
		cfg.Listener.Rejected = func(e engine.RejectedEvent) { failure = e.Err }
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("cut", 1000), task("a", 100)))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ErrorIs(t, <-o.causes, engine.ErrBindTimeout)
		require.ErrorIs(t, failure, engine.ErrBindTimeout)
		require.Equal(t, 1, count(e.View(), model.Pending), "it waits out its backoff")
		require.NoError(t, stop())
	})
}

func TestRemoveNodeCancelsBindingsToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newCutOff("cut")
		e, stop := start(t, config(o))
		require.NoError(t, e.Apply(node("cut", 1000), task("a", 100)))
		synctest.Wait()
		require.NoError(t, e.Apply(engine.RemoveNode("cut"), node("n1", 1000)))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ErrorIs(t, <-o.causes, engine.ErrNodeRemoved)
		require.Equal(t, []string{"n1"}, o.nodesOf("a"))
		require.NoError(t, stop())
	})
}

// deaf is an orchestrator whose Bind does not heed its context.
func deaf() (o *world, answer chan struct{}) {
	answer = make(chan struct{})
	return &world{onBind: func(context.Context, string) error {
		<-answer
		return nil
	}}, answer
}

func TestRunReturnsWhateverABindDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, answer := deaf()
		cfg := config(o)
		cfg.DrainTimeout = 10 * time.Second
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		synctest.Wait()
		began := time.Now()
		err := stop()
		require.ErrorIs(t, err, engine.ErrTasksLeft)
		require.ErrorContains(t, err, `[bind workload "a" to node "n1"]`)
		require.Equal(t, 15*time.Second, time.Since(began))
		require.Equal(t, 1, count(e.View(), model.Assumed))

		close(answer)
		synctest.Wait()
		require.Equal(t, 1, count(e.View(), model.Bound), "what returns after all is recorded")
	})
}

func TestBindTimeoutIsForEvictionsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&stubborn{})
		var failure error
		cfg.Listener.Failed = func(e engine.FailedEvent) { failure = e.Err }
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), running("a", "n1", 100)))
		require.NoError(t, e.Evict("a", "new disks"))
		time.Sleep(2 * time.Minute) // the default
		synctest.Wait()
		require.ErrorIs(t, failure, engine.ErrBindTimeout)
		require.Equal(t, 1, count(e.View(), model.Confirmed), "it stays where it is")
		require.NoError(t, stop())
	})
}

// stubborn does not answer to an eviction before its context ends.
type stubborn struct{ world }

func (*stubborn) Evict(ctx context.Context, _ *model.Workload, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}
