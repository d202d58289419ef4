package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// hostileWorld is an orchestrator that fails, hangs, answers late or twice, and reports before it answers. It knows what
// really runs where. No workload comes back once it has left, so each starts once at most, and again only where its node
// was lost.
type hostileWorld struct {
	m *mischief
	// telling is held while the engine is told of nodes, and of where a workload runs: such a report must not come
	// when the node has been lost.
	telling sync.Mutex

	mu      sync.Mutex
	binding map[string]bool   // a call of Bind is under way
	runs    map[string]string // node by workload, of what has ever started on a node that was not lost since
	left    map[string]bool   // must not start any more, or has ended
	lost    map[string]int    // how often, by node
	down    map[string]bool   // nodes that were lost and are not back
}

func newHostileWorld(m *mischief) *hostileWorld {
	return &hostileWorld{
		m: m, binding: map[string]bool{}, runs: map[string]string{}, left: map[string]bool{}, lost: map[string]int{}, down: map[string]bool{},
	}
}

// lose ends all that runs on the node, on which nothing starts before it is up again.
func (w *hostileWorld) lose(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost[node]++
	w.down[node] = true
	maps.DeleteFunc(w.runs, func(_, on string) bool { return on == node })
}

func (w *hostileWorld) up(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.down, node)
}

// leaves notes that a workload is not to run any more.
func (w *hostileWorld) leaves(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left[id] = true
}

func (w *hostileWorld) hasLeft(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left[id]
}

// hostileStart is what a call of Bind is to start.
type hostileStart struct {
	id, node string
	lost     int // how often the node had been when the call began
}

// begin and end are around each call of Bind: no two for the same workload are under way at once.
func (w *hostileWorld) begin(id, node string) hostileStart {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.binding[id] {
		w.m.complain("%s is bound while it is being bound", id)
	}
	w.binding[id] = true
	return hostileStart{id, node, w.lost[node]}
}

func (w *hostileWorld) end(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.binding, id)
}

var errHostile = errors.New("on purpose")

// start starts the workload, unless it has left, or the node was lost.
func (w *hostileWorld) start(s hostileStart) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if on, runs := w.runs[s.id]; runs {
		w.m.complain("%s is started on %s, and was on %s", s.id, s.node, on)
	}
	if w.left[s.id] {
		return errors.New("it is not wanted any more")
	}
	if w.down[s.node] || w.lost[s.node] != s.lost {
		return extpoints.ErrNotThere
	}
	w.runs[s.id] = s.node
	return nil
}

// confirm starts the workload and reports it, so many times.
func (w *hostileWorld) confirm(s hostileStart, times int) error {
	err := w.start(s)
	if err == nil {
		w.report(s, times)
	}
	return err
}

// report says where the workload runs, so many times. It may have been removed.
func (w *hostileWorld) report(s hostileStart, times int) {
	w.telling.Lock()
	defer w.telling.Unlock()
	if w.runsOn(s.id) != s.node {
		return
	}
	for range times {
		_ = w.m.engine.Apply(engine.Confirm(model.Binding{Workload: s.id, Node: s.node}))
	}
}

func (w *hostileWorld) runsOn(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[id]
}

// Bind implements [extpoints.Orchestrator].
func (w *hostileWorld) Bind(ctx context.Context, wl *model.Workload, b model.Binding) error {
	start := w.begin(wl.ID, b.Node)
	defer w.end(wl.ID)
	w.m.at("Bind")
	rng := w.m.draw("what Bind does", 2)
	if rng == nil {
		return w.start(start)
	}
	answers := []string{"fails", "could not start it there", "hangs", "is slow", "ignores its context", "confirms first", "confirms and fails", "confirms twice, late", "confirms and panics"}
	how := answers[rng.IntN(len(answers))]
	w.m.note("Bind " + how)
	switch how {
	case "fails":
		return errHostile
	case "could not start it there":
		return fmt.Errorf("%w: %w", extpoints.ErrNotThere, errHostile)
	case "hangs":
		if err := w.m.wait(ctx, time.Hour); err != nil {
			return err
		}
	case "is slow":
		if err := w.m.wait(ctx, time.Duration(rng.IntN(15))*time.Second); err != nil {
			return err
		}
	case "ignores its context":
		_ = w.m.wait(context.Background(), time.Duration(rng.IntN(200))*time.Second)
	case "confirms first":
		return w.confirm(start, 1)
	case "confirms and fails":
		_ = w.confirm(start, 2)
		return errHostile
	case "confirms twice, late":
		err := w.start(start)
		if err == nil {
			go func() {
				_ = w.m.wait(context.Background(), time.Duration(rng.IntN(3))*time.Second)
				w.report(start, 2)
			}()
		}
		return err
	case "confirms and panics":
		_ = w.confirm(start, 1)
		panic("on purpose")
	}
	return w.start(start)
}

