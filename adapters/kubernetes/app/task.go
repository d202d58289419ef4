package app

import "context"

// task is a goroutine that can be stopped and is waited for. A nil one was never
// started, and will not end.
type task struct {
	stop context.CancelFunc
	done chan struct{} // closed when it has ended
	err  error         // why it ended; to be read after that
}

// start runs f on a goroutine. Its context ends with ctx, or when the task is ended.
func start(ctx context.Context, f func(context.Context) error) *task {
	ctx, stop := context.WithCancel(ctx)
	t := &task{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		defer stop()
		t.err = f(ctx)
	}()
	return t
}

// ended is closed when the task has ended.
func (t *task) ended() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.done
}

// end stops the task and waits for it.
func (t *task) end() error {
	if t == nil {
		return nil
	}
	t.stop()
	<-t.done
	return t.err
}
