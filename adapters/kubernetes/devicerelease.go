package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// ReleaseDevices implements [extpoints.DeviceReleaser]: it takes devices or a
// reservation out of the status of the claim, or deletes the claim where left is nil.
// One that has no devices is fine, and one that has gone. The finalizer of a claim without devices is
// left to the controller, as in kube-scheduler.
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go
// (deallocateOrDeletePodClaims, deallocatePodGroupClaims), 1.37.1.
func (a *Adapter) ReleaseDevices(ctx context.Context, claim, left *model.DeviceClaim) error {
	client := a.opts.Client.ResourceV1().ResourceClaims(claim.Namespace)
	name := claim.Name
	if claim.ForResources && claim.UID == "" {
		name = madeName(claim)
	}
	known, err := a.claim(claim.Namespace, name)
	if apierrors.IsNotFound(err) { // or it is so new that only the API server knows it
		known, err = a.newestClaim(ctx, claim.Namespace, name)
	}
	if err == nil {
		_, err = rewrite(ctx, known,
			func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
				return client.Get(ctx, name, metav1.GetOptions{})
			},
			func(ctx context.Context, c *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
				switch {
				case left != nil && left.Allocation == nil && c.Status.Allocation == nil && string(c.UID) == claim.UID:
					return c, nil // it was not written, or has been taken back
				case !isAs(c, claim):
					return c, errors.New("it has changed in the meantime")
				}
				if left == nil {
					return c, a.deleteClaim(ctx, c)
				}
				c = c.DeepCopy()
				c.Status = released(c, left)
				return a.writtenClaim(ctx, "release", func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
					return client.UpdateStatus(ctx, c, metav1.UpdateOptions{})
				})
			})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("release the devices of claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	return nil
}

// isAs reports whether the claim has what it was taken to have, and is reserved for
// nobody else.
func isAs(c *resourcev1.ResourceClaim, claim *model.DeviceClaim) bool {
	m, _ := convert.DeviceClaim(c)
	others := func(by model.Consumer) bool { return !claim.Reserved(by) }
	isIt := m.UID == claim.UID || claim.UID == "" && claim.ForResources && m.Owner == claim.Owner
	return isIt && sameAllocation(m.Allocation, claim.Allocation) &&
		!slices.ContainsFunc(m.ReservedFor, others) && reflect.DeepEqual(m.Conditions, claim.Conditions)
}

// sameAllocation reports whether the claim has what it is known to have. When it got it
// nobody knows who has not been told of it yet.
func sameAllocation(has, known *model.Allocation) bool {
	if has == nil || known == nil {
		return has == known
	}
	x, y := *has, *known
	x.At, y.At = time.Time{}, time.Time{} // two that are equal need not look the same
	return (known.At.IsZero() || has.At.Equal(known.At)) && reflect.DeepEqual(x, y)
}

// released is the status of the claim with nothing more than what is left.
func released(c *resourcev1.ResourceClaim, left *model.DeviceClaim) resourcev1.ResourceClaimStatus {
	status := c.Status
	if left.Allocation == nil {
		status.Allocation, status.Devices = nil, nil
	}
	status.ReservedFor = slices.DeleteFunc(slices.Clone(status.ReservedFor), func(r resourcev1.ResourceClaimConsumerReference) bool {
		return !left.Reserved(convert.Consumer(c.Namespace, &r))
	})
	return status
}

// deleteClaim deletes the claim as it is here, without the finalizer that would hold it
// back. It is a conflict where the claim has changed.
//
// Rules: kube-scheduler plugins/dynamicresources/extendeddynamicresources.go
// (deleteClaim), 1.37.1.
func (a *Adapter) deleteClaim(ctx context.Context, c *resourcev1.ResourceClaim) (err error) {
	client := a.opts.Client.ResourceV1().ResourceClaims(c.Namespace)
	if at := slices.Index(c.Finalizers, resourcev1.Finalizer); at >= 0 {
		c = c.DeepCopy()
		c.Finalizers = slices.Delete(c.Finalizers, at, at+1)
		c, err = a.writtenClaim(ctx, "release", func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
			return client.Update(ctx, c, metav1.UpdateOptions{})
		})
		if err != nil {
			return fmt.Errorf("remove finalizer from claim: %w", err)
		}
	}
	return a.write(ctx, "release", func(ctx context.Context) error {
		return client.Delete(ctx, c.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &c.ResourceVersion}})
	})
}

