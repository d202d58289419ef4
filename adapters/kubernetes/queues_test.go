package kubernetes_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"

	kubernetes "github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
)

func configuration(t *testing.T, text string) *queueing.Configuration {
	t.Helper()
	c, err := queueing.Load([]byte("apiVersion: " + queueing.APIVersion + "\nkind: " + queueing.Kind + "\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// plain is the client without a hand on its calls.
func plain(client clientset.Interface) clientset.Interface {
	return &kubetest.Around{Interface: client, Call: func(_, _ string, call func() error) error { return call() }}
}

func namespace(name, queue string) *v1.Namespace {
	n := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if queue != "" {
		n.Labels = map[string]string{queueing.NamespaceLabel: queue}
	}
	return n
}

// The pods of a namespace are in the queue that its label names. What the queue may not use
// waits, and is placed when the label names another queue.
func TestNamespacesAreInQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubetest.NewServer(namespace("default", "small"), node("n1", "4"))
		_, s := start(t, client, kubernetes.Options{
			Client:   plain(client),
			Queueing: configuration(t, `queues: [{name: small, max: {cpu: "1"}}, {name: large}]`),
		})
		s.create(pod("a", "1"))
		s.create(pod("b", "1"))
		placed := func() (n int) {
			for _, name := range []string{"a", "b"} {
				if s.pod(name).Spec.NodeName != "" {
					n++
				}
			}
			return n
		}
		s.until("one is placed", func() bool { return placed() == 1 })
		time.Sleep(time.Minute)
		if placed() != 1 {
			t.Fatal("both are placed, and the queue may have one CPU")
		}
		if _, err := s.client.CoreV1().Namespaces().Update(t.Context(), namespace("default", "large"), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("both are placed", func() bool { return placed() == 2 })
	})
}

// The pods of namespaces without the label are in the default queue.
func TestTheDefaultQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubetest.NewServer(namespace("default", ""), node("n1", "4"))
		_, s := start(t, client, kubernetes.Options{
			Client:   plain(client),
			Queueing: configuration(t, "queues: [{name: none, max: {cpu: 0}}]\ndefaultQueue: none"),
		})
		s.create(pod("a", "1"))
		time.Sleep(time.Minute)
		if node := s.pod("a").Spec.NodeName; node != "" {
			t.Fatalf("it is on node %s, and the queue may use nothing", node)
		}
		if p, _ := s.engine.Queue(string(s.pod("a").UID)); !strings.Contains(p.Gate.Message(), `queue "none": max`) {
			t.Errorf("it is at %+v", p)
		}
	})
}

// A pod's deadline is the limit by which plans go.
func TestDeadlinesAreLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hour := func(p *v1.Pod) *v1.Pod {
			seconds := int64(3600)
			p.Spec.ActiveDeadlineSeconds = &seconds
			return p
		}
		client := kubetest.NewServer(namespace("default", "all"), node("n1", "1"))
		_, s := start(t, client, kubernetes.Options{Client: plain(client), Queueing: configuration(t, "queues: [{name: all}]\nbackfill: {mode: EASY}")})
		s.create(hour(pod("a", "1")))
		s.until("the first is placed", func() bool { return s.pod("a").Spec.NodeName != "" })
		placed := time.Now()
		s.create(hour(pod("b", "1")))
		s.until("the second has a promise", func() bool { _, ok := s.engine.Promise(string(s.pod("b").UID)); return ok })
		p, _ := s.engine.Promise(string(s.pod("b").UID))
		if d := p.Current.Sub(placed); d < 59*time.Minute || d > time.Hour {
			t.Errorf("it is to start in %v", d)
		}
	})
}

