package scheduler

import "github.com/berth-project/berth/engine"

// NewWithEngine makes a controller whose engine is configured otherwise.
func NewWithEngine(cfg Config, e engine.Config) (*Controller, *engine.Engine, error) {
	c, err := newController(cfg, func(c *Controller) engine.Config {
		e.Orchestrator = c
		return e
	})
	if err != nil {
		return nil, nil, err
	}
	return c, c.eng, nil
}
