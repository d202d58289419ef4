package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// connect is a connection to a control plane without a scheduler, until the end of
// the test.
func connect(t *testing.T) *cluster.Cluster {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	c, err := cluster.Connect(t.Context(), plane.Config(controlplane.AdminUser))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCluster(t *testing.T) {
	c := connect(t)
	t.Run("what is created is there, and is waited for", func(t *testing.T) { create(t, c) })
	t.Run("a wait that fails says what is missing", func(t *testing.T) { fail(t, c) })
	t.Run("a dump says what there is", func(t *testing.T) { dump(t, c) })
	t.Run("nothing is left after a wipe", func(t *testing.T) { wipe(t, c) })
}

func create(t *testing.T, c *cluster.Cluster) {
	const nodes, pods, clients = 5, 50, 4
	err := c.CreateNodes(t.Context(), nodes, clients, func(i int) *corev1.Node { return cluster.Node(fmt.Sprint("n", i)).Obj() })
	if err != nil {
		t.Fatal(err)
	}
	err = c.CreatePods(t.Context(), pods, clients, func(i int) *corev1.Pod {
		return cluster.Pod(fmt.Sprint("p", i)).Label("app", "x").Node(fmt.Sprint("n", i%nodes)).Obj()
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		if got := c.AllBound(t, "x", pods)[fmt.Sprint("n", i)]; got != pods/nodes {
			t.Errorf("node n%d has %d pods, want %d", i, got, pods/nodes)
		}
	}
	c.BoundTo(t, "p7", "n2")
	err = c.CreatePods(t.Context(), 1, 1, func(int) *corev1.Pod { return cluster.Pod("p7").Obj() })
	if err == nil || !strings.Contains(err.Error(), `pods "p7" already exists`) {
		t.Errorf("error %v, want one that says that p7 exists", err)
	}
}

// failing is a test that fails without this one failing. It gives up at once.
type failing struct {
	testing.TB
	ctx     context.Context
	message string
}

func (f *failing) Helper()                  {}
func (f *failing) Context() context.Context { return f.ctx }
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func fail(t *testing.T, c *cluster.Cluster) {
	c.Create(t, cluster.Pod("waiting").Obj())
	c.AwaitPod(t, "waiting", "is there", func(*corev1.Pod) error { return nil })
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("no more time"))
	for want, wait := range map[string]func(testing.TB){
		"pod waiting gets a node: no more time: it has none: no condition PodScheduled": func(t testing.TB) { c.Bound(t, "waiting") },
		"pod p1 is on node n1, want n2":                                               func(t testing.TB) { c.BoundTo(t, "p1", "n2") },
		"pod p1 goes: no more time: it is there (error <nil>)":                        func(t testing.TB) { c.Gone(t, "p1") },
		"60 pods of x get nodes: no more time: there are 50, and 50 of them have one": func(t testing.TB) { c.AllBound(t, "x", 60) },
		"pod p1 is on node n1, want none":                                             func(t testing.TB) { c.NotBound(t, "p1") },
	} {
		f := &failing{TB: t, ctx: ctx}
		func() {
			defer func() { _ = recover() }()
			wait(f)
		}()
		if f.message != want {
			t.Errorf("it says %q, want %q", f.message, want)
		}
	}
}

func dump(t *testing.T, c *cluster.Cluster) {
	text := c.Dump()
	for _, part := range []string{"5 nodes", "n3 labels map[kubernetes.io/hostname:n3]", "51 pods", `default/waiting node ""`, `default/p1 node "n1"`} {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

func wipe(t *testing.T, c *cluster.Cluster) {
	stuck := cluster.Node("stuck").Obj()
	stuck.Finalizers = []string{"example.com/never"}
	c.Create(t, cluster.OtherNamespace("other", nil), cluster.Pod("p").Namespace("other").Node("n1").Obj(), stuck,
		cluster.PriorityClass("high", 10), cluster.StorageClass("fast", "example.com/disks", storagev1.VolumeBindingImmediate),
		st.MakeCSINode().Name("n1").Obj())
	c.CreateBound(t, cluster.LocalVolume("disk", "fast", "n1")) // which the API server protects by finalizers
	for range 2 {                                               // there may be nothing to do
		if err := c.Wipe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	core := c.Client.CoreV1()
	pods, err := core.Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 0 {
		t.Errorf("there are %d pods, error %v", len(pods.Items), err)
	}
	nodes, err := core.Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("there are %d nodes, error %v", len(nodes.Items), err)
	}
	volumes, err := core.PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(volumes.Items) != 0 {
		t.Errorf("there are %d volumes, error %v", len(volumes.Items), err)
	}
	namespaces, err := core.Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range namespaces.Items {
		if n.Name == "other" {
			t.Errorf("namespace %s is left", n.Name)
		}
	}
	classes, err := c.Client.SchedulingV1().PriorityClasses().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(classes.Items) != 2 {
		t.Errorf("there are %d priority classes, error %v, want the API server's own two", len(classes.Items), err)
	}
}
