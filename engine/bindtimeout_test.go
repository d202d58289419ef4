package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
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

// deadNodes is an orchestrator of whose nodes some do not answer before their contexts end.
type deadNodes struct {
	world
	dead func(node string) bool
}

func (o *deadNodes) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	if o.dead(b.Node) {
		<-ctx.Done()
		return ctx.Err()
	}
	return o.world.Bind(ctx, w, b)
}

// Evict asks for nothing else than a node that answers.
func (o *deadNodes) Evict(ctx context.Context, w *model.Workload, reason string) error {
	if o.dead(w.Labels["on"]) {
		<-ctx.Done()
		return ctx.Err()
	}
	return o.world.Evict(ctx, w, reason)
}

func inRack(zone, name string, cpu int64) engine.Change {
	return engine.PutNode(&model.Node{Name: name, Zone: zone, Allocatable: model.Resources{CPU: cpu, Memory: 1 << 40}})
}

// Four nodes of one rack have a share of a quarter each, and together no more than half.
func TestADeadRackDoesNotStopOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&deadNodes{dead: func(node string) bool { return node != "lives" }})
		cfg.MaxBindings = 8
		cfg.BindTimeout = -1
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(inRack("r1", "a", 10_000), inRack("r1", "b", 10_000), inRack("r1", "c", 10_000), inRack("r1", "d", 10_000), inRack("r2", "lives", 10_000)))
		require.NoError(t, e.Apply(tasks(100, 100)...))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 20, count(e.View(), model.Bound), "all that were meant for the other rack")
		require.NoError(t, stop())
	})
}

// A zone that is the only one has all places: nobody else could use them.
func TestTheOnlyZoneHasAllPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &deadNodes{dead: func(string) bool { return false }}
		o.onBind = func(ctx context.Context, _ string) error { time.Sleep(time.Second); return nil }
		cfg := config(o)
		cfg.MaxBindings, cfg.MaxBindingsPerNode = 8, 2
		e, stop := start(t, cfg)
		for _, n := range []string{"a", "b", "c", "d"} {
			require.NoError(t, e.Apply(inRack("r1", n, 10_000)))
		}
		require.NoError(t, e.Apply(tasks(40, 100)...))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 8, o.most)
		require.NoError(t, stop())
	})
}

// Evictions from a node that does not answer take no more than its share.
func TestADeadNodeDoesNotStopEvictionsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &deadNodes{dead: func(node string) bool { return node == "cut" }}
		cfg := config(o)
		cfg.MaxBindings = 8
		cfg.BindTimeout = -1
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("cut", 10_000), node("n1", 10_000)))
		on := func(id, node string) engine.Change {
			w := spec(task(id, 100))
			w.Labels = map[string]string{"on": node}
			return engine.Adopt(w, model.Binding{Node: node})
		}
		for i := range 10 {
			require.NoError(t, e.Apply(on(fmt.Sprintf("c%d", i), "cut"), on(fmt.Sprintf("n%d", i), "n1")))
		}
		require.NoError(t, e.Apply(engine.Drain("cut", "new disks"), engine.Drain("n1", "new disks")))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, o.evicted, 10)
		require.NoError(t, stop())
	})
}

// preBinds is a PreBind plugin that ends with its context.
type preBinds struct {
	timeout time.Duration // of its own; 0: none
	took    time.Duration
}

func (*preBinds) Name() string { return "PreBinds" }

func (p *preBinds) PreBindPreFlight(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	return extpoints.PreFlight{Timeout: p.timeout}, nil
}

func (p *preBinds) PreBind(ctx context.Context, _ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	began := time.Now()
	<-ctx.Done()
	p.took = time.Since(began)
	return extpoints.AsStatus(ctx.Err())
}

