package kubernetes_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-project/berth/model"
)

// spoil makes calls of the API server fail: the n-th call gets the n-th of the errors,
// nil for none. It counts the calls.
func (s *fixture) spoil(verb, resource string, list ...error) *atomic.Int32 {
	var calls atomic.Int32
	s.client.PrependReactor(verb, resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.Matches(verb, resource) || a.GetSubresource() != "" {
			if n := int(calls.Add(1)); n <= len(list) && list[n-1] != nil {
				return true, nil, list[n-1]
			}
		}
		return false, nil, nil
	})
	return &calls
}

// A binding is tried again where the server is busy or the answer is lost, and no pod
// is bound twice.
func TestABindingIsTriedAgain(t *testing.T) {
	busy := apierrors.NewTooManyRequests("wait", 0)
	down := apierrors.NewInternalError(errors.New("etcd is down"))
	for _, c := range []struct {
		name   string
		errors []error
	}{
		{"busy", []error{busy, busy}},
		{"internal errors", []error{down, down, down}},
		{"broken connections", []error{io.ErrUnexpectedEOF, io.EOF}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := schedule(t, node("n1", "2"))
				calls := s.spoil("create", "pods/binding", c.errors...)
				s.create(pod("a", "1"))
				s.until("the pod is bound", func() bool { return s.pod("a").Spec.NodeName == "n1" })
				if got, want := int(calls.Load()), len(c.errors)+1; got != want {
					t.Errorf("%d calls, want %d", got, want)
				}
			})
		})
	}
}

// A binding that was carried out although the answer got lost is one: the second call
// is told that the pod has a node already, and that is the right one; or it is refused,
// by a server that has just started, and the pod itself tells.
func TestABindingWhoseAnswerIsLostIsABinding(t *testing.T) {
	for name, second := range map[string]error{
		"the second says so":    nil,
		"the second is refused": apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", errors.New("not yet")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				_, s := scheduleAround(t, func(verb, _ string, call func() error) error {
					if verb != "bind" {
						return call()
					}
					if calls.Add(1) == 1 {
						_ = call()
						return io.ErrUnexpectedEOF
					}
					if second != nil {
						return second
					}
					return call()
				}, node("n1", "2"))
				s.create(pod("a", "1"))
				s.until("the event is there", func() bool { return len(s.events("a")) == 1 })
				if e := s.events("a")[0]; e != "Normal | Scheduled | Binding | default-scheduler | Successfully assigned default/a to n1" {
					t.Errorf("event %q", e)
				}
				if got := calls.Load(); got != 2 {
					t.Errorf("%d calls, want 2", got)
				}
			})
		})
	}
}

// What is bound although it was to make room meanwhile makes room in earnest.
func TestAPodThatIsBoundAllTheSameIsEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := scheduleAround(t, func(verb, pod string, call func() error) error {
			if verb == "bind" && pod == "small" {
				time.Sleep(time.Second) // while the other comes
			}
			return call()
		}, node("n1", "2"))
		s.create(pod("small", "2"))
		time.Sleep(time.Second / 2)
		high, big := int32(10), pod("big", "2")
		big.Spec.Priority = &high
		s.create(big)
		s.until("the victim is asked to leave", func() bool { return s.pod("small").DeletionTimestamp != nil })
		if got := s.pod("big").Spec.NodeName; got != "" {
			t.Errorf("the preemptor is on %s, which is full", got)
		}
		now := int64(0)
		if err := s.client.CoreV1().Pods("default").Delete(t.Context(), "small", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		s.until("the preemptor is bound", func() bool { return s.pod("big").Spec.NodeName == "n1" })
	})
}

// An event that cannot be written now is written when the API server is back.
func TestAnEventOutlivesTheAPIServersAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "2"))
		from := time.Now()
		s.client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
			return time.Since(from) < time.Minute, nil, io.EOF
		})
		s.create(pod("a", "1"))
		time.Sleep(time.Minute + 5*time.Second)
		if got := s.events("a"); len(got) != 1 {
			t.Errorf("events %q", got)
		}
	})
}

