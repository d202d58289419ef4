package main

import (
	"context"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// begin is when the day begins.
var begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// cluster is the orchestrator with its engine.
type cluster struct {
	raw       *engine.Raw
	now       time.Time
	displaced []*job
	failure   error // the first that the engine reported
	// onBind and onEvict are told what the engine did.
	onBind, onEvict func(*job)
}

func newCluster(o *options) (*cluster, error) {
	c := &cluster{now: begin}
	cfg := engine.Config{
		Profiles:          []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator:      c,
		Order:             engine.OrderByQueues,
		RememberDecisions: -1, // nobody asks for explanations
		Listener: engine.Listener{Failed: func(e engine.FailedEvent) {
			if c.failure == nil {
				c.failure = e.Err
			}
		}},
	}
	if o.order == byArrival {
		cfg.Order = engine.OrderBySort
	}
	var err error
	if c.raw, err = engine.NewRaw(cfg); err != nil {
		return nil, err
	}
	return c, c.raw.Apply(begin, c.fleet(o)...)
}

// fleet are the nodes and the queues.
func (c *cluster) fleet(o *options) (changes []engine.Change) {
	for i := range nodes {
		changes = append(changes, engine.PutNode(&model.Node{
			Name:        "n" + string(rune('0'+i)),
			Allocatable: model.Resources{CPU: model.Cores(coresPerNode)}, MaxWorkloads: coresPerNode,
		}))
	}
	parent := ""
	if o.order == byUsage { // of the departments: the top of the tree goes by shares
		parent = "university"
		changes = append(changes, engine.PutObject(&model.Queue{Name: parent, Policy: model.OrderUsage, HalfLife: halfLife}))
	}
	for i := range departments {
		d := &departments[i]
		changes = append(changes, engine.PutObject(&model.Queue{
			Name: d.name, Parent: parent, Weight: d.weight, Guaranteed: map[string]int64{model.CPU: model.Cores(float64(d.guaranteed))}, Reclaim: o.reclaim, MinRuntime: minRuntime,
		}))
	}
	return changes
}

// submit lets the engine have the job.
func (c *cluster) submit(j *job) error {
	return c.raw.Apply(c.now, engine.Submit(&model.Workload{
		ID: j.id, Queue: departments[j.department].name, CreatedAt: c.now,
		Requests: model.Resources{CPU: model.Cores(float64(j.cores))}, Data: j,
	}))
}

// end says that the job has ended.
func (c *cluster) end(j *job) error { return c.raw.Apply(c.now, engine.Remove(j.id)) }

// pass lets the engine decide until it has nothing to try. What it displaces is gone at
// once, and waits again.
func (c *cluster) pass(ctx context.Context) error {
	c.raw.Tick(c.now)
	for again := true; again; {
		again = false
		for c.raw.Schedule(c.now) {
			again = true
			for task := c.raw.NextTask(); task != nil; task = c.raw.NextTask() {
				task.Run(ctx)
				c.raw.Finish(c.now, task)
			}
		}
		for _, j := range c.displaced {
			again = true
			if err := c.raw.Apply(c.now, engine.Requeue(j.id)); err != nil {
				return err
			}
		}
		c.displaced = c.displaced[:0]
		if c.failure != nil {
			return c.failure
		}
	}
	return context.Cause(ctx)
}

// Bind implements [extpoints.Orchestrator]: it starts the job.
func (c *cluster) Bind(_ context.Context, w *model.Workload, _ model.Binding) error {
	c.onBind(w.Data.(*job))
	return nil
}

// Evict implements [extpoints.Orchestrator]: it stops the job, which loses what it has
// done.
func (c *cluster) Evict(_ context.Context, w *model.Workload, _ string) error {
	j := w.Data.(*job)
	c.displaced = append(c.displaced, j)
	c.onEvict(j)
	return nil
}
