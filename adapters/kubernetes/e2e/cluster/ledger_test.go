package cluster_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// complaining is a test that takes down what it is told, and does not fail.
type complaining struct {
	testing.TB
	complaints []string
}

func (c *complaining) Helper()                           {}
func (c *complaining) Error(args ...any)                 { c.complaints = append(c.complaints, fmt.Sprint(args...)) }
func (c *complaining) Errorf(format string, args ...any) { c.Error(fmt.Sprintf(format, args...)) }

func TestLedger(t *testing.T) {
	c := connect(t)
	books := c.Keep(t, "1")
	pod := func(name string) *corev1.Pod { return cluster.Pod(name).Req(cluster.CPU("600m")).Node("n").Obj() }
	c.Create(t, pod("gone"))
	c.BoundTo(t, "gone", "n")
	c.Delete(t, pod("gone"))
	c.Gone(t, "gone")
	c.Create(t, pod("first"), cluster.Pod("waits").Req(cluster.CPU("64")).Obj())
	c.Create(t, scheduled(t, c, "first", "n"))
	check := func(want ...string) {
		t.Helper()
		got := &complaining{TB: t}
		if books.Check(got); !slices.Equal(got.complaints, want) {
			t.Errorf("it complains of %q, want %q", got.complaints, want)
		}
	}
	c.Event(t, "first", cluster.Event{Type: "Normal", Reason: "Scheduled", Action: "Binding", Note: "default/first to n"})
	check()
	c.Create(t, pod("second"))
	c.BoundTo(t, "second", "n")
	check("with pod second node n has taken on 1200m CPUs of 1")
	c.Delete(t, pod("second"))
	c.Create(t, scheduled(t, c, "waits", "m"))
	c.Event(t, "waits", cluster.Event{Type: "Normal", Reason: "Scheduled", Action: "Binding", Note: "default/waits to m"})
	check(`an event says "Successfully assigned default/waits to m"; the pod was bound to ""`, "with pod second node n has taken on 1200m CPUs of 1")
	if n := books.Bindings(); n != 3 {
		t.Errorf("%d pods were bound, want gone, first and second", n)
	}
}

// scheduled is the event about a pod that was bound.
func scheduled(t *testing.T, c *cluster.Cluster, name, node string) *eventsv1.Event {
	t.Helper()
	pod := c.AwaitPod(t, name, "is there", func(*corev1.Pod) error { return nil })
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cluster.Namespace}, EventTime: metav1.NowMicro(),
		Type: "Normal", Reason: "Scheduled", Action: "Binding", ReportingController: "test", ReportingInstance: "test",
		Note:      fmt.Sprintf("Successfully assigned default/%s to %s", name, node),
		Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: cluster.Namespace, Name: name, UID: pod.UID},
	}
}
