package framework

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// guard calls a plugin and turns a panic into an error status.
func guard(point, plugin string, call func() *extpoints.Status) (st *extpoints.Status) {
	defer func() {
		if cause := recover(); cause != nil {
			st = panicked(point, plugin, cause)
		}
	}()
	return call()
}

// guardedPreEnqueue is a PreEnqueue plugin as the queue gets it: a panic counts
// as an error.
type guardedPreEnqueue struct{ extpoints.PreEnqueuePlugin }

// PreEnqueue asks the plugin.
func (g guardedPreEnqueue) PreEnqueue(w *model.Workload) (st *extpoints.Status) {
	defer func() {
		if cause := recover(); cause != nil {
			st = extpoints.AsStatus(fmt.Errorf("panic: %v", cause))
		}
	}()
	return g.PreEnqueuePlugin.PreEnqueue(w)
}

// guardedHints are the events with hints whose panics are errors.
func guardedHints(events []extpoints.EventHint) []extpoints.EventHint {
	guarded := make([]extpoints.EventHint, len(events))
	for i, e := range events {
		if hint := e.Hint; hint != nil {
			e.Hint = func(w *model.Workload, c *extpoints.Event) (h extpoints.Hint, err error) {
				defer func() {
					if cause := recover(); cause != nil {
						err = fmt.Errorf("panic: %v", cause)
					}
				}()
				h, err = hint(w, c)
				return h, extpoints.AsStatus(err).AsError()
			}
		}
		guarded[i] = e
	}
	return guarded
}

// callEventsToRegister asks a plugin for its events.
func callEventsToRegister(p extpoints.EnqueueExtensions) (events []extpoints.EventHint, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	events, err = p.EventsToRegister()
	return events, ValidError(err)
}
