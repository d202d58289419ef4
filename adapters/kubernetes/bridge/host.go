package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/extpoints"
)

// PluginFactory makes a plugin of kube-scheduler's. It is the type of that name in
// k8s.io/kubernetes/pkg/scheduler/framework/runtime.
type PluginFactory = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error)

// Options say what the plugins of a [Host] are given.
type Options struct {
	// Objects are the API objects of what the engine knows; its Put must be the
	// adapter's Translated. Required.
	Objects *Objects
	// Client is what Handle.ClientSet gives, with a guard before it; see the package
	// comment. Required.
	Client clientset.Interface
	// KubeConfig is what Handle.KubeConfig gives, with a guard before it. Default: a
	// plugin that asks for it is refused.
	KubeConfig *rest.Config
	// Informers are the adapter's: they are started after the plugins are made. Required.
	Informers informers.SharedInformerFactory
	// Recorder is what Handle.EventRecorder gives. What is said of a cycle that only tries
	// something out is dropped. Default: events are dropped.
	Recorder events.EventRecorderLogger
	// Context is that of factories and of the points that are given none: when it ends,
	// what plugins have started is to end. Default: one that never ends.
	Context context.Context
	// Gates are the adapter's, for pods that a plugin makes up.
	Gates convert.Gates
	// Plans are the names of the plugins whose PostFilter is also called on branches and for
	// explanations, because it deletes pods only with the context that it is given. To
	// DefaultPreemption, CapacityScheduling and PreemptionToleration that applies, and
	// they are always among them.
	Plans []string
	// Watch tells of the changes of a kind of objects that is none of kube-scheduler's, for
	// plugins that register for its events: the resource is as they write it, such as
	// "elasticquotas.v1alpha1.scheduling.x-k8s.io". changed may be called on any goroutine,
	// old is nil for an object that comes and now for one that goes. Default: a pod that
	// such a plugin rejects is woken by its other events alone.
	Watch func(resource fwk.EventResource, changed func(old, now any)) error
}

// Host is what the bridged plugins of one engine share. All methods may be called from any
// goroutine.
type Host struct {
	opts  Options
	log   klog.Logger
	plans map[string]bool
	turn  *turnstile
	slots
	bare    atomic.Pointer[bare]
	devices devices
	making  atomic.Pointer[cycle] // whose PostFilter is being called; guarded by the turn
	list    []fwk.NodeInfo        // that of the engine's own cycles; guarded by their turn
}

// alwaysPlan are plugins that preempt with kube-scheduler's Evaluator and wait for it.
var alwaysPlan = []string{"DefaultPreemption", "CapacityScheduling", "PreemptionToleration"}

// New makes a host, and registers kube-scheduler's metrics, which its packages need. It
// starts nothing. The error lists everything that is missing in the options.
func New(o Options) (*Host, error) {
	var problems []error
	for _, required := range []struct {
		name string
		is   bool
	}{{"objects", o.Objects != nil}, {"client", o.Client != nil}, {"informers", o.Informers != nil}} {
		if !required.is {
			problems = append(problems, fmt.Errorf("bridge: options: %s: there is none", required.name))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Recorder == nil {
		o.Recorder = &events.FakeRecorder{}
	}
	metrics.Register()
	h := &Host{opts: o, log: klog.FromContext(o.Context), plans: map[string]bool{}, turn: newTurnstile()}
	for _, name := range slices.Concat(alwaysPlan, o.Plans) {
		h.plans[name] = true
	}
	return h, nil
}

// Factory is the factory of a plugin that kube-scheduler's registry knows by the name. Its
// arguments are a [*runtime.Unknown], which is decoded by kube-scheduler's scheme if that has
// arguments for the name, with their defaults; any other [runtime.Object], which is passed on
// as it is; or nil.
func (h *Host) Factory(name string, make PluginFactory) extpoints.Factory {
	return func(args any, ours extpoints.Handle) (extpoints.Plugin, error) {
		decoded, err := decode(name, args)
		if err != nil {
			return nil, err
		}
		hd := &handle{host: h, ours: ours, name: name}
		their, err := make(h.opts.Context, decoded, hd)
		if err != nil {
			return nil, err
		}
		if their == nil {
			return nil, fmt.Errorf("bridge: the factory of plugin %q returned none", name)
		}
		p := newPlugin(hd, their)
		return p, hd.register(p)
	}
}

// NotServedError is that a plugin has called a method that the bridge does not serve.
type NotServedError struct {
	Method string // with the type that has it, as in Handle.SharedDRAManager
	Why    string // empty: nothing more is to be said
}

// Error says it in one line.
func (e *NotServedError) Error() string {
	text := "bridge: " + e.Method + " is not served to plugins of kube-scheduler in Berth"
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}
