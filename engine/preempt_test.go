package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultpreemption"
	"github.com/berth-project/berth/queue"
)

// reluctant is a world whose evictions the test decides.
type reluctant struct {
	world
	onEvict func(ctx context.Context, id string) error
}

func (o *reluctant) Evict(ctx context.Context, w *model.Workload, reason string) error {
	if o.onEvict != nil {
		if err := o.onEvict(ctx, w.ID); err != nil {
			return err
		}
	}
	return o.world.Evict(ctx, w, reason)
}

// urgent is a task of priority 10.
func urgent(id string, cpu int64) engine.Change {
	ch := task(id, cpu)
	spec(ch).Priority = 10
	return ch
}

// running is a task that is on the node already.
func running(id, node string, cpu int64) engine.Change {
	return engine.Adopt(spec(task(id, cpu)), model.Binding{Node: node})
}

func synchronous(cfg engine.Config) engine.Config {
	extpoints.Use(&cfg.Profiles[0], defaultpreemption.New, defaultpreemption.Args{Synchronous: true}, extpoints.InPlaceOf(plugins.DefaultPreemption))
	return cfg
}

// A workload gets the room of another from end to end, with an orchestrator that
// reports what it does.
func TestRunMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e *engine.Engine
		o := &reluctant{onEvict: func(_ context.Context, id string) error {
			time.AfterFunc(5*time.Second, func() { _ = e.Apply(engine.Remove(id)) })
			return nil
		}}
		e, stop := start(t, config(o))
		require.NoError(t, e.Apply(node("n1", 1000), running("v1", "n1", 500), running("v2", "n1", 500), urgent("w", 900)))
		synctest.Wait()
		w, _ := e.View().Workload("w")
		require.Equal(t, "n1", w.Nominated)
		v, _ := e.View().Workload("v1")
		require.True(t, v.Displaced)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"n1"}, o.nodesOf("w"))
		require.ElementsMatch(t, []string{"v1", "v2"}, o.evicted)
		require.NoError(t, stop())
	})
}

// While a synchronous eviction is under way the loop schedules nothing, and when
// it is over it goes on by itself.
func TestRunAwaitsSynchronousEvictions(t *testing.T) {
	for _, refused := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			o := &reluctant{onEvict: func(context.Context, string) error {
				time.Sleep(10 * time.Second)
				if calls++; refused && calls == 1 {
					return errors.New("not now")
				}
				return nil
			}}
			e, stop := start(t, synchronous(config(o)))
			require.NoError(t, e.Apply(node("n1", 1000), node("n2", 100), running("v", "n1", 900), urgent("w", 900)))
			time.Sleep(time.Second)
			require.NoError(t, e.Apply(task("other", 100)))
			time.Sleep(8 * time.Second)
			synctest.Wait()
			require.Empty(t, o.nodesOf("other"), "the eviction is under way")
			w, _ := e.Queue("w")
			require.NotEqual(t, queue.Gated, w.Place)
			time.Sleep(15 * time.Second) // one that is refused is asked again after a backoff
			synctest.Wait()
			require.Equal(t, []string{"n2"}, o.nodesOf("other"))
			require.Equal(t, []string{"v"}, o.evicted)
			require.NoError(t, stop())
		})
	}
}

// An engine that stops gives up the evictions that nobody has taken. The
// workload that they were for waits for nothing then, and all of it can be
// replayed.
func TestCallOffOfEvictions(t *testing.T) {
	var log bytes.Buffer
	cfg := config(&world{})
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), running("v1", "n1", 300), running("v2", "n1", 300), running("v3", "n1", 300), urgent("w", 1000)))
	require.True(t, r.Schedule(epoch))
	taken := r.NextTask()
	r.CallOff(epoch, nil)
	require.Nil(t, r.NextTask())
	w, _ := r.Queue("w")
	require.Equal(t, queue.Unschedulable, w.Place, "one eviction is still under way")
	taken.Run(t.Context())
	r.Finish(epoch, taken)
	require.Nil(t, r.NextTask(), "the last victim is not asked")
	w, _ = r.Queue("w")
	require.Equal(t, queue.ErrorBackoff, w.Place)

	again, err := engine.Replay(config(&world{}), bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.Equal(t, rows(r), rows(again))
	p, _ := again.Queue("w")
	require.Equal(t, w, p)
}

// rows are the records of all workloads, without their specs.
func rows(r *engine.Raw) (list []string) {
	for w := range r.View().Workloads() {
		list = append(list, fmt.Sprint(w.ID, w.Phase, w.Node, w.Nominated, w.Displaced))
	}
	return list
}

// struggle is a random history of workloads that displace each other.
type struggle struct {
	t     *testing.T
	r     *engine.Raw
	rng   *rand.Rand
	now   time.Time
	made  int
	tasks []*engine.Task
	asked map[string]int // accepted evictions, by workload
}

