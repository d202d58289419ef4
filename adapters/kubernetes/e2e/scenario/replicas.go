package scenario

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// replicas is about leader election, and an API server that restarts. Schedulers that
// are killed are in [kills].
var replicas = []Scenario{
	{Name: "replicas/one leads, and the other takes over under load", Run: failover, Long: true},
	{Name: "replicas/a leader that has lost its lease ends and binds nothing more", Run: lostLease, Long: true},
	{Name: "replicas/a leader that is told to end gives up its work in order", Run: orderlyEnd},
	{Name: "restart/the API server restarts under load", Run: serverRestarts, Long: true},
}

// quickElection is leader election that does not take as long as the default one,
// whose lease is 15 seconds.
const quickElection = "{leaderElect: true, leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 500ms}"

// replica starts a scheduler that takes part in the election.
func (e *Env) replica(t *testing.T) *controlplane.Scheduler {
	t.Helper()
	return e.ScheduleWith(t, controlplane.SchedulerOptions{LeaderElection: quickElection})
}

// holder waits until somebody who is not the given one holds the lease, and returns
// who it is.
func (e *Env) holder(t *testing.T, not string) string {
	t.Helper()
	var name string
	e.AwaitLease(t, "kube-system", "kube-scheduler", "is held by another than "+not, func(holder string) error {
		if holder == "" || holder == not {
			return fmt.Errorf("it is held by %q", holder)
		}
		name = holder
		return nil
	})
	return name
}

// load is how many nodes and pods there are under load, and creators how many create
// the pods. The nodes have room for exactly that many pods.
const (
	loadNodes = 20
	loadPods  = 400
	creators  = 4
)

func createLoadNodes(t *testing.T, e *Env) {
	t.Helper()
	err := e.CreateNodes(t.Context(), loadNodes, creators, func(i int) *corev1.Node { return smallNode(fmt.Sprint("n", i), "2").Obj() })
	if err != nil {
		t.Fatal(err)
	}
}

func createLoadPods(ctx context.Context, e *Env) error {
	return e.CreatePods(ctx, loadPods, creators, func(i int) *corev1.Pod {
		return cluster.Pod(fmt.Sprint("p", i)).Label("app", "load").Req(cluster.CPU("100m")).Obj()
	})
}

// underLoad creates the nodes, calls start, creates the pods and calls midway when a
// quarter of them is bound. It returns when all are bound: how many on each node.
func underLoad(t *testing.T, e *Env, start func(), midway func()) map[string]int {
	t.Helper()
	createLoadNodes(t, e)
	start()
	created := make(chan error, 1)
	go func() { created <- createLoadPods(t.Context(), e) }()
	e.SomeBound(t, "load", loadPods/4)
	midway()
	if err := <-created; err != nil {
		t.Fatal(err)
	}
	return e.AllBound(t, "load", loadPods)
}

// wantFull checks that each node has as many of the pods as it has room for.
func wantFull(t *testing.T, counts map[string]int) {
	t.Helper()
	for node, n := range counts {
		if n != loadPods/loadNodes {
			t.Errorf("node %s has %d pods, want %d", node, n, loadPods/loadNodes)
		}
	}
}

// wantFullUnlessKube is wantFull where answers to bindings were lost. kube-scheduler
// takes such a binding for one that was not done and gives the room to another pod
// before it learns better, so that some of its nodes have one too many (seen with
// 1.37.1).
func wantFullUnlessKube(t *testing.T, e *Env, counts map[string]int) {
	t.Helper()
	if e.Kind != controlplane.Kube {
		wantFull(t, counts)
	}
}

func failover(t *testing.T, e *Env) {
	var leader *controlplane.Scheduler
	var first string
	counts := underLoad(t, e, func() {
		leader = e.replica(t)
		first = e.holder(t, "")
		e.replica(t)
	}, func() {
		leader.Kill()
	})
	wantFull(t, counts)
	e.holder(t, first)
}

func lostLease(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	leader := e.replica(t)
	first := e.holder(t, "")
	e.replica(t)
	if err := leader.Pause(); err != nil {
		t.Fatal(err)
	}
	e.holder(t, first)
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "n") // by the second
	if err := leader.Resume(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), exitPatience)
	defer cancel()
	if code, err := leader.Wait(ctx); code != 1 || err != nil {
		t.Errorf("exit code %d, error %v, want 1", code, err)
	}
}

func orderlyEnd(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	leader := e.replica(t)
	e.holder(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "n")
	ctx, cancel := context.WithTimeout(t.Context(), exitPatience)
	defer cancel()
	if code, err := leader.Stop(ctx); code != 0 || err != nil {
		t.Errorf("exit code %d, error %v after SIGTERM, want 0\n%s", code, err, leader.Tail(logLines))
	}
}

func serverRestarts(t *testing.T, e *Env) {
	createLoadNodes(t, e)
	if err := createLoadPods(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	e.Schedule(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := e.Plane.RestartAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	wantFullUnlessKube(t, e, e.AllBound(t, "load", loadPods))
	all, err := e.Client.CoreV1().Pods(cluster.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(all.Items) != loadPods {
		t.Errorf("the API server has %d pods, error %v, want %d", len(all.Items), err, loadPods)
	}
}
