package kubetest

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/adaptertest"
	kubernetes "github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// namespace is where all pods of a world are.
const namespace = metav1.NamespaceDefault

// World is a harness of the kit over an API server. It plays who is missing there:
// the agents of the nodes, which run pods, and the controllers that remove pods from
// nodes that have gone and make new ones for those that were evicted.
type World struct {
	client clientset.Interface
	log    adaptertest.Log
	stop   context.CancelFunc

	mu      sync.Mutex
	wanted  map[string]*model.Workload // by name
	running map[string]run             // by name of the workload
	nodes   map[string]bool
	failed  func(format string, args ...any)
	claims  map[string]bool // workloads that use the device by the claim of their name
}

// run is one run of a pod.
type run struct {
	uid  types.UID
	node string
}

var _ adaptertest.DeviceHarness = (*World)(nil)

// NewWorld makes a world over the API server, in which there should be no pods and
// nodes. Errors of its own are reported to tb.
func NewWorld(tb adaptertest.TB, client clientset.Interface) *World {
	ctx, stop := context.WithCancel(context.Background())
	w := &World{
		client: client, stop: stop, failed: tb.Errorf,
		wanted: map[string]*model.Workload{}, running: map[string]run{}, nodes: map[string]bool{}, claims: map[string]bool{},
	}
	f := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	changed := func(o any) { w.look(ctx, o.(*v1.Pod)) }
	informer := f.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, o any) { changed(o) }, DeleteFunc: func(o any) { w.again(ctx, o) },
	}); err != nil {
		tb.Fatalf("watch pods: %v", err)
	}
	f.StartWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	tb.Cleanup(func() {
		stop()
		f.Shutdown()
	})
	return w
}

// Log implements [adaptertest.Harness].
func (w *World) Log() *adaptertest.Log { return &w.log }

// AddNode implements [adaptertest.Harness].
func (w *World) AddNode(n *model.Node) error {
	list := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(n.Allocatable.CPU, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(n.Allocatable.Memory, resource.BinarySI),
		v1.ResourcePods:   *resource.NewQuantity(n.MaxWorkloads, resource.DecimalSI),
	}
	w.mu.Lock()
	w.nodes[n.Name] = true
	w.mu.Unlock()
	_, err := w.client.CoreV1().Nodes().Create(context.Background(), &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
		Status:     v1.NodeStatus{Capacity: list, Allocatable: list},
	}, metav1.CreateOptions{})
	return err
}

// KillNode implements [adaptertest.Harness]: what ran there is gone at once, and
// its pods are collected.
func (w *World) KillNode(name string) error {
	ctx := context.Background()
	w.mu.Lock()
	delete(w.nodes, name)
	var gone []string
	for workload, r := range w.running {
		if r.node == name {
			gone = append(gone, workload)
			w.ended(workload)
		}
	}
	w.mu.Unlock()
	if err := w.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, workload := range gone {
		if err := w.remove(ctx, workload, nil); err != nil {
			return err
		}
	}
	return nil
}

// Submit implements [adaptertest.Harness].
func (w *World) Submit(m *model.Workload) error {
	w.mu.Lock()
	w.wanted[m.Name] = m
	w.mu.Unlock()
	return w.create(context.Background(), m)
}

// create makes a pod for the workload.
func (w *World) create(ctx context.Context, m *model.Workload) error {
	priority := m.Priority
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: m.Name, Labels: m.Labels},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName, Priority: &priority,
			Containers: []v1.Container{{Name: "c", Image: "pause", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU:    *resource.NewMilliQuantity(m.Requests.CPU, resource.DecimalSI),
				v1.ResourceMemory: *resource.NewQuantity(m.Requests.Memory, resource.BinarySI),
			}}}},
		},
	}
	w.mu.Lock()
	claims := w.claims[m.Name]
	w.mu.Unlock()
	if claims {
		pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "device", ResourceClaimName: &m.Name}}
		pod.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "device"}}
	}
	_, err := w.client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// Finish implements [adaptertest.Harness].
