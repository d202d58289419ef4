package reference

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/clock/testing"
)

// ProfileName is the name of the one profile.
const ProfileName = "default-scheduler"

// Config says what a [Scheduler] is made of.
type Config struct {
	// Plugins are the names of the default plugins to keep; nil keeps all.
	// Those of the Registry that it names are enabled behind them.
	Plugins []string
	// Added are names of plugins of the Registry that are enabled behind the default ones,
	// with their Args.
	Added []string
	// Without are names of default plugins to leave out.
	Without []string
	// Registry has plugins that are not kube-scheduler's.
	Registry frameworkruntime.Registry
	// Args replaces the default arguments, by plugin name.
	Args map[string]runtime.Object
	// PercentageOfNodesToScore is the profile's; nil: adaptive.
	PercentageOfNodesToScore *int32
	// Now is where the clock stands at first.
	Now time.Time
	// Options are more options of kube-scheduler.
	Options []scheduler.Option
	// Gates turn on what is off by default. They are those of the process: a
	// scheduler with others must not be used from then on.
	Gates Gates
	// Tie scores placements, by name, that are otherwise equally good: the
	// highest is taken. Nil: kube-scheduler chooses at random. Placements are tried in
	// the order of their first nodes then, and not of a map.
	Tie func(placement string) int64
}

// Scheduler is kube-scheduler. It may be used by one goroutine at a time.
type Scheduler struct {
	*scheduler.Scheduler
	// Snapshot is what the next cycle sees, as of the last UpdateSnapshot.
	Snapshot *cache.Snapshot
	// Framework runs the plugins of the profile.
	Framework framework.Framework
	// Clock is the queue's clock. Move it with SetTime.
	Clock *Clock
	// Context is for calls of plugins.
	Context context.Context

	cancel    context.CancelFunc
	logger    klog.Logger
	informers map[reflect.Type]*informer
	cycle     cycle
	held      *held // nil where bindings are not held
	// turn is held while a cycle runs and its outcome is told: meanwhile the
	// goroutine that evicts victims waits with its requests, which are about
	// other pods than the cycle's.
	turn sync.Mutex

	mu      sync.Mutex // guards the rest, and the objects in the informers
	settled *sync.Cond // signalled when it is known what happens to a pod
	pending []func()
	victims []string
	last    int // resource version
	created int // names given to claims
	changed changed
}

// New makes a scheduler that knows of no object.
func New(cfg Config) (*Scheduler, error) {
	if err := cfg.Gates.set(); err != nil {
		return nil, err
	}
	profile, err := newProfile(cfg)
	if err != nil {
		return nil, err
	}
	s := &Scheduler{Snapshot: cache.NewEmptySnapshot(), Clock: &Clock{FakeClock: testing.NewFakeClock(cfg.Now)}}
	s.settled = sync.NewCond(&s.mu)
	s.changed.claims = map[string]*resourcev1.ResourceClaim{}
	s.begin()
	s.Context, s.cancel = context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	s.logger = klog.FromContext(s.Context)
	if cfg.Tie != nil {
		orderPlacements(&profile)
		cfg.Registry = cfg.with(placementPlugins(cfg.Tie))
	}
	client := s.newClient()
	factory := informers.NewSharedInformerFactory(client, 0)
	s.informers = feed(factory)
	quiet := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	options := append([]scheduler.Option{
		scheduler.WithProfiles(profile), scheduler.WithParallelism(1),
		scheduler.WithNodeInfoSnapshot(s.Snapshot), scheduler.WithClock(s.Clock),
		scheduler.WithFrameworkOutOfTreeRegistry(cfg.Registry),
	}, cfg.Options...)
	s.Scheduler, err = scheduler.New(s.Context, client, factory, nil, quiet, options...)
	if err != nil {
		s.cancel()
		return nil, fmt.Errorf("reference: %w", err)
	}
	s.Framework = s.Profiles[ProfileName]
	BindVolumesAtOnce(s.Plugin(volumebinding.Name))
	s.watchCycle()
	return s, nil
}

