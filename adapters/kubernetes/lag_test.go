package kubernetes_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// laggard is a cluster with one device, and two pods of which each needs it by
// a claim of its own. Each kind of objects is watched with a delay of its own. It looks at
// what is written: at no moment may two claims have the device, or a pod run without.
type laggard struct {
	*library
	t    *testing.T
	lags map[string]time.Duration // by resource
	// cached are, by resource, the objects as a watch cache has them that is behind: who
	// lists without asking for the newest gets these, and hears of the rest by the watch.
	cached map[string]stale

	wrong []string // under mu
}

// stale is a list as it was, and how its objects are now.
type stale struct {
	list runtime.Object
	now  func() []runtime.Object
}

func newLaggard(t *testing.T, lags map[string]time.Duration) *laggard {
	l := &laggard{library: newLibrary(t), t: t, lags: lags}
	for _, o := range []runtime.Object{
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}},
		&resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", NodeName: &[]string{nodeName}[0], Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "x"}},
		}},
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("10"), v1.ResourceMemory: resource.MustParse("10Gi"), v1.ResourcePods: resource.MustParse("10")}}},
	} {
		if err := l.Tracker().Add(o); err != nil {
			t.Fatal(err)
		}
	}
	l.PrependWatchReactor("*", l.watch)
	l.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		old, known := l.cached[a.GetResource().Resource]
		newest := a.(clienttesting.ListActionImpl).ListOptions.ResourceVersion == ""
		if newest || !known {
			return false, nil, nil
		}
		return true, old.list.DeepCopyObject(), nil
	})
	l.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		b, ok := a.(clienttesting.CreateAction).GetObject().(*v1.Binding)
		if !ok {
			return false, nil, nil
		}
		if l.before != nil {
			if err := l.before("create pods/binding " + b.Name); err != nil {
				return true, nil, err
			}
		}
		if get[*v1.Pod](l.library, space, b.Name) == nil {
			return true, nil, errRefused
		}
		change(l.library, space, b.Name, func(p *v1.Pod) { p.Spec.NodeName = b.Target.Name })
		return true, b, nil
	})
	return l
}

// watch delivers what happens to the resource late, and in its order.
func (l *laggard) watch(a clienttesting.Action) (bool, watch.Interface, error) {
	inner, err := l.Tracker().Watch(a.GetResource(), a.GetNamespace())
	if err != nil {
		return true, nil, err
	}
	lag := l.lags[a.GetResource().Resource]
	if lag == 0 {
		return true, inner, nil
	}
	type late struct {
		watch.Event
		at time.Time
	}
	queue := make(chan late, 1000)
	out := make(chan watch.Event)
	stopped := make(chan struct{})
	var missed []runtime.Object
	if old, known := l.cached[a.GetResource().Resource]; known {
		missed = old.now()
	}
	go func() {
		defer close(queue)
		for _, o := range missed {
			queue <- late{watch.Event{Type: watch.Modified, Object: o}, time.Now().Add(lag)}
		}
		for e := range inner.ResultChan() {
			queue <- late{e, time.Now().Add(lag)}
		}
	}()
	go func() {
		defer close(out)
		for e := range queue {
			select {
			case <-time.After(time.Until(e.at)):
			case <-stopped:
				return
			}
			select {
			case out <- e.Event:
			case <-stopped:
				return
			}
		}
	}()
	return true, &lateWatch{Interface: inner, out: out, stopped: stopped}, nil
}

type lateWatch struct {
	watch.Interface
	out     chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func (w *lateWatch) ResultChan() <-chan watch.Event { return w.out }

func (w *lateWatch) Stop() {
	w.once.Do(func() { close(w.stopped) })
	w.Interface.Stop()
}

// submit makes a pod with its claims.
func (l *laggard) submit(name string) {
	claim := request(name)
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(name)}, Spec: v1.PodSpec{
		SchedulerName:  scheduler,
		Containers:     []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Claims: []v1.ResourceClaim{{Name: "card"}}}}},
		ResourceClaims: []v1.PodResourceClaim{{Name: "card", ResourceClaimName: &claim.Name}},
	}}
	for _, o := range []runtime.Object{claim, p} {
		l.add(l.t, o)
	}
}