func (w *World) Finish(name string) error {
	w.mu.Lock()
	delete(w.wanted, name)
	w.ended(name)
	w.mu.Unlock()
	return w.remove(context.Background(), name, nil)
}

// ended writes down that the run of the workload has ended, if there is one. The
// caller holds the lock.
func (w *World) ended(name string) {
	if r, ok := w.running[name]; ok {
		delete(w.running, name)
		w.log.Ended(name, r.node)
	}
}

// remove removes the pod, which does not run any more.
func (w *World) remove(ctx context.Context, name string, id *types.UID) error {
	now := int64(0)
	options := metav1.DeleteOptions{GracePeriodSeconds: &now}
	if id != nil {
		options.Preconditions = &metav1.Preconditions{UID: id}
	}
	err := w.client.CoreV1().Pods(namespace).Delete(ctx, name, options)
	if apierrors.IsNotFound(err) || id != nil && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// look does what the agent of the pod's node does: it starts the pod, or ends it. A
// pod on a node that has gone is collected.
func (w *World) look(ctx context.Context, p *v1.Pod) {
	if p.Spec.NodeName == "" {
		return
	}
	w.mu.Lock()
	alive, wanted := w.nodes[p.Spec.NodeName], w.wanted[p.Name] != nil
	r, runs := w.running[p.Name]
	gone := p.DeletionTimestamp != nil || !alive || !wanted
	switch {
	case gone && runs && r.uid == p.UID:
		w.ended(p.Name)
	case !gone && !runs:
		w.running[p.Name] = run{p.UID, p.Spec.NodeName}
		w.log.Started(p.Name, p.Spec.NodeName)
	}
	w.mu.Unlock()
	if gone {
		id := p.UID
		w.check(ctx, w.remove(ctx, p.Name, &id))
	}
}

// again makes a new pod for a workload whose pod has gone and that is still wanted.
func (w *World) again(ctx context.Context, o any) {
	if last, unknown := o.(cache.DeletedFinalStateUnknown); unknown {
		o = last.Obj
	}
	w.mu.Lock()
	name := o.(*v1.Pod).Name
	m, claims := w.wanted[name], w.claims[name]
	w.mu.Unlock()
	if claims {
		w.check(ctx, w.free(ctx, name))
	}
	if m == nil {
		return
	}
	if err := w.create(ctx, m); !apierrors.IsAlreadyExists(err) {
		w.check(ctx, err)
	}
}

func (w *World) check(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		w.failed("the world: %v", err)
	}
}

// Start implements [adaptertest.Harness].
func (w *World) Start(ctx context.Context, cfg engine.Config) (adaptertest.Session, error) {
	var profiles []string
	for _, p := range cfg.Profiles {
		profiles = append(profiles, p.Name)
	}
	a, err := kubernetes.New(kubernetes.Options{Client: w.client, Profiles: profiles})
	if err != nil {
		return adaptertest.Session{}, err
	}
	cfg.Orchestrator = a
	cfg.Listener = engine.Tee(cfg.Listener, a.Listener())
	e, err := engine.New(cfg)
	if err != nil {
		return adaptertest.Session{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- w.session(ctx, a, e) }()
	return adaptertest.Session{Engine: e, Wait: func() error { return <-ended }}, nil
}

// session is one life of a scheduler: the adapter goes on until the engine has ended.
func (w *World) session(ctx context.Context, a *kubernetes.Adapter, e *engine.Engine) error {
	adapter, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var all sync.WaitGroup
	failed := error(nil)
	all.Go(func() { failed = a.Run(adapter, e) })
	select {
	case <-a.Ready():
	case <-ctx.Done():
	}
	err := e.Run(ctx)
	stop()
	all.Wait()
	if err == nil && failed != nil {
		err = fmt.Errorf("the adapter: %w", failed)
	}
	return err
}
