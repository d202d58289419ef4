package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/model"
)

// ErrDeviceBindingFailed is in the error of [Adapter.BindDevices] where a driver says
// that a device will not become ready.
var ErrDeviceBindingFailed = errors.New("device binding failed")

// BindDevices implements [extpoints.DeviceBinder]: it writes into the resource claims
// what they are given and that the pod, or its group, has them reserved, makes the claim
// for extended resources where there is to be one, and waits for the binding conditions
// of the devices. What is as it should be already is not written again. After an error
// the pod's reservations are taken back, and the claim that was made for it is deleted;
// what claims were given they keep, see [Adapter.ReleaseDevices]. The engine is told at once
// what is written, and after an error what is there; see written.go.
//
// Of those whom a claim is reserved for only the pod and its group are written down:
// others do that for themselves, or are no more to have it.
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go (PreBind,
// bindClaim, isPodReadyForBinding, Unreserve), 1.37.1.
func (a *Adapter) BindDevices(ctx context.Context, w *model.Workload, b model.Binding) error {
	limit := left(ctx)
	var claims []*resourcev1.ResourceClaim
	err := a.bindClaims(ctx, w, &b, &claims)
	if err == nil {
		err = a.awaitDevices(ctx, w, b.Node, claims, limit)
	}
	if err != nil {
		a.unreserve(ctx, w, claims)
		err = a.look(ctx, w, &b, err, model.DeviceClaimKind)
	}
	return err
}

// left is how much time there is until ctx ends.
func left(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return time.Until(end)
	}
	return math.MaxInt64
}

// bindClaims writes what was decided about claims, and adds those that it has written
// to claims, as they are then.
func (a *Adapter) bindClaims(ctx context.Context, w *model.Workload, b *model.Binding, claims *[]*resourcev1.ResourceClaim) error {
	for _, o := range b.Decided {
		decided, ok := o.(*model.DeviceClaim)
		if !ok {
			continue
		}
		known, err := a.claimToBind(ctx, w, decided)
		if err != nil {
			return err
		}
		*claims = append(*claims, known)
		last := &(*claims)[len(*claims)-1]
		if *last, err = a.bindClaim(ctx, w, known, decided); err != nil {
			return err
		}
		if decided.ForResources {
			if err := a.tellClaim(ctx, w, known.Name, decided.Uses); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimToBind is the claim as the informers know it, or as it was just made.
func (a *Adapter) claimToBind(ctx context.Context, w *model.Workload, decided *model.DeviceClaim) (*resourcev1.ResourceClaim, error) {
	if decided.ForResources && decided.UID == "" {
		return a.makeClaim(ctx, w, decided)
	}
	return a.claim(decided.Namespace, decided.Name)
}

// bindClaim writes the claim's status. The result is the claim as it is, also where
// there is an error.
func (a *Adapter) bindClaim(ctx context.Context, w *model.Workload, known *resourcev1.ResourceClaim, decided *model.DeviceClaim) (*resourcev1.ResourceClaim, error) {
	own := *decided
	own.ReservedFor = nil
	var group *v1.ObjectReference
	for _, c := range decided.ReservedFor {
		switch {
		case c.Group != "" && c.Group == w.Group:
			namespace, name, _ := groupName(c.Group)
			if group = a.groupReference(namespace, name); group == nil {
				return known, fmt.Errorf("reserve claim %s/%s: there is no pod group %q any more", known.Namespace, known.Name, c.Group)
			}
		case c.Workload != w.ID:
			continue
		}
		own.ReservedFor = append(own.ReservedFor, c)
	}
	who := func(c model.Consumer) (string, types.UID) {
		if c.Group != "" {
			return group.Name, group.UID
		}
		return w.Name, uid(w.ID)
	}
	client := a.opts.Client.ResourceV1().ResourceClaims(known.Namespace)
	is, err := rewrite(ctx, known,
		func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
			return client.Get(ctx, known.Name, metav1.GetOptions{})
		},
		func(ctx context.Context, c *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
			status, err := convert.DeviceClaimStatus(c, &own, who, time.Now())
			if err != nil || apiequality.Semantic.DeepEqual(&c.Status, status) {
				return c, err
			}
			return a.writeClaim(ctx, c, status)
		})
	if err != nil {
		return known, err
	}
	return is, nil
}

// writeClaim gives the claim its status. One that is given devices gets the finalizer
// before, so that it does not go before the devices are given back.
func (a *Adapter) writeClaim(ctx context.Context, c *resourcev1.ResourceClaim, status *resourcev1.ResourceClaimStatus) (*resourcev1.ResourceClaim, error) {
	client := a.opts.Client.ResourceV1().ResourceClaims(c.Namespace)
	c = c.DeepCopy()
	what := "add reservation"
	if c.Status.Allocation == nil {
		what = "add allocation and reservation"
		if !slices.Contains(c.Finalizers, resourcev1.Finalizer) {
			c.Finalizers = append(c.Finalizers, resourcev1.Finalizer)
			is, err := a.writtenClaim(ctx, "devices", func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
				return client.Update(ctx, c, metav1.UpdateOptions{})
			})
			if err != nil {
				return nil, fmt.Errorf("add finalizer to claim: %w", err)
			}
			c = is.DeepCopy()
		}
	}
	c.Status = *status
	is, err := a.writtenClaim(ctx, "devices", func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
		return client.UpdateStatus(ctx, c, metav1.UpdateOptions{})
	})
	if err != nil {
		return nil, fmt.Errorf("%s to claim: %w", what, err)
	}
	return is, nil
}