// Evict implements [extpoints.Orchestrator].
func (w *hostileWorld) Evict(ctx context.Context, wl *model.Workload, _ string) error {
	w.m.at("Evict")
	var delay time.Duration
	times := 1
	if rng := w.m.draw("what Evict does", 2); rng != nil {
		answers := []string{"fails", "hangs", "is slow", "ignores its context", "never happens", "happens twice"}
		how := answers[rng.IntN(len(answers))]
		w.m.note("Evict " + how)
		switch how {
		case "fails":
			return errHostile
		case "hangs":
			return w.m.wait(ctx, time.Hour)
		case "is slow":
			delay = time.Duration(rng.IntN(15)) * time.Second
		case "ignores its context":
			_ = w.m.wait(context.Background(), time.Duration(rng.IntN(200))*time.Second)
		case "never happens":
			return nil
		case "happens twice":
			times = 2
		}
	}
	go func() {
		_ = w.m.wait(context.Background(), delay)
		w.leaves(wl.ID)
		for range times {
			_ = w.m.engine.Apply(engine.Remove(wl.ID))
		}
	}()
	return nil
}

// hostileClient is one of several callers of the engine.
type hostileClient struct {
	name     string
	rng      *rand.Rand
	m        *mischief
	w        *hostileWorld
	accepted map[string]bool // workloads that the engine has taken
	made     int
}

// act does something to the engine.
func (c *hostileClient) act(nodes []engine.Change) {
	e, id := c.m.engine, fmt.Sprintf("%s-%d", c.name, c.rng.IntN(c.made+1))
	change := nodes[c.rng.IntN(len(nodes))]
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.rng.IntN(2000))*time.Millisecond)
	defer cancel()
	switch c.rng.IntN(14) {
	case 0:
		c.w.leaves(id)
		_ = e.Apply(engine.Remove(id))
	case 1:
		_ = e.Evict(id, "by lot")
	case 2, 3:
		c.actOnNode(change)
	case 4:
		_, _ = e.Explain(id, engine.ExplainOptions{AllFilters: true})
	case 5:
		_, _ = e.Branch().Schedule(time.Now(), id)
	case 6:
		_, _ = e.View().Wait(ctx, engine.QueryWorkload(id))
	case 7:
		c.m.callBack(c.rng)
	case 8:
		c.submit(1000) // an Apply that readers do not wait for
	case 9:
		c.submit(3)
	default:
		c.submit(1)
	}
	c.look()
}

// actOnNode does something to a node: puts it, removes it, drains it, or loses it with all that runs there.
func (c *hostileClient) actOnNode(put engine.Change) {
	c.w.telling.Lock()
	defer c.w.telling.Unlock()
	e, name := c.m.engine, nodeOf(put).Name
	switch c.rng.IntN(6) {
	case 0:
		_ = e.Apply(engine.RemoveNode(name))
	case 1:
		c.m.note("drains a node")
		_ = e.Apply(engine.Drain(name, "by lot"))
	case 2:
		if _, there := e.View().Node(name); there {
			c.m.note("loses a node")
			c.w.lose(name)
			_ = e.Apply(engine.LoseNode(name))
		}
	default:
		c.w.up(name)
		_ = e.Apply(put)
	}
}

// submit submits one workload, several as a gang, or a great many at once, of which most are removed again.
func (c *hostileClient) submit(n int) {
	var changes []engine.Change
	var ids []string
	group := ""
	if n == 3 {
		group = fmt.Sprintf("%s-g%d", c.name, c.made)
		changes = append(changes, engine.PutGroup(&model.Group{ID: group, Policy: model.Gang, MinCount: 3}))
	}
	for i := range n {
		w := &model.Workload{ID: fmt.Sprintf("%s-%d", c.name, c.made), Group: group, Requests: model.Resources{CPU: 100 + 100*c.rng.Int64N(4)}}
		c.made++
		if group == "" {
			w.Priority = int32(c.rng.IntN(3))
		}
		changes = append(changes, engine.Submit(w))
		if i < 3 {
			ids = append(ids, w.ID)
			continue
		}
		c.w.leaves(w.ID)
		changes = append(changes, engine.Remove(w.ID))
	}
	if c.m.engine.Apply(changes...) == nil {
		for _, id := range ids {
			c.accepted[id] = true
		}
	}
}

// look checks that no node has more than there is room for.
func (c *hostileClient) look() {
	v := c.m.engine.View()
	for n := range v.Nodes() {
		var used int64
		var there []string
		for w := range v.WorkloadsOn(n.Name) {
			used += w.Requests.CPU
			there = append(there, fmt.Sprintf("%s (%v, %d)", w.ID, w.Phase, w.Requests.CPU))
		}
		if used > n.Allocatable.CPU {
			c.m.complain("node %s has %d, and %d are used: %v", n.Name, n.Allocatable.CPU, used, there)
		}
	}
}
