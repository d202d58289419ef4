package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// inMemory is a scheduler over an API server in memory, called me in elections.
func inMemory(t *testing.T, client *fake.Clientset, own config.Registry, args ...string) *scheduler {
	t.Helper()
	o := parsed(t, args...)
	c, err := o.load()
	if err != nil {
		t.Fatal(err)
	}
	s := &scheduler{
		options: o, settings: &settings{plugins: own}, config: c, devices: cel.New(),
		clients: &clients{main: client, events: client, election: client, custom: customInMemory()},
	}
	if s.registry, err = s.settings.registry(); err != nil {
		t.Fatal(err)
	}
	if e := &c.Effective.LeaderElection; *e.LeaderElect {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.ResourceNamespace, Name: e.ResourceName},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		}
		if s.election, err = newElection(e, lock, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.assemble(); err != nil {
		t.Fatal(err)
	}
	return s
}

// world is an API server in memory with a node and a pod, and a scheduler beside it.
type world struct {
	*testing.T
	client *fake.Clientset
	*scheduler
	running *task
	// toBind is how long it takes to bind a pod, if the file slowly is the
	// configuration.
	toBind   time.Duration
	noLeases atomic.Bool // calls about leases fail
}

// slowly is a configuration in which it takes time to bind pods.
const slowly = "profiles: [{schedulerName: default-scheduler, plugins: {preBind: {enabled: [{name: Slow}]}}}]\n"

// slow is the plugin that makes it so.
type slow struct{ takes func() time.Duration }

func (slow) Name() string { return "Slow" }

func (slow) PreBindPreFlight(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	return extpoints.PreFlight{}, nil
}

func (s slow) PreBind(ctx context.Context, _ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	select {
	case <-time.After(s.takes()):
		return nil
	case <-ctx.Done():
		return extpoints.AsStatus(context.Cause(ctx))
	}
}

// inWorld calls f in a bubble of time, with the objects in the cluster too.
func inWorld(t *testing.T, f func(w *world), args []string, objects ...runtime.Object) {
	synctest.Test(t, func(t *testing.T) {
		client := kubetest.NewServer(append(objects, node())...)
		w := &world{T: t, client: client}
		own := config.Registry{"Slow": func(any, extpoints.Handle) (extpoints.Plugin, error) {
			return slow{func() time.Duration { return w.toBind }}, nil
		}}
		client.PrependReactor("*", "leases", kubetest.NewVersions(client.Tracker()).Write)
		client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return w.noLeases.Load(), nil, errors.New("no route to host")
		})
		w.scheduler = inMemory(t, client, own, args...)
		w.running = start(t.Context(), (&tenure{scheduler: w.scheduler}).run)
		f(w)
		_ = w.running.end()
		time.Sleep(time.Minute) // for what nobody waited for
	})
}

func node() *v1.Node {
	room := v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("110")}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: v1.NodeStatus{Capacity: room, Allocatable: room}}
}