// awaitDevices waits until the binding conditions of all devices are true, if there
// are any, but no longer than limit from when the devices were given: another pod may
// have waited for them before. (A decision has all claims with such devices.)
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go
// (isPodReadyForBinding, isClaimTimeout), 1.37.1.
func (a *Adapter) awaitDevices(ctx context.Context, w *model.Workload, node string, claims []*resourcev1.ResourceClaim, limit time.Duration) error {
	if !slices.ContainsFunc(claims, hasConditions) {
		return nil
	}
	a.events.awaitsConditions(w, node)
	start := time.Now()
	err := poll(ctx, func() (string, error) {
		for _, c := range claims {
			now, err := a.latest(ctx, c)
			if err != nil {
				return "", err
			}
			ok, err := isReady(now)
			if err != nil {
				return "", err
			}
			if given := now.Status.Allocation.AllocationTimestamp; !ok && given != nil && time.Since(given.Time) > limit {
				return "", fmt.Errorf("the devices of claim %s/%s are not ready since %v: %w", c.Namespace, c.Name, given, context.DeadlineExceeded)
			}
			if !ok {
				return fmt.Sprintf("the devices of claim %s/%s are not ready yet", c.Namespace, c.Name), nil
			}
		}
		return "", nil
	})
	a.opts.Meter.ConditionsAwaited(w.Profile, claims, err, time.Since(start))
	return err
}

// awaitsConditions tells that the devices of a pod are made ready.
func (e *events) awaitsConditions(w *model.Workload, node string) {
	note := fmt.Sprintf("waiting for binding conditions for device on node %s", node)
	e.repeated(e.about(podReference(w), nil, w.Profile, v1.EventTypeNormal, "BindingConditionsPending", "Scheduling", note))
}

// latest is the claim as the informers know it, or as it was written where they have
// not heard of that yet.
func (a *Adapter) latest(ctx context.Context, c *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	now, err := a.listers.deviceClaims.ResourceClaims(c.Namespace).Get(c.Name)
	if apierrors.IsNotFound(err) { // it has gone, or is so new that only the API server knows it
		now, err = a.newestClaim(ctx, c.Namespace, c.Name)
	}
	switch {
	case err != nil:
		return nil, err
	case predates(now, c.ResourceVersion):
		return c, nil
	case now.UID != c.UID:
		return nil, fmt.Errorf("claim %s/%s got deleted in the meantime", c.Namespace, c.Name)
	case now.Status.Allocation == nil:
		return nil, fmt.Errorf("claim %s/%s got deallocated elsewhere in the meantime", c.Namespace, c.Name)
	}
	return now, nil
}

// hasConditions reports whether some device of the claim has binding conditions.
func hasConditions(c *resourcev1.ResourceClaim) bool {
	return c.Status.Allocation != nil && slices.ContainsFunc(c.Status.Allocation.Devices.Results,
		func(r resourcev1.DeviceRequestAllocationResult) bool { return len(r.BindingConditions) > 0 })
}

// isReady reports whether all binding conditions of the claim's devices are true. The
// error says that one will never be.
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go
// (isClaimReadyForBinding), 1.37.1.
func isReady(c *resourcev1.ResourceClaim) (bool, error) {
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		if len(r.BindingConditions) == 0 {
			continue
		}
		at := slices.IndexFunc(c.Status.Devices, func(d resourcev1.AllocatedDeviceStatus) bool {
			return d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device
		})
		if at < 0 {
			return false, nil
		}
		are := c.Status.Devices[at].Conditions
		for _, failure := range r.BindingFailureConditions {
			if f := apimeta.FindStatusCondition(are, failure); f != nil && f.Status == metav1.ConditionTrue {
				return false, fmt.Errorf("%w: claim=%s, reason=%s, message=%q", ErrDeviceBindingFailed, c.Name, f.Reason, f.Message)
			}
		}
		for _, condition := range r.BindingConditions {
			if !apimeta.IsStatusConditionTrue(are, condition) {
				return false, nil
			}
		}
	}
	return true, nil
}
