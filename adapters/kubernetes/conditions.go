package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// setCondition puts the condition into the status of the pod, and reports whether
// that changes it. A condition whose status stays keeps its transition time.
//
// Rules: kubernetes pkg/api/v1/pod/util.go UpdatePodCondition, 1.37.1.
func setCondition(s *v1.PodStatus, p *v1.Pod, c v1.PodCondition) bool {
	c.ObservedGeneration = p.Generation
	c.LastTransitionTime = metav1.Now()
	for i := range s.Conditions {
		old := &s.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		same := old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message
		*old = c
		return !same
	}
	s.Conditions = append(s.Conditions, c)
	return true
}

// patchStatus changes the status of the pod, if change says of the pod as it is now that there is
// something to change. The UID is sent along: another pod with the name is left alone. That is not
// found, as where there is no pod.
func (a *Adapter) patchStatus(ctx context.Context, p *v1.Pod, change func(now *v1.Pod, s *v1.PodStatus) bool) error {
	pods := a.opts.Client.CoreV1().Pods(p.Namespace)
	_, err := rewrite(ctx, a.lately.pods.newest(p),
		func(ctx context.Context) (*v1.Pod, error) { return pods.Get(ctx, p.Name, metav1.GetOptions{}) },
		func(ctx context.Context, now *v1.Pod) (*v1.Pod, error) {
			if now.UID != p.UID {
				return now, apierrors.NewNotFound(v1.Resource("pods"), p.Name)
			}
			status := now.Status.DeepCopy()
			if !change(now, status) {
				return now, nil
			}
			patch, err := statusPatch(now.UID, v1.Pod{Status: now.Status}, v1.Pod{Status: *status})
			if err != nil {
				return now, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
			}
			is, err := pods.Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
			if err == nil {
				a.lately.pods.wrote(is)
			}
			return is, err
		})
	return err
}

// statusPatch is what makes one object of the other, for the object of the UID.
func statusPatch[T any](id types.UID, before, after T) ([]byte, error) {
	patch, err := mergePatch(before, after)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, err
	}
	fields["metadata"] = map[string]any{"uid": id}
	return json.Marshal(fields)
}

// mergePatch is what makes one object of the other.
func mergePatch[T any](before, after T) ([]byte, error) {
	was, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	is, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(was, is, before)
}
