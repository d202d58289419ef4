package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Options say what an [Adapter] works with.
type Options struct {
	// Client reads and writes. Required.
	Client clientset.Interface
	// EventClient writes events, so that they do not use up what rate limit
	// Client has. Default: Client.
	EventClient clientset.Interface
	// Profiles are the names of the engine's profiles. Pods of other schedulers
	// are taken for what takes room where they run, and otherwise left alone.
	// Required.
	Profiles []string
	// Kinds are the kinds of objects to watch besides pods and nodes. Default:
	// [DefaultKinds].
	Kinds []Kind
	// Custom says which custom resources are read. Default: none.
	Custom Custom
	// Gates say what pods and pod groups mean. Default: kube-scheduler's defaults.
	Gates convert.Gates
	// Queueing is what the configuration adds to kube-scheduler's: the engine is told of the
	// queues, limits and holds, and namespaces are principals of the queues. Default: there
	// is none of it.
	Queueing *queueing.Configuration
	// PreBindTimeout is how long volumes may take to be bound. Default:
	// [DefaultPreBindTimeout].
	PreBindTimeout time.Duration
	// Leads is closed when this process may write to the cluster. What cannot be
	// placed whatever the engine decides is said then. Default: from the start.
	Leads <-chan struct{}
	// Translated is told of which API object each noun was made of which the engine is to
	// be told: made is a pointer to a noun of package model, and the engine keeps that very
	// pointer. With it the engine is also told of changes of objects in which nothing is
	// new to the engine itself, but may be to somebody who looks at the objects; of pods
	// without a node only where more than the status has changed. It is called on the
	// goroutine that tells the engine. Default: nobody is told.
	Translated func(made, object any)
	// Meter counts what the adapter does. Default: nobody does.
	Meter Meter
	// Logger gets what an operator should know. Default: klog.
	Logger *logr.Logger
}

// DefaultPreBindTimeout is kube-scheduler's default for the binding of volumes
// (VolumeBindingArgs.BindTimeoutSeconds, apis/config/v1/defaults.go, 1.37.1).
const DefaultPreBindTimeout = 10 * time.Minute

// Adapter connects one engine to one API server: it tells the engine what is in
// the cluster, and makes true what the engine decides. It is the engine's
// [extpoints.Orchestrator].
//
//	a, err := kubernetes.New(kubernetes.Options{Client: client, Profiles: names})
//	e, err := engine.New(engine.Config{Orchestrator: a, Listener: a.Listener(), ...})
//	go a.Run(ctx, e)       // watches, and tells the engine
//	<-a.Ready()            // the engine knows all that there is
//	err = e.Run(ctx)       // schedules, when it is this one's turn
//
// Goroutines: Run starts the informers', one that tells the engine, those that write
// statuses and events, and with queues one that looks for pods which they hold back; all
// have ended when it returns. Bindings are the
// engine's own.
type Adapter struct {
	opts     Options
	log      logr.Logger
	profiles map[string]bool

	factory informers.SharedInformerFactory
	custom  dynamicinformer.DynamicSharedInformerFactory // nil where no custom resources are read
	listers listers
	sources []*source

	inbox       inbox
	telling     sync.Mutex // held by who tells the engine of API objects
	pods        *pods
	nodes       nodes
	syscalls    syscalls
	quotas      quotas
	labelGroups labelGroups
	// principals tells of namespaces as principals; nil where the order is not by queues.
	principals *teller[v1.Namespace, *model.Principal]
	ready      chan struct{}
	running    atomic.Bool
	statuses   *statuses
	events     *events
	held       *heldPods
	engine     *engine.Engine // set by Run, before anything is told

	lately struct {
		pods   lately[*v1.Pod]
		groups lately[*schedulingv1beta1.PodGroup]
		claims lately[*resourcev1.ResourceClaim]
	}
	// evictions are those that were announced and not carried out yet, by victim.
	evictions sync.Map // workload ID -> engine.EvictingEvent
	// urgent is how many bindings and evictions are being written at this moment.
	urgent atomic.Int64
}

var (
	_ extpoints.Orchestrator   = (*Adapter)(nil)
	_ extpoints.VolumeBinder   = (*Adapter)(nil)
	_ extpoints.DeviceBinder   = (*Adapter)(nil)
	_ extpoints.DeviceReleaser = (*Adapter)(nil)
)

// ErrRunning says that Run was called twice.
var ErrRunning = errors.New("the adapter runs already, or has")

// New makes an adapter. It starts nothing and asks the API server for nothing.
func New(opts Options) (*Adapter, error) {
	if opts.Client == nil {
		return nil, errors.New("options: client: there is none")
	}
	if len(opts.Profiles) == 0 {
		return nil, errors.New("options: profiles: there is none")
	}
	if err := opts.Custom.validate(); err != nil {
		return nil, err
	}
	if opts.EventClient == nil {
		opts.EventClient = opts.Client
	}
	if opts.Kinds == nil {
		opts.Kinds = DefaultKinds()
	}
	if opts.PreBindTimeout == 0 {
		opts.PreBindTimeout = DefaultPreBindTimeout
	}
	if opts.Leads == nil {
		always := make(chan struct{})
		close(always)
		opts.Leads = always
	}
	if opts.Meter == nil {
		opts.Meter = unmetered{}
	}
	a := &Adapter{opts: opts, log: klog.Background(), profiles: map[string]bool{}, ready: make(chan struct{})}
	if opts.Logger != nil {
		a.log = *opts.Logger
	}
	for _, name := range opts.Profiles {
		a.profiles[name] = true
	}
	for _, k := range opts.Kinds {
		if !slices.Contains(allKinds, k) {
			return nil, fmt.Errorf("options: kinds: there is no kind %q", k)
		}
	}
	a.factory = newInformers(opts.Client)
	a.inbox.wake = make(chan struct{}, 1)
	a.pods = newPods(a)
	a.nodes = nodes{}
	a.syscalls, a.quotas, a.labelGroups = syscalls{}, quotas{}, labelGroups{}
	a.statuses = newStatuses(a)
	a.events = newEvents(a)
	a.held = newHeldPods(a)
	return a, a.watch()
}

// Ready is closed when the engine has been told of all that there was when the
// adapter began.
func (a *Adapter) Ready() <-chan struct{} { return a.ready }

// Run watches the API server and tells the engine what happens, until ctx ends. It
// returns when everything it started has ended. What was still to be written by
// then is written before, for at most a few seconds. It can be called once.
func (a *Adapter) Run(ctx context.Context, e *engine.Engine) error {
	if !a.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	a.engine = e
	var all sync.WaitGroup
	for _, writer := range []func(context.Context){a.statuses.run, a.events.run, a.held.run} {
		all.Go(func() { writer(ctx) })
	}
	a.factory.StartWithContext(ctx)
	if a.custom != nil {
		a.custom.Start(ctx.Done())
	}
	a.tell(ctx)
	a.factory.Shutdown()
	if a.custom != nil {
		a.custom.Shutdown()
	}
	all.Wait()
	return nil
}

// leads reports whether this process may write.
func (a *Adapter) leads() bool {
	select {
	case <-a.opts.Leads:
		return true
	default:
		return false
	}
}

// ours reports whether the pod is for this scheduler to place.
func (a *Adapter) ours(schedulerName string) bool { return a.profiles[schedulerName] }

// uid is the workload's ID as the pod's UID.
func uid(id string) types.UID { return types.UID(id) }
