package pluginlevel

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// resources are the custom resources that there are, as the reference's plugins read them. Other
// requests than for one of them are not answered.
type resources struct {
	client.Client
	list map[resourceKey]client.Object
}

type resourceKey struct {
	kind reflect.Type
	name client.ObjectKey
}

func newResources(list []client.Object) resources {
	r := resources{list: map[resourceKey]client.Object{}}
	for _, o := range list {
		r.list[resourceKey{reflect.TypeOf(o), client.ObjectKeyFromObject(o)}] = o
	}
	return r
}

// Get implements [client.Reader].
func (r resources) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o, ok := r.list[resourceKey{reflect.TypeOf(into), name}]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{}, name.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(o.DeepCopyObject()).Elem())
	return nil
}

// setField sets a field of a plugin of the reference that others cannot reach. Their constructors
// make clients of an API server.
func setField(plugin any, name string, value any) {
	f := reflect.ValueOf(plugin).Elem().FieldByName(name)
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
}

// beside is a cluster with what there is beside nodes and pods: custom resources, and what is
// measured.
type beside struct {
	*twin.Twin
	complete bool              // no custom resource is missing that pods name
	custom   resources         // of the reference
	told     []model.ObjectRef // objects that the subject has been told of
	loads    []string          // nodes on which something is measured
	recent   bool              // what is measured does not have the pods on nodes yet
}

// lists are the kinds of lists of the resources that a source reads.
var lists = map[customresources.Kind]string{
	customresources.NodeTopologies:    "NodeResourceTopologyList",
	customresources.AppGroups:         "AppGroupList",
	customresources.NetworkTopologies: "NetworkTopologyList",
}

// tellCustom tells both sides what custom resources there are now.
func (c *beside) tellCustom() error {
	profiles := c.seccompProfiles()
	others := slices.Concat(c.appGroups(), c.networkTopologies(), c.nodeTopologies())
	c.custom = newResources(append(profiles, others...))
	if err := c.tellProfiles(profiles); err != nil {
		return err
	}
	return c.tellObjects(others)
}

// tellProfiles lets the subject know which system calls the pods make.
func (c *beside) tellProfiles(list []client.Object) error {
	profiles := map[string][]string{}
	for _, o := range list {
		u, err := asUnstructured(o)
		if err != nil {
			return err
		}
		if profiles[u.GetNamespace()+"/"+u.GetName()], err = customresources.Syscalls(u); err != nil {
			return err
		}
	}
	c.Syscalls = func(p *v1.Pod) []string { return customresources.SyscallsOf(p, profiles, unconfined) }
	c.UpdateAll()
	return nil
}

// tellObjects lets the subject read the objects, and forget those that it knew before.
func (c *beside) tellObjects(list []client.Object) error {
	for _, ref := range c.told {
		c.Subject.Apply(engine.RemoveObject(ref))
	}
	c.told = nil
	changes, err := read(list)
	if err != nil {
		return err
	}
	c.Subject.Apply(changes...)
	for _, change := range changes {
		c.told = append(c.told, model.RefOf(change.Value().(model.Object)))
	}
	return nil
}

// read is what a source makes of the objects.
func read(list []client.Object) (changes []engine.Change, err error) {
	var there []runtime.Object
	for _, o := range list {
		u, err := asUnstructured(o)
		if err != nil {
			return nil, err
		}
		there = append(there, u)
	}
	kinds := map[schema.GroupVersionResource]string{}
	o := customresources.Options{Pods: corelisters.NewPodLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}))}
	for kind, list := range lists {
		r, _ := kind.Resource()
		kinds[r] = list
		o.Kinds = append(o.Kinds, kind)
	}
	o.Client = fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, there...)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var mu sync.Mutex
	left := len(list)
	told := func() { // of each object once
		if left--; left == 0 {
			stop()
		}
	}
	o.Apply = func(more ...engine.Change) error {
		mu.Lock()
		defer mu.Unlock()
		changes = append(changes, more...)
		told()
		return nil
	}
	o.Failed = func(failure error) {
		mu.Lock()
		defer mu.Unlock()
		err = failure
		told()
	}
	source, failure := customresources.New(o)
	if failure != nil {
		return nil, failure
	}
	if left > 0 {
		source.Run(ctx)
	}
	return changes, err
}

func asUnstructured(o client.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	return &unstructured.Unstructured{Object: fields}, err
}
