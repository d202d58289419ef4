package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// stopTime is how long a task takes to stop when it is asked to.
const stopTime = 5 * time.Second

// world is the engine with its clock, and what runs outside.
type world struct {
	raw      *engine.Raw
	now      time.Time
	start    time.Time
	out      io.Writer
	err      error                // of printing
	stopping map[string]time.Time // tasks that were asked to stop, and when they will have
	evicted  int
	said     map[string]string // the last that was said of each group
}

func newWorld(out io.Writer) (*world, error) {
	w := &world{out: out, start: time.Unix(0, 0), stopping: map[string]time.Time{}, said: map[string]string{}}
	w.now = w.start
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: w,
		Listener: engine.Listener{
			Decided:  w.decided,
			Evicting: func(engine.EvictingEvent) { w.evicted++ },
		},
	})
	w.raw = raw
	return w, err
}

// Bind implements [extpoints.Orchestrator]: here everything starts at once.
func (w *world) Bind(context.Context, *model.Workload, model.Binding) error { return nil }

// Evict implements [extpoints.Orchestrator]: the task will stop in a while.
func (w *world) Evict(_ context.Context, task *model.Workload, _ string) error {
	w.stopping[task.ID] = w.now.Add(stopTime)
	return nil
}

func (w *world) apply(changes ...engine.Change) error {
	return w.raw.Apply(w.now, changes...)
}

// work lets the engine and the tasks go on for some time.
func (w *world) work(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(time.Second) {
		w.raw.Tick(w.now)
		for w.raw.Schedule(w.now) {
		}
		for t := w.raw.NextTask(); t != nil; t = w.raw.NextTask() {
			t.Run(context.Background())
			w.raw.Finish(w.now, t)
		}
		w.stopped()
	}
}

// stopped reports the tasks that have stopped, and hands them in again.
func (w *world) stopped() {
	for _, id := range slices.Sorted(maps.Keys(w.stopping)) {
		if w.stopping[id].After(w.now) {
			continue
		}
		delete(w.stopping, id)
		w.err = errorOr(w.err, w.raw.Apply(w.now, engine.Requeue(id)))
	}
}

// crash are the changes for a task that has crashed and is to run again.
func (w *world) crash(id string) []engine.Change { return []engine.Change{engine.Requeue(id)} }

// finish are the changes for a training job that has ended.
func (w *world) finish(group string) []engine.Change {
	var changes []engine.Change
	for i := range tasks {
		changes = append(changes, engine.Finish(fmt.Sprintf("%s-%d", group, i+1)))
	}
	return changes
}

// decided tells of a group's attempt; of those that come to the same as the one
// before only once.
func (w *world) decided(e engine.GroupEvent) {
	what := "is not placed"
	switch {
	case e.Code == extpoints.Success:
		what = fmt.Sprintf("is placed: %d tasks", e.Placed)
	case e.Preempting:
		what = "makes room"
	}
	if w.said[e.Group.ID] != what {
		w.say("  %3.0f s  %s %s", w.now.Sub(w.start).Seconds(), e.Group.ID, what)
	}
	w.said[e.Group.ID] = what
}

// report shows what is where.
func (w *world) report() {
	type count struct{ small, train, later, free int }
	byRack := map[string]*count{}
	view := w.raw.View()
	for n := range view.Nodes() {
		c := byRack[n.Labels[rackLabel]]
		if c == nil {
			c = &count{}
			byRack[n.Labels[rackLabel]] = c
		}
		c.free += gpusOnNode
		for t := range view.WorkloadsOn(n.Name) {
			c.free--
			switch {
			case strings.HasPrefix(t.ID, "small"):
				c.small++
			case strings.HasPrefix(t.ID, "train"):
				c.train++
			default:
				c.later++
			}
		}
	}
	w.say("  rack    small  train  later  free")
	for _, rack := range slices.Sorted(maps.Keys(byRack)) {
		c := byRack[rack]
		w.say("  %-6s  %5d  %5d  %5d  %4d", rack, c.small, c.train, c.later, c.free)
	}
	pending := 0
	for range view.WorkloadsIn(model.Pending) {
		pending++
	}
	w.say("  %d evictions so far, %d tasks wait", w.evicted, pending)
}

func (w *world) say(format string, args ...any) {
	_, err := fmt.Fprintf(w.out, format+"\n", args...)
	w.err = errorOr(w.err, err)
}

// errorOr is the first of the two errors.
func errorOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
