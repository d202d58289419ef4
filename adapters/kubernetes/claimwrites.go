package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/model"
)

// claimWrites are the versions of claims that this adapter has written and the
// informers may not have heard of yet: what a claim was before its own last write an
// adapter must not believe. kube-scheduler's assume cache is for the same
// (pkg/scheduler/util/assumecache, 1.37.1).
type claimWrites struct{ versions sync.Map } // UID -> resource version

// wrote is told of a claim as the API server has it after a write.
func (s *claimWrites) wrote(c *resourcev1.ResourceClaim) { s.versions.Store(c.UID, c.ResourceVersion) }

// outdated reports whether the claim is older than the last write.
func (s *claimWrites) outdated(c *resourcev1.ResourceClaim) bool {
	version, ok := s.versions.Load(c.UID)
	if !ok {
		return false
	}
	if predates(c, version.(string)) {
		return true
	}
	s.versions.CompareAndDelete(c.UID, version)
	return false
}

// follow forgets writes when the informer knows of them.
func (s *claimWrites) follow(informer cache.SharedIndexInformer) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(now any) { s.outdated(now.(*resourcev1.ResourceClaim)) },
		UpdateFunc: func(_, now any) { s.outdated(now.(*resourcev1.ResourceClaim)) },
		DeleteFunc: func(o any) {
			if last, unknown := o.(cache.DeletedFinalStateUnknown); unknown {
				o = last.Obj
			}
			s.versions.Delete(o.(*resourcev1.ResourceClaim).UID)
		},
	})
	return err
}

// claim is the claim as the informers know it, or as the API server does where they
// have not heard of this adapter's last write.
func (a *Adapter) claim(ctx context.Context, namespace, name string) (*resourcev1.ResourceClaim, error) {
	c, err := a.listers.deviceClaims.ResourceClaims(namespace).Get(name)
	if err != nil || !a.claimWrites.outdated(c) {
		return c, err
	}
	return a.newestClaim(ctx, namespace, name)
}

// newestClaim is the claim as the API server has it.
func (a *Adapter) newestClaim(ctx context.Context, namespace, name string) (c *resourcev1.ResourceClaim, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) {
		c, err = a.opts.Client.ResourceV1().ResourceClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return c, err
}

// writtenClaim is [written] for claims.
func (a *Adapter) writtenClaim(ctx context.Context, call string, f func(context.Context) (*resourcev1.ResourceClaim, error)) (*resourcev1.ResourceClaim, error) {
	c, err := written(ctx, a, call, f)
	if err == nil {
		a.claimWrites.wrote(c)
	}
	return c, err
}

// reserved makes sure that the claims of a pod that is about to be bound are reserved
// for it: the engine may have heard of a reservation and not yet that it was taken
// back, when the pod could not be bound. Then it must try again.
func (a *Adapter) reserved(ctx context.Context, w *model.Workload) error {
	if a.listers.deviceClaims == nil {
		return nil
	}
	for _, ref := range w.DeviceClaims {
		namespace, name, _ := cache.SplitMetaNamespaceKey(ref.ID)
		if ref.OfGroup || ref.ID == "" {
			continue
		}
		c, err := a.claim(ctx, namespace, name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(c.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == uid(w.ID) }) {
			return fmt.Errorf("claim %s is not reserved for the pod any more", ref.ID)
		}
	}
	return nil
}
