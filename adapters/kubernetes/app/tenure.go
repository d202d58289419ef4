package app

import (
	"context"
	"errors"
)

// errLeaseLost: another may lead now, so nothing is waited for.
var errLeaseLost = errors.New("leaderelection lost")

// errAsked: the process was asked to end.
var errAsked = errors.New("asked to end")

// tenure is the time in office of a scheduler, from when it begins to watch the cluster
// to when it has given back its lease.
type tenure struct {
	*scheduler
	// background is the context of the tasks. It outlives the wish to end.
	background                     context.Context
	watching, electing, scheduling *task
	reading                        *task // nil where there are no custom resources
}

// run goes through it, until ctx ends: then bindings under way end, then what is
// still to be written is written, then the lease is given back. The error is why it
// ended by itself; with errLeaseLost, tasks may still be under way.
func (t *tenure) run(ctx context.Context) error {
	background, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	t.background = background
	reason := t.serve(ctx)
	for _, task := range []*task{t.scheduling, t.reading, t.watching} {
		if errors.Is(reason, errLeaseLost) || !t.ends(task) {
			return errLeaseLost
		}
	}
	_ = t.electing.end() // it has nothing to say
	if errors.Is(reason, errAsked) {
		return nil
	}
	return reason
}

// serve takes office, and holds it until there is a reason to leave it, which it
// returns.
//
// As in kube-scheduler this process knows the cluster before it wants to lead, so that
// it can take over at once, unless delayCacheUntilActive asks for the opposite
// (cmd/kube-scheduler/app/server.go Run, 1.37.1).
func (t *tenure) serve(ctx context.Context) error {
	steps := []func(context.Context) error{t.watch, t.lead}
	if t.config.Effective.DelayCacheUntilActive {
		steps = []func(context.Context) error{t.lead, t.watch}
	}
	for _, step := range append(steps, t.schedule) {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watch begins to watch, and waits until the engine knows all that there is.
func (t *tenure) watch(ctx context.Context) error {
	if err := t.customInstalled(); err != nil {
		return err
	}
	t.watching = start(t.background, func(ctx context.Context) error { return t.adapter.Run(ctx, t.engine) })
	if err := t.wait(ctx, t.adapter.Ready()); err != nil || t.custom == nil {
		return err
	}
	t.reading = start(t.background, t.readCustom)
	return t.wait(ctx, t.custom.Ready())
}

// lead waits to lead, where there is an election.
func (t *tenure) lead(ctx context.Context) error {
	if t.election == nil {
		return nil
	}
	t.electing = start(t.background, func(ctx context.Context) error {
		t.election.elector.Run(ctx)
		return nil
	})
	return t.wait(ctx, t.election.leading)
}

// schedule schedules until there is a reason to stop, as soon as the engine knows what
// who led before has written a moment ago.
func (t *tenure) schedule(ctx context.Context) error {
	reading := start(t.background, t.adapter.CatchUp)
	if err := t.wait(ctx, reading.ended()); err != nil {
		reading.stop()
		return err
	}
	t.scheduling = start(t.background, t.engine.Run)
	return t.wait(ctx, nil)
}

// wait waits for something. The error is why that is in vain.
func (t *tenure) wait(ctx context.Context, something <-chan struct{}) error {
	select {
	case <-something:
		return nil
	case <-ctx.Done():
		return errAsked
	case <-t.lost():
		return errLeaseLost
	case <-t.electing.ended():
		return errLeaseLost
	case <-t.watching.ended():
		return errors.Join(errors.New("the API server is not watched any more"), t.watching.err)
	case <-t.scheduling.ended():
		return errors.Join(errors.New("nothing is scheduled any more"), t.scheduling.err)
	}
}

// ends ends the task. It does not wait for it where the lease is lost meanwhile, and
// says so.
func (t *tenure) ends(task *task) bool {
	if task == nil {
		return true
	}
	task.stop()
	select {
	case <-task.ended():
		return true
	case <-t.lost():
		return false
	}
}

// lost is closed when the lease is lost.
func (t *tenure) lost() <-chan struct{} {
	if t.election == nil {
		return nil
	}
	return t.election.lease.lost
}
