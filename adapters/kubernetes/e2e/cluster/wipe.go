package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
)

var podGroups = schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1beta1", Resource: "podgroups"}

// wiped is what tests make, owners before what they own.
var wiped = []schema.GroupVersionResource{
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Version: "v1", Resource: "replicationcontrollers"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "pods"},
	{Group: "scheduling.k8s.io", Version: "v1beta1", Resource: "workloads"},
	podGroups,
	{Group: "scheduling.k8s.io", Version: "v1alpha3", Resource: "compositepodgroups"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
	{Version: "v1", Resource: "persistentvolumeclaims"},
	{Version: "v1", Resource: "persistentvolumes"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "csistoragecapacities"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattachments"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaimtemplates"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceslices"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses"},
	{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"},
	{Version: "v1", Resource: "nodes"},
	{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	{Group: "events.k8s.io", Version: "v1", Resource: "events"},
}

// wipeClients is how many deletions there are at a time.
const wipeClients = 16

// Wipe deletes all that tests make, in all namespaces, and the namespaces that they
// made, and returns when the informers have seen that it is gone. Nobody may make
// anything meanwhile. Finalizers are taken off: nobody else would.
func (c *Cluster) Wipe(ctx context.Context) error {
	for _, resource := range wiped {
		if err := c.wipe(ctx, resource); err != nil {
			return fmt.Errorf("cannot delete %s: %w", resource.Resource, err)
		}
	}
	if err := c.wipeNamespaces(ctx); err != nil {
		return fmt.Errorf("cannot delete namespaces: %w", err)
	}
	return c.await(ctx, c.empty)
}

func (c *Cluster) wipe(ctx context.Context, resource schema.GroupVersionResource) error {
	all, err := c.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil // not served
	} else if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(wipeClients)
	for i := range all.Items {
		if item := &all.Items[i]; !permanent(item) {
			group.Go(func() error {
				return c.remove(ctx, c.dynamic.Resource(resource).Namespace(item.GetNamespace()), item)
			})
		}
	}
	return group.Wait()
}

// Versions is the version of everything that tests make, by kind, namespace and name:
// what has changed has another.
func (c *Cluster) Versions(ctx context.Context) (map[string]string, error) {
	versions := map[string]string{}
	for _, resource := range wiped {
		all, err := c.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // not served
		} else if err != nil {
			return nil, err
		}
		for _, item := range all.Items {
			if !permanent(&item) {
				versions[item.GetKind()+" "+item.GetNamespace()+"/"+item.GetName()] = item.GetResourceVersion()
			}
		}
	}
	return versions, nil
}

// permanent reports whether the API server has made the object, for itself.
func permanent(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case "PriorityClass":
		return strings.HasPrefix(o.GetName(), "system-")
	case "Service":
		return o.GetName() == "kubernetes"
	case "Lease":
		return strings.HasPrefix(o.GetName(), "apiserver-")
	}
	return false
}

func (c *Cluster) remove(ctx context.Context, resource dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	if len(o.GetFinalizers()) > 0 {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, err := resource.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	err := resource.Delete(ctx, o.GetName(), metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		// Replication controllers would wait until somebody has told their pods.
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// wipeNamespaces deletes the namespaces that are not the API server's own, and does
// the namespace controller's part, which is to say that they are empty.
func (c *Cluster) wipeNamespaces(ctx context.Context) error {
	namespaces := c.Client.CoreV1().Namespaces()
	all, err := namespaces.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, n := range all.Items {
		if n.Name == Namespace || strings.HasPrefix(n.Name, "kube-") {
			continue
		}
		deleted := namespaces.Delete(ctx, n.Name, metav1.DeleteOptions{})
		n.Spec.Finalizers, n.ResourceVersion = nil, ""
		_, finalized := namespaces.Finalize(ctx, &n, metav1.UpdateOptions{})
		if err := errors.Join(ignoreNotFound(deleted), ignoreNotFound(finalized)); err != nil {
			return err
		}
	}
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// empty checks that the informers have none of what the waits look at.
func (c *Cluster) empty() error {
	pods, err := c.informers.Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	nodes, err := c.informers.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	events, err := c.informers.Events().V1().Events().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	claims, err := c.informers.Core().V1().PersistentVolumeClaims().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	if n := len(pods) + len(nodes) + len(events) + len(claims); n > 0 {
		return fmt.Errorf("there are still %d pods, %d nodes, %d events and %d claims", len(pods), len(nodes), len(events), len(claims))
	}
	return nil
}

// OtherNamespace is a namespace with labels.
func OtherNamespace(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}