// claims lists the claims as they are.
func (l *laggard) claims() *resourcev1.ResourceClaimList {
	list := &resourcev1.ResourceClaimList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, name := range []string{"first", "second"} {
		if c := get[*resourcev1.ResourceClaim](l.library, space, name); c != nil {
			list.Items = append(list.Items, *c.DeepCopy())
		}
	}
	return list
}

// look notes what is given twice, and what is lacking.
func (l *laggard) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := map[string]string{}
	for _, name := range []string{"first", "second"} {
		c := get[*resourcev1.ResourceClaim](l.library, space, name)
		switch {
		case c == nil:
			continue
		case c.Status.Allocation == nil:
			if l.nodeOf(name) == nodeName {
				l.wrong = append(l.wrong, name+" runs without its device")
			}
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			if other := has[r.Device]; other != "" {
				l.wrong = append(l.wrong, fmt.Sprintf("%s and %s have device %s", other, name, r.Device))
			}
			has[r.Device] = name
		}
	}
}

// free is what the controllers do for pods that have gone.
func (l *laggard) free() {
	for _, name := range []string{"first", "second"} {
		if get[*v1.Pod](l.library, space, name) != nil {
			continue
		}
		c := get[*resourcev1.ResourceClaim](l.library, space, name)
		if c != nil && c.Status.Allocation != nil {
			change(l.library, space, name, func(c *resourcev1.ResourceClaim) {
				c.Status = resourcev1.ResourceClaimStatus{}
				c.Finalizers = nil
			})
		}
	}
}

func (l *laggard) nodeOf(name string) string {
	if p := get[*v1.Pod](l.library, space, name); p != nil {
		return p.Spec.NodeName
	}
	return "gone"
}

// start starts a scheduler. What it returns stops it.
func (l *laggard) start() (stop func()) {
	quiet := logr.Discard()
	a, err := kubernetes.New(kubernetes.Options{Client: l, Profiles: []string{scheduler}, Logger: &quiet})
	if err != nil {
		l.t.Fatal(err)
	}
	profile := plugins.DefaultProfile()
	profile.Name = scheduler
	e, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: a, Listener: a.Listener()})
	if err != nil {
		l.t.Fatal(err)
	}
	watching, stopWatching := context.WithCancel(context.Background())
	scheduling, stopScheduling := context.WithCancel(context.Background())
	var adapter, scheduler sync.WaitGroup
	adapter.Go(func() { _ = a.Run(watching, e) })
	<-a.Ready()
	scheduler.Go(func() { _ = e.Run(scheduling) })
	return func() {
		stopScheduling()
		scheduler.Wait()
		stopWatching()
		adapter.Wait()
	}
}

// spoiled fails the first writes of the kind, of each cluster.
func spoiled(times int64, write string, err error) func(string) error {
	var left atomic.Int64
	left.Store(times)
	return func(w string) error {
		if w == write && left.Add(-1) >= 0 {
			return err
		}
		return nil
	}
}