func TestBindTimeoutEndsAPreBind(t *testing.T) {
	for name, test := range map[string]struct {
		own    time.Duration
		compat extpoints.Compat
		want   time.Duration // 0: never
	}{
		"without a timeout of its own": {want: time.Minute},
		"with one":                     {own: 10 * time.Minute, want: 11 * time.Minute},
		"as kube-scheduler":            {compat: extpoints.KubeScheduler137},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &preBinds{timeout: test.own}
				cfg := config(&world{})
				use(&cfg, p)
				cfg.BindTimeout, cfg.Compat, cfg.DrainTimeout = time.Minute, test.compat, -1
				var failure error
				cfg.Listener.Rejected = func(e engine.RejectedEvent) { failure = e.Err }
				e, stop := start(t, cfg)
				require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
				time.Sleep(test.want + time.Millisecond)
				synctest.Wait()
				require.Equal(t, test.want, p.took)
				if test.want > 0 {
					require.ErrorIs(t, failure, engine.ErrBindTimeout)
				} else {
					time.Sleep(time.Hour)
					require.Zero(t, p.took)
				}
				require.NoError(t, stop())
			})
		})
	}
}

// postBinds is a PostBind plugin that ends with its context.
type postBinds struct{ took time.Duration }

func (*postBinds) Name() string { return "PostBinds" }

func (p *postBinds) PostBind(ctx context.Context, _ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ *model.Binding) {
	began := time.Now()
	<-ctx.Done()
	p.took = time.Since(began)
}

// What is told that a workload is bound cannot keep its place for ever. The workload is bound all the same.
func TestBindTimeoutEndsAPostBind(t *testing.T) {
	for compat, want := range map[extpoints.Compat]time.Duration{extpoints.Improved: time.Minute, extpoints.KubeScheduler137: 0} {
		synctest.Test(t, func(t *testing.T) {
			p := &postBinds{}
			cfg := config(&world{})
			use(&cfg, p)
			cfg.BindTimeout, cfg.Compat, cfg.DrainTimeout = time.Minute, compat, -1
			var failures []error
			cfg.Listener.Failed = func(e engine.FailedEvent) { failures = append(failures, e.Err) }
			e, stop := start(t, cfg)
			require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
			time.Sleep(time.Hour)
			synctest.Wait()
			require.Equal(t, want, p.took, "%v", compat)
			if want > 0 {
				require.Empty(t, failures)
				require.Equal(t, 1, count(e.View(), model.Bound))
			} else {
				require.Len(t, failures, 1, "its place is given to others")
			}
			require.NoError(t, stop())
			require.Equal(t, 1, count(e.View(), model.Bound))
		})
	}
}

// stuck is an orchestrator of whose nodes some do not even heed that their time is over.
type stuck struct {
	world
	on     func(node string) bool
	answer chan struct{}
	calls  atomic.Int32
}

func (o *stuck) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	if o.on(b.Node) {
		o.calls.Add(1)
		<-o.answer
	}
	return o.world.Bind(ctx, w, b)
}

// A Bind that does not heed that its time is over keeps its place on its node, and no other:
// whoever else there is goes on. It stays where it is, since nobody knows whether it is there.
func TestABindThatIsOverdueGivesItsPlaceAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &stuck{on: func(node string) bool { return node != "lives" }, answer: make(chan struct{})}
		cfg := config(o)
		cfg.MaxBindings, cfg.MaxBindingsPerNode, cfg.BindTimeout, cfg.DrainTimeout = 4, 2, time.Minute, time.Second
		var told []string
		cfg.Listener.Failed = func(e engine.FailedEvent) {
			require.ErrorIs(t, e.Err, engine.ErrBindTimeout)
			told = append(told, e.Workload)
		}
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("d1", 4000), node("d2", 4000)))
		require.NoError(t, e.Apply(tasks(4, 1000)...))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 4, o.calls.Load(), "all places are taken")
		require.NoError(t, e.Apply(node("lives", 100_000), task("late", 1000)))
		synctest.Wait()
		require.Zero(t, count(e.View(), model.Bound))

		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Len(t, told, 4)
		require.Equal(t, []string{"lives"}, o.nodesOf("late"))
		require.Equal(t, 4, count(e.View(), model.Assumed), "their room is kept")
		require.NoError(t, e.Apply(engine.RemoveNode("lives"), task("more", 1000)))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 5, count(e.View(), model.Assumed))
		require.EqualValues(t, 4, o.calls.Load(), "no more go where they do not return")

		require.ErrorIs(t, stop(), engine.ErrTasksLeft)
		close(o.answer)
		synctest.Wait()
		require.Equal(t, 5, count(e.View(), model.Bound), "what they return counts")
	})
}

