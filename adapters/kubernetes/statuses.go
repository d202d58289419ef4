package kubernetes

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// statusWriters is how many statuses are written at once.
const statusWriters = 4

// statuses writes the status of pods and groups that are not placed, side by side
// and after what is decided next: of several changes for one object only the last is
// written. Its methods may be called on any goroutine and do not block, forget apart.
type statuses struct {
	a  *Adapter
	mu sync.Mutex
	// wants are the changes that wait, order the keys of those in the order in
	// which they came, and writing those that are under way; its channel is closed
	// at the end of the write.
	wants   map[string]*want
	order   []string
	writing map[string]chan struct{}
	wake    chan struct{} // holds at most one
}

// want is a status that an object is to have.
type want struct {
	namespace, name string
	uid             types.UID

	condition *v1.PodCondition // nil: as it is
	waiting   bool             // only if the pod still waits when it is written, see [Adapter.waits]
	nominated *string          // nil: as it is

	group *metav1.Condition // of a group, where it is one
}

func newStatuses(a *Adapter) *statuses {
	return &statuses{a: a, wants: map[string]*want{}, writing: map[string]chan struct{}{}, wake: make(chan struct{}, 1)}
}

// put asks for a status. What was asked for before, and is not written yet, stays
// where w does not say otherwise.
func (s *statuses) put(key string, w *want) {
	s.a.opts.Meter.Queued("status")
	s.mu.Lock()
	if before := s.wants[key]; before == nil {
		s.order = append(s.order, key)
	} else {
		s.a.opts.Meter.Merged("status")
		if before.group != nil && before.group.Status == metav1.ConditionTrue {
			w.group = before.group // it is not taken back, see patchGroup
		}
		if w.condition == nil {
			w.condition = before.condition
		}
		if w.nominated == nil {
			w.nominated = before.nominated
		}
	}
	s.wants[key] = w
	s.mu.Unlock()
	poke(s.wake)
}

// forget drops what is to be written about the object, and waits for what is being
// written: it must not come after what the caller is about to write.
func (s *statuses) forget(ctx context.Context, key string) {
	s.mu.Lock()
	if s.wants[key] != nil {
		s.a.opts.Meter.Merged("status")
	}
	delete(s.wants, key) // its place in the order is passed over
	done := s.writing[key]
	s.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// next takes out what is to be written next, nil where there is nothing. An object
// that is being written waits for its turn.
func (s *statuses) next() (key string, w *want) {
	s.mu.Lock()
	defer s.mu.Unlock()
	later := s.order[:0]
	for i, k := range s.order {
		if s.wants[k] == nil {
			continue // forgotten, or taken already
		}
		if s.writing[k] != nil {
			later = append(later, k)
			continue
		}
		key, w = k, s.wants[k]
		later = append(later, s.order[i+1:]...)
		break
	}
	s.order = later
	if w != nil {
		delete(s.wants, key)
		s.writing[key] = make(chan struct{})
	}
	return key, w
}

func (s *statuses) done(key string) {
	s.mu.Lock()
	close(s.writing[key])
	delete(s.writing, key)
	more := len(s.order) > 0
	s.mu.Unlock()
	if more {
		poke(s.wake)
	}
}

// run writes until ctx ends, and then what is left, for a few seconds at most.
func (s *statuses) run(ctx context.Context) {
	work, stop := lasting(ctx)
	defer stop()
	var all sync.WaitGroup
	for range statusWriters {
		all.Go(func() { workOff(ctx, work, s.wake, func() bool { return s.writeNext(work) }) })
	}
	all.Wait()
}

// writeNext writes the next status, and reports whether there was one.
func (s *statuses) writeNext(ctx context.Context) bool {
	key, w := s.next()
	if w == nil {
		return false
	}
	poke(s.wake) // there may be more for another
	s.write(ctx, w)
	s.done(key)
	return true
}

func (s *statuses) write(ctx context.Context, w *want) {
	if w.waiting && !s.a.waits(w.uid) {
		return
	}
	err := s.a.send(ctx, "status", func(ctx context.Context) error {
		if w.group != nil {
			return s.a.patchGroup(ctx, w)
		}
		return s.a.patchPod(ctx, w)
	})
	if err != nil && ctx.Err() == nil {
		s.a.log.Error(err, "Cannot write a status", "object", w.namespace+"/"+w.name)
	}
}

// patchPod writes what is wanted of a pod that is still there and waits for a node.
//
// Rules: kube-scheduler pkg/scheduler/schedule_one.go updatePod, 1.37.1.
func (a *Adapter) patchPod(ctx context.Context, w *want) error {
	p, err := a.listers.pods.Pods(w.namespace).Get(w.name)
	if apierrors.IsNotFound(err) || err == nil && (p.UID != w.uid || p.Spec.NodeName != "") {
		return nil
	}
	if err != nil {
		return err
	}
	err = a.patchStatus(ctx, p, func(now *v1.Pod, s *v1.PodStatus) bool {
		if now.Spec.NodeName != "" {
			return false
		}
		changes := false
		if w.condition != nil {
			changes = setCondition(s, now, *w.condition)
		}
		if w.nominated != nil && s.NominatedNodeName != *w.nominated {
			s.NominatedNodeName, changes = *w.nominated, true
		}
		return changes
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// patchGroup writes the condition of a group, which never goes back from true: then
// its members were placed once, and others come later.
//
// Rules: kube-scheduler pkg/scheduler/schedule_one_podgroup.go
// updatePodGroupCondition, 1.37.1.
func (a *Adapter) patchGroup(ctx context.Context, w *want) error {
	g, err := a.listers.groups.PodGroups(w.namespace).Get(w.name)
	if err != nil || g.UID != w.uid {
		return nil //nolint:nilerr // It has gone.
	}
	groups := a.opts.Client.SchedulingV1beta1().PodGroups(w.namespace)
	_, err = rewrite(ctx, a.lately.groups.newest(g),
		func(ctx context.Context) (*schedulingv1beta1.PodGroup, error) {
			return groups.Get(ctx, w.name, metav1.GetOptions{})
		},
		func(ctx context.Context, now *schedulingv1beta1.PodGroup) (*schedulingv1beta1.PodGroup, error) {
			patch, err := groupPatch(now, w)
			if err != nil || patch == nil {
				return now, err
			}
			is, err := groups.Patch(ctx, w.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
			if err == nil {
				a.lately.groups.wrote(is)
			}
			return is, err
		})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// groupPatch is what makes the status of the group the one that is wanted; nil where it is, or where
// it is not the group.
func groupPatch(now *schedulingv1beta1.PodGroup, w *want) ([]byte, error) {
	existing := apimeta.FindStatusCondition(now.Status.Conditions, w.group.Type)
	if now.UID != w.uid || existing != nil && existing.Status == metav1.ConditionTrue && w.group.Status != metav1.ConditionTrue {
		return nil, nil
	}
	status := now.Status.DeepCopy()
	c := *w.group
	c.ObservedGeneration = now.Generation
	if !apimeta.SetStatusCondition(&status.Conditions, c) {
		return nil, nil
	}
	return statusPatch(now.UID, schedulingv1beta1.PodGroup{Status: now.Status}, schedulingv1beta1.PodGroup{Status: *status})
}