// A victim is told why it had to go, whether the news that it has gone or the answer
// to the request comes first, and where the answer gets lost.
func TestAVictimIsToldWhateverComesFirst(t *testing.T) {
	for _, c := range []struct {
		name string
		then func() error // after the pod has gone
	}{
		{"the answer is late", func() error { time.Sleep(time.Second); return nil }},
		{"the answer gets lost", func() error { return io.ErrUnexpectedEOF }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				small := pod("small", "2")
				small.UID, small.Spec.NodeName = "small-uid", "n1"
				var s *fixture
				var once sync.Once
				_, s = scheduleAround(t, func(verb, _ string, call func() error) error {
					err := call()
					if verb != "delete" {
						return err
					}
					once.Do(func() {
						now := int64(0)
						_ = s.client.CoreV1().Pods("default").Delete(context.Background(), "small", metav1.DeleteOptions{GracePeriodSeconds: &now})
						err = c.then()
					})
					return err
				}, node("n1", "2"), small)
				high, big := int32(10), pod("big", "2")
				big.Spec.Priority = &high
				s.create(big)
				s.until("the preemptor is bound", func() bool { return s.pod("big").Spec.NodeName == "n1" })
				s.until("the event is there", func() bool { return len(s.events("small")) == 1 })
				if got, want := s.events("small")[0], "Normal | Preempted | Preempting | default-scheduler | Preempted by pod "+string(s.pod("big").UID)+" on node n1"; got != want {
					t.Errorf("event %q, want %q", got, want)
				}
			})
		})
	}
}

// A pod that is being bound makes room by waiting again, and is told so.
func TestAPodThatIsBeingBoundMakesRoomInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := apierrors.NewForbidden(schema.GroupResource{}, "small", errors.New("not now"))
		_, s := scheduleAround(t, func(verb, pod string, call func() error) error {
			if verb == "bind" && pod == "small" {
				time.Sleep(time.Second) // while the other comes
				return refused
			}
			return call()
		}, node("n1", "2"))
		s.create(pod("small", "2"))
		time.Sleep(time.Second / 2)
		high, big := int32(10), pod("big", "2")
		big.Spec.Priority = &high
		s.create(big)
		s.until("the preemptor is bound", func() bool { return s.pod("big").Spec.NodeName == "n1" })
		told := "Normal | Preempted | Preempting | default-scheduler | Preempted by pod " + string(s.pod("big").UID) + " on node n1 (in kube-scheduler memory)."
		s.until("the victim is told", func() bool { return slices.Contains(s.events("small"), told) })
		if s.pod("small").DeletionTimestamp != nil {
			t.Error("it is deleted, too")
		}
	})
}

// A binding that may have been carried out keeps its room until that is known, however
// long the API server cannot be reached.
func TestABindingKeepsItsRoomUntilItIsKnownToHaveFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		_, s := scheduleAround(t, func(verb, pod string, call func() error) error {
			if verb == "bind" && pod == "a" {
				down.Store(true)
				return errors.Join(io.ErrUnexpectedEOF, call()) // and the answer is lost
			}
			return call()
		}, node("n1", "1"))
		s.client.PrependReactor("get", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			return down.Load(), nil, io.EOF
		})
		s.create(pod("a", "1"))
		s.create(pod("b", "1"))
		time.Sleep(time.Minute)
		placed, _ := s.client.Tracker().List(v1.SchemeGroupVersion.WithResource("pods"), v1.SchemeGroupVersion.WithKind("Pod"), "default")
		on := 0
		for _, p := range placed.(*v1.PodList).Items {
			if p.Spec.NodeName != "" {
				on++
			}
		}
		if on != 1 {
			t.Errorf("%d pods are on the node, which has room for 1", on)
		}
		down.Store(false)
		s.until("the event says that it is bound", func() bool { return len(s.events("a")) == 1 })
		if got := s.events("a")[0]; got != "Normal | Scheduled | Binding | default-scheduler | Successfully assigned default/a to n1" {
			t.Errorf("event %q", got)
		}
	})
}

// What cannot be done is not tried again at once: the pod goes back to the queue.
func TestABindingThatIsRefusedIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "2"))
		refused := apierrors.NewForbidden(v1.Resource("pods"), "a", errors.New("the quota"))
		calls := s.spoil("create", "pods/binding", refused)
		s.create(pod("a", "1"))
		synctest.Wait()
		if got := calls.Load(); got != 1 {
			t.Errorf("%d calls, want 1", got)
		}
		if c := condition(s.pod("a"), v1.PodScheduled); c.Reason != v1.PodReasonSchedulerError {
			t.Errorf("condition %+v", c)
		}
		s.until("the pod is bound after its backoff", func() bool { return s.pod("a").Spec.NodeName == "n1" })
	})
}

// That a pod was not placed must not be written after it was.
func TestABindingWaitsForTheStatusThatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, s := scheduleAround(t, func(verb, _ string, call func() error) error {
			if verb == "patch" {
				<-release
			}
			return call()
		}, node("n1", "1"))
		s.create(pod("a", "2"))
		synctest.Wait() // it does not fit, and that is being written
		if _, err := s.client.CoreV1().Nodes().Create(t.Context(), node("n2", "2"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if on := s.pod("a").Spec.NodeName; on != "" {
			t.Fatalf("it is bound to %s before its status is written", on)
		}
		close(release)
		s.until("the pod is bound", func() bool { return s.pod("a").Spec.NodeName == "n2" })
	})
}

