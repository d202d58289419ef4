package kubernetes_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// library is an API server in memory that keeps its objects like the real one.
type library struct {
	*fake.Clientset
	*kubetest.Versions
	mu     sync.Mutex // of writes
	writes []string   // verb, resource and name of those that were asked for, events apart
	// before, where not nil, is called before a write, with what would be in writes. An
	// error is the answer.
	before func(write string) error
	// after is called after a write that has succeeded. An error is the answer even so.
	after func(write string) error
}

func newLibrary(t *testing.T, objects ...runtime.Object) *library {
	t.Helper()
	client := fake.NewSimpleClientset()
	l := &library{Clientset: client, Versions: kubetest.NewVersions(client.Tracker())}
	l.PrependReactor("*", "*", l.react)
	for _, o := range objects {
		l.add(t, o)
	}
	return l
}

// resources are what the kinds of objects in tests are called.
var resources = map[reflect.Type]schema.GroupVersionResource{
	reflect.TypeFor[*v1.Pod]():                     v1.SchemeGroupVersion.WithResource("pods"),
	reflect.TypeFor[*v1.Node]():                    v1.SchemeGroupVersion.WithResource("nodes"),
	reflect.TypeFor[*v1.PersistentVolume]():        v1.SchemeGroupVersion.WithResource("persistentvolumes"),
	reflect.TypeFor[*v1.PersistentVolumeClaim]():   v1.SchemeGroupVersion.WithResource("persistentvolumeclaims"),
	reflect.TypeFor[*storagev1.CSINode]():          storagev1.SchemeGroupVersion.WithResource("csinodes"),
	reflect.TypeFor[*resourcev1.ResourceClaim]():   resourcev1.SchemeGroupVersion.WithResource("resourceclaims"),
	reflect.TypeFor[*schedulingv1beta1.PodGroup](): schedulingv1beta1.SchemeGroupVersion.WithResource("podgroups"),
}

func (l *library) add(t *testing.T, o runtime.Object) {
	t.Helper()
	o = o.DeepCopyObject()
	m := o.(kubetest.Object)
	l.Stamp(m)
	if err := l.Tracker().Create(resources[reflect.TypeOf(o)], o, m.GetNamespace()); err != nil {
		t.Fatal(err)
	}
}

// get is the object as it is now; the zero value where there is none.
func get[T kubetest.Object](l *library, namespace, name string) (none T) {
	o, err := l.Tracker().Get(resources[reflect.TypeFor[T]()], namespace, name)
	if err != nil {
		return none
	}
	return o.(T)
}

// change has somebody else change the object.
func change[T kubetest.Object](l *library, namespace, name string, f func(T)) {
	o := get[T](l, namespace, name)
	f(o)
	l.Stamp(o)
	if err := l.Tracker().Update(resources[reflect.TypeFor[T]()], o, namespace); err != nil {
		panic(err)
	}
}

// drop has somebody else delete the object, for good.
func drop[T kubetest.Object](l *library, namespace, name string) {
	if err := l.Tracker().Delete(resources[reflect.TypeFor[T]()], namespace, name); err != nil {
		panic(err)
	}
}

func (l *library) react(a clienttesting.Action) (handled bool, is runtime.Object, err error) {
	var name string
	switch a := a.(type) {
	case clienttesting.CreateActionImpl:
		name = a.Object.(kubetest.Object).GetName()
	case clienttesting.UpdateActionImpl:
		name = a.Object.(kubetest.Object).GetName()
	case clienttesting.PatchActionImpl:
		name = a.Name
	case clienttesting.DeleteActionImpl:
		name = a.Name
	default:
		return false, nil, nil
	}
	if a.GetResource().Resource == "events" {
		return l.Write(a)
	}
	write := a.GetVerb() + " " + strings.TrimSuffix(a.GetResource().Resource+"/"+a.GetSubresource(), "/") + " " + name
	l.mu.Lock()
	l.writes = append(l.writes, write)
	l.mu.Unlock()
	if l.before != nil {
		err = l.before(write)
	}
	if err == nil {
		_, is, err = l.Write(a)
	}
	if err == nil && l.after != nil {
		err = l.after(write)
	}
	return true, is, err
}

// scene is an adapter over a library, in a bubble.
type scene struct {
	*library
	t       *testing.T
	adapter *kubernetes.Adapter
}

// The pod that is to be bound, and its workload, on the node that is there.
const (
	scheduler = "default-scheduler"
	space     = "lab"
	podName   = "probe"
	podUID    = "probe-uid"
	nodeName  = "n1"
)

func probe() *model.Workload {
	return &model.Workload{ID: podUID, Namespace: space, Name: podName, Profile: scheduler, Group: space + "/crew"}
}

func newScene(t *testing.T, objects ...runtime.Object) *scene {
	t.Helper()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: podName, UID: podUID}, Spec: v1.PodSpec{
		SchedulerName: scheduler, Containers: []v1.Container{{Name: "main"}},
	}}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{"zone": "a", "topology.ebs.csi.aws.com/zone": "a"}}}
	l := newLibrary(t, append([]runtime.Object{pod, node}, objects...)...)
	quiet := logr.Discard()
	a, err := kubernetes.New(kubernetes.Options{
		Client: l, Profiles: []string{scheduler}, Kinds: append(kubernetes.DefaultKinds(), kubernetes.Groups), Logger: &quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	profile := plugins.DefaultProfile()
	profile.Name = scheduler
	e, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: a, Listener: a.Listener()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- a.Run(ctx, e) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-a.Ready()
	return &scene{library: l, t: t, adapter: a}
}

// play makes the call, and lets then happen as soon as it waits.
func (s *scene) play(call func() error, then func(*library)) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	synctest.Wait()
	if then != nil {
		then(s.library)
		synctest.Wait()
	}
	return <-done
}

// expect compares an error with the part of its text that is wanted, empty for none.
func expect(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// expectWrites compares what was asked of the API server.
func (s *scene) expectWrites(want ...string) {
	s.t.Helper()
	if !slices.Equal(s.writes, want) {
		s.t.Errorf("got writes %q, want %q", s.writes, want)
	}
}

var (
	errBusy    = apierrors.NewTooManyRequests("come back", 0)
	errRefused = apierrors.NewForbidden(schema.GroupResource{}, "it", errors.New("no such luck"))
	errLost    = errors.New("connection reset")
)
