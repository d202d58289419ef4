package placements

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// pods are where the pod is.
func (s *side) pods(pod *corev1.Pod) typedcorev1.PodInterface {
	return s.cluster.Client.CoreV1().Pods(pod.Namespace)
}

// remove takes a pod away at once.
func (s *side) remove(ctx context.Context, pod *corev1.Pod) error {
	return s.pods(pod).Delete(ctx, pod.Name, atOnce)
}

// decided waits until the pod has a node, or a condition that says why it has none.
func (s *side) decided(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	var now *corev1.Pod
	err := s.cluster.Wait(ctx, func() (err error) {
		if now, err = s.cluster.PodIn(pod.Namespace, pod.Name); err != nil {
			return err
		}
		if now.Spec.NodeName == "" && condition(now).Status != corev1.ConditionFalse {
			return fmt.Errorf("nobody has decided about pod %s", pod.Name)
		}
		return nil
	})
	return now, err
}

// condition says whether the pod was given a node, and why not.
func condition(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c
		}
	}
	return corev1.PodCondition{}
}

// failure waits for the event that says why the pod has no node, and returns the first
// note.
func (s *side) failure(ctx context.Context, pod *corev1.Pod) (string, error) {
	note := ""
	err := s.cluster.Wait(ctx, func() error {
		all, err := s.cluster.EventsAbout(pod.Namespace, pod.Name)
		if err != nil {
			return err
		}
		for _, e := range all {
			if e.Reason == "FailedScheduling" && e.Type == corev1.EventTypeWarning && e.Action == "Scheduling" {
				note = e.Note
				return nil
			}
		}
		return errors.New("there is no event about pod " + pod.Name)
	})
	return note, err
}
