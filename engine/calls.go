package engine

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine/internal/callers"
	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/engine/internal/parallel"
	"github.com/berth-project/berth/engine/internal/record"
)

// calls are those of the methods that change an engine: one at a time, at times that do not
// go back, and none after one that did not come to its end.
type calls struct {
	within string    // the method that is under way, empty for none
	now    time.Time // of the last call
	broken error     // why nothing can be changed any more; nil while it can
	log    hclog.Logger
	failed func(FailedEvent)
}

// act calls f for the method and returns what it does. Where f does not come to its end
// the engine is broken.
func (c *calls) act(method string, now time.Time, f func() error) (err error) {
	if err := c.check(method, now); err != nil {
		return err
	}
	c.within, c.now = method, now
	whole := false
	defer func() {
		c.within = ""
		if !whole {
			err = c.breakDown(method, recover())
		}
	}()
	err = f()
	whole = true
	return err
}

// try is act for what returns no error.
func (c *calls) try(method string, now time.Time, f func()) error {
	return c.act(method, now, func() error { f(); return nil })
}

// must is try for a method that returns none either.
func (c *calls) must(method string, now time.Time, f func()) {
	if err := c.try(method, now, f); err != nil {
		panic(err)
	}
}

// check returns what is wrong with calling the method now.
func (c *calls) check(method string, now time.Time) error {
	if c.within != "" {
		return fmt.Errorf("%w: %s was called while %s was under way", ErrCalledBack, method, c.within)
	}
	if c.broken != nil {
		return c.broken
	}
	if now.IsZero() {
		return fmt.Errorf("%w: %s was called with the zero time", ErrTime, method)
	}
	if err := record.CheckTime(now); err != nil {
		return fmt.Errorf("%w: %s was called with %v: %w", ErrTime, method, now.Round(0), err)
	}
	if now.Before(c.now) {
		return fmt.Errorf("%w: %s was called with %v, %v before an earlier call", ErrTime, method, now.Round(0), c.now.Sub(now))
	}
	return nil
}

// breakDown is called on the stack of what did not come to its end, with what it panicked
// with; nil where its goroutine ends.
func (c *calls) breakDown(method string, cause any) error {
	c.broken = fmt.Errorf("%w: %s did not come to its end: %w", ErrBroken, method, callers.Why(cause))
	defer c.failed(FailedEvent{At: c.now, Err: c.broken}) // also where the logger ends the goroutine
	stack := debug.Stack()
	if worker, is := cause.(*parallel.Failure); is {
		stack = worker.Stack
	}
	observe.LogError(c.log, c.broken.Error(), "stack", string(stack))
	return c.broken
}