// newProfile is the default profile with what the configuration changes.
func newProfile(cfg Config) (config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	all := config.KubeSchedulerConfiguration{}
	if err := scheme.Scheme.Convert(&versioned, &all, nil); err != nil {
		return config.KubeSchedulerProfile{}, err
	}
	profile := all.Profiles[0]
	profile.PercentageOfNodesToScore = cfg.PercentageOfNodesToScore
	if cfg.Plugins != nil {
		set := &profile.Plugins.MultiPoint
		set.Enabled = slices.DeleteFunc(set.Enabled, func(p config.Plugin) bool { return !slices.Contains(cfg.Plugins, p.Name) })
		for _, name := range cfg.Plugins {
			if cfg.Registry[name] != nil {
				set.Enabled = append(set.Enabled, config.Plugin{Name: name})
			}
		}
	}
	set := &profile.Plugins.MultiPoint
	set.Enabled = slices.DeleteFunc(set.Enabled, func(p config.Plugin) bool { return slices.Contains(cfg.Without, p.Name) })
	for _, name := range cfg.Added {
		set.Enabled = append(set.Enabled, config.Plugin{Name: name})
		if args := cfg.Args[name]; args != nil {
			profile.PluginConfig = append(profile.PluginConfig, config.PluginConfig{Name: name, Args: args})
		}
	}
	for i := range profile.PluginConfig {
		if args, ok := cfg.Args[profile.PluginConfig[i].Name]; ok {
			profile.PluginConfig[i].Args = args
		}
	}
	return profile, nil
}

// with is the configuration's registry and another one.
func (cfg *Config) with(more frameworkruntime.Registry) frameworkruntime.Registry {
	all := maps.Clone(more)
	maps.Copy(all, cfg.Registry)
	return all
}

// DefaultPlugins lists the plugins of the default profile in their order; see
// [Config].Gates.
func DefaultPlugins(gates Gates) ([]string, error) {
	if err := gates.set(); err != nil {
		return nil, err
	}
	profile, err := newProfile(Config{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range profile.Plugins.MultiPoint.Enabled {
		names = append(names, p.Name)
	}
	return names, nil
}

// Close lets go of what the scheduler has started.
func (s *Scheduler) Close() {
	s.Queue().Close()
	s.cancel()
}

// SetTime moves the clock.
func (s *Scheduler) SetTime(now time.Time) { s.Clock.Set(now) }

// Put adds the object, or replaces the one of the same kind, namespace and
// name, and tells the handlers. It keeps a copy.
func (s *Scheduler) Put(object runtime.Object) {
	object = object.DeepCopyObject()
	s.version(object)
	s.changed.told(object)
	i := s.informer(object)
	old := i.get(object)
	must(i.GetIndexer().Add(object))
	for _, h := range i.handlers {
		if old == nil {
			h.OnAdd(object, false)
		} else {
			h.OnUpdate(old, object)
		}
	}
}

// Together is Put for objects that come at the same time, one after the other.
func (s *Scheduler) Together(objects ...runtime.Object) {
	s.Clock.Run(true)
	defer s.Clock.Run(false)
	for _, object := range objects {
		s.Put(object)
	}
}

// Delete forgets the object of the same kind, namespace and name, and tells the
// handlers.
func (s *Scheduler) Delete(object runtime.Object) {
	i := s.informer(object)
	old := i.get(object)
	if old == nil {
		panic(fmt.Sprintf("reference: there is no such object: %T", object))
	}
	s.changed.gone(old)
	must(i.GetIndexer().Delete(old))
	for _, h := range i.handlers {
		h.OnDelete(old)
	}
}

// Get returns the stored object of the same kind, namespace and name, nil where
// there is none. It must not be changed.
func (s *Scheduler) Get(object runtime.Object) runtime.Object { return s.informer(object).get(object) }

// Deliver tells the handlers what kube-scheduler itself has changed through the
// API since it was last called.
func (s *Scheduler) Deliver() {
	s.mu.Lock()
	pending := s.pending
	s.pending = nil
	s.mu.Unlock()
	for _, tell := range pending {
		tell()
	}
}

// UpdateSnapshot brings the snapshot up to date, as each cycle does.
func (s *Scheduler) UpdateSnapshot() {
	must(s.Cache.UpdateSnapshot(s.logger, s.Snapshot))
}

// Logger is the logger for calls of plugins.
func (s *Scheduler) Logger() klog.Logger { return s.logger }

func (s *Scheduler) informer(object runtime.Object) *informer {
	i := s.informers[reflect.TypeOf(object)]
	if i == nil {
		panic(fmt.Sprintf("reference: no objects of type %T are kept", object))
	}
	return i
}

// version gives the object the next resource version.
func (s *Scheduler) version(object runtime.Object) {
	s.last++
	accessor, err := meta.Accessor(object)
	must(err)
	accessor.SetResourceVersion(strconv.Itoa(s.last))
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("reference: %v", err))
	}
}
