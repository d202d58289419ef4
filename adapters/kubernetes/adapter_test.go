package kubernetes_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	kubernetes "github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// fixture is an engine with its adapter over an API server in memory.
type fixture struct {
	*testing.T
	client *fake.Clientset
	engine *engine.Engine
}

// schedule starts one; it ends with the test.
func schedule(t *testing.T, objects ...runtime.Object) *fixture {
	t.Helper()
	_, s := scheduleWith(t, objects...)
	return s
}

func scheduleWith(t *testing.T, objects ...runtime.Object) (*kubernetes.Adapter, *fixture) {
	t.Helper()
	return scheduleAround(t, func(_, _ string, call func() error) error { return call() }, objects...)
}

// scheduleAround is schedule with a hand on the calls about pods.
func scheduleAround(t *testing.T, around func(verb, pod string, call func() error) error, objects ...runtime.Object) (*kubernetes.Adapter, *fixture) {
	t.Helper()
	client := kubetest.NewServer(objects...)
	return start(t, client, kubernetes.Options{Client: &kubetest.Around{Interface: client, Call: around}})
}

// start is schedule over an API server that there is.
func start(t *testing.T, client *fake.Clientset, o kubernetes.Options) (*kubernetes.Adapter, *fixture) {
	t.Helper()
	return startWith(t, client, o, plugins.DefaultProfile())
}

// startWith is start with a profile.
func startWith(t *testing.T, client *fake.Clientset, o kubernetes.Options, profile extpoints.Profile) (*kubernetes.Adapter, *fixture) {
	t.Helper()
	o.Profiles = []string{v1.DefaultSchedulerName}
	a, err := kubernetes.New(o)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: a, Listener: a.Listener(),
		Order: o.Queueing.Order(), Backfill: o.Queueing.Plan(),
	})
	if err != nil {
		t.Fatal(err)
	}
	watching, stopWatching := context.WithCancel(context.Background())
	scheduling, stopScheduling := context.WithCancel(context.Background())
	var adapter, scheduler sync.WaitGroup
	adapter.Go(func() {
		if err := a.Run(watching, e); err != nil {
			t.Error(err)
		}
	})
	<-a.Ready()
	scheduler.Go(func() {
		if err := e.Run(scheduling); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { // the adapter last: it writes what the engine says at the end
		stopScheduling()
		scheduler.Wait()
		stopWatching()
		adapter.Wait()
	})
	return a, &fixture{t, client, e}
}

// until waits until what is asked for is so. The test runs in a bubble, where that takes
// no time.
func (s *fixture) until(what string, so func() bool) {
	s.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("waited in vain until %s", what)
		}
	}
}

func (s *fixture) pod(name string) *v1.Pod {
	s.Helper()
	p, err := s.client.CoreV1().Pods("default").Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return p
}

func (s *fixture) create(p *v1.Pod) {
	s.Helper()
	if _, err := s.client.CoreV1().Pods("default").Create(s.Context(), p, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// events are those about the pod, each as one line.
func (s *fixture) events(pod string) []string {
	s.Helper()
	list, err := s.client.EventsV1().Events("default").List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	var lines []string
	slices.SortFunc(list.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.Name == pod {
			lines = append(lines, strings.Join([]string{e.Type, e.Reason, e.Action, e.ReportingController, e.Note}, " | "))
		}
	}
	return lines
}

func node(name, cpu string) *v1.Node {
	list := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("110")}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Capacity: list, Allocatable: list}}
}

func pod(name, cpu string) *v1.Pod {
	priority := int32(0)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Generation: 1},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Priority: &priority, Containers: []v1.Container{{
			Name: "c", Image: "pause", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

func condition(p *v1.Pod, kind v1.PodConditionType) v1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return v1.PodCondition{}
}

func TestAPodIsBoundAndItsEventSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "2"))
		s.create(pod("a", "1"))
		s.until("the pod is bound", func() bool { return s.pod("a").Spec.NodeName == "n1" })
		s.until("the event is there", func() bool { return len(s.events("a")) == 1 })
		if got, want := s.events("a")[0], "Normal | Scheduled | Binding | default-scheduler | Successfully assigned default/a to n1"; got != want {
			t.Errorf("event %q, want %q", got, want)
		}
	})
}

func TestAPodThatDoesNotFitSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "2"))
		s.create(pod("a", "3"))
		const why = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
		s.until("the condition is there", func() bool { return condition(s.pod("a"), v1.PodScheduled).Status == v1.ConditionFalse })
		c := condition(s.pod("a"), v1.PodScheduled)
		if c.Reason != v1.PodReasonUnschedulable || c.Message != why || c.ObservedGeneration != 1 || c.LastTransitionTime.IsZero() {
			t.Errorf("condition %+v", c)
		}
		s.until("the event is there", func() bool { return len(s.events("a")) == 1 })
		if got, want := s.events("a")[0], "Warning | FailedScheduling | Scheduling | default-scheduler | "+why; got != want {
			t.Errorf("event %q, want %q", got, want)
		}
		if _, err := s.client.CoreV1().Nodes().Create(t.Context(), node("n2", "4"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("it goes where there is room", func() bool { return s.pod("a").Spec.NodeName == "n2" })
	})
}

