package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// Patience is how long a wait waits. What is waited for takes a second as a rule,
// and a pod that was tried several times is tried again after ten; the rest is for
// machines that are busy.
const Patience = 60 * time.Second

// settle is how long after a change a wait looks again, so that thousands of
// changes do not make it look thousands of times.
const settle = 5 * time.Millisecond

// Await waits until the check passes, which is made again after every change that an
// informer has seen. The check says what is missing.
func (c *Cluster) Await(t testing.TB, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), Patience, fmt.Errorf("not within %v", Patience))
	defer cancel()
	if err := c.await(ctx, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (c *Cluster) await(ctx context.Context, check func() error) error {
	for {
		change := c.changes.after()
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		select {
		case <-time.After(settle):
		case <-ctx.Done():
		}
	}
}

// Pod is the pod of [Namespace] as the informer has it.
func (c *Cluster) pod(name string) (*corev1.Pod, error) {
	return c.informers.Core().V1().Pods().Lister().Pods(Namespace).Get(name)
}

// AwaitPod waits until the pod of [Namespace] is as the check wants it, and returns
// it. The check is not called before the pod is there.
func (c *Cluster) AwaitPod(t testing.TB, name, what string, check func(*corev1.Pod) error) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	c.Await(t, "pod "+name+" "+what, func() error {
		var err error
		if pod, err = c.pod(name); err != nil {
			return err
		}
		return check(pod)
	})
	return pod
}

// Bound waits until the pod is on a node, and returns the node's name.
func (c *Cluster) Bound(t testing.TB, name string) string {
	t.Helper()
	return c.AwaitPod(t, name, "gets a node", func(p *corev1.Pod) error {
		if p.Spec.NodeName == "" {
			return fmt.Errorf("it has none: %s", condition(p, corev1.PodScheduled))
		}
		return nil
	}).Spec.NodeName
}

// BoundTo waits until the pod is on a node, which must be the wanted one.
func (c *Cluster) BoundTo(t testing.TB, name, node string) {
	t.Helper()
	if got := c.Bound(t, name); got != node {
		t.Fatalf("pod %s is on node %s, want %s", name, got, node)
	}
}

// AllBound waits until there are n pods with the label app, all on nodes, and
// returns how many there are on each.
func (c *Cluster) AllBound(t testing.TB, app string, n int) map[string]int {
	t.Helper()
	var nodes map[string]int
	selector := labels.SelectorFromSet(labels.Set{"app": app})
	c.Await(t, fmt.Sprintf("%d pods of %s get nodes", n, app), func() error {
		pods, err := c.informers.Core().V1().Pods().Lister().List(selector)
		if err != nil {
			return err
		}
		nodes = map[string]int{}
		bound := 0
		for _, p := range pods {
			if p.Spec.NodeName != "" {
				nodes[p.Spec.NodeName]++
				bound++
			}
		}
		if bound != n || len(pods) != n {
			return fmt.Errorf("there are %d, and %d of them have one", len(pods), bound)
		}
		return nil
	})
	return nodes
}

// SomeBound waits until at least n pods with the label app are on nodes.
func (c *Cluster) SomeBound(t testing.TB, app string, n int) {
	t.Helper()
	selector := labels.SelectorFromSet(labels.Set{"app": app})
	c.Await(t, fmt.Sprintf("%d pods of %s get nodes", n, app), func() error {
		pods, err := c.informers.Core().V1().Pods().Lister().List(selector)
		if err != nil {
			return err
		}
		bound := 0
		for _, p := range pods {
			if p.Spec.NodeName != "" {
				bound++
			}
		}
		if bound < n {
			return fmt.Errorf("%d have", bound)
		}
		return nil
	})
}

// NotBound checks that the pod has no node now.
func (c *Cluster) NotBound(t testing.TB, name string) {
	t.Helper()
	pod, err := c.pod(name)
	if err != nil {
		t.Fatalf("pod %s: %v", name, err)
	}
	if pod.Spec.NodeName != "" {
		t.Fatalf("pod %s is on node %s, want none", name, pod.Spec.NodeName)
	}
}

// Unschedulable waits until the pod's condition says that it cannot be scheduled, in
// exactly these words, and until the event that says so is there.
func (c *Cluster) Unschedulable(t testing.TB, name, message string) {
	t.Helper()
	c.Condition(t, name, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, message)
	c.NotBound(t, name)
	c.Event(t, name, Event{Type: corev1.EventTypeWarning, Reason: "FailedScheduling", Action: "Scheduling", Note: message})
}

// Condition waits until the pod has the condition; the message is exact.
func (c *Cluster) Condition(t testing.TB, name string, kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) {
	t.Helper()
	want := corev1.PodCondition{Type: kind, Status: status, Reason: reason, Message: message}
	c.AwaitPod(t, name, "gets the condition "+text(want), func(p *corev1.Pod) error {
		if got := condition(p, kind); got != text(want) {
			return fmt.Errorf("it has %s", got)
		}
		return nil
	})
}

