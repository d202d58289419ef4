package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/devicepacking"
)

// result is what came of a run.
type result struct {
	engine  *engine.Engine
	history *history
	total   int // workloads
	elapsed time.Duration
}

// schedule hands everything to a new engine at once, and runs it until each
// workload was tried.
func schedule(ctx context.Context, nodes []*model.Node, workloads []*model.Workload, log hclog.Logger, p *progress) (*result, error) {
	h := newHistory(len(workloads), p.decided)
	e, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{profile()},
		Orchestrator: &cluster{},
		Logger:       log,
		Listener:     h.listener(),
	})
	if err != nil {
		return nil, err
	}
	var changes []engine.Change
	for _, n := range nodes {
		changes = append(changes, engine.PutNode(n))
	}
	for _, w := range workloads {
		changes = append(changes, engine.Submit(w))
	}
	if err := e.Apply(changes...); err != nil {
		return nil, err
	}

	started := time.Now()
	running, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-h.done: // everything was tried
			stop()
		case <-running.Done():
		}
	}()
	p.start()
	err = e.Run(running)
	elapsed := time.Since(started)
	p.stop()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && h.failure != nil {
		err = fmt.Errorf("the engine failed: %w", h.failure)
	}
	return &result{engine: e, history: h, total: len(workloads), elapsed: elapsed}, err
}

// profile is the default one, with a score for how well GPUs are packed.
func profile() extpoints.Profile {
	p := plugins.DefaultProfile()
	extpoints.Use(&p, devicepacking.New, devicepacking.Args{Policy: devicepacking.Packing, Class: classGPU}, extpoints.Weight(2))
	return p
}

// cluster is the orchestrator: what would start containers. This one only
// writes down what it should start; a real one starts it and later tells the
// engine so with a [engine.Change] that has Confirm set.
type cluster struct {
	mu      sync.Mutex
	started map[string]model.Binding
}

// Bind is called on several goroutines at once.
func (c *cluster) Bind(_ context.Context, w *model.Workload, b model.Binding) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started == nil {
		c.started = map[string]model.Binding{}
	}
	c.started[w.ID] = b
	return nil
}

// Evict is asked when somebody must make room, which nobody must here: the
// most important workloads are placed first.
func (c *cluster) Evict(context.Context, *model.Workload, string) error { return nil }