// A queue gets back what it is guaranteed: the pod of another that has borrowed it is
// displaced.
func TestReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubetest.NewServer(namespace("default", "borrower"), namespace("other", "owner"), node("n1", "1"))
		_, s := start(t, client, kubernetes.Options{
			Client:   plain(client),
			Queueing: configuration(t, `queues: [{name: borrower}, {name: owner, guaranteed: {cpu: "1"}, reclaim: Any}]`),
		})
		s.create(pod("a", "1"))
		s.until("the first has borrowed the node", func() bool { return s.pod("a").Spec.NodeName != "" })
		p := pod("b", "1")
		p.Namespace = "other"
		if _, err := s.client.CoreV1().Pods("other").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("the borrower is to leave", func() bool { return s.pod("a").DeletionTimestamp != nil })
		now := int64(0) // as the kubelet does when it has stopped
		if err := s.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		s.until("the owner has the node", func() bool {
			p, err := s.client.CoreV1().Pods("other").Get(t.Context(), "b", metav1.GetOptions{})
			return err == nil && p.Spec.NodeName != ""
		})
	})
}

// Without a configuration of queues the label has no effect, and the log says so once.
func TestALabelWithoutQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		logger := funcr.New(func(_, args string) { log = append(log, args) }, funcr.Options{})
		client := kubetest.NewServer(namespace("default", "small"), node("n1", "4"))
		_, s := start(t, client, kubernetes.Options{Client: plain(client), Logger: &logger})
		s.create(pod("a", "1"))
		s.until("it is placed", func() bool { return s.pod("a").Spec.NodeName != "" })
		again := namespace("default", "small")
		again.Labels["other"] = "label"
		if _, err := s.client.CoreV1().Namespaces().Update(t.Context(), again, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		said := 0
		for _, line := range log {
			if strings.Contains(line, "A namespace names a queue, and the configuration has none") && strings.Contains(line, `"queue"="small"`) {
				said++
			}
		}
		if said != 1 {
			t.Errorf("it was said %d times:\n%s", said, strings.Join(log, "\n"))
		}
	})
}

// A pod that a quota or a limit holds back says so in its condition and an event, and so does one
// whose queue is not there. The reason is not that of pods for which autoscalers add nodes.
func TestPodsThatQueuesHoldBackSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubetest.NewServer(namespace("default", "small"), namespace("typo", "smal"), node("n1", "4"))
		var log said
		_, s := start(t, client, kubernetes.Options{
			Client: plain(client), Logger: log.logger(),
			Queueing: configuration(t, "queues: [{name: small, max: {cpu: 1}}]\nlimits: [{name: each, queue: small, scope: EachPod, resource: memory, amount: 1Gi}]"),
		})
		s.create(pod("a", "1"))
		s.until("it is placed", func() bool { return s.pod("a").Spec.NodeName != "" })
		large := pod("large", "1")
		large.Spec.Containers[0].Resources.Requests[v1.ResourceMemory] = resource.MustParse("2Gi")
		lost := pod("lost", "1")
		lost.Namespace = "typo"
		s.create(pod("held", "1"))
		s.create(large)
		if _, err := s.client.CoreV1().Pods("typo").Create(t.Context(), lost, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for _, w := range []struct{ namespace, name, want string }{
			{"default", "held", `False HeldByQueue: held back by queue "small": max`},
			{"default", "large", `False HeldByQueue: limit "each": "default/large" asks for 1Gi memory too much, whatever else runs`},
			{"typo", "lost", `False HeldByQueue: there is no queue "smal", which the namespace's label ` + queueing.NamespaceLabel + ` names`},
		} {
			if got := s.scheduled(w.namespace, w.name); got != w.want {
				t.Errorf("%s: %s, want %s", w.name, got, w.want)
			}
		}
		if events := s.events("held"); len(events) != 1 || !strings.Contains(events[0], `held back by queue "small": max`) {
			t.Errorf("the events are %q", events)
		}
		log.once(t, "A namespace names a queue that the configuration does not have", `"namespace"="typo"`, `"queue"="smal"`)
	})
}

