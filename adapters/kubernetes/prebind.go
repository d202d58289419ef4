package kubernetes

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/model"
)

// contention is how an object is written again after a conflict: about six seconds
// in all. Of those who write it at the same time one succeeds in every round, and a
// claim may have as many users as [model.MaxClaimConsumers].
func contention() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.3, Jitter: 0.5, Steps: 20}
}

// rewrite has write change an object, first as the informers know it, and after a
// conflict as the API server has it, which newest asks for. write says what the object
// is then, or why it must not be changed.
func rewrite[T any](ctx context.Context, known T, newest func(context.Context) (T, error), write func(context.Context, T) (T, error)) (T, error) {
	delay := contention()
	for {
		is, err := write(ctx, known)
		if !apierrors.IsConflict(err) || delay.Steps == 0 || !pause(ctx, delay.Step()) {
			return is, err
		}
		err = retry(ctx, func(ctx context.Context) (err error) {
			known, err = newest(ctx)
			return err
		})
		if err != nil {
			return is, fmt.Errorf("look again after a conflict: %w", err)
		}
	}
}

// written is what the API server makes of a write.
func written[T any](ctx context.Context, a *Adapter, call string, f func(context.Context) (T, error)) (is T, err error) {
	err = a.write(ctx, call, func(ctx context.Context) (err error) {
		is, err = f(ctx)
		return err
	})
	return is, err
}

// firstLook and lastLook are the shortest and the longest time between two looks at
// what others have to do.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// poll looks, often at first and then less so, until nothing is waited for any more.
// Where ctx ends before, the error says what that was.
func poll(ctx context.Context, look func() (waitsFor string, err error)) error {
	for d := firstLook; ; d = min(d*3/2, lastLook) {
		waitsFor, err := look()
		if err != nil || waitsFor == "" {
			return err
		}
		if !pause(ctx, d) {
			return fmt.Errorf("%s: %w", waitsFor, ctx.Err())
		}
	}
}

// predates reports whether the object is older than the resource version: the
// informers have not heard of a write yet.
func predates(o metav1.Object, version string) bool {
	c, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), version)
	return err == nil && c < 0
}

// podOf is the pod as the informers know it. The error says that it is not there any
// more.
func (a *Adapter) podOf(w *model.Workload) (*v1.Pod, error) {
	p, err := a.listers.pods.Pods(w.Namespace).Get(w.Name)
	if err == nil && convert.ID(p) != w.ID {
		err = fmt.Errorf("pod %q is another one now", w.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("pod does not exist any more: %w", err)
	}
	return p, nil
}
