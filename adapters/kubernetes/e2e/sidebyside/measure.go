package sidebyside

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// Result is what came of one scheduler with one workload.
type Result struct {
	Scheduler controlplane.SchedulerKind
	Workload  string
	Nodes     int
	Pods      int           // measured
	Rate      float64       // of them, bound per second, from the first to the last
	Took      time.Duration // from the start of the scheduler to the last
	P50, P99  time.Duration // of attempts that placed a pod
	CPU       time.Duration // of the scheduler, from its start until its events are written
	PeakRSS   int64         // of the scheduler, bytes
	ServerCPU time.Duration // of the API server, meanwhile
	Events    int           // that say that a measured pod was placed
}

// stall is how long nothing may happen before a run is given up.
const stall = 2 * time.Minute

// creators is how many clients create objects.
const creators = 16

// Measure runs one scheduler with one workload on so many nodes, over a control plane
// of its own.
func Measure(ctx context.Context, kind controlplane.SchedulerKind, w Workload, nodes int) (*Result, error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return nil, err
	}
	defer plane.Stop()
	n := w.Measured(nodes)
	if err := prepare(ctx, plane, w, nodes, n); err != nil {
		return nil, err
	}
	watch, err := observe(ctx, plane.Config(controlplane.AdminUser), n)
	if err != nil {
		return nil, err
	}
	defer watch.stop()
	before, err := plane.Process(controlplane.APIServer).Usage()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	s, err := controlplane.StartScheduler(ctx, controlplane.SchedulerOptions{Kind: kind, Kubeconfig: plane.Kubeconfig(controlplane.SchedulerUser)})
	if err != nil {
		return nil, err
	}
	defer s.Remove()
	if err := watch.wait(ctx); err != nil {
		return nil, fmt.Errorf("%s, %s on %d nodes: %w\n%s", kind, w.Name, nodes, err, s.Tail(20))
	}
	r := &Result{Scheduler: kind, Workload: w.Name, Nodes: nodes, Pods: n, Rate: watch.rate(), Took: watch.last.Sub(start)}
	if r.Events, err = watch.events(ctx, n); err != nil {
		return nil, err
	}
	return r, r.read(plane, s, before)
}

// read reads what the scheduler and the API server have used.
func (r *Result) read(plane *controlplane.ControlPlane, s *controlplane.Scheduler, before controlplane.Usage) error {
	_, text, err := s.Get("/metrics", plane.Config(controlplane.AdminUser).BearerToken)
	if err != nil {
		return err
	}
	if r.P50, r.P99, err = attempts(text); err != nil {
		return err
	}
	used, err := s.Usage()
	if err != nil {
		return err
	}
	r.CPU, r.PeakRSS = used.CPU, used.PeakRSS
	server, err := plane.Process(controlplane.APIServer).Usage()
	r.ServerCPU = server.CPU - before.CPU
	return err
}

// prepare creates everything before the scheduler starts.
func prepare(ctx context.Context, plane *controlplane.ControlPlane, w Workload, nodes, measured int) error {
	c, err := cluster.Connect(ctx, plane.Config(controlplane.AdminUser))
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Client.SchedulingV1().PriorityClasses().Create(ctx, cluster.PriorityClass(highPriority, 10), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := c.CreateNodes(ctx, nodes, creators, node); err != nil {
		return err
	}
	if err := c.CreatePods(ctx, count(w.Placed, nodes), creators, func(i int) *corev1.Pod {
		return w.placed(cluster.Pod(fmt.Sprintf("placed-%05d", i)), i).Node(fmt.Sprintf("node-%05d", i%nodes)).Obj()
	}); err != nil {
		return err
	}
	if err := c.CreatePods(ctx, count(w.Stuck, nodes), creators, func(i int) *corev1.Pod {
		return stuck(cluster.Pod(fmt.Sprintf("stuck-%05d", i))).Obj()
	}); err != nil {
		return err
	}
	return c.CreatePods(ctx, measured, creators, func(i int) *corev1.Pod {
		return w.measured(cluster.Pod(fmt.Sprintf("measured-%05d", i)).Label(measuredLabel, "yes"), i).Obj()
	})
}

const measuredLabel = "measured"

// observer notes when the measured pods are bound.
type observer struct {
	client  kubernetes.Interface
	factory informers.SharedInformerFactory
	cancel  context.CancelFunc
	want    int

	mu          sync.Mutex
	bound       map[string]bool
	first, last time.Time
	change      chan struct{} // holds at most one
}

// observe watches the measured pods.
func observe(ctx context.Context, config *rest.Config, want int) (*observer, error) {
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	o := &observer{client: client, cancel: cancel, want: want, bound: map[string]bool{}, change: make(chan struct{}, 1)}
	o.factory = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(cluster.Namespace),
		informers.WithTweakListOptions(func(l *metav1.ListOptions) { l.LabelSelector = measuredLabel }))
	informer := o.factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: o.see, UpdateFunc: func(_, now any) { o.see(now) },
	}); err != nil {
		cancel()
		return nil, err
	}
	o.factory.StartWithContext(ctx)
	o.factory.WaitForCacheSyncWithContext(ctx)
	return o, nil
}

func (o *observer) stop() {
	o.cancel()
	o.factory.Shutdown()
}

func (o *observer) see(object any) {
	p, ok := object.(*corev1.Pod)
	if !ok || p.Spec.NodeName == "" {
		return
	}
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bound[p.Name] {
		return
	}
	o.bound[p.Name] = true
	if o.first.IsZero() {
		o.first = now
	}
	o.last = now
	select {
	case o.change <- struct{}{}:
	default:
	}
}

// wait waits until all are bound, or nothing has happened for too long.
func (o *observer) wait(ctx context.Context) error {
	timer := time.NewTimer(stall)
	defer timer.Stop()
	for {
		select {
		case <-o.change:
			timer.Reset(stall)
		case <-timer.C:
			return fmt.Errorf("%d of %d pods are bound, and no other for %v", o.count(), o.want, stall)
		case <-ctx.Done():
			return ctx.Err()
		}
		if o.count() == o.want {
			return nil
		}
	}
}

func (o *observer) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.bound)
}

// rate is how many were bound per second, from the first to the last.
func (o *observer) rate() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return float64(len(o.bound)-1) / o.last.Sub(o.first).Seconds()
}

// events waits until there is an event for each pod, for as long as there are more,
// and returns how many there are.
func (o *observer) events(ctx context.Context, want int) (int, error) {
	const pause = 2 * time.Second
	for have, still := -1, 0; ; {
		list, err := o.client.EventsV1().Events(cluster.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Scheduled"})
		if err != nil {
			return 0, err
		}
		n := 0
		for i := range list.Items {
			if e := &list.Items[i]; len(e.Regarding.Name) > len(measuredLabel) && e.Regarding.Name[:len(measuredLabel)] == measuredLabel {
				n++
			}
		}
		if n == have {
			still++
		} else {
			have, still = n, 0
		}
		if n >= want || still == 5 {
			return n, nil
		}
		select {
		case <-ctx.Done():
			return n, ctx.Err()
		case <-time.After(pause):
		}
	}
}
