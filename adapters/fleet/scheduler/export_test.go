package scheduler

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// NewWithoutBackfill makes a controller that plans nothing.
func NewWithoutBackfill(cfg Config) (*Controller, error) {
	return newController(cfg, func(c *Controller) engine.Config {
		e := c.engineConfig()
		e.Backfill = engine.Backfill{}
		return e
	})
}

// NewWithEngine makes a controller whose engine is configured otherwise.
func NewWithEngine(cfg Config, e engine.Config) (*Controller, *engine.Engine, error) {
	c, err := newController(cfg, func(c *Controller) engine.Config {
		e.Orchestrator = c
		return e
	})
	if err != nil {
		return nil, nil, err
	}
	return c, c.eng.Load(), nil
}

// EngineLoad is the load of a node that the engine has.
func (c *Controller) EngineLoad(node string) *model.NodeLoad {
	l, _ := c.eng.Load().View().Object(model.ObjectRef{Kind: model.NodeLoadKind, ID: node})
	load, _ := l.Object.(*model.NodeLoad)
	return load
}

// HoldsUntil is when the last interval of a reservation ends of which the engine knows.
func (c *Controller) HoldsUntil() (last time.Time) {
	for r := range c.eng.Load().View().Objects(model.HoldKind) {
		if until := r.Object.(*model.Hold).Until; until.After(last) {
			last = until
		}
	}
	return last
}

// TasksMeasured are the tasks of the last report of a node.
func (c *Controller) TasksMeasured(node string) (out []job.TaskID) {
	c.measured.mu.Lock()
	defer c.measured.mu.Unlock()
	for _, t := range c.measured.nodes[node].load.Tasks {
		out = append(out, t.Task)
	}
	return out
}
