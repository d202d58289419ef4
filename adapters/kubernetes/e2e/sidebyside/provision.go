package sidebyside

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// provisioners is how many volumes are made at a time.
const provisioners = 8

// selectedNode is the annotation by which a scheduler says where a claim's volume is
// to be made.
const selectedNode = "volume.kubernetes.io/selected-node"

// provision stands for a CSI driver's provisioner and the controller of volumes: for
// each claim with a node it makes a volume, and binds the two.
func provision(ctx context.Context, r *run) error {
	group, inner := errgroup.WithContext(ctx)
	chosen := make(chan *corev1.PersistentVolumeClaim, r.counts.Measured)
	factory := informers.NewSharedInformerFactory(r.client, 0)
	_, err := factory.Core().V1().PersistentVolumeClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, now any) {
			old, claim := before.(*corev1.PersistentVolumeClaim), now.(*corev1.PersistentVolumeClaim)
			if old.Annotations[selectedNode] == "" && claim.Annotations[selectedNode] != "" {
				select {
				case chosen <- claim:
				case <-inner.Done():
				}
			}
		},
	})
	if err != nil {
		return err
	}
	factory.StartWithContext(inner)
	defer factory.Shutdown() // the context ends when the group has
	for range provisioners {
		group.Go(func() error {
			for {
				select {
				case <-inner.Done():
					return nil
				case claim := <-chosen:
					if err := bindToNew(inner, r.client, claim.DeepCopy()); err != nil && inner.Err() == nil {
						return fmt.Errorf("the volume of claim %s: %w", claim.Name, err)
					}
				}
			}
		})
	}
	return group.Wait()
}

// bindToNew makes a volume on the claim's node.
func bindToNew(ctx context.Context, client kubernetes.Interface, claim *corev1.PersistentVolumeClaim) error {
	volume := cluster.Volume("made-for-"+claim.Name, byNode, ebs).NodeAffinityIn(cluster.Hostname, []string{claim.Annotations[selectedNode]}).Obj()
	volume.Spec.ClaimRef = cluster.ClaimRef(claim.Name)
	volume.Spec.ClaimRef.UID = claim.UID
	if _, err := client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
		return err
	}
	bound := cluster.BoundClaim(volume)
	claim.Spec.VolumeName = volume.Name
	for k, v := range bound.Annotations {
		claim.Annotations[k] = v
	}
	claims := client.CoreV1().PersistentVolumeClaims(claim.Namespace)
	claim, err := claims.Update(ctx, claim, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	claim.Status = bound.Status
	_, err = claims.UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}