// Watches that lag behind each other by seconds, in any order, and every way in which
// what was written for a pod can be of no use: at no moment do two claims have the device
// in the API, or runs a pod without, and in the end the second pod gets it.
func TestNothingIsWrittenTwiceThoughWatchesLag(t *testing.T) {
	t.Parallel()
	refuse := func(times int64, write string, err error) func(*laggard) {
		return func(l *laggard) { l.before = spoiled(times, write, err) }
	}
	lose := func(times int64, write string, err error) func(*laggard) {
		return func(l *laggard) {
			answer := spoiled(times, write, err)
			l.after = func(w string) error {
				l.look()
				return answer(w)
			}
		}
	}
	bind, status := "create pods/binding first", "update resourceclaims/status first"
	type way struct {
		name   string
		spoil  func(*laggard)
		during func(*laggard, *func()) // after a second; may stop and start the scheduler
	}
	for _, w := range []way{
		{name: "nothing fails"},
		{name: "the binding is refused once", spoil: refuse(1, bind, errRefused)},
		{name: "the binding is refused often", spoil: refuse(4, bind, errRefused)},
		{name: "the claim's write is refused once", spoil: refuse(1, status, errRefused)},
		{name: "the answer to the claim's write is lost", spoil: lose(1, status, errLost)},
		{name: "the claim's write is refused when it was made", spoil: lose(1, status, errRefused)},
		{name: "the claim's write is refused often when it was made", spoil: lose(3, status, errRefused)},
		{name: "the pod goes when it is bound", during: func(l *laggard, _ *func()) {
			drop[*v1.Pod](l.library, space, "first")
			time.Sleep(5 * time.Second)
			l.free()
		}},
		{name: "the binding is refused, and the pod goes", spoil: refuse(9, bind, errRefused), during: func(l *laggard, _ *func()) {
			drop[*v1.Pod](l.library, space, "first")
			time.Sleep(5 * time.Second)
			l.free()
		}},
		{name: "the scheduler starts again", during: func(l *laggard, stop *func()) {
			(*stop)()
			*stop = l.start()
		}},
		{name: "the scheduler starts again beside an old cache", during: func(l *laggard, stop *func()) {
			(*stop)()
			old := l.claims()
			for i := range old.Items { // as they were before it wrote anything
				old.Items[i].Status, old.Items[i].ResourceVersion = resourcev1.ResourceClaimStatus{}, "1"
			}
			l.cached = map[string]stale{"resourceclaims": {old, func() (now []runtime.Object) {
				for _, c := range l.claims().Items {
					now = append(now, &c)
				}
				return now
			}}}
			*stop = l.start()
		}},
		{name: "the binding is refused, and the scheduler starts again", spoil: refuse(9, bind, errRefused), during: func(l *laggard, stop *func()) {
			(*stop)()
			*stop = l.start()
		}},
	} {
		for _, lags := range []string{"resourceclaims", "pods", "resourceslices", "resourceclaims pods", "pods resourceclaims", "resourceslices resourceclaims pods", "pods resourceslices resourceclaims"} {
			t.Run(w.name+", late: "+lags, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					late := map[string]time.Duration{}
					for i, resource := range strings.Fields(lags) {
						late[resource] = time.Duration(i+1) * 2 * time.Second
					}
					l := newLaggard(t, late)
					l.after = func(string) error { l.look(); return nil }
					if w.spoil != nil {
						w.spoil(l)
					}
					stop := l.start()
					l.submit("first")
					time.Sleep(10 * time.Millisecond)
					l.submit("second")
					time.Sleep(12 * time.Second)
					if w.during != nil {
						w.during(l, &stop)
					}
					time.Sleep(3 * time.Minute)
					l.look()
					if first, second := l.nodeOf("first"), l.nodeOf("second"); first == nodeName && second == nodeName {
						t.Errorf("both pods run")
					} else if first == "" && second == "" {
						t.Errorf("none of them runs")
					}
					if l.nodeOf("second") == "" {
						if get[*v1.Pod](l.library, space, "first") != nil {
							drop[*v1.Pod](l.library, space, "first")
						}
						time.Sleep(5 * time.Second)
						l.free()
						time.Sleep(3 * time.Minute)
					}
					if got := l.nodeOf("second"); got != nodeName {
						t.Errorf("the second pod is on %q when the first has gone", got)
					}
					if l.look(); len(l.wrong) > 0 {
						t.Errorf("%v", l.wrong)
					}
					stop()
				})
			})
		}
	}
}
