package kubernetes

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	resourcelisters "k8s.io/client-go/listers/resource/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	groupslisters "k8s.io/client-go/listers/scheduling/v1beta1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/engine"
)

// Kind is a kind of objects that an adapter can watch besides pods and nodes, by
// the name of its resource in the API.
type Kind string

// The kinds. What none of the enabled plugins looks at need not be watched.
const (
	Namespaces             Kind = "namespaces"             // InterPodAffinity
	Services               Kind = "services"               // PodTopologySpread, for constraints by default
	ReplicationControllers Kind = "replicationcontrollers" // the same
	ReplicaSets            Kind = "replicasets"            // the same
	StatefulSets           Kind = "statefulsets"           // the same
	DisruptionBudgets      Kind = "poddisruptionbudgets"   // DefaultPreemption
	VolumeClaims           Kind = "persistentvolumeclaims" // the plugins for volumes
	Volumes                Kind = "persistentvolumes"
	StorageClasses         Kind = "storageclasses"
	StorageNodes           Kind = "csinodes"
	StorageDrivers         Kind = "csidrivers"
	StorageCapacities      Kind = "csistoragecapacities"
	VolumeAttachments      Kind = "volumeattachments"
	DeviceSlices           Kind = "resourceslices" // DynamicResources
	DeviceClasses          Kind = "deviceclasses"
	DeviceClaims           Kind = "resourceclaims"
	DeviceTaintRules       Kind = "devicetaintrules"   // with the feature gate DRADeviceTaintRules
	PriorityClasses        Kind = "priorityclasses"    // PreemptionToleration
	Groups                 Kind = "podgroups"          // with the feature gate GenericWorkload
	CompositeGroups        Kind = "compositepodgroups" // with the feature gate CompositePodGroup
)

var allKinds = append(DefaultKinds(), DeviceTaintRules, PriorityClasses, Groups, CompositeGroups)

// DefaultKinds are those that the plugins of the default profile look at, with the
// feature gates as they are by default.
func DefaultKinds() []Kind {
	return []Kind{
		Namespaces, Services, ReplicationControllers, ReplicaSets, StatefulSets, DisruptionBudgets,
		VolumeClaims, Volumes, StorageClasses, StorageNodes, StorageDrivers, StorageCapacities, VolumeAttachments,
		DeviceSlices, DeviceClasses, DeviceClaims,
	}
}

// source is a kind of objects that is watched, and how a change of an object is
// told to the engine: before and after are nil for an object that comes or goes.
// Only who tells the engine calls translate, see [Adapter].telling.
type source struct {
	name      string
	told      versions
	synced    cache.InformerSynced
	translate func(before, after any) []engine.Change
}

// listers look things up in what the informers know. Those of kinds that are not
// watched are nil.
type listers struct {
	pods                   corelisters.PodLister
	nodes                  corelisters.NodeLister
	claims                 corelisters.PersistentVolumeClaimLister
	volumes                corelisters.PersistentVolumeLister
	deviceClaims           resourcelisters.ResourceClaimLister
	groups                 groupslisters.PodGroupLister
	services               corelisters.ServiceLister
	replicationControllers corelisters.ReplicationControllerLister
	replicaSets            appslisters.ReplicaSetLister
	statefulSets           appslisters.StatefulSetLister
	priorityClasses        schedulinglisters.PriorityClassLister
	storageClasses         storagelisters.StorageClassLister
}

// roomRepeated is how often the room that is left for volumes is reported again, though it is the same.
// Drivers are asked for it each minute by default (external-provisioner --capacity-poll-interval), so a report
// that is as old as this has in it what was made meanwhile.
const roomRepeated = 5 * time.Minute

// newInformers makes the informers of all kinds. Pods that have ended are left out,
// as they take no room (kube-scheduler pkg/scheduler/scheduler.go newPodInformer,
// 1.37.1), and of all objects the fields that say who wrote them.
func newInformers(client clientset.Interface) informers.SharedInformerFactory {
	f := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(trim),
		informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&storagev1.CSIStorageCapacity{}: roomRepeated}))
	selector := fmt.Sprintf("status.phase!=%s,status.phase!=%s", v1.PodSucceeded, v1.PodFailed)
	f.InformerFor(&v1.Pod{}, func(c clientset.Interface, _ time.Duration) cache.SharedIndexInformer {
		return coreinformers.NewFilteredPodInformer(c, metav1.NamespaceAll, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			func(o *metav1.ListOptions) { o.FieldSelector = selector })
	})
	return f
}

func trim(object any) (any, error) {
	if m, err := meta.Accessor(object); err == nil && m.GetManagedFields() != nil {
		m.SetManagedFields(nil)
	}
	return object, nil
}

// watch registers for what happens to pods, nodes and the objects of all kinds that
// are wanted. The order of the sources is that in which the engine is told of what
// is there at the beginning: what others refer to comes first, and pods last.
func (a *Adapter) watch() error {
	wanted := map[Kind]bool{}
	for _, k := range a.opts.Kinds {
		wanted[k] = true
	}
	a.listers.nodes = a.factory.Core().V1().Nodes().Lister()
	if err := a.from("nodes", a.factory.Core().V1().Nodes().Informer(), a.newNodes().changed); err != nil {
		return err
	}
	for _, watch := range []func(map[Kind]bool) error{a.watchObjects, a.watchQueues, a.watchStorage, a.watchDevices, a.watchGroups, a.watchOwners, a.watchPriorityClasses} {
		if err := watch(wanted); err != nil {
			return err
		}
	}
	if err := a.fromCustom(customresources.SeccompProfiles, a.profileChanged); err != nil {
		return err
	}
	if err := a.fromCustom(customresources.PodGroups, a.labelGroupChanged); err != nil {
		return err
	}
	pods := a.factory.Core().V1().Pods()
	a.listers.pods = pods.Lister()
	if err := a.lately.pods.follow(pods.Informer()); err != nil {
		return err
	}
	return a.from("pods", pods.Informer(), a.podChanged)
}

// from takes in what the informer has to say.
func (a *Adapter) from(name string, informer cache.SharedIndexInformer, translate func(before, after any) []engine.Change) error {
	s := &source{name: name, translate: translate}
	if slices.Contains([]Kind{Volumes, VolumeClaims, DeviceClaims}, Kind(name)) {
		s.told = versions{}
	}
	rank := len(a.sources)
	handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { a.inbox.put(report{source: s, rank: rank, after: o}) },
		UpdateFunc: func(before, after any) { a.inbox.put(report{source: s, rank: rank, before: before, after: after}) },
		DeleteFunc: func(o any) {
			if last, unknown := o.(cache.DeletedFinalStateUnknown); unknown {
				o = last.Obj // as it was when it was last seen
			}
			a.inbox.put(report{source: s, rank: rank, before: o})
		},
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", name, err)
	}
	s.synced = handle.HasSynced
	a.sources = append(a.sources, s)
	return nil
}
