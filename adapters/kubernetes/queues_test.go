package kubernetes_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
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