// unreserveTime is how long taking back what was written for a pod may take.
const unreserveTime = 5 * time.Second

// unreserve takes back what was written for a pod that is not bound now, as far as it
// can: the pod comes by here again. Reservations of its group stay, for others may need
// them. An engine that is stopped writes nothing any more: another may be at it.
//
// Rules: kube-scheduler plugins/dynamicresources/dynamicresources.go (Unreserve) and
// extendeddynamicresources.go (unreserveExtendedResourceClaim), 1.37.1.
func (a *Adapter) unreserve(ctx context.Context, w *model.Workload, claims []*resourcev1.ResourceClaim) {
	if errors.Is(context.Cause(ctx), engine.ErrStopped) || a.hasNode(w) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unreserveTime)
	defer cancel()
	for _, c := range claims {
		var err error
		switch {
		case isFor(c, w):
			err = a.unmakeClaim(ctx, c)
		case isReservedFor(c, uid(w.ID)):
			err = a.withdraw(ctx, c, uid(w.ID))
		}
		if err != nil && !apierrors.IsNotFound(err) {
			a.log.Error(err, "Cannot take back a reservation", "claim", c.Namespace+"/"+c.Name, "pod", w.Namespace+"/"+w.Name)
		}
	}
}

// giveBack takes back what BindDevices wrote, where the binding fails after it.
func (a *Adapter) giveBack(ctx context.Context, w *model.Workload, b *model.Binding) {
	var claims []*resourcev1.ResourceClaim
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), unreserveTime)
	defer cancel()
	for _, o := range b.Decided {
		decided, ok := o.(*model.DeviceClaim)
		if !ok {
			continue
		}
		name := claimNameOf(decided, w)
		c, err := a.newestClaim(asking, decided.Namespace, name)
		switch {
		case err == nil:
			claims = append(claims, c)
		case !apierrors.IsNotFound(err):
			a.log.Error(err, "Cannot see whether a reservation is to be taken back", "claim", decided.Namespace+"/"+name, "pod", w.Namespace+"/"+w.Name)
		}
	}
	a.unreserve(ctx, w, claims)
}

// hasNode reports whether the pod was bound all the same, and needs what it has.
func (a *Adapter) hasNode(w *model.Workload) bool {
	p, err := a.podOf(w)
	return err == nil && p.Spec.NodeName != ""
}

// unmakeClaim deletes the claim that was made for a pod, whatever it was given.
func (a *Adapter) unmakeClaim(ctx context.Context, c *resourcev1.ResourceClaim) error {
	_, err := rewrite(ctx, c,
		func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
			return a.opts.Client.ResourceV1().ResourceClaims(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
		},
		func(ctx context.Context, now *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
			if now.UID != c.UID {
				return now, nil // it has gone
			}
			return now, a.deleteClaim(ctx, now)
		})
	return err
}

// withdraw ends one reservation of the claim, whatever else has changed.
func (a *Adapter) withdraw(ctx context.Context, c *resourcev1.ResourceClaim, by types.UID) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": c.UID},
		"status":   map[string]any{"reservedFor": []any{map[string]any{"$patch": "delete", "uid": by}}},
	})
	if err != nil {
		return err
	}
	_, err = a.writtenClaim(ctx, "release", func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
		return a.opts.Client.ResourceV1().ResourceClaims(c.Namespace).Patch(ctx, c.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	})
	return err
}