// An event that is repeated is one event with a count, which is written when it is
// first repeated and when there are no more.
func TestRepeatedEventsAreASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "1"))
		s.create(pod("a", "2"))
		synctest.Wait()
		time.Sleep(22 * time.Minute) // it is tried again every five minutes
		synctest.Wait()
		if got := s.series("a"); got != 2 {
			t.Errorf("the count is %d while it is repeated, want 2", got)
		}
		if err := s.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Minute)
		synctest.Wait()
		if got := s.series("a"); got != 5 {
			t.Errorf("in the end the count is %d, want 5", got)
		}
	})
}

// An event whose note is another is another event: what the series said before is not true any
// more. Its count is written.
func TestAnotherNoteEndsASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "1"))
		s.create(pod("a", "2"))
		synctest.Wait()
		time.Sleep(12 * time.Minute) // it is tried again every five minutes
		n1 := node("n1", "4")
		n1.Spec.Unschedulable = true
		if _, err := s.client.CoreV1().Nodes().Update(t.Context(), n1, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		list, err := s.client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int32{}
		for _, e := range list.Items {
			got[e.Note] = 1
			if e.Series != nil {
				got[e.Note] = e.Series.Count
			}
		}
		want := map[string]int32{
			"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.":           3,
			"0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.": 1,
		}
		if !maps.Equal(got, want) {
			t.Errorf("the notes and counts are %v, want %v", got, want)
		}
	})
}

// series is the count of the only event about the pod.
func (s *fixture) series(name string) int32 {
	s.Helper()
	list, err := s.client.EventsV1().Events("default").List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	var about []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.Name == name {
			about = append(about, e)
		}
	}
	if len(about) != 1 {
		s.Fatalf("%d events, want 1", len(about))
	}
	if about[0].Series == nil {
		return 1
	}
	return about[0].Series.Count
}

// Events stand back while pods are being bound, but not for ever.
func TestEventsFollowBehindBindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, s := scheduleAround(t, func(verb, pod string, call func() error) error {
			if verb == "bind" && pod == "slow" {
				<-release
			}
			return call()
		}, node("n1", "4"))
		s.create(pod("slow", "1"))
		synctest.Wait() // it is being bound
		s.create(pod("a", "1"))
		time.Sleep(4 * time.Second)
		if s.pod("a").Spec.NodeName != "n1" || len(s.events("a")) > 0 {
			t.Errorf("on %q with %d events while another is being bound", s.pod("a").Spec.NodeName, len(s.events("a")))
		}
		time.Sleep(2 * time.Second)
		if len(s.events("a")) != 1 {
			t.Error("the event stands back for too long")
		}
		close(release)
		s.until("the other's event is there", func() bool { return len(s.events("slow")) == 1 })
	})
}

// What waits is given the selector of its owners, also where they come later.
func TestOwnersThatComeLaterCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "1"))
		p := pod("a", "2")
		p.Labels = map[string]string{"app": "a", "version": "1"}
		s.create(p)
		synctest.Wait()
		selector := func() *model.Selector {
			w, _ := s.engine.View().Workload(string(s.pod("a").UID))
			return w.OwnerSelector
		}
		if got := selector(); got != nil {
			t.Errorf("selector %v before there is a service", got)
		}
		service := &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}, Spec: v1.ServiceSpec{Selector: map[string]string{"app": "a"}}}
		if _, err := s.client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := selector(); got == nil || !got.Matches(map[string]string{"app": "a"}) || got.Matches(map[string]string{"app": "b"}) {
			t.Errorf("selector %v", got)
		}
		if err := s.client.CoreV1().Services("default").Delete(t.Context(), "s", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := selector(); got != nil {
			t.Errorf("selector %v after the service has gone", got)
		}
	})
}

// A pod in the place of another of its name is another pod.
func TestAPodOfTheSameNameIsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "1"))
		for i := range 3 {
			s.create(pod("a", "1"))
			s.until("it is bound", func() bool { return s.pod("a").Spec.NodeName == "n1" })
			now := int64(0)
			if err := s.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			n := 0
			for range s.engine.View().Workloads() {
				n++
			}
			if n > 0 {
				t.Fatalf("round %d: the engine still knows %d", i, n)
			}
		}
	})
}
