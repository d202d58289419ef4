package kubernetes

import (
	"context"
	"time"
)

// flushTime is how long what is left may still be written at the end.
const flushTime = 5 * time.Second

// lasting is ctx, and flushTime longer.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, stop) })
	return work, func() {
		forget()
		stop()
	}
}

// workOff has one thing done after the other, whenever wake says that there may be
// something, until ctx has ended and nothing is left, or work ends. next does one, and
// reports whether there was one.
func workOff(ctx, work context.Context, wake <-chan struct{}, next func() bool) {
	for work.Err() == nil {
		if next() {
			continue
		}
		select {
		case <-ctx.Done():
			if !next() { // since it was asked before
				return
			}
		case <-wake:
		}
	}
}
