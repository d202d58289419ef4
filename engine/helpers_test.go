package engine_test

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// oneGoroutine begins a test in which nothing happens at the same time as something else. The race detector sees
// nothing in it, and slows it down many times: with it, the test is left out.
func oneGoroutine(t *testing.T) {
	t.Helper()
	t.Parallel()
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("one goroutine: nothing for the race detector")
	}
}

// epoch is when the tests without a clock begin.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is an orchestrator that remembers what it was asked, and answers as
// the test wants.
type world struct {
	mu      sync.Mutex
	bound   map[string][]string // workload: nodes, one entry for each accepted bind
	evicted []string
	active  int // binds under way
	most    int // most of them at once

	// onBind, where set, decides each bind; it may block.
	onBind func(ctx context.Context, id string) error
}

func (o *world) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	o.mu.Lock()
	o.active++
	o.most = max(o.most, o.active)
	o.mu.Unlock()
	var err error
	if o.onBind != nil {
		err = o.onBind(ctx, w.ID)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.active--
	if err == nil {
		if o.bound == nil {
			o.bound = map[string][]string{}
		}
		o.bound[w.ID] = append(o.bound[w.ID], b.Node)
	}
	return err
}

func (o *world) Evict(_ context.Context, w *model.Workload, _ string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.evicted = append(o.evicted, w.ID)
	return nil
}

// nodesOf lists the nodes that a workload was bound to.
func (o *world) nodesOf(id string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bound[id]
}

// config is an engine's configuration with the default plugins.
func config(o extpoints.Orchestrator) engine.Config {
	return engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: o,
		FastPath:     engine.FastPathVerify,
	}
}

// use adds a plugin that has been made to the profile.
func use(cfg *engine.Config, plugin extpoints.Plugin, options ...extpoints.Option) {
	extpoints.Use(&cfg.Profiles[0], func(extpoints.NoArgs, extpoints.Handle) (extpoints.Plugin, error) { return plugin, nil }, extpoints.NoArgs{}, options...)
}

func newRaw(t testing.TB, o extpoints.Orchestrator) *engine.Raw {
	t.Helper()
	r, err := engine.NewRaw(config(o))
	require.NoError(t, err)
	return r
}

// node has room for the given milli-CPU.
func node(name string, cpu int64) engine.Change {
	return engine.PutNode(&model.Node{Name: name, Allocatable: model.Resources{CPU: cpu, Memory: 1 << 40}})
}

// task asks for the given milli-CPU.
func task(id string, cpu int64) engine.Change {
	return engine.Submit(&model.Workload{ID: id, Requests: model.Resources{CPU: cpu}})
}

// spec is the workload that a change submits.
func spec(ch engine.Change) *model.Workload { return ch.Value().(*model.Workload) }

// nodeOf is the node that a change puts.
func nodeOf(ch engine.Change) *model.Node { return ch.Value().(*model.Node) }

// tasks are n workloads of the given milli-CPU.
func tasks(n int, cpu int64) []engine.Change {
	changes := make([]engine.Change, n)
	for i := range changes {
		changes[i] = task(fmt.Sprintf("t%03d", i), cpu)
	}
	return changes
}

// clockKey is the key of a context under which the time is that it is outside.
type clockKey struct{}

// clock says what time it is while a task runs.
func clock(ctx context.Context) time.Time {
	if now, ok := ctx.Value(clockKey{}).(time.Time); ok {
		return now
	}
	return epoch
}

// settle schedules and binds until there is nothing to do.
func settle(r *engine.Raw, now time.Time) {
	for r.Schedule(now) {
		for t := r.NextTask(); t != nil; t = r.NextTask() {
			t.Run(context.WithValue(context.Background(), clockKey{}, now))
			r.Finish(now, t)
		}
	}
}

// count counts what a view lists.
func count(v *engine.View, p model.Phase) int {
	n := 0
	for range v.WorkloadsIn(p) {
		n++
	}
	return n
}
