package engine

import (
	"context"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/model"
)

// Task is work for the orchestrator: binding one workload, or evicting one, or
// taking back what a claim was given.
// The caller that takes it from [Raw.NextTask] calls Run once, on any goroutine, and
// then passes it to [Raw.Finish].
type Task struct{ task *tasks.Task }

// asTask makes the task what others see of it, nil for none.
func asTask(t *tasks.Task) *Task {
	if t == nil {
		return nil
	}
	return &Task{t}
}

// Workload is the workload to bind or evict, or for which a claim is to lose
// its devices.
func (t *Task) Workload() *model.Workload { return t.task.Workload() }

// Claim is the claim that is to lose its devices, nil for other tasks.
func (t *Task) Claim() *model.DeviceClaim {
	if t.task.Release == nil {
		return nil
	}
	return t.task.Release.Claim
}

// Binding is what is to be bound; false for a task that does something else.
func (t *Task) Binding() (model.Binding, bool) {
	if t.task.Member == nil {
		return model.Binding{}, false
	}
	return framework.OwnBinding(&t.task.Member.Binding), true
}

// Run does the work: PreBind, Bind and PostBind of the workload's profile, an
// extender's Bind in place of the profile's, or the eviction. It may block until
// ctx ends, and touches nothing of the engine's, so it may run beside every other
// method. A task runs once; another Run does nothing.
func (t *Task) Run(ctx context.Context) { t.task.Run(ctx, tasks.Limit{}) }

// Settle gives the task an outcome without running it, for simulations; nil is
// success.
func (t *Task) Settle(err error) { t.task.Settle(err) }

func (o outside) finish(now time.Time, t *tasks.Task) {
	if t.Evict != nil {
		o.finishEviction(now, t)
		return
	}
	if t.Release != nil {
		o.finishRelease(now, t)
		return
	}
	t.Member.Now = now
	for _, err := range t.Failed {
		o.listener.Failed(FailedEvent{At: now, Workload: t.Member.Info.ID, Err: err})
	}
	if t.Status != nil {
		o.failBinding(t, t.Status)
		return
	}
	o.finishBinding(now, t)
}
