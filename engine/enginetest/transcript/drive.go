package transcript

import (
	"context"
	"sort"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// patience is how long a task may run: far longer than any does, unless
// something that it waits for never happens.
const patience = 10 * time.Second

// drive does the verbs that make the engine work.
func (e *env) drive(l line) bool {
	switch l.verb {
	case "advance":
		// advance DURATION: it is so much later now. Nothing else happens.
		e.now = e.now.Add(duration(l.words[0]))
	case "schedule":
		// schedule [N]: Raw.Schedule, N times.
		n := int64(1)
		if l.word(0) != "" {
			n = number(l.words[0])
		}
		for range n {
			if !e.raw.Schedule(e.now) {
				e.say("nothing to schedule")
				break
			}
		}
	case "tick":
		// tick: Raw.Tick.
		e.raw.Tick(e.now)
	case "evict":
		// evict ID [REASON]: Raw.Evict.
		if err := e.raw.Evict(e.now, l.words[0], l.word(1)); err != nil {
			e.say("error: %v", err)
		}
	default:
		return e.command(l) || e.driveTask(l)
	}
	return true
}

// command does the verbs that stand for plugins' calls from goroutines of their
// own.
func (e *env) command(l line) bool {
	switch l.verb {
	case "allow":
		// allow ID PLUGIN...: WaitingWorkload.Allow, then Raw.Settle.
		if w := e.waiting(l); w != nil {
			for _, plugin := range l.words[1:] {
				w.Allow(plugin)
			}
		}
	case "reject":
		// reject ID PLUGIN REASON: WaitingWorkload.Reject, then Raw.Settle.
		if w := e.waiting(l); w != nil {
			w.Reject(l.words[1], l.word(2))
		}
	case "activate":
		// activate ID...: Handle.Activate, then Raw.Settle.
		e.handle().Activate(l.words...)
	default:
		return false
	}
	e.raw.Settle(e.now)
	return true
}

func (e *env) waiting(l line) extpoints.WaitingWorkload {
	w := e.handle().Waiting().Get(l.words[0])
	if w == nil {
		e.say("%s does not wait", l.words[0])
	}
	return w
}

// handle is some plugin's; these parts are the same for all.
func (e *env) handle() extpoints.Handle {
	for _, h := range e.handles {
		return h
	}
	e.t.Fatal("no scripted plugin, no handle")
	return nil
}

// driveTask does the verbs about tasks. Before any of them all tasks that are
// ready are taken.
func (e *env) driveTask(l line) bool {
	switch l.verb {
	case "tasks":
		// tasks: the tasks that were taken and not given back.
		e.takeTasks()
		for _, t := range e.tasks {
			if b, ok := t.Binding(); ok {
				e.say("task bind %s %s", t.name(), b.Node)
			} else {
				e.say("task evict %s", t.name())
			}
		}
	case "run-task":
		// run-task [ID...]: Task.Run and Raw.Finish; of all tasks where none is
		// named.
		for _, id := range e.named(l) {
			if t := e.task(l, id); t.done == nil {
				e.start(t, nil)
				<-t.done
			}
			e.finish(id)
		}
	case "start-task":
		// start-task ID: Task.Run up to where a plugin or the orchestrator
		// blocks, or to its end.
		e.start(e.task(l, l.words[0]), e.script.entered)
	case "cancel-task":
		// cancel-task ID: ends the context of a task that was started.
		e.task(l, l.words[0]).cancel()
	case "finish-task":
		// finish-task ID...: waits for a task that was started, then
		// Raw.Finish.
		for _, id := range l.words {
			<-e.task(l, id).done
			e.finish(id)
		}
	default:
		return false
	}
	return true
}

func (e *env) takeTasks() {
	for t := e.raw.NextTask(); t != nil; t = e.raw.NextTask() {
		e.tasks = append(e.tasks, &task{Task: t})
	}
}

// named are the workloads of the tasks that the command names.
func (e *env) named(l line) []string {
	if len(l.words) > 0 {
		return l.words
	}
	e.takeTasks()
	var ids []string
	for _, t := range e.tasks {
		ids = append(ids, t.name())
	}
	if len(ids) == 0 {
		e.say("no task")
	}
	return ids
}

// task is the oldest of the workload.
func (e *env) task(l line, id string) *task {
	e.takeTasks()
	for _, t := range e.tasks {
		if t.name() == id {
			return t
		}
	}
	e.fail(l, "there is no task of "+id)
	return nil
}

// start runs a task on a goroutine of its own until it is done or, if it says so,
// blocks.
func (e *env) start(t *task, blocks <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.cancel, t.done = cancel, make(chan struct{})
	go func() {
		defer close(t.done)
		defer cancel()
		t.Run(ctx)
	}()
	select {
	case <-t.done:
	case <-blocks:
	}
}

// finish gives the oldest task of the workload back.
func (e *env) finish(id string) {
	for i, t := range e.tasks {
		if t.name() == id {
			e.tasks = append(e.tasks[:i], e.tasks[i+1:]...)
			e.raw.Finish(e.now, t.Task)
			return
		}
	}
}

// sorted returns the list in order.
func sorted(list []string) []string {
	sort.Strings(list)
	return list
}
