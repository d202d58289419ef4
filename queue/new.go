package queue

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
)

// New makes a queue. The error lists everything that is wrong. compat says by whose
// rules trees of groups wait.
func New(timing Timing, compat extpoints.Compat, hooks Hooks) (*Queue, error) {
	cfg := config{Timing: timing.WithDefaults(), Hooks: hooks, Compat: compat}
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	q := &Queue{
		cfg:      cfg,
		strict:   cfg.KeepPlace || cfg.ByQueues,
		hints:    newHints(cfg.Hints),
		waiting:  make(map[string]*Item),
		inFlight: inFlight{byID: make(map[string]*Item)},
		classes:  make(map[string]*alike),
		groups:   groups{byRoot: make(map[string]*Item), leaves: make(map[string]*leaf)},
	}
	q.active = &heap{less: q.before}
	if cfg.ByQueues {
		q.tree = newTree(q.beforeInLine())
		q.tree.hopeless = cfg.Hopeless
		q.active = q.tree
	}
	q.errorBackoff.less = expiresBefore
	q.backoff.less = expiresBefore
	if !cfg.NoPopFromBackoff {
		q.backoff.less = func(a, b *Item) bool {
			if !a.BackoffExpiration.Equal(b.BackoffExpiration) {
				return expiresBefore(a, b)
			}
			return q.before(a, b)
		}
	}
	q.unschedulable.timeouts.less = waitsLonger
	return q, nil
}
