package scenario

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// pod is the name of the pod of the number.
func (o *owners) pod(i int) string { return fmt.Sprintf("%s-%d", o.app, i) }

// start starts the pod of the number, without its claim. It goes where others do not.
func (o *owners) start(i int) *st.PodWrapper {
	return cluster.Pod(o.pod(i)).Label("app", o.app).Req(cluster.CPU("100m")).Tolerations([]corev1.Toleration{toDB})
}

// replaceDiskPod puts a pod in the place of the one of the number, if there is one,
// with the same claim, which may have a volume by now, or a new one.
func (c *churn) replaceDiskPod(ctx context.Context, i int, anew bool) error {
	if err := c.deletePod(ctx, c.disks.pod(i)); err != nil {
		return err
	}
	if anew {
		claims := c.Client.CoreV1().PersistentVolumeClaims(cluster.Namespace)
		if old := c.disks.claims[i]; old != "" {
			if err := claims.Delete(ctx, old, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		c.disks.claims[i] = c.name("claim")
		if _, err := claims.Create(ctx, cluster.Claim(c.disks.claims[i], fast).Obj(), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if _, err := c.recycle(ctx); err != nil {
		return err
	}
	return c.CreatePod(ctx, c.disks.start(i).PVC(c.disks.claims[i]).Obj())
}

// recycle puts new volumes in the place of those that were of claims that are gone. It
// returns those that are still of such a claim.
func (c *churn) recycle(ctx context.Context) (stale []string, err error) {
	claims, err := c.diskClaims(ctx)
	if err != nil {
		return nil, err
	}
	volumes := c.Client.CoreV1().PersistentVolumes()
	all, err := volumes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, v := range all.Items {
		switch {
		case v.Spec.ClaimRef == nil || v.DeletionTimestamp != nil:
			continue
		case claims[v.Spec.ClaimRef.UID] != nil:
			continue
		case v.Status.Phase != corev1.VolumeReleased:
			stale = append(stale, fmt.Sprintf("volume %s is %s for claim %s, which is gone", v.Name, v.Status.Phase, v.Spec.ClaimRef.Name))
			continue
		}
		if err := volumes.Delete(ctx, v.Name, metav1.DeleteOptions{}); err != nil {
			return nil, err
		}
		node := nodeOf(&v)
		if _, err := volumes.Create(ctx, cluster.LocalVolume(c.name("volume"), fast, node), metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	return stale, nil
}

// diskClaims are the claims to volumes, by UID; those that are going as well.
func (c *churn) diskClaims(ctx context.Context) (map[types.UID]*corev1.PersistentVolumeClaim, error) {
	all, err := c.Client.CoreV1().PersistentVolumeClaims(cluster.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	claims := map[types.UID]*corev1.PersistentVolumeClaim{}
	for i := range all.Items {
		claims[all.Items[i].UID] = &all.Items[i]
	}
	return claims, nil
}

// replaceDevicePod is replaceDiskPod for pods with devices.
func (c *churn) replaceDevicePod(ctx context.Context, i int, anew bool) error {
	if err := c.deletePod(ctx, c.devices.pod(i)); err != nil {
		return err
	}
	if anew {
		claims := c.Client.ResourceV1().ResourceClaims(cluster.Namespace)
		if old := c.devices.claims[i]; old != "" {
			if err := claims.Delete(ctx, old, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		c.devices.claims[i] = c.name("claim")
		if _, err := claims.Create(ctx, deviceRequest(c.devices.claims[i]).Request(anyGPU).Obj(), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	claim := corev1.PodResourceClaim{Name: "gpu", ResourceClaimName: &c.devices.claims[i]}
	return c.CreatePod(ctx, c.devices.start(i).PodResourceClaims(claim).Obj())
}
