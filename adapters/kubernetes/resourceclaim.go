package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/model"
)

// makeClaim makes the claim for the extended resources of the pod. If it is there
// already, because the answer to an earlier call was lost, all is well.
//
// Rules: kube-scheduler plugins/dynamicresources/extendeddynamicresources.go
// (createExtendedResourceClaimInAPI), 1.37.1.
func (a *Adapter) makeClaim(ctx context.Context, w *model.Workload, decided *model.DeviceClaim) (*resourcev1.ResourceClaim, error) {
	wanted := claimFor(w, decided)
	client := a.opts.Client.ResourceV1().ResourceClaims(wanted.Namespace)
	made, err := a.writtenClaim(ctx, "devices", func(ctx context.Context) (*resourcev1.ResourceClaim, error) {
		c, err := client.Create(ctx, wanted, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return c, err
		}
		found, lookup := client.Get(ctx, wanted.Name, metav1.GetOptions{})
		switch {
		case lookup != nil:
			return nil, lookup
		case !isFor(found, w) || found.DeletionTimestamp != nil || !apiequality.Semantic.DeepEqual(found.Spec, wanted.Spec):
			return nil, err
		}
		return found, nil
	})
	a.opts.Meter.ClaimMade(err)
	if err != nil {
		return nil, fmt.Errorf("create claim for extended resources %s/%s: %w", wanted.Namespace, wanted.Name, err)
	}
	return made, nil
}

// claimFor is the claim for the extended resources of the pod, as it is to be made.
func claimFor(w *model.Workload, decided *model.DeviceClaim) *resourcev1.ResourceClaim {
	yes := true
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace:       w.Namespace,
		Name:            claimName(w),
		Annotations:     map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: w.Name, UID: uid(w.ID), Controller: &yes}},
	}}
	for i := range decided.Requests {
		r := &decided.Requests[i]
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, resourcev1.DeviceRequest{
			Name: r.Name,
			Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: r.Alternatives[0].Class,
				AllocationMode:  resourcev1.DeviceAllocationModeExactCount,
				Count:           r.Alternatives[0].Count,
			},
		})
	}
	return c
}

// claimName is the name of the claim for the extended resources of the pod: what
// kube-scheduler's begins with, and an end that is the same whenever it is asked for.
// There the API server makes one up each time, so that a request whose answer is lost
// can make one claim too many. It is as long as names are that the API server makes.
func claimName(w *model.Workload) string {
	const length, unique = 63, 10
	sum := sha256.Sum256([]byte(w.ID))
	start := w.Name + "-extended-resources-"
	return start[:min(len(start), length-unique)] + hex.EncodeToString(sum[:])[:unique]
}

// isFor reports whether the claim is the one for the extended resources of the pod.
func isFor(c *resourcev1.ResourceClaim, w *model.Workload) bool {
	owner := metav1.GetControllerOfNoCopy(c)
	return c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true" && owner != nil && owner.UID == uid(w.ID)
}

// tellClaim writes into the status of the pod which of its containers get what from
// the claim.
//
// Rules: kube-scheduler plugins/dynamicresources/extendeddynamicresources.go
// (patchPodExtendedResourceClaimStatus), 1.37.1.
func (a *Adapter) tellClaim(ctx context.Context, w *model.Workload, claim string, uses []model.ResourceUse) error {
	tells := &v1.PodExtendedResourceClaimStatus{ResourceClaimName: claim}
	for _, u := range uses {
		tells.RequestMappings = append(tells.RequestMappings, v1.ContainerExtendedResourceRequest{
			ContainerName: u.Container, ResourceName: u.Resource, RequestName: u.Request,
		})
	}
	p, err := a.podOf(w)
	if err != nil {
		return err
	}
	err = a.write(ctx, "devices", func(ctx context.Context) error {
		return a.patchStatus(ctx, p, func(_ *v1.Pod, s *v1.PodStatus) bool {
			changes := !apiequality.Semantic.DeepEqual(s.ExtendedResourceClaimStatus, tells)
			s.ExtendedResourceClaimStatus = tells
			return changes
		})
	})
	if err != nil {
		return fmt.Errorf("update pod %s/%s ExtendedResourceClaimStatus: %w", w.Namespace, w.Name, err)
	}
	return nil
}
