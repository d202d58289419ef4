package cluster

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Namespace is where everything is that has no other.
const Namespace = "default"

// Cluster is a connection to an API server, with informers for what tests wait for.
// Its methods may be called from any goroutine, except those that can end a test,
// which must be called from the test's own.
type Cluster struct {
	// Client is not limited on its side.
	Client kubernetes.Interface

	config    *rest.Config
	dynamic   dynamic.Interface
	informers informers.SharedInformerFactory
	changes   changes
	stop      chan struct{}
}

// Connect connects with the configuration and returns when the informers have what
// is there. The error says which of them has not.
func Connect(ctx context.Context, config *rest.Config) (*Cluster, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Client: client, config: config, dynamic: dyn,
		informers: informers.NewSharedInformerFactory(client, 0),
		changes:   changes{next: make(chan struct{})},
		stop:      make(chan struct{}),
	}
	watched, err := c.watched()
	if err != nil {
		return nil, err
	}
	for _, informer := range watched {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { c.changes.happened() },
			UpdateFunc: func(any, any) { c.changes.happened() },
			DeleteFunc: func(any) { c.changes.happened() },
		}); err != nil {
			return nil, err
		}
	}
	c.informers.Start(c.stop)
	for kind, synced := range c.informers.WaitForCacheSync(ctx.Done()) {
		if !synced {
			c.Close()
			return nil, fmt.Errorf("the informer of %v was not filled: %w", kind, context.Cause(ctx))
		}
	}
	return c, nil
}

// watched is the informers of all that the waits look at, and of pod groups if the
// API server serves them.
func (c *Cluster) watched() ([]cache.SharedIndexInformer, error) {
	core := c.informers.Core().V1()
	all := []cache.SharedIndexInformer{
		core.Pods().Informer(), core.Nodes().Informer(),
		core.PersistentVolumes().Informer(), core.PersistentVolumeClaims().Informer(),
		c.informers.Events().V1().Events().Informer(),
		c.informers.Resource().V1().ResourceClaims().Informer(),
		c.informers.Coordination().V1().Leases().Informer(),
	}
	groups, err := discovery.IsResourceEnabled(c.Client.Discovery(), podGroups)
	if groups {
		all = append(all, c.informers.Scheduling().V1beta1().PodGroups().Informer())
	}
	return all, err
}

// Close ends the informers, and returns when they have ended.
func (c *Cluster) Close() {
	close(c.stop)
	c.informers.Shutdown()
}

// clients makes n clients, each with a connection of its own: those of one
// configuration share one.
func (c *Cluster) clients(n int) ([]kubernetes.Interface, error) {
	out := make([]kubernetes.Interface, n)
	for i := range out {
		config := rest.CopyConfig(c.config)
		config.Dial = (&net.Dialer{Timeout: 30 * time.Second}).DialContext
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		out[i] = client
	}
	return out, nil
}

// changes wakes those who wait for the next change of anything.
type changes struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next change
}

func (c *changes) happened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.next)
	c.next = make(chan struct{})
}

// after is closed at the next change from now on.
func (c *changes) after() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}
