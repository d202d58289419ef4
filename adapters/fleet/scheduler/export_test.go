package scheduler

import (
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

// NewWithoutBackfill makes a controller that keeps no room.
func NewWithoutBackfill(cfg Config) (*Controller, error) {
	return newController(cfg, func(c *Controller) engine.Config {
		e := c.engineConfig()
		m := &e.Profiles[0].Plugins.MultiPoint
		m.Enabled = slices.DeleteFunc(m.Enabled, func(r extpoints.PluginRef) bool { return r.Name == backfillName })
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
	return c, c.eng, nil
}
