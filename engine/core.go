package engine

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/model"
)

// core is what decides: the facts, the view of them, and the profiles. A Raw
// has one and every Branch has one of its own; they share the frameworks,
// which do not change.
type core struct {
	cfg        *Config
	frameworks map[string]*framework.Framework
	rec        *record.Record

	// start is where the next search for nodes begins (kube-scheduler's
	// nextStartNodeIndex).
	start int
	// decisions counts the cycles; with cfg.Seed it seeds each.
	decisions uint64
	// answers are those of extenders, in the engine's own decisions; nil on a
	// branch.
	answers *answers
	// meter is nil where nothing is measured, and on a branch.
	meter *Meter

	scratch scratch
}

// newCore compiles the profiles.
func newCore(cfg *Config, env framework.Env) (*core, error) {
	c := &core{cfg: cfg, rec: record.New(), frameworks: map[string]*framework.Framework{}}
	var problems []error
	var sort string
	for i, p := range cfg.Profiles {
		f, err := framework.New(p, cfg.Registry, env)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if i == 0 {
			sort = f.QueueSort().Name()
		} else if name := f.QueueSort().Name(); sort != "" && name != sort {
			problems = append(problems, fmt.Errorf("profile %q: queueSort: all profiles need the same plugin, got %q beside %q", p.Name, name, sort))
		}
		c.frameworks[p.Name] = f
	}
	return c, errors.Join(problems...)
}

// branch returns a core over a copy of the facts and the view, O(1). It leaves
// c as it is: the next decision of c does not depend on who has looked.
func (c *core) branch() *core {
	return &core{
		cfg: c.cfg, frameworks: c.frameworks,
		rec:   c.rec.Fork(),
		start: c.start, decisions: c.decisions,
	}
}

// framework returns the profile that the workload chose, nil for an unknown
// one.
func (c *core) framework(w *model.Workload) *framework.Framework {
	if w.Profile == "" {
		return c.frameworks[c.cfg.Profiles[0].Name]
	}
	return c.frameworks[w.Profile]
}