func TestAVictimIsToldWhyAndThePreemptorIsNominated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small := pod("small", "2")
		small.UID, small.Spec.NodeName = "small-uid", "n1"
		s := schedule(t, node("n1", "2"), small)
		high, big := int32(10), pod("big", "2")
		big.Spec.Priority = &high
		s.create(big)
		s.until("the victim is asked to leave", func() bool { return s.pod("small").DeletionTimestamp != nil })
		want := v1.PodCondition{
			Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler, ObservedGeneration: 1,
			Message: "default-scheduler: preempting to accommodate a higher priority pod",
		}
		got := condition(s.pod("small"), v1.DisruptionTarget)
		got.LastTransitionTime = metav1.Time{}
		if got != want {
			t.Errorf("condition %+v, want %+v", got, want)
		}
		s.until("the event is there", func() bool { return len(s.events("small")) == 1 })
		if got, want := s.events("small")[0], "Normal | Preempted | Preempting | default-scheduler | Preempted by pod "+string(s.pod("big").UID)+" on node n1"; got != want {
			t.Errorf("event %q, want %q", got, want)
		}
		s.until("the preemptor is nominated", func() bool { return s.pod("big").Status.NominatedNodeName == "n1" })
		now := int64(0)
		if err := s.client.CoreV1().Pods("default").Delete(t.Context(), "small", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		s.until("the preemptor is bound", func() bool { return s.pod("big").Spec.NodeName == "n1" })
	})
}

func TestPodsOfOthersAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "2"))
		other, gated := pod("other", "1"), pod("gated", "1")
		other.Spec.SchedulerName = "another-scheduler"
		gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "later"}}
		s.create(other)
		s.create(gated)
		s.create(pod("a", "1"))
		s.until("the pod is bound", func() bool { return s.pod("a").Spec.NodeName == "n1" })
		if s.pod("other").Spec.NodeName != "" || s.pod("gated").Spec.NodeName != "" {
			t.Error("a pod is bound that is not to be")
		}
		free := s.pod("gated")
		free.Spec.SchedulingGates = nil
		if _, err := s.client.CoreV1().Pods("default").Update(t.Context(), free, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("the pod without its gate is bound", func() bool { return s.pod("gated").Spec.NodeName == "n1" })
	})
}

// unreadable has an operator that there is not.
func unreadable() *v1.Affinity {
	return &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
		TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}},
	}}}}
}

func TestAPodThatCannotBeUnderstoodSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "2"))
		p := pod("a", "1")
		p.Spec.Affinity = unreadable()
		s.create(p)
		s.until("the condition is there", func() bool { return condition(s.pod("a"), v1.PodScheduled).Reason == v1.PodReasonSchedulerError })
		if c := condition(s.pod("a"), v1.PodScheduled); !strings.Contains(c.Message, "Like") {
			t.Errorf("message %q", c.Message)
		}
		readable := s.pod("a")
		readable.Spec.Affinity = nil
		if _, err := s.client.CoreV1().Pods("default").Update(t.Context(), readable, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("it is bound when it can be", func() bool { return s.pod("a").Spec.NodeName == "n1" })
	})
}

// A scheduler that does not lead yet must not write. What was wrong meanwhile is said later.
func TestAStandbySpeaksWhenItLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pod("a", "1")
		p.Spec.Affinity = unreadable()
		client, leads := kubetest.NewServer(node("n1", "2"), p), make(chan struct{})
		_, s := start(t, client, kubernetes.Options{Client: &kubetest.Around{Interface: client, Call: func(verb, pod string, call func() error) error {
			select {
			case <-leads:
			default:
				t.Errorf("%s %s, without leading", verb, pod)
			}
			return call()
		}}, Leads: leads})
		time.Sleep(time.Minute)
		if got := s.events("a"); len(got) > 0 {
			t.Errorf("events %q, without leading", got)
		}
		close(leads)
		s.until("the condition is there", func() bool { return condition(s.pod("a"), v1.PodScheduled).Reason == v1.PodReasonSchedulerError })
		s.until("the event is there", func() bool { return len(s.events("a")) == 1 })
	})
}

// What a scheduler before this one promised is kept.
func TestANominationOfAnEarlierSchedulerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		high, promised := int32(10), pod("promised", "2")
		promised.UID, promised.Spec.Priority, promised.Status.NominatedNodeName = "promised-uid", &high, "n1"
		promised.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "later"}}
		s := schedule(t, node("n1", "2"), promised)
		s.create(pod("a", "2"))
		s.until("the other says that there is no room", func() bool { return condition(s.pod("a"), v1.PodScheduled).Status == v1.ConditionFalse })
		free := s.pod("promised")
		free.Spec.SchedulingGates = nil
		if _, err := s.client.CoreV1().Pods("default").Update(t.Context(), free, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("the pod gets its node", func() bool { return s.pod("promised").Spec.NodeName == "n1" })
	})
}

func TestOptions(t *testing.T) {
	client := kubetest.NewServer()
	for want, o := range map[string]kubernetes.Options{
		"options: client: there is none":               {Profiles: []string{"p"}},
		"options: profiles: there is none":             {Client: client},
		`options: kinds: there is no kind "replicans"`: {Client: client, Profiles: []string{"p"}, Kinds: []kubernetes.Kind{"replicans"}},
	} {
		if _, err := kubernetes.New(o); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