// What the configuration names and is not there may come, or be spelled wrong: that is said at the
// start, once, and nothing of what is there.
func TestWhatTheConfigurationNamesAndIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n1 := node("n1", "4")
		n1.Labels = map[string]string{"rack": "r2"}
		client := kubetest.NewServer(namespace("default", ""), n1)
		var log said
		_, s := start(t, client, kubernetes.Options{Client: plain(client), Logger: log.logger(), Queueing: configuration(t, `
elasticQuotas: [{namespace: default, min: {cpu: 1}}, {namespace: quota, min: {cpu: 1}}]
limits:
- {name: there, namespace: default, scope: Own, amount: 5}
- {name: gone, namespace: limited, scope: Own, amount: 5}
holds:
- {name: past, nodes: [n9], until: "1999-01-01T00:00:00Z"}
- {name: later, nodes: [n1, n2], from: "2030-01-01T00:00:00Z"}
- {name: labels, nodeSelector: {rack: r1}, from: "2030-01-01T00:00:00Z"}
- {name: here, nodeSelector: {rack: r2}, from: "2030-01-01T00:00:00Z"}`)})
		s.create(pod("a", "1"))
		s.until("it is placed", func() bool { return s.pod("a").Spec.NodeName != "" })
		want := []string{
			`"level"=0 "msg"="A hold has ended, and sets nothing aside" "hold"="past" "until"="1999-01-01T00:00:00Z"`,
			`"level"=0 "msg"="A hold names a node that is not there" "hold"="later" "node"="n2"`,
			`"level"=0 "msg"="No node has the labels that a hold selects" "hold"="labels" "nodeSelector"="rack=r1"`,
			`"level"=0 "msg"="An elastic quota is of a namespace that is not there" "namespace"="quota"`,
			`"level"=0 "msg"="A limit is of a namespace that is not there" "limit"="gone" "namespace"="limited"`,
		}
		if got := log.about("hold", "is of a namespace"); !slices.Equal(got, want) {
			t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// scheduled is the condition PodScheduled of a pod, in one line.
func (s *fixture) scheduled(namespace, name string) string {
	s.Helper()
	p, err := s.client.CoreV1().Pods(namespace).Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled {
			return string(c.Status) + " " + c.Reason + ": " + c.Message
		}
	}
	return "unknown"
}

// What holds a pod back may change with each pod that is before it: that is said every few minutes.
// A pod that the scheduler has tried meanwhile says what came of that.
func TestWhatHoldsAPodBackIsNotSaidAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubetest.NewServer(namespace("default", "small"), node("n1", "4"))
		_, s := start(t, client, kubernetes.Options{
			Client:   plain(client),
			Queueing: configuration(t, `queues: [{name: small, max: {cpu: 5}}, {name: other, max: {cpu: 5}}, {name: large}]`),
		})
		move := func(queue string) {
			if _, err := s.client.CoreV1().Namespaces().Update(t.Context(), namespace("default", queue), metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s.create(pod("a", "4"))
		s.until("it is placed", func() bool { return s.pod("a").Spec.NodeName != "" })
		s.create(pod("held", "2"))
		time.Sleep(time.Minute)
		for _, step := range []struct {
			queue string
			after time.Duration
			want  string
		}{
			{"small", 0, `False HeldByQueue: held back by queue "small": max`},
			{"other", time.Minute, `False HeldByQueue: held back by queue "small": max`},
			{"other", 5 * time.Minute, `False HeldByQueue: held back by queue "other": max`},
			{"large", time.Minute, "False Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."},
		} {
			move(step.queue)
			time.Sleep(step.after)
			if got := s.scheduled("default", "held"); got != step.want {
				t.Errorf("in %s, after %v: %s, want %s", step.queue, step.after, got, step.want)
			}
		}
		move("other")
		time.Sleep(time.Second)
		if _, err := s.client.CoreV1().Nodes().Update(t.Context(), node("n1", "5"), metav1.UpdateOptions{}); err != nil { // so that it is to be tried again
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, want := s.scheduled("default", "held"), `False HeldByQueue: held back by queue "other": max`; got != want {
			t.Errorf("again in other: %s, want %s", got, want)
		}
		if events := s.events("held"); len(events) != 4 {
			t.Errorf("%d events:\n%s", len(events), strings.Join(events, "\n"))
		}
	})
}