// add makes a pod, which wants a node with the labels, if there are any.
func (w *world) add(name string, labels ...string) {
	w.Helper()
	selector := map[string]string{}
	for _, label := range labels {
		selector[label] = ""
	}
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: v1.PodSpec{
		SchedulerName: v1.DefaultSchedulerName, NodeSelector: selector,
		Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}}}},
	}}
	if _, err := w.client.CoreV1().Pods("default").Create(w.Context(), p, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// isBound reports whether the pod has a node.
func (w *world) isBound(name string) bool {
	w.Helper()
	p, err := w.client.CoreV1().Pods("default").Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return p.Spec.NodeName != ""
}

// holder is who has the lease.
func (w *world) holder() string {
	w.Helper()
	l, err := w.client.CoordinationV1().Leases("kube-system").Get(w.Context(), "kube-scheduler", metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return ptr.Deref(l.Spec.HolderIdentity, "")
}

// takenByAnother gives the lease to somebody else, between two renewals. What others then write is
// refused, because it is about an older version.
func (w *world) takenByAnother() {
	w.Helper()
	leases := w.client.CoordinationV1().Leases("kube-system")
	is, err := leases.Get(w.Context(), "kube-scheduler", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	is.Spec = lease15s("another").Spec
	if _, err := leases.Update(w.Context(), is, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func lease15s(holder string) *coordinationv1.Lease {
	now := metav1.NowMicro()
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-scheduler", Namespace: "kube-system"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15), AcquireTime: &now, RenewTime: &now, LeaseTransitions: ptr.To[int32](0)},
	}
}

// ended is what run returned; false while it runs.
func (w *world) ended() (error, bool) {
	select {
	case <-w.running.done:
		return w.running.err, true
	default:
		return nil, false
	}
}

func (w *world) expectEnd(want error) {
	w.Helper()
	if err, ended := w.ended(); !ended || !errors.Is(err, want) || want == nil && err != nil {
		w.Errorf("ended: %t, with %v, want %v", ended, err, want)
	}
}

// A scheduler schedules, ends when it is asked to, and gives the lease back.
func TestRun(t *testing.T) {
	for _, elect := range []bool{true, false} {
		t.Run(fmt.Sprintf("leader election %t", elect), func(t *testing.T) {
			inWorld(t, func(w *world) {
				time.Sleep(5 * time.Second)
				w.add("p")
				time.Sleep(5 * time.Second)
				if !w.isBound("p") {
					w.Error("the pod has no node")
				}
				if holder := w.holder(); (holder == "me") != elect {
					w.Errorf("the lease is %q's", holder)
				}
				w.running.stop()
				time.Sleep(time.Second)
				w.expectEnd(nil)
				if holder := w.holder(); holder != "" {
					w.Errorf("the lease is still %q's", holder)
				}
				w.add("late")
				time.Sleep(time.Minute)
				if w.isBound("late") {
					w.Error("it goes on")
				}
			}, []string{fmt.Sprintf("--leader-elect=%t", elect)})
		})
	}
}

// What is served is about this scheduler.
func TestEndpointsOfScheduler(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settings.mounts = []mount{{"/mine", func(e *engine.Engine) http.Handler {
			return http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(rw, e.QueueCounts().Unschedulable) })
		}}}
		h := w.endpoints(w.Context(), []healthz.HealthChecker{healthz.NamedCheck("more", func(*http.Request) error { return nil })}).handler()
		time.Sleep(5 * time.Second)
		w.add("placed")
		w.add("waits", "no-such-label")
		time.Sleep(5 * time.Second)
		for path, says := range map[string]string{
			"/readyz?verbose":             "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\n[+]more ok\n",
			"/healthz?verbose":            "[+]leaderElection ok\nhealthz check passed\n",
			"/metrics":                    `scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1`,
			"/metrics/resources":          `kube_pod_resource_request{namespace="default",node="n1",pod="placed"`,
			"/explain/pods/default/waits": `didn't match Pod's node affinity/selector`,
			"/mine":                       "1",
			"/debug/pprof/":               "goroutine",
		} {
			if got := ask(h, "GET", path, "", ""); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), says) {
				t.Errorf("%s: %d %.300q, want %q", path, got.Code, got.Body, says)
			}
		}
	}, nil)
}

// A scheduler that does not lead knows the cluster, or, with delayCacheUntilActive, does not, and
// schedules nothing; it leads when the lease has run out.
func TestStandby(t *testing.T) {
	for _, delay := range []bool{false, true} {
		t.Run(fmt.Sprintf("delayCacheUntilActive %t", delay), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.add("p")
				time.Sleep(10 * time.Second)
				select {
				case <-w.adapter.Ready():
					if delay {
						w.Error("it watches already")
					}
				default:
					if !delay {
						w.Error("it does not watch yet")
					}
				}
				if w.isBound("p") || w.mayWrite() {
					w.Error("it schedules already")
				}
				time.Sleep(20 * time.Second)
				if !w.isBound("p") || w.holder() != "me" {
					w.Errorf("it does not schedule; the lease is %q's", w.holder())
				}
			}, []string{"--config=" + file(t, fmt.Sprintf("delayCacheUntilActive: %t", delay))}, lease15s("another"))
		})
	}
}

// Asked to end before it leads, it ends, and leaves the lease alone.
func TestEndOfStandby(t *testing.T) {
	inWorld(t, func(w *world) {
		time.Sleep(5 * time.Second)
		w.running.stop()
		time.Sleep(time.Second)
		w.expectEnd(nil)
		if w.holder() != "another" {
			w.Errorf("the lease is %q's", w.holder())
		}
	}, nil, lease15s("another"))
}

