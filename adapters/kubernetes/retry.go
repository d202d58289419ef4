package kubernetes

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// patience is how writes are tried again: about three seconds in all. Then the caller
// gets the error, and the engine retries with its own backoff.
func patience() wait.Backoff {
	return wait.Backoff{Duration: 20 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 10, Cap: 2 * time.Second}
}

// retry calls f until it succeeds, says something that another try cannot change, or
// patience or ctx ends. (client-go itself waits where the server says how long.)
//
// again is told each error that another try follows.
func retry(ctx context.Context, f func(context.Context) error, again ...func(error)) error {
	delay := patience()
	for {
		err := f(ctx)
		if !passes(err) || ctx.Err() != nil || delay.Steps == 0 || !pause(ctx, delay.Step()) {
			return err
		}
		for _, tell := range again {
			tell(err)
		}
	}
}

// pause reports whether d has passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// passes reports whether an error may pass by itself: the server is busy, down, or
// cannot be reached.
func passes(err error) bool {
	var construction *rest.RequestConstructionError
	var status apierrors.APIStatus
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &construction):
		return false
	case !errors.As(err, &status):
		return true // the connection broke, and the request may have been carried out
	}
	return apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || status.Status().Code >= 500
}
