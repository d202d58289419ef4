package engine_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// mischief is what the surroundings of an engine do to it: now and then, wherever it calls them, they panic, end the
// goroutine, call it back, here and on goroutines of their own, or do not answer. What is drawn at the n-th call of a
// point depends on the seed; which goroutine makes that call does not.
//
// Tasks hang. Nothing does where the engine holds its lock, as in filters and extenders: in a bubble time stands still
// while anybody waits for a lock. There it lets others run, so that they come to wait for the lock. What is left out is
// that meanwhile somebody's time runs out; an extender that does not answer is ended with Run, see TestStopEndsExtenders.
type mischief struct {
	seed    uint64
	deadly  bool // goroutines of the engine's own may be ended
	off     atomic.Bool
	release chan struct{} // from now on nothing hangs
	engine  *engine.Engine
	handle  extpoints.Handle

	mu         sync.Mutex
	calls      map[string]uint64 // by point
	done       map[string]int    // what was done how often
	complaints []string
}

func newMischief(seed uint64, deadly bool) *mischief {
	return &mischief{seed: seed, deadly: deadly, release: make(chan struct{}), calls: map[string]uint64{}, done: map[string]int{}}
}

func (m *mischief) complain(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.complaints = append(m.complaints, fmt.Sprintf(format, args...))
}

func (m *mischief) note(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done[what]++
}

// draw returns random numbers for one call in so many of the point, else nil.
func (m *mischief) draw(point string, one int) *rand.Rand {
	if m.off.Load() || m.engine == nil {
		return nil
	}
	m.mu.Lock()
	n := m.calls[point]
	m.calls[point]++
	m.mu.Unlock()
	h := fnv.New64a()
	_, _ = io.WriteString(h, point)
	rng := rand.New(rand.NewPCG(m.seed, h.Sum64()+n))
	if rng.IntN(one) > 0 {
		return nil
	}
	return rng
}

// often are the points that are called so much more often than others.
var often = map[string]int{"Filter": 600, "Score": 600, "Less": 300, "Write": 200, "Log": 200, "Clock": 200}

// ofTasks are the points where to end the goroutine is to fail: it is one that the engine can do without.
var ofTasks = []string{"PreBind", "Bind", "PostBind", "Evict"}

// at is called at a point.
func (m *mischief) at(point string) {
	one := often[point]
	if one == 0 {
		one = 30
	}
	rng := m.draw(point, one)
	if rng == nil {
		return
	}
	switch rng.IntN(6) {
	case 0:
		m.note("panics")
		panic("on purpose, at " + point)
	case 1:
		if slices.Contains(ofTasks, point) || m.deadly && rng.IntN(20) == 0 {
			m.note("ends the goroutine")
			runtime.Goexit()
		}
	case 2:
		m.note("calls back")
		m.callBack(rng)
	case 3:
		m.note("calls on goroutines of its own")
		for range 2 {
			own := rand.New(rand.NewPCG(rng.Uint64(), 1))
			go m.callBack(own)
		}
	case 4:
		m.note("uses the handle")
		m.useHandle(rng)
	case 5:
		m.note("takes its time")
		for range rng.IntN(300) {
			runtime.Gosched()
		}
	}
}

// hang is called by a task, and may wait for as long as it likes. The error is that its context has ended.
func (m *mischief) hang(ctx context.Context, point string) error {
	rng := m.draw("how long "+point+" takes", 6)
	if rng == nil {
		return nil
	}
	how := []string{"hangs", "is slow", "ignores its context"}[rng.IntN(3)]
	m.note(point + " " + how)
	switch how {
	case "hangs":
		return m.wait(ctx, time.Hour)
	case "is slow":
		return m.wait(ctx, time.Duration(rng.IntN(15))*time.Second)
	}
	return m.wait(context.Background(), time.Duration(rng.IntN(200))*time.Second)
}

// wait ends with the context, which is an error, with the time, or when nothing hangs any more.
func (m *mischief) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	case <-m.release:
	}
	return nil
}