// condition is the pod's condition of the type, for people.
func condition(p *corev1.Pod, kind corev1.PodConditionType) string {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return text(c)
		}
	}
	return "no condition " + string(kind)
}

func text(c corev1.PodCondition) string {
	return fmt.Sprintf("%s=%s %s %q", c.Type, c.Status, c.Reason, c.Message)
}

// Event is what a test wants to read in an event. Note may be a part of the note.
type Event struct {
	Type, Reason, Action, Note string // Type is Normal or Warning; all but Note must be equal
}

// Event waits until there is such an event about the pod, which may be gone by now,
// and returns it.
func (c *Cluster) Event(t testing.TB, pod string, want Event) *eventsv1.Event {
	t.Helper()
	var found *eventsv1.Event
	c.Await(t, fmt.Sprintf("event about pod %s: %+v", pod, want), func() error {
		var others []string
		all, err := c.informers.Events().V1().Events().Lister().Events(Namespace).List(labels.Everything())
		if err != nil {
			return err
		}
		for _, e := range all {
			if e.Regarding.Kind != "Pod" || e.Regarding.Name != pod {
				continue
			}
			if e.Type == want.Type && e.Reason == want.Reason && e.Action == want.Action && strings.Contains(e.Note, want.Note) {
				found = e
				return nil
			}
			others = append(others, fmt.Sprintf("%s %s %s %q", e.Type, e.Reason, e.Action, e.Note))
		}
		return fmt.Errorf("there are %q", others)
	})
	return found
}

// Gone waits until there is no such pod in [Namespace].
func (c *Cluster) Gone(t testing.TB, name string) {
	t.Helper()
	c.Await(t, "pod "+name+" goes", func() error {
		if _, err := c.pod(name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there (error %v)", err) //nolint:errorlint // It may be nil.
		}
		return nil
	})
}

// Nominated waits until the pod is to get room on a node, and returns the node's
// name.
func (c *Cluster) Nominated(t testing.TB, name string) string {
	t.Helper()
	return c.AwaitPod(t, name, "is nominated", func(p *corev1.Pod) error {
		if p.Status.NominatedNodeName == "" {
			return fmt.Errorf("it is for no node: %s", condition(p, corev1.PodScheduled))
		}
		return nil
	}).Status.NominatedNodeName
}

// AwaitClaim waits until the claim to a volume is as the check wants it, and returns
// it.
func (c *Cluster) AwaitClaim(t testing.TB, name, what string, check func(*corev1.PersistentVolumeClaim) error) *corev1.PersistentVolumeClaim {
	t.Helper()
	var claim *corev1.PersistentVolumeClaim
	c.Await(t, "claim "+name+" "+what, func() error {
		var err error
		if claim, err = c.informers.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(Namespace).Get(name); err != nil {
			return err
		}
		return check(claim)
	})
	return claim
}

// AwaitDevices waits until the claim to devices is as the check wants it, and
// returns it.
func (c *Cluster) AwaitDevices(t testing.TB, name, what string, check func(*resourcev1.ResourceClaim) error) *resourcev1.ResourceClaim {
	t.Helper()
	var claim *resourcev1.ResourceClaim
	c.Await(t, "claim to devices "+name+" "+what, func() error {
		var err error
		if claim, err = c.informers.Resource().V1().ResourceClaims().Lister().ResourceClaims(Namespace).Get(name); err != nil {
			return err
		}
		return check(claim)
	})
	return claim
}

// AwaitGroup waits until the pod group has the condition.
func (c *Cluster) AwaitGroup(t testing.TB, name string, want metav1.Condition) {
	t.Helper()
	c.Await(t, fmt.Sprintf("pod group %s gets %s=%s %s %q", name, want.Type, want.Status, want.Reason, want.Message), func() error {
		group, err := c.informers.Scheduling().V1beta1().PodGroups().Lister().PodGroups(Namespace).Get(name)
		if err != nil {
			return err
		}
		got := meta.FindStatusCondition(group.Status.Conditions, want.Type)
		if got == nil || got.Status != want.Status || got.Reason != want.Reason || got.Message != want.Message {
			return fmt.Errorf("it has %+v", got)
		}
		return nil
	})
}

// AwaitLease waits until the lease is as the check wants it, which is told who holds
// it; the name is empty if nobody does.
func (c *Cluster) AwaitLease(t testing.TB, namespace, name, what string, check func(holder string) error) {
	t.Helper()
	c.Await(t, "lease "+name+" "+what, func() error {
		lease, err := c.informers.Coordination().V1().Leases().Lister().Leases(namespace).Get(name)
		if err != nil {
			return err
		}
		return check(ptr.Deref(lease.Spec.HolderIdentity, ""))
	})
}
