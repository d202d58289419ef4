package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// ErrTrial is that a plugin writes to the cluster for a cycle that only tries something out.
var ErrTrial = errors.New("bridge: the plugin writes to the cluster in a cycle that only tries something out")

// guardedClient is the client of a plugin. What it asks for with the context of a call of
// PostFilter is the engine's to do: deletions of pods are evictions, and the status of pods is
// left alone, but for nominations. With that of Bind, a binding is the orchestrator's.
// Everything else goes through as it is.
type guardedClient struct {
	clientset.Interface
	h *handle
}

// CoreV1 implements [clientset.Interface].
func (g guardedClient) CoreV1() corev1.CoreV1Interface {
	return guardedCore{g.Interface.CoreV1(), g.h}
}

type guardedCore struct {
	corev1.CoreV1Interface
	h *handle
}

// Pods implements [corev1.CoreV1Interface].
func (g guardedCore) Pods(namespace string) corev1.PodInterface {
	return guardedPods{g.CoreV1Interface.Pods(namespace), g.h, namespace}
}

type guardedPods struct {
	corev1.PodInterface
	h         *handle
	namespace string
}

// bindingKey is the key of the binding in the context of a call of Bind.
type bindingKey struct{}

type binding struct {
	workload *model.Workload
	model.Binding
}

// makingRoom is the cycle in whose PostFilter the context was given; nil for none.
func makingRoom(ctx context.Context) *cycle {
	if c := cycleOf(ctx); c != nil && c.making.Load() {
		return c
	}
	return nil
}

// tries is an error where the context is that of a cycle that only tries something out.
func tries(ctx context.Context) error {
	if c := cycleOf(ctx); c != nil && c.trying() {
		return ErrTrial
	}
	return nil
}

// Delete implements [corev1.PodInterface].
func (g guardedPods) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	c := makingRoom(ctx)
	if c == nil {
		if err := tries(ctx); err != nil {
			return err
		}
		return g.PodInterface.Delete(ctx, name, o)
	}
	w, node := c.find(g.namespace, name)
	if w == nil {
		return apierrors.NewNotFound(v1.Resource("pods"), name)
	}
	if !w.Terminating {
		s := c.ours.Load()
		s.Evict(w.ID, fmt.Sprintf("preempted by workload %s on node %s", c.workload.ID, node))
		s.AwaitEvictions()
	}
	return nil
}

// is reports whether the workload is the pod.
func (r *root) is(w *extpoints.WorkloadInfo, namespace, name string) bool {
	return w.Namespace == namespace && r.host.opts.Objects.pod(w.Workload).pod().Name == name
}

// find is the workload on a node that is the pod, nil where there is none.
func (r *root) find(namespace, name string) (*extpoints.WorkloadInfo, string) {
	nodes := r.view.Nodes()
	for i := range nodes.Len() {
		n := nodes.At(i)
		for _, w := range n.Workloads {
			if r.is(w, namespace, name) {
				return w, n.Node.Name
			}
		}
	}
	return nil, ""
}

// nominated is the workload that is nominated to some node and is the pod, nil where there is
// none.
func (r *root) nominated(namespace, name string) *extpoints.WorkloadInfo {
	nodes := r.view.Nodes()
	for i := range nodes.Len() {
		for _, w := range r.view.Nominated(nodes.At(i).Node.Name) {
			if r.is(w, namespace, name) {
				return w
			}
		}
	}
	return nil
}

// Patch implements [corev1.PodInterface].
func (g guardedPods) Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, subresources ...string) (*v1.Pod, error) {
	c := makingRoom(ctx)
	if c == nil || len(subresources) != 1 || subresources[0] != "status" {
		if err := tries(ctx); err != nil {
			return nil, err
		}
		return g.PodInterface.Patch(ctx, name, t, data, o, subresources...)
	}
	var patch struct {
		Status map[string]any `json:"status"`
	}
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, fmt.Errorf("bridge: patch of the status of pod %s/%s: %w", g.namespace, name, err)
	}
	if node, says := patch.Status["nominatedNodeName"]; says && (node == nil || node == "") {
		if w := c.nominated(g.namespace, name); w != nil {
			c.ours.Load().Unnominate(w.ID)
		}
	}
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: name}}, nil
}

// Bind implements [corev1.PodExpansion].
func (g guardedPods) Bind(ctx context.Context, b *v1.Binding, o metav1.CreateOptions) error {
	if own, ok := ctx.Value(bindingKey{}).(*binding); ok && own.Node == b.Target.Name && (b.UID == "" || string(b.UID) == own.Workload) {
		return g.h.ours.Orchestrator().Bind(ctx, own.workload, own.Binding)
	}
	if err := tries(ctx); err != nil {
		return err
	}
	return g.PodInterface.Bind(ctx, b, o)
}

// refuseTrials refuses requests that change something, with the context of a cycle that only
// tries something out. It is for the clients that plugins make themselves.
func refuseTrials(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if err := tries(r.Context()); err != nil {
				return nil, err
			}
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// recorder is the recorder of a plugin. That a pod is displaced is written by the adapter,
// when it is; what is said while something is only tried out, by nobody.
type recorder struct {
	events.EventRecorderLogger
	host *Host
}

// Eventf implements [events.EventRecorder].
func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if reason == "Preempted" || r.host.inTrial() {
		return
	}
	r.EventRecorderLogger.Eventf(regarding, related, kind, reason, action, note, args...)
}

// WithLogger implements [events.EventRecorderLogger].
func (r recorder) WithLogger(logger klog.Logger) events.EventRecorderLogger {
	return recorder{r.EventRecorderLogger.WithLogger(logger), r.host}
}
