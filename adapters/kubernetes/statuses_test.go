package kubernetes

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// deaf is an adapter whose informers know a pod and a group as they were at the
// beginning, whatever is written since. The API server counts versions.
func deaf(t *testing.T) (*Adapter, *fake.Clientset) {
	t.Helper()
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "p", UID: "p-uid", ResourceVersion: "1"}, Spec: v1.PodSpec{SchedulerName: "s"}}
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "g", UID: "g-uid", ResourceVersion: "1"}}
	client, version := fake.NewClientset(p.DeepCopy(), g.DeepCopy()), 1
	client.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		_, is, err := clienttesting.ObjectReaction(client.Tracker())(action)
		if err == nil {
			version++
			m, _ := apimeta.Accessor(is)
			m.SetResourceVersion(strconv.Itoa(version))
			err = client.Tracker().Update(action.GetResource(), is, action.GetNamespace())
		}
		return true, is, err
	})
	a, err := New(Options{Client: client, Profiles: []string{"s"}, Kinds: append(DefaultKinds(), Groups)})
	if err != nil {
		t.Fatal(err)
	}
	for informer, o := range map[interface{ Add(any) error }]any{
		a.factory.Core().V1().Pods().Informer().GetStore():                 p,
		a.factory.Scheduling().V1beta1().PodGroups().Informer().GetStore(): g,
	} {
		if err := informer.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return a, client
}

// writing writes statuses while f runs, and then what is left.
func writing(t *testing.T, a *Adapter, f func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { a.statuses.run(ctx); close(done) }()
	f()
	stop()
	<-done
}

// What was written last counts, not what the informers have heard of.
func TestAStatusIsComparedWithWhatWasWrittenLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, client := deaf(t)
		w := &model.Workload{ID: "p-uid", Namespace: "lab", Name: "p"}
		writing(t, a, func() {
			a.nominate(w, "n1")
			synctest.Wait()
			a.nominate(w, "") // the room is another's
		})
		p, err := client.CoreV1().Pods("lab").Get(t.Context(), "p", metav1.GetOptions{})
		if err != nil || p.Status.NominatedNodeName != "" || p.ResourceVersion != "3" {
			t.Errorf("nominated %q, version %s, %v", p.Status.NominatedNodeName, p.ResourceVersion, err)
		}
	})
}

// A group that was placed once stays so, whether the second attempt fails before or
// after that is written.
func TestAGroupThatWasPlacedStaysSo(t *testing.T) {
	for name, between := range map[string]func(){"before it is written": func() {}, "after": synctest.Wait} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, client := deaf(t)
				group := &model.Group{ID: "lab/g"}
				a.decided(engine.GroupEvent{Group: group, Code: extpoints.Success})
				writing(t, a, func() {
					between()
					a.decided(engine.GroupEvent{Group: group, Code: extpoints.Unschedulable, Message: "one more does not fit"})
				})
				g, err := client.SchedulingV1beta1().PodGroups("lab").Get(t.Context(), "g", metav1.GetOptions{})
				if err != nil || len(g.Status.Conditions) != 1 || g.Status.Conditions[0].Status != metav1.ConditionTrue {
					t.Errorf("conditions %+v, %v", g.Status.Conditions, err)
				}
			})
		})
	}
}

// A conflict about an object that is there passes: others write it, too. About one that has gone, or
// after which another has come, nothing is written.
func TestAStatusIsWrittenAlthoughOthersWriteIt(t *testing.T) {
	pods, groups := v1.SchemeGroupVersion.WithResource("pods"), schedulingv1beta1.SchemeGroupVersion.WithResource("podgroups")
	another := metav1.ObjectMeta{Namespace: "lab", UID: "another"}
	for _, c := range []struct {
		name   string
		become func(tracker clienttesting.ObjectTracker) error // before the first try
		tries  int
	}{
		{name: "it is there", become: func(clienttesting.ObjectTracker) error { return nil }, tries: 3},
		{name: "it has gone", tries: 1, become: func(tracker clienttesting.ObjectTracker) error {
			return errors.Join(tracker.Delete(pods, "lab", "p"), tracker.Delete(groups, "lab", "g"))
		}},
		{name: "another has come", tries: 1, become: func(tracker clienttesting.ObjectTracker) error {
			p, g := &v1.Pod{ObjectMeta: another}, &schedulingv1beta1.PodGroup{ObjectMeta: another}
			p.Name, g.Name = "p", "g"
			return errors.Join(tracker.Update(pods, p, "lab"), tracker.Update(groups, g, "lab"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, client := deaf(t)
				tries := map[string]int{}
				var mu sync.Mutex
				client.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
					mu.Lock()
					defer mu.Unlock()
					resource := action.GetResource()
					if tries[resource.Resource]++; tries[resource.Resource] == 3 {
						return false, nil, nil
					}
					return true, nil, apierrors.NewConflict(resource.GroupResource(), "it", errors.New("others write it, too"))
				})
				if err := c.become(client.Tracker()); err != nil {
					t.Fatal(err)
				}
				a.nominate(&model.Workload{ID: "p-uid", Namespace: "lab", Name: "p"}, "n1")
				a.decided(engine.GroupEvent{Group: &model.Group{ID: "lab/g"}, Code: extpoints.Success})
				writing(t, a, func() { time.Sleep(time.Second) })
				if tries["pods"] != c.tries || tries["podgroups"] != c.tries {
					t.Errorf("tried %v, want %d times each", tries, c.tries)
				}
				p, err := client.CoreV1().Pods("lab").Get(t.Context(), "p", metav1.GetOptions{})
				if written := err == nil && p.Status.NominatedNodeName == "n1"; written != (c.tries == 3) {
					t.Errorf("%+v, %v", p.Status, err)
				}
			})
		})
	}
}

// What is still to be written when the adapter is to end is written.
func TestStatusesAreWrittenAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, client := deaf(t)
		client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			time.Sleep(time.Second)
			return false, nil, nil
		})
		w := &model.Workload{ID: "p-uid", Namespace: "lab", Name: "p"}
		writing(t, a, func() {
			a.nominate(w, "n1")
			synctest.Wait()
			a.nominate(w, "n2") // waits for its turn
		})
		p, err := client.CoreV1().Pods("lab").Get(t.Context(), "p", metav1.GetOptions{})
		if err != nil || p.Status.NominatedNodeName != "n2" {
			t.Errorf("nominated %q, %v", p.Status.NominatedNodeName, err)
		}
	})
}