// There are no more of them than there are places: an orchestrator that never returns from
// anything does not have a goroutine for each node.
func TestBindsThatAreOverdueAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &stuck{on: func(string) bool { return true }, answer: make(chan struct{})}
		cfg := config(o)
		cfg.MaxBindings, cfg.MaxBindingsPerNode, cfg.BindTimeout, cfg.DrainTimeout = 4, 1, time.Minute, time.Second
		e, stop := start(t, cfg)
		for i := range 30 {
			require.NoError(t, e.Apply(node(fmt.Sprintf("n%d", i), 1000)))
		}
		require.NoError(t, e.Apply(tasks(30, 1000)...))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 8, o.calls.Load())
		require.ErrorIs(t, stop(), engine.ErrTasksLeft)
		close(o.answer)
		synctest.Wait()
	})
}

// Of a binding that has not begun nobody has to wait for the end: if it is called off it needs no place, and
// its workload goes elsewhere at once, whatever the orchestrator does with others.
func TestWhatIsCalledOffBeforeItBeginsNeedsNoPlace(t *testing.T) {
	for name, c := range map[string]struct {
		callOff func(t *testing.T, e *engine.Engine)
		gone    bool // the workload is not to be placed again
	}{
		"its node is lost":     {callOff: applies(engine.LoseNode("dead"))},
		"its node is removed":  {callOff: applies(engine.RemoveNode("dead"))},
		"it is requeued":       {callOff: applies(engine.Requeue("second"))},
		"it is submitted anew": {callOff: applies(engine.Remove("second"), task("second", 100))},
		"it is evicted":        {callOff: func(t *testing.T, e *engine.Engine) { require.NoError(t, e.Evict("second", "by hand")) }},
		"it is removed":        {callOff: applies(engine.Remove("second")), gone: true},
	} {
		for _, places := range []int{1, 4} { // the last of all, or that of the node
			t.Run(fmt.Sprintf("%s, %d places", name, places), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := &stuck{on: func(node string) bool { return node == "dead" }, answer: make(chan struct{})}
					cfg := config(o)
					cfg.MaxBindings, cfg.MaxBindingsPerNode, cfg.BindTimeout, cfg.DrainTimeout = places, 1, time.Hour, time.Second
					var log bytes.Buffer
					cfg.Recorder = engine.NewRecorder(&log)
					e, stop := start(t, cfg)
					require.NoError(t, e.Apply(node("dead", 1000), task("first", 100)))
					synctest.Wait()
					require.NoError(t, e.Apply(task("second", 100)))
					synctest.Wait()
					p, _ := e.Queue("second")
					require.Equal(t, queue.Binding, p.Place)
					require.NoError(t, e.Apply(closed("dead"), node("lives", 1000)))
					c.callOff(t, e)
					time.Sleep(time.Minute)
					synctest.Wait()
					require.EqualValues(t, 1, o.calls.Load(), "it has not begun")
					w, there := e.View().Workload("second")
					require.Equal(t, !c.gone, there)
					switch {
					case c.gone:
						require.Equal(t, 1, e.QueueCounts().Binding)
					case places > 1:
						require.Equal(t, []string{"lives"}, o.nodesOf("second"))
					default:
						require.Equal(t, "lives", w.Node, "it waits for a place, and has a node")
					}
					close(o.answer)
					require.NoError(t, stop())
					again, err := engine.Replay(config(nil), &log)
					require.NoError(t, err)
					for w := range e.View().Workloads() {
						replayed, _ := again.View().Workload(w.ID)
						require.Equal(t, [2]any{w.Phase, w.Node}, [2]any{replayed.Phase, replayed.Node})
					}
				})
			})
		}
	}
}

// applies is what applies the changes.
func applies(changes ...engine.Change) func(*testing.T, *engine.Engine) {
	return func(t *testing.T, e *engine.Engine) { require.NoError(t, e.Apply(changes...)) }
}

// closed is the node, on which nothing is placed any more.
func closed(name string) engine.Change {
	ch := node(name, 1000)
	nodeOf(ch).Unschedulable = true
	return ch
}