// A scheduler that sees that another has the lease ends with an error, at once, whatever is still
// under way, and may not write any more.
func TestLeaseTaken(t *testing.T) {
	inWorld(t, func(w *world) {
		w.toBind = time.Hour
		time.Sleep(5 * time.Second)
		w.add("p")
		time.Sleep(1500 * time.Millisecond) // between two renewals
		w.takenByAnother()
		time.Sleep(2 * time.Second) // past the next one
		w.expectEnd(errLeaseLost)
		if w.mayWrite() {
			w.Error("it may still write")
		}
	}, []string{"--config=" + file(t, slowly)})
}

// A scheduler that cannot renew the lease ends before another may have it.
func TestLeaseNotRenewed(t *testing.T) {
	inWorld(t, func(w *world) {
		time.Sleep(5 * time.Second)
		w.noLeases.Store(true)
		time.Sleep(10 * time.Second)
		if !w.mayWrite() {
			w.Error("it may not write any more, although the lease has not run out")
		}
		time.Sleep(5 * time.Second)
		w.expectEnd(errLeaseLost)
		if w.mayWrite() {
			w.Error("it may still write")
		}
	}, nil)
}

// A binding that has begun ends before the lease is given back, which is renewed
// until then.
func TestBindingsEndFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		w.toBind = 10 * time.Second
		time.Sleep(5 * time.Second)
		w.add("p")
		time.Sleep(time.Second)
		w.running.stop()
		time.Sleep(8 * time.Second)
		if _, ended := w.ended(); ended || w.holder() != "me" || !w.mayWrite() {
			w.Errorf("ended: %t; the lease is %q's; it may write: %t", ended, w.holder(), w.mayWrite())
		}
		time.Sleep(2 * time.Second)
		w.expectEnd(nil)
		if !w.isBound("p") || w.holder() != "" {
			w.Errorf("bound: %t; the lease is %q's", w.isBound("p"), w.holder())
		}
	}, []string{"--config=" + file(t, slowly)})
}

// The lease may be lost while bindings end.
func TestLeaseLostAtTheEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		w.toBind = time.Hour
		time.Sleep(5 * time.Second)
		w.add("p")
		time.Sleep(time.Second)
		w.running.stop()
		time.Sleep(time.Second)
		w.takenByAnother()
		time.Sleep(3 * time.Second)
		w.expectEnd(errLeaseLost)
	}, []string{"--config=" + file(t, slowly)})
}

// Nothing is decided over a cluster that nobody watches.
func TestNotWatched(t *testing.T) {
	client := kubetest.NewServer(node())
	s := inMemory(t, client, config.Registry{}, "--leader-elect=false")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.adapter.Run(ctx, s.engine); err != nil { // it can be called once
		t.Fatal(err)
	}
	if err := (&tenure{scheduler: s}).run(t.Context()); err == nil || !strings.Contains(err.Error(), "not watched") {
		t.Errorf("got %v", err)
	}
}

// The second document of the configuration file has the scheduler place by queues.
func TestRunWithQueues(t *testing.T) {
	name := file(t, "---\napiVersion: "+queueing.APIVersion+"\nkind: "+queueing.Kind+`
queues: [{name: small, max: {cpu: "2"}}]
holds: [{name: maintenance, nodes: [n1], from: "2000-01-01T00:05:00Z"}]
`)
	inWorld(t, func(w *world) {
		time.Sleep(5 * time.Second)
		for _, name := range []string{"a", "b", "c"} {
			w.add(name)
		}
		time.Sleep(time.Minute)
		bound := 0
		for _, name := range []string{"a", "b", "c"} {
			if w.isBound(name) {
				bound++
			}
		}
		if bound != 0 {
			t.Errorf("%d pods without a deadline are on a node that is set aside", bound)
		}
		if err := w.engine.Apply(engine.RemoveObject(model.ObjectRef{Kind: model.HoldKind, ID: "maintenance"})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for _, name := range []string{"a", "b", "c"} {
			if w.isBound(name) {
				bound++
			}
		}
		if bound != 2 {
			t.Errorf("%d pods of one CPU are bound, and their queue may use two", bound)
		}
		r := httptest.NewRequest(http.MethodPost, "/explain/simulate", strings.NewReader(
			`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "d"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}`))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		w.endpoints(w.Context(), nil).handler().ServeHTTP(answer, r)
		if want := `queue \"small\": max: \"default/d\" asks for 1 cpu too much now`; !strings.Contains(answer.Body.String(), want) {
			t.Errorf("a simulation says\n%s\nand not\n%s", answer.Body, want)
		}
	}, []string{"--config=" + name}, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{queueing.NamespaceLabel: "small"}}})
}
