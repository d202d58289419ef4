package kubernetes

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/model"
)

// claim is the claim as the informers know it, or as this adapter has written it since.
func (a *Adapter) claim(namespace, name string) (*resourcev1.ResourceClaim, error) {
	c, err := a.listers.deviceClaims.ResourceClaims(namespace).Get(name)
	if err != nil {
		return nil, err
	}
	return a.lately.claims.newest(c), nil
}

// newestClaim is the claim as the API server has it.
func (a *Adapter) newestClaim(ctx context.Context, namespace, name string) (c *resourcev1.ResourceClaim, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) {
		c, err = a.opts.Client.ResourceV1().ResourceClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return c, err
}

// writtenClaim is [written] for claims. What it returns is remembered, and must not be changed.
func (a *Adapter) writtenClaim(ctx context.Context, call string, f func(context.Context) (*resourcev1.ResourceClaim, error)) (*resourcev1.ResourceClaim, error) {
	c, err := written(ctx, a, call, f)
	if err == nil {
		a.lately.claims.wrote(c)
		a.tellNow(DeviceClaims, c)
	}
	return c, err
}

// reserved makes sure that the claims of a pod that is about to be bound are reserved
// for it: the engine may have heard of a reservation and not yet that it was taken
// back, when the pod could not be bound. Then it must try again.
func (a *Adapter) reserved(w *model.Workload) error {
	if a.listers.deviceClaims == nil {
		return nil
	}
	for _, ref := range w.DeviceClaims {
		namespace, name, _ := cache.SplitMetaNamespaceKey(ref.ID)
		if ref.OfGroup || ref.ID == "" {
			continue
		}
		c, err := a.claim(namespace, name)
		if err != nil {
			return err
		}
		if !isReservedFor(c, uid(w.ID)) {
			return fmt.Errorf("claim %s is not reserved for the pod any more", ref.ID)
		}
	}
	return nil
}

// isReservedFor reports whether the pod of the UID is among those that the claim is
// reserved for.
func isReservedFor(c *resourcev1.ResourceClaim, id types.UID) bool {
	return slices.ContainsFunc(c.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == id })
}