// TestNoGateStaysClosed lets workloads displace each other at random, with
// evictions that fail, panic, or come too late, and victims, nodes and
// beneficiaries that go meanwhile. Nobody is evicted twice, and when all tasks
// are done and who was to leave has left, nobody is held back.
func TestNoGateStaysClosed(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 180) {
		s := &struggle{t: t, rng: rand.New(rand.NewPCG(seed, 0)), now: epoch, asked: map[string]int{}}
		var log bytes.Buffer
		cfg := config(&reluctant{onEvict: s.evict})
		cfg.Recorder = engine.NewRecorder(&log)
		var err error
		s.r, err = engine.NewRaw(cfg)
		require.NoError(t, err)
		s.apply(node("n0", 1000), node("n1", 1500), node("n2", 2000))
		for range 300 {
			s.step()
		}
		s.rest()
		for w := range s.r.View().Workloads() {
			pos, _ := s.r.Queue(w.ID)
			require.NotEqual(t, queue.Gated, pos.Place, "seed %d: %s is held back by %s", seed, w.ID, pos.GatingPlugin)
		}
		for id, n := range s.asked {
			require.LessOrEqual(t, n, 1, "seed %d: %s was evicted %d times", seed, id, n)
		}
		again, err := engine.Replay(config(&world{}), bytes.NewReader(log.Bytes()))
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, rows(s.r), rows(again), "seed %d", seed)
	}
}

func (s *struggle) evict(ctx context.Context, id string) error {
	switch s.rng.IntN(8) {
	case 0:
		return errors.New("refused")
	case 1:
		panic("planned")
	}
	if ctx.Err() == nil {
		s.asked[id]++
	}
	return ctx.Err()
}

func (s *struggle) apply(changes ...engine.Change) {
	require.NoError(s.t, s.r.Apply(s.now, changes...))
}

// any returns a workload in one of the phases, empty for none.
func (s *struggle) any(phases ...model.Phase) string {
	var ids []string
	for w := range s.r.View().Workloads() {
		if slices.Contains(phases, w.Phase) {
			ids = append(ids, w.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return ids[s.rng.IntN(len(ids))]
}

func (s *struggle) step() {
	s.now = s.now.Add(time.Duration(s.rng.IntN(500)) * time.Millisecond)
	s.r.Tick(s.now)
	switch s.rng.IntN(12) {
	case 0, 1, 2:
		s.made++
		ch := task(fmt.Sprint("w", s.made), int64(100+100*s.rng.IntN(10)))
		spec(ch).Priority = int32(s.rng.IntN(5))
		s.apply(ch)
	case 3, 4, 5:
		s.r.Schedule(s.now)
	case 6, 7, 8:
		s.work()
	case 9:
		if id := s.any(model.Terminating); id != "" {
			s.apply(engine.Remove(id))
		}
	default:
		s.trouble()
	}
}

// work takes, runs or gives back a task.
func (s *struggle) work() {
	for t := s.r.NextTask(); t != nil; t = s.r.NextTask() {
		s.tasks = append(s.tasks, t)
	}
	if len(s.tasks) == 0 {
		return
	}
	i := s.rng.IntN(len(s.tasks))
	s.tasks[i].Run(s.t.Context())
	if s.rng.IntN(3) > 0 {
		s.r.Finish(s.now, s.tasks[i])
		s.tasks = slices.Delete(s.tasks, i, i+1)
	}
}

// trouble is what happens in between.
func (s *struggle) trouble() {
	switch s.rng.IntN(6) {
	case 0:
		s.applyTo(s.any(model.Pending, model.Bound, model.Confirmed), engine.Remove)
	case 1:
		s.applyTo(s.any(model.Bound, model.Confirmed), engine.Terminate)
	case 2:
		id := s.any(model.Assumed, model.Bound)
		delete(s.asked, id)
		s.applyTo(id, engine.Requeue)
	case 3:
		if id := s.any(model.Bound); id != "" {
			w, _ := s.r.View().Workload(id)
			s.apply(engine.Confirm(model.Binding{Workload: id, Node: w.Node}))
		}
	case 4:
		if name := fmt.Sprint("n", s.rng.IntN(3)); s.rng.IntN(4) == 0 && hasNode(s.r, name) {
			s.apply(engine.RemoveNode(name))
		} else {
			s.apply(node(name, int64(500*(1+s.rng.IntN(4)))))
		}
	case 5:
		if id := s.any(model.Bound, model.Confirmed); id != "" {
			require.NoError(s.t, s.r.Evict(s.now, id, "by hand"))
		}
	}
}

// applyTo makes the change of the workload, if there is one.
func (s *struggle) applyTo(id string, change func(id string) engine.Change) {
	if id != "" {
		s.apply(change(id))
	}
}

func hasNode(r *engine.Raw, name string) bool {
	_, ok := r.View().Node(name)
	return ok
}

// rest does all tasks, and lets all leave who are to.
func (s *struggle) rest() {
	for range 100 {
		for s.work(); len(s.tasks) > 0; s.work() {
		}
		if id := s.any(model.Terminating); id != "" {
			s.apply(engine.Remove(id))
		}
	}
}

var _ extpoints.Orchestrator = (*reluctant)(nil)
