package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Wait is [Cluster.Await] for who is not on a test's own goroutine: the error says
// what is missing.
func (c *Cluster) Wait(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, fmt.Errorf("not within %v", Patience))
	defer cancel()
	return c.await(ctx, check)
}

// PodIn is the pod of the namespace as the informer has it.
func (c *Cluster) PodIn(namespace, name string) (*corev1.Pod, error) {
	return c.informers.Core().V1().Pods().Lister().Pods(namespace).Get(name)
}

// EventsAbout lists the events about the pod of the namespace that the informer has,
// oldest first.
func (c *Cluster) EventsAbout(namespace, pod string) ([]*eventsv1.Event, error) {
	all, err := c.informers.Events().V1().Events().Lister().Events(namespace).List(labels.Everything())
	if err != nil {
		return nil, err
	}
	about := slices.DeleteFunc(all, func(e *eventsv1.Event) bool { return e.Regarding.Kind != "Pod" || e.Regarding.Name != pod })
	slices.SortFunc(about, func(a, b *eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	return about, nil
}
