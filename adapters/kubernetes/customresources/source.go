package customresources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Options are what a [Source] is made of.
type Options struct {
	// Client reads. Required.
	Client dynamic.Interface
	// Discovery says what there is to read. Required for Check.
	Discovery discovery.DiscoveryInterface
	// Kinds are those to read.
	Kinds []Kind
	// Apply takes what was read; that of an engine. Required.
	Apply func(...engine.Change) error
	// Pods are those that the engine knows. Required for NodeTopologies.
	Pods corelisters.PodLister
	// Failed is told, by any goroutine, what could not be read. Default: nobody is.
	Failed func(error)
	// Now is the time. Default: that of the clock.
	Now func() time.Time
}

// Source reads custom resources. It is made with [New].
type Source struct {
	o     Options
	ready chan struct{}
	zones zones
}

// reader is how a kind is read. It says what changes with an object; each is nil where there is none.
type reader func(s *Source, before, after *unstructured.Unstructured) ([]engine.Change, error)

var readers = map[Kind]reader{
	NodeTopologies:    (*Source).topologyChanged,
	AppGroups:         (*Source).graphChanged,
	NetworkTopologies: (*Source).costsChanged,
}

// New makes a source, and says what is wrong with the options. It asks nobody for anything.
func New(o Options) (*Source, error) {
	switch {
	case o.Client == nil:
		return nil, errors.New("custom resources: client: must be set")
	case o.Apply == nil:
		return nil, errors.New("custom resources: apply: must be set")
	case o.Pods == nil && slices.Contains(o.Kinds, NodeTopologies):
		return nil, errors.New("custom resources: pods: must be set")
	}
	for _, k := range o.Kinds {
		if _, known := readers[k]; !known {
			return nil, fmt.Errorf("custom resources: kinds: %q is none", k)
		}
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Source{o: o, ready: make(chan struct{}), zones: zones{waiting: map[string]*nodeTopology{}, known: map[string]bool{}}}, nil
}

// Check asks the API server whether it has the resources; see [Installed].
func (s *Source) Check() error { return Installed(s.o.Discovery, s.o.Kinds...) }

// Ready is closed when all that there was when Run began has been passed on.
func (s *Source) Ready() <-chan struct{} { return s.ready }

// retry is the time after which fingerprints are compared again.
const retry = 5 * time.Second

// Run reads until ctx ends. It is called once.
func (s *Source) Run(ctx context.Context) {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(s.o.Client, 0)
	var synced []cache.InformerSynced
	for _, k := range s.o.Kinds {
		handle, err := factory.ForResource(resources[k]).Informer().AddEventHandler(s.handler(k))
		if err != nil { // the informer has been stopped, which it has not
			s.o.Failed(fmt.Errorf("custom resources: %s: %w", k, err))
			continue
		}
		synced = append(synced, handle.HasSynced)
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return
	}
	close(s.ready)
	tick := time.NewTicker(retry)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.pass("fingerprints", s.agreeing(), nil)
		}
	}
}

func (s *Source) handler(k Kind) cache.ResourceEventHandler {
	changed := func(before, after any) {
		was, _ := before.(*unstructured.Unstructured)
		is, _ := after.(*unstructured.Unstructured)
		one := was
		if is != nil {
			one = is
		}
		if one == nil {
			return
		}
		changes, err := readers[k](s, was, is)
		s.pass(fmt.Sprintf("%s %s", k, cache.NewObjectName(one.GetNamespace(), one.GetName())), changes, err)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { changed(nil, o) },
		UpdateFunc: changed,
		DeleteFunc: func(o any) {
			if last, unknown := o.(cache.DeletedFinalStateUnknown); unknown {
				o = last.Obj
			}
			changed(o, nil)
		},
	}
}

// pass passes the changes on, and reports what went wrong.
func (s *Source) pass(what string, changes []engine.Change, err error) {
	if len(changes) > 0 {
		err = errors.Join(err, s.o.Apply(changes...))
	}
	if err != nil {
		s.o.Failed(fmt.Errorf("custom resources: %s: %w", what, err))
	}
}

// decode reads the object into the type, nil of nil.
func decode[T any](o *unstructured.Unstructured) (*T, error) {
	if o == nil {
		return nil, nil
	}
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var t T
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	return &t, nil
}

// put is the change that puts the object, if it is valid.
func put(o model.Object) ([]engine.Change, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return []engine.Change{engine.PutObject(o)}, nil
}

// lock is a mutex with a method that runs something under it.
type lock struct{ sync.Mutex }

func (l *lock) do(f func()) {
	l.Lock()
	defer l.Unlock()
	f()
}
