package kubetest

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/berth-project/berth/model"
)

// The one device of a world.
const (
	driver      = "kit.example.com"
	deviceClass = "kit.example.com"
)

// AddDevice implements [adaptertest.DeviceHarness].
func (w *World) AddDevice(node string) error {
	ctx, devices := context.Background(), w.client.ResourceV1()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: deviceClass}}
	if _, err := devices.DeviceClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err := devices.ResourceSlices().Create(ctx, &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "kit-" + node},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "device"}},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) { // of a world before
		return nil
	}
	return err
}

// SubmitForDevice implements [adaptertest.DeviceHarness].
func (w *World) SubmitForDevice(m *model.Workload) error {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: m.Name}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "device", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
	}}}
	if _, err := w.client.ResourceV1().ResourceClaims(namespace).Create(context.Background(), claim, metav1.CreateOptions{}); err != nil {
		return err
	}
	w.mu.Lock()
	w.claims[m.Name] = true
	w.mu.Unlock()
	return w.Submit(m)
}

// Holders implements [adaptertest.DeviceHarness].
func (w *World) Holders() (names []string) {
	ctx := context.Background()
	all, err := w.client.ResourceV1().ResourceClaims(namespace).List(ctx, metav1.ListOptions{})
	w.check(ctx, err)
	if err != nil {
		return nil
	}
	for i := range all.Items {
		if all.Items[i].Status.Allocation != nil {
			names = append(names, all.Items[i].Name)
		}
	}
	return names
}

// free is what the controller of claims does when a pod has gone that had one.
func (w *World) free(ctx context.Context, name string) error {
	claims := w.client.ResourceV1().ResourceClaims(namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		c, err := claims.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		c.Status = resourcev1.ResourceClaimStatus{}
		_, err = claims.UpdateStatus(ctx, c, metav1.UpdateOptions{})
		return err
	})
}