// callBack calls the engine from wherever that is. No call is without an answer, and none panics but Branch and Queue.
func (m *mischief) callBack(rng *rand.Rand) {
	e, id := m.engine, fmt.Sprintf("c0-%d", rng.IntN(40))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var err error
	switch rng.IntN(10) {
	case 0:
		_, _ = e.View().Workload(id)
		e.QueueCounts()
		e.Running()
	case 1:
		err = e.Apply(engine.PutNamespace(&model.Namespace{Name: "called-back"}))
	case 2:
		_ = e.Evict(id, "a call back") // it may be gone
	case 3:
		_, _ = e.Explain(id, engine.ExplainOptions{})
	case 4:
		err = panics(func() { e.Branch() })
	case 5:
		err = panics(func() { e.Queue(id) })
	case 6:
		if err = e.StartRecording(ctx, engine.NewRecorder(io.Discard)); errors.Is(err, context.DeadlineExceeded) || errors.Is(err, engine.ErrUnderWay) {
			err = nil
		}
	case 7:
		if err = e.Run(ctx); errors.Is(err, engine.ErrRunning) {
			err = nil
		}
	case 8:
		_, _ = e.Promise(id)
	case 9:
		_ = panics(func() { e.Queues() })
	}
	if err != nil && !errors.Is(err, engine.ErrCalledBack) && !errors.Is(err, engine.ErrBroken) {
		m.complain("a call back says %v", err)
	}
}

func (m *mischief) useHandle(rng *rand.Rand) {
	m.handle.Activate(fmt.Sprintf("c0-%d", rng.IntN(40)), "nobody")
	m.handle.Waiting().Each(func(w extpoints.WaitingWorkload) bool {
		for _, plugin := range w.PendingPlugins() {
			if rng.IntN(3) > 0 {
				w.Allow(plugin)
			} else {
				w.Reject(plugin, "turned down on a whim")
			}
		}
		return true
	})
}

// hostilePlugin is a plugin at many points, which lets some wait on Permit.
type hostilePlugin struct {
	*rude
	m *mischief
}

func (p hostilePlugin) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (*extpoints.Status, time.Duration) {
	_, _ = p.rude.Permit(s, w, b)
	if rng := p.m.draw("a wait on Permit", 6); rng != nil {
		p.m.note("waits on Permit")
		return extpoints.NewStatus(extpoints.Wait), time.Duration(rng.IntN(20)) * time.Second
	}
	return nil, 0
}

func (p hostilePlugin) PreBind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	_ = p.rude.PreBind(ctx, s, w, b)
	return extpoints.AsStatus(p.m.hang(ctx, "PreBind"))
}

func (p hostilePlugin) PostBind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	p.rude.PostBind(ctx, s, w, b)
	_ = p.m.hang(ctx, "PostBind")
}

// surround puts the mischief around an engine.
func (m *mischief) surround(cfg *engine.Config) {
	at := faults.Surroundings(m.at)
	at.Sort(&cfg.Profiles[0], plugins.PrioritySort)
	extpoints.Use(&cfg.Profiles[0], func(_ extpoints.NoArgs, h extpoints.Handle) (extpoints.Plugin, error) {
		m.handle = h
		return hostilePlugin{&rude{func(point, _, _ string) { m.at(point) }}, m}, nil
	}, extpoints.NoArgs{})
	use(cfg, friend{})
	cfg.Extenders = []extpoints.Extender{{
		Name: "hostile", Weight: 1, Ignorable: m.seed%2 == 0,
		Filter: func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
			m.at("Extender.Filter")
			left := &extpoints.ExtenderFilterResult{}
			for _, n := range nodes {
				left.Nodes = append(left.Nodes, n.Node.Name)
			}
			return left, nil
		},
		Prioritize: func(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (map[string]int64, error) {
			m.at("Prioritize")
			return nil, nil
		},
	}}
	begun := time.Now()
	cfg.Clock = func() time.Duration {
		m.at("Clock")
		return time.Since(begun)
	}
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: at.Writer("Log", io.Discard)})
	cfg.Recorder = engine.NewRecorder(at.Writer("Write", io.Discard))
	var listener engine.Listener
	at.Listen(&listener)
	cfg.Listener = engine.Tee(cfg.Listener, listener)
}
