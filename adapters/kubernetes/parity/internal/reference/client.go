package reference

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// client is a client of an API server that has no server: the few requests that
// kube-scheduler makes are answered from the scheduler's own objects, and any
// other fails. Requests come from kube-scheduler's goroutines too, which are
// waited for, so that none is under way while somebody else touches the objects.
type client struct {
	clientset.Interface // answers nothing
	s                   *Scheduler
}

func (s *Scheduler) newClient() clientset.Interface {
	nothing := fake.NewSimpleClientset()
	nothing.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, fmt.Errorf("reference: a request that it has no answer to: %s %s", a.GetVerb(), a.GetResource().Resource)
	})
	return client{nothing, s}
}

// CoreV1 implements [clientset.Interface].
func (c client) CoreV1() corev1.CoreV1Interface { return core{c.Interface.CoreV1(), c.s} }

type core struct {
	corev1.CoreV1Interface
	s *Scheduler
}

// Pods implements [corev1.CoreV1Interface].
func (c core) Pods(namespace string) corev1.PodInterface {
	return pods{c.CoreV1Interface.Pods(namespace), c.s, namespace}
}

type pods struct {
	corev1.PodInterface
	s         *Scheduler
	namespace string
}

// Bind implements [corev1.PodInterface].
func (p pods) Bind(_ context.Context, b *v1.Binding, _ metav1.CreateOptions) error {
	p.s.settle(b.UID, outcome{node: b.Target.Name})
	return nil
}

// Patch implements [corev1.PodInterface].
func (p pods) Patch(_ context.Context, name string, _ types.PatchType, patch []byte, _ metav1.PatchOptions, _ ...string) (*v1.Pod, error) {
	return p.s.patchPod(p.namespace, name, patch)
}

// Delete implements [corev1.PodInterface].
func (p pods) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	return p.s.deletePod(p.namespace, name)
}

// pod returns the stored pod of the namespace and name.
func (s *Scheduler) pod(namespace, name string) (*v1.Pod, error) {
	stored := s.informer(&v1.Pod{}).get(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	if stored == nil {
		return nil, fmt.Errorf("reference: there is no pod %s/%s", namespace, name)
	}
	return stored.(*v1.Pod), nil
}

// awaitTurn lets a request about another pod than the cycle's wait until the
// cycle is over.
func (s *Scheduler) awaitTurn(name string) {
	if !s.cycle.has(name) {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
}

// patchPod changes a pod's status; the handlers are told later.
func (s *Scheduler) patchPod(namespace, name string, patch []byte) (*v1.Pod, error) {
	s.awaitTurn(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.pod(namespace, name)
	if err != nil {
		return nil, err
	}
	changed := old.DeepCopy()
	if err := patched(changed, patch); err != nil {
		return nil, err
	}
	pod := old.DeepCopy()
	// Times keep their full precision, and the spec its nils.
	pod.Status.Conditions = precise(changed.Status.Conditions, old)
	pod.Status.NominatedNodeName = changed.Status.NominatedNodeName
	s.later(pod)
	return pod, nil
}

// precise gives the conditions the times that the pod had for them: as text they are whole
// seconds, and what goes by when the pod was scheduled would see it move.
func precise(conditions []v1.PodCondition, old *v1.Pod) []v1.PodCondition {
	for i := range conditions {
		c := &conditions[i]
		if _, was := podutil.GetPodCondition(&old.Status, c.Type); was != nil && was.Status == c.Status {
			c.LastTransitionTime = was.LastTransitionTime
		}
	}
	return conditions
}

// deletePod begins the graceful deletion of a pod: it stays until its node has
// ended it, that is until [Scheduler.Delete].
func (s *Scheduler) deletePod(namespace, name string) error {
	s.awaitTurn(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.pod(namespace, name)
	if err != nil {
		return err
	}
	pod := old.DeepCopy()
	pod.DeletionTimestamp = &metav1.Time{Time: s.Clock.set()}
	s.victims = append(s.victims, string(pod.UID))
	s.later(pod)
	return nil
}
