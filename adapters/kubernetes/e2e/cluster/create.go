package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// Create creates the objects, one after the other, in the order given. Nodes keep
// the status that they have; others have none yet.
func (c *Cluster) Create(t testing.TB, objects ...runtime.Object) {
	t.Helper()
	for _, o := range objects {
		if pod, ok := o.(*corev1.Pod); ok {
			complete(pod)
		}
		u, resource := c.generic(t, o)
		create := func(ctx context.Context) (bool, error) {
			_, err := resource.Create(ctx, u, metav1.CreateOptions{})
			return !classUnseen(err), err
		}
		if err := settled(t.Context(), create); err != nil {
			t.Fatalf("create %s %s: %v", u.GetKind(), u.GetName(), err)
		}
	}
}

// classUnseen reports whether the API server has not seen the priority class of a pod
// yet: it admits pods by a watch of its own, which may be behind.
func classUnseen(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "no PriorityClass with name")
}

// settled calls f until it says that its error counts, for ten seconds at most.
func settled(ctx context.Context, f func(context.Context) (settled bool, err error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		var done bool
		done, last = f(ctx)
		return done, nil
	})
	return cmp.Or(last, err)
}

// UpdateStatus writes the status of an object that is there. Only the name and the
// status of what is given count.
func (c *Cluster) UpdateStatus(t testing.TB, o runtime.Object) {
	t.Helper()
	u, resource := c.generic(t, o)
	current, err := resource.Get(t.Context(), u.GetName(), metav1.GetOptions{})
	if err == nil {
		current.Object["status"] = u.Object["status"]
		_, err = resource.UpdateStatus(t.Context(), current, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatalf("update status of %s %s: %v", u.GetKind(), u.GetName(), err)
	}
}

// Delete deletes the objects at once, without waiting until they are gone.
func (c *Cluster) Delete(t testing.TB, objects ...runtime.Object) {
	t.Helper()
	for _, o := range objects {
		u, resource := c.generic(t, o)
		if err := resource.Delete(t.Context(), u.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatalf("delete %s %s: %v", u.GetKind(), u.GetName(), err)
		}
	}
}

// generic is the object and its resource for the client that knows no types.
func (c *Cluster) generic(t testing.TB, o runtime.Object) (*unstructured.Unstructured, dynamic.ResourceInterface) {
	t.Helper()
	u, resource, err := c.untyped(o)
	if err != nil {
		t.Fatal(err)
	}
	return u, resource
}

func (c *Cluster) untyped(o runtime.Object) (*unstructured.Unstructured, dynamic.ResourceInterface, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		return nil, nil, fmt.Errorf("%T: %w", o, err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, nil, fmt.Errorf("%T: %w", o, err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(kinds[0])
	return u, c.resource(kinds[0], u.GetNamespace()), nil
}

// resource is where objects of the kind are. The plural is guessed by the rules of
// English, which hold for every kind that tests make.
func (c *Cluster) resource(kind schema.GroupVersionKind, namespace string) dynamic.ResourceInterface {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	if namespace == "" {
		return c.dynamic.Resource(plural)
	}
	return c.dynamic.Resource(plural).Namespace(namespace)
}

// UpdateNode changes a node by the function, and its status as well.
func (c *Cluster) UpdateNode(t testing.TB, name string, change func(*corev1.Node)) {
	t.Helper()
	nodes := c.Client.CoreV1().Nodes()
	node, err := nodes.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("get node %s: %v", name, err)
	}
	change(node)
	status := node.Status
	if node, err = nodes.Update(t.Context(), node, metav1.UpdateOptions{}); err == nil {
		node.Status = status
		_, err = nodes.UpdateStatus(t.Context(), node, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatalf("update node %s: %v", name, err)
	}
}

// UpdatePod changes a pod of [Namespace] by the function, within what the API
// server lets be changed.
func (c *Cluster) UpdatePod(t testing.TB, name string, change func(*corev1.Pod)) {
	t.Helper()
	pods := c.Client.CoreV1().Pods(Namespace)
	pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	if err == nil {
		change(pod)
		_, err = pods.Update(t.Context(), pod, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatalf("update pod %s: %v", name, err)
	}
}

// UpdateGroup changes a pod group of [Namespace] by the function, within what the API
// server lets be changed.
func (c *Cluster) UpdateGroup(t testing.TB, name string, change func(*schedulingv1beta1.PodGroup)) {
	t.Helper()
	groups := c.Client.SchedulingV1beta1().PodGroups(Namespace)
	group, err := groups.Get(t.Context(), name, metav1.GetOptions{})
	if err == nil {
		change(group)
		_, err = groups.Update(t.Context(), group, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatalf("update pod group %s: %v", name, err)
	}
}

// CreatePod creates a pod. It may be called outside a test.
func (c *Cluster) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	complete(pod)
	_, err := c.Client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// CreatePods creates n pods, each made by the function, with several clients at
// once. It may be called outside a test; the error is the first one.
func (c *Cluster) CreatePods(ctx context.Context, n, clients int, build func(i int) *corev1.Pod) error {
	return c.many(ctx, n, clients, func(ctx context.Context, client kubernetes.Interface, i int) error {
		pod := build(i)
		complete(pod)
		_, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// CreateNodes creates n nodes as CreatePods does pods.
func (c *Cluster) CreateNodes(ctx context.Context, n, clients int, build func(i int) *corev1.Node) error {
	return c.many(ctx, n, clients, func(ctx context.Context, client kubernetes.Interface, i int) error {
		_, err := client.CoreV1().Nodes().Create(ctx, build(i), metav1.CreateOptions{})
		return err
	})
}

// CreateObjects creates the objects in any order, so many at a time, each with the
// status that it has. It may be called outside a test; the error is the first one.
func (c *Cluster) CreateObjects(ctx context.Context, atATime int, objects []runtime.Object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for _, o := range objects {
		group.Go(func() error { return c.createWithStatus(ctx, o) })
	}
	return group.Wait()
}

func (c *Cluster) createWithStatus(ctx context.Context, o runtime.Object) error {
	u, resource, err := c.untyped(o)
	if err != nil {
		return err
	}
	created, err := resource.Create(ctx, u, metav1.CreateOptions{})
	if status, _ := u.Object["status"].(map[string]any); err == nil && len(status) > 0 {
		created.Object["status"] = status // which creation drops
		_, err = resource.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("create %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// many does n things with several clients, each of which does every so manieth.
func (c *Cluster) many(ctx context.Context, n, count int, do func(context.Context, kubernetes.Interface, int) error) error {
	clients, err := c.clients(count)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for first, client := range clients {
		group.Go(func() error {
			for i := first; i < n; i += count {
				if err := do(ctx, client, i); err != nil {
					return fmt.Errorf("number %d of %d: %w", i, n, err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}
