package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// What the adapter has written or read of a claim or a volume it tells the engine at
// once, and does not wait for the informers, which may be seconds behind: what they say
// later and is older is not told. So the engine never takes for free what was given. It
// is what kube-scheduler's assume cache is for (pkg/scheduler/util/assumecache,
// AssumeClaimAfterAPICall, 1.37.1).

// versions are the objects of a source as the engine was told of them, by name: only of
// sources of which the adapter itself tells, too; nil for others.
type versions map[string]metav1.Object

// isOld reports whether the engine was told of a newer version of the object, or of a
// newer object of the name, and notes what it is told now.
func (v versions) isOld(before, after any) bool {
	if v == nil {
		return false
	}
	key := nameOf(before, after)
	told := v[key]
	o, comes := after.(metav1.Object)
	if !comes {
		gone, ok := before.(metav1.Object)
		if !ok {
			return false
		}
		if told != nil && told.GetUID() != gone.GetUID() && predates(gone, told.GetResourceVersion()) {
			return true // it has gone before that one came
		}
		delete(v, key)
		return false
	}
	if told != nil && predates(o, told.GetResourceVersion()) {
		return true
	}
	v[key] = o
	return false
}

// tellNow tells the engine of an object as the API server has it.
func (a *Adapter) tellNow(kind Kind, o any) {
	i := slices.IndexFunc(a.sources, func(s *source) bool { return s.name == string(kind) })
	if i >= 0 && a.engine != nil {
		a.tellAll([]report{{source: a.sources[i], after: o}})
	}
}

// certainly is an error of a binder that has told the engine how all is that it may have
// written. To the engine it is an [extpoints.ErrNotWritten]; its text is that of the error.
type certainly struct{ error }

func (e certainly) Unwrap() error { return e.error }

func (certainly) Is(target error) bool { return target == extpoints.ErrNotWritten }

// look tells the engine how the objects of the kinds are that a call for the pod was to
// write, and that has failed with the error. Where it cannot see that, the engine has to
// take them for written.
func (a *Adapter) look(ctx context.Context, w *model.Workload, b *model.Binding, err error, kinds ...model.ObjectKind) error {
	if errors.Is(context.Cause(ctx), engine.ErrStopped) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unreserveTime)
	defer cancel()
	for _, o := range b.Decided {
		if !slices.Contains(kinds, model.RefOf(o).Kind) {
			continue
		}
		unseen := a.lookAt(ctx, w, o)
		if unseen != nil && !apierrors.IsNotFound(unseen) {
			a.log.Error(unseen, "Cannot see whether something was written", "object", model.RefOf(o), "pod", w.Namespace+"/"+w.Name)
			return err
		}
	}
	return certainly{err}
}

// lookAt tells the engine how the object is.
func (a *Adapter) lookAt(ctx context.Context, w *model.Workload, decided model.Object) error {
	switch o := decided.(type) {
	case *model.DeviceClaim:
		c, err := a.newestClaim(ctx, o.Namespace, claimNameOf(o, w))
		if err == nil {
			a.lately.claims.wrote(c)
			a.tellNow(DeviceClaims, c)
		}
		return err
	case *model.Volume:
		return seen(ctx, a, Volumes, func(ctx context.Context) (*v1.PersistentVolume, error) {
			return a.opts.Client.CoreV1().PersistentVolumes().Get(ctx, o.Name, metav1.GetOptions{})
		})
	case *model.VolumeClaim:
		return seen(ctx, a, VolumeClaims, func(ctx context.Context) (*v1.PersistentVolumeClaim, error) {
			return a.opts.Client.CoreV1().PersistentVolumeClaims(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
		})
	}
	return nil
}

// seen tells the engine of what get finds.
func seen[T any](ctx context.Context, a *Adapter, kind Kind, get func(context.Context) (T, error)) error {
	return retry(ctx, func(ctx context.Context) error {
		o, err := get(ctx)
		if err == nil {
			a.tellNow(kind, o)
		}
		return err
	})
}

// wroteVolume is [written] for volumes and the claims to them.
func wroteVolume[T any](ctx context.Context, a *Adapter, kind Kind, f func(context.Context) (T, error)) (T, error) {
	o, err := written(ctx, a, "volumes", f)
	if err == nil {
		a.tellNow(kind, o)
	}
	return o, err
}

// claimNameOf is the name of the claim that was decided about for the pod. One that the
// decision makes has none that the API server knows before it is made.
func claimNameOf(c *model.DeviceClaim, w *model.Workload) string {
	if c.ForResources && c.UID == "" {
		return claimName(w)
	}
	return c.Name
}

// madeName is the name of a claim that the engine has not been told of since it was to be
// made.
func madeName(c *model.DeviceClaim) string {
	return claimName(&model.Workload{ID: c.Owner, Name: strings.TrimSuffix(c.Name, "-extended-resources")})
}

// CatchUp tells the engine of all claims and volumes as the API server has them now: what
// another scheduler has written a moment ago the informers may not know yet, and it must
// not be given to others. It is to be called before the engine begins to schedule where
// another may have scheduled since [Adapter.Ready], which begins with it. It tries until
// ctx ends.
func (a *Adapter) CatchUp(ctx context.Context) error {
	for {
		err := a.readWritten(ctx)
		if err == nil || !pause(ctx, askAgain) {
			return err
		}
		a.log.Error(err, "Cannot read what was written before; asking again")
	}
}

// readWritten is one try of CatchUp. The lists are those of the API server's store and not
// of its watch cache: no resource version is given.
func (a *Adapter) readWritten(ctx context.Context) error {
	core, devices := a.opts.Client.CoreV1(), a.opts.Client.ResourceV1()
	for _, kind := range []struct {
		kind Kind
		list pager.ListPageFunc
	}{
		{Volumes, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return core.PersistentVolumes().List(ctx, o)
		}},
		{VolumeClaims, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return core.PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, o)
		}},
		{DeviceClaims, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return devices.ResourceClaims(metav1.NamespaceAll).List(ctx, o)
		}},
	} {
		i := slices.IndexFunc(a.sources, func(s *source) bool { return s.name == string(kind.kind) })
		if i < 0 {
			continue
		}
		var reports []report
		err := pager.New(kind.list).EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
			if c, ok := o.(*resourcev1.ResourceClaim); ok {
				a.lately.claims.wrote(c)
			}
			trimmed, err := trim(o)
			reports = append(reports, report{source: a.sources[i], after: trimmed})
			return err
		})
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.kind, err)
		}
		a.tellAll(reports)
	}
	return nil
}
