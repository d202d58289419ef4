package reference

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// informer is one that is told what the API server would tell it. It is never
// run, so its indexer has exactly what it was told.
type informer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

// kinds are the kinds of object that a Scheduler keeps.
var kinds = []runtime.Object{
	&v1.Pod{}, &v1.Node{}, &v1.Namespace{}, &v1.Service{}, &v1.ReplicationController{},
	&appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{},
	&v1.PersistentVolumeClaim{}, &v1.PersistentVolume{}, &storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{},
	&storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{},
	&resourcev1.ResourceSlice{}, &resourcev1.ResourceClaim{}, &resourcev1.DeviceClass{}, &resourcev1.DeviceTaintRule{},
	&schedulingv1beta1.PodGroup{}, &schedulingv1alpha3.CompositePodGroup{},
}

// feed puts informers of its own into the factory, before anybody else asks it
// for one of the kind.
func feed(factory informers.SharedInformerFactory) map[reflect.Type]*informer {
	fed := map[reflect.Type]*informer{}
	for _, kind := range kinds {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		i := &informer{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, kind, 0, indexers)}
		factory.InformerFor(kind, func(clientset.Interface, time.Duration) cache.SharedIndexInformer { return i })
		fed[reflect.TypeOf(kind)] = i
	}
	return fed
}

// GetIndexer implements [cache.SharedIndexInformer].
func (i *informer) GetIndexer() cache.Indexer { return inKeyOrder{i.SharedIndexInformer.GetIndexer()} }

// inKeyOrder lists objects in the order of their keys, and not in that of a map. The
// order of a map would be seen: the tracker of device taints (k8s.io/dynamic-resource-
// allocation resourceslice/tracker/tracker.go applyPatches, 1.37.1) gives a device the
// taints of several rules in the order of the list, takes another order for a change, and
// wakes pods for it, by chance.
type inKeyOrder struct{ cache.Indexer }

// List implements [cache.Store].
func (o inKeyOrder) List() []any {
	list := o.Indexer.List()
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(key(a), key(b)) })
	return list
}

// key is namespace and name.
func key(object any) string {
	k, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		panic(fmt.Sprintf("reference: %v", err))
	}
	return k
}

// AddEventHandler implements [cache.SharedInformer].
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, h)
	for _, object := range i.GetIndexer().List() {
		h.OnAdd(object, true)
	}
	return registration{}, nil
}

// AddEventHandlerWithResyncPeriod implements [cache.SharedInformer].
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// AddEventHandlerWithOptions implements [cache.SharedInformer].
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// HasSynced implements [cache.SharedInformer].
func (i *informer) HasSynced() bool { return true }

// Run implements [cache.SharedInformer]; it must not be called.
func (i *informer) Run(<-chan struct{}) { panic("reference: an informer was started") }

// RunWithContext implements [cache.SharedInformer]; it must not be called.
func (i *informer) RunWithContext(context.Context) { panic("reference: an informer was started") }

// get returns the stored object of the same namespace and name, nil where
// there is none.
func (i *informer) get(object runtime.Object) runtime.Object {
	stored, ok, err := i.GetIndexer().Get(object)
	if err != nil {
		panic(fmt.Sprintf("reference: %v", err))
	}
	if !ok {
		return nil
	}
	return stored.(runtime.Object)
}

// registration is that of a handler that has seen everything there is.
type registration struct{}

func (registration) HasSynced() bool                     { return true }
func (registration) HasSyncedChecker() cache.DoneChecker { return done{} }

type done struct{}

func (done) Name() string { return "reference" }

func (done) Done() <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}
