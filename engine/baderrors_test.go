package engine_test

import (
	"context"
	"io/fs"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Errors as a careless function returns them: a nil pointer of a type of its own. The text of the
// first cannot be read, and the second cannot be unwrapped.
var badErrors = map[string]error{"no text": (*fs.PathError)(nil), "no cause": (*net.OpError)(nil)}

// carelessWorld is an orchestrator that fails so at first.
type carelessWorld struct {
	world
	bind, evict error
}

func (o *carelessWorld) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	if err := o.bind; err != nil {
		o.bind = nil
		return err
	}
	return o.world.Bind(ctx, w, b)
}

func (o *carelessWorld) Evict(ctx context.Context, w *model.Workload, reason string) error {
	if err := o.evict; err != nil {
		o.evict = nil
		return err
	}
	return o.world.Evict(ctx, w, reason)
}

// An error that cannot be read is a failure like any other, which says whose it is.
func TestErrorsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, bad := range badErrors {
		for point, spoil := range map[string]func(*engine.Config, *carelessWorld){
			"Bind":  func(_ *engine.Config, o *carelessWorld) { o.bind = bad },
			"Evict": func(_ *engine.Config, o *carelessWorld) { o.evict = bad },
			"an extender": func(cfg *engine.Config, _ *carelessWorld) {
				failed := false
				cfg.Extenders = []extpoints.Extender{{Name: "careless", Filter: func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
					if !failed {
						failed = true
						return nil, bad
					}
					return &extpoints.ExtenderFilterResult{Nodes: []string{nodes[0].Node.Name}}, nil
				}}}
			},
			"Filter": func(cfg *engine.Config, _ *carelessWorld) {
				use(cfg, &failingOnce{bad})
			},
		} {
			t.Run(point+", "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					o := &carelessWorld{}
					cfg := config(o)
					var failures []error
					cfg.Listener.Rejected = func(e engine.RejectedEvent) { failures = append(failures, e.Err) }
					cfg.Listener.Failed = func(e engine.FailedEvent) { failures = append(failures, e.Err) }
					spoil(&cfg, o)
					e, stop := start(t, cfg)
					require.NoError(t, e.Apply(node("n", 1000), task("w", 100)))
					time.Sleep(time.Minute)
					require.NoError(t, e.Evict("w", "to see"))
					synctest.Wait()
					require.Len(t, failures, 1)
					require.ErrorContains(t, failures[0], "cannot be read")
					require.ErrorContains(t, failures[0], "nil pointer")
					require.NoError(t, e.Evict("w", "to see"))
					synctest.Wait()
					require.Contains(t, o.evicted, "w")
					require.NoError(t, stop())
				})
			})
		}
	}
}

// badWriter is where nothing can be written.
type badWriter struct{ err error }

func (w badWriter) Write([]byte) (int, error) { return 0, w.err }

// badEvents is a plugin that cannot say for which events it waits.
type badEvents struct{ failingOnce }

func (b *badEvents) EventsToRegister() ([]extpoints.EventHint, error) { return nil, b.bad }

// What the engine passes on can be read by those who get it.
func TestErrorsThatArePassedOnCanBeRead(t *testing.T) {
	t.Parallel()
	for name, bad := range badErrors {
		cfg := config(&world{})
		cfg.Recorder = engine.NewRecorder(badWriter{bad})
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n", 1000)))
		require.NotErrorIs(t, cfg.Recorder.Err(), fs.ErrExist, name)
		require.ErrorContains(t, cfg.Recorder.Err(), "cannot be read", name)

		cfg = config(&world{})
		use(&cfg, &badEvents{failingOnce{bad}})
		extpoints.Use(&cfg.Profiles[0], func(extpoints.NoArgs, extpoints.Handle) (friend, error) { return friend{}, bad }, extpoints.NoArgs{})
		_, err = engine.NewRaw(cfg)
		require.NotErrorIs(t, err, fs.ErrExist, name)
		require.ErrorContains(t, err, `plugin "Friend": the error, a`, name)
		cfg.Profiles[0].Plugins = cfg.Profiles[0].Plugins[:len(cfg.Profiles[0].Plugins)-1]
		_, err = engine.NewRaw(cfg)
		require.NotErrorIs(t, err, fs.ErrExist, name)
		require.ErrorContains(t, err, `plugin "FailingOnce": events to register: the error, a`, name)
	}
}

// failingOnce is a filter that fails at first.
type failingOnce struct{ bad error }

func (*failingOnce) Name() string { return "FailingOnce" }

func (f *failingOnce) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	bad := f.bad
	f.bad = nil
	return extpoints.AsStatus(bad)
}

// So it is with what a program with its own loop says of a task, and of why it stops.
func TestErrorsOfALoopThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, bad := range badErrors {
		r := newRaw(t, &world{})
		require.NoError(t, r.Apply(epoch, node("n", 1000), task("w", 100), task("v", 100)))
		r.Schedule(epoch)
		first := r.NextTask()
		first.Settle(bad)
		r.Finish(epoch, first)
		r.Schedule(epoch)
		r.CallOff(epoch, bad)
		require.Equal(t, 2, count(r.View(), model.Pending), name)
		require.NoError(t, r.Apply(epoch, node("m", 1000)), name)
	}
}
