package bridgelevel

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	inTree "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/bridge"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// InTree are kube-scheduler's plugins that can be bridged: all but those that keep books of
// what was decided, which are the engine's here (VolumeBinding, DynamicResources), and those
// of the points of groups.
func InTree() []string {
	return []string{
		plugins.PrioritySort, plugins.SchedulingGates, plugins.DefaultBinder,
		plugins.NodeName, plugins.NodeUnschedulable, plugins.TaintToleration, plugins.NodeAffinity, plugins.NodePorts,
		plugins.NodeResourcesFit, plugins.NodeResourcesBalancedAllocation, plugins.ImageLocality,
		plugins.PodTopologySpread, plugins.InterPodAffinity, plugins.NodeDeclaredFeatures,
		plugins.VolumeRestrictions, plugins.VolumeZone, plugins.NodeVolumeLimits,
	}
}

// Bridged returns the options of a case in which the engine runs kube-scheduler's plugins of
// the names in place of its own, and those of the registry behind them, which the reference
// runs too with the same arguments. The registry's come before kube-scheduler's.
func Bridged(names []string, own frameworkruntime.Registry, args map[string]runtime.Object) decisionlevel.Options {
	side := &side{objects: bridge.NewObjects(), names: names, own: own, args: args}
	return decisionlevel.Options{Beside: side.beside, Change: side.change, Deaf: side.told, Reference: side.reference}
}

// side is the bridge in one case.
type side struct {
	objects *bridge.Objects
	names   []string
	own     frameworkruntime.Registry
	args    map[string]runtime.Object
	ref     *reference.Scheduler
	host    *bridge.Host
}

func (s *side) beside(ref *reference.Scheduler) {
	s.ref = ref
	var err error
	s.host, err = bridge.New(bridge.Options{
		Objects: s.objects, Client: ref.Framework.ClientSet(), Informers: ref.Framework.SharedInformerFactory(),
	})
	if err != nil {
		panic(fmt.Sprintf("bridgelevel: %v", err))
	}
}

// everyPlugin are the names of kube-scheduler's.
func everyPlugin() []string { return slices.Collect(maps.Keys(inTree.NewInTreeRegistry())) }

// reference enables those of the registry that kube-scheduler does not have.
func (s *side) reference(_ *generate.Source, cfg *reference.Config) {
	for _, name := range s.names {
		if !slices.Contains(everyPlugin(), name) {
			if cfg.Registry == nil {
				cfg.Registry = frameworkruntime.Registry{}
			}
			cfg.Registry[name] = s.own[name]
			cfg.Added = append(cfg.Added, name)
			if args := s.args[name]; args != nil {
				cfg.Args[name] = args
			}
		}
	}
}

// inTreeRegistry is kube-scheduler's with the feature gates as they are now. Its plugin that
// makes room waits until that is done: what a goroutine of its own does in the engine's place
// the bridge cannot turn into evictions.
func inTreeRegistry() frameworkruntime.Registry {
	registry := inTree.NewInTreeRegistry()
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	features.EnableAsyncPreemption = false
	registry[plugins.DefaultPreemption] = frameworkruntime.FactoryAdapter(features, defaultpreemption.New)
	return registry
}

// change puts the plugins in place of the engine's own.
func (s *side) change(cfg *engine.Config) {
	profile, registry := &cfg.Profiles[0], inTreeRegistry()
	for _, name := range s.names {
		factory := s.own[name]
		if factory == nil {
			factory = registry[name]
		}
		entry := extpoints.Entry{Name: name, New: s.host.Factory(name, factory)}
		if args := s.args[name]; args != nil {
			entry.Args = args
		}
		is := func(e extpoints.Entry) bool { return e.Name == name && e.New != nil }
		i := slices.IndexFunc(profile.Plugins, is)
		if i < 0 {
			if registry[name] == nil {
				profile.Plugins = append(profile.Plugins, entry)
			}
			continue // it is left out in this case
		}
		entry.Weight = profile.Plugins[i].Weight
		entry.Points, entry.Except = profile.Plugins[i].Points, profile.Plugins[i].Except
		profile.Plugins[i] = entry
	}
}

// told notes the object of what the engine is told of. It hides nothing.
func (s *side) told(c engine.Change) bool {
	if object := s.objectOf(c.Value()); object != nil {
		s.objects.Put(c.Value(), object)
	}
	return false
}

// objectOf is the reference's object, as it is now: the reference is told first.
func (s *side) objectOf(made any) runtime.Object {
	named := func(id string) metav1.ObjectMeta {
		namespace, name, err := cache.SplitMetaNamespaceKey(id)
		if err != nil {
			panic(fmt.Sprintf("bridgelevel: %v", err))
		}
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	switch made := made.(type) {
	case *model.Workload:
		return s.ref.Get(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: made.Namespace, Name: made.Name}})
	case *model.Node:
		return s.ref.Get(&v1.Node{ObjectMeta: named(made.Name)})
	case *model.Budget:
		return s.ref.Get(&policyv1.PodDisruptionBudget{ObjectMeta: named(made.ID)})
	case *model.VolumeClaim:
		return s.ref.Get(&v1.PersistentVolumeClaim{ObjectMeta: named(made.ID)})
	case *model.Volume:
		return s.ref.Get(&v1.PersistentVolume{ObjectMeta: named(made.Name)})
	case *model.StorageClass:
		return s.ref.Get(&storagev1.StorageClass{ObjectMeta: named(made.Name)})
	case *model.StorageDriver:
		return s.ref.Get(&storagev1.CSIDriver{ObjectMeta: named(made.Name)})
	case *model.NodeStorage:
		return s.ref.Get(&storagev1.CSINode{ObjectMeta: named(made.Node)})
	case *model.StorageCapacity:
		return s.ref.Get(&storagev1.CSIStorageCapacity{ObjectMeta: named(made.ID)})
	case *model.VolumeAttachment:
		return s.ref.Get(&storagev1.VolumeAttachment{ObjectMeta: named(made.ID)})
	case *model.DeviceClass:
		return s.ref.Get(&resourcev1.DeviceClass{ObjectMeta: named(made.Name)})
	case *model.DeviceClaim:
		return s.ref.Get(&resourcev1.ResourceClaim{ObjectMeta: named(made.ID)})
	}
	return nil
}
