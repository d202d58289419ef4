package kubernetes

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// told are the objects of one kind as the engine was told of them, by identity. A
// report that says nothing new to the engine is none: most changes of nodes are
// about their health.
type told[M any] map[string]M

// follow makes of an object's change the one that the engine is told. translated is
// the object after the change; ok is false where there is none any more. The object
// before has the identity was, or none.
func (t told[M]) follow(was, is string, translated M, ok bool, put func(M) engine.Change, remove func(id string) engine.Change) []engine.Change {
	var changes []engine.Change
	if _, known := t[was]; known && (!ok || was != is) {
		delete(t, was)
		changes = append(changes, remove(was))
	}
	if !ok {
		return changes
	}
	if before, known := t[is]; known && reflect.DeepEqual(before, translated) {
		return changes
	}
	t[is] = translated
	return append(changes, put(translated))
}

// as is what an informer reports, nil where it reports nothing.
func as[T any](object any) *T {
	o, _ := object.(*T)
	return o
}

// nodes are the nodes that the engine was told of.
type nodes = told[*model.Node]

func (a *Adapter) nodeChanged(before, after any) []engine.Change {
	var was, is string
	var n *model.Node
	if o := as[v1.Node](before); o != nil {
		was = o.Name
	}
	if o := as[v1.Node](after); o != nil {
		var err error
		n, err = convert.Node(o)
		a.problem("node", o.Name, err)
		is = o.Name
	}
	return a.nodes.follow(was, is, n, n != nil,
		func(n *model.Node) engine.Change { return engine.Change{PutNode: n} },
		func(id string) engine.Change { return engine.Change{RemoveNode: id} })
}

// problem logs what cannot be translated of an object. The rest of it counts.
func (a *Adapter) problem(kind, name string, err error) {
	if err != nil {
		a.log.Error(err, "Part of an object cannot be understood and is left out", "kind", kind, "object", name)
	}
}

// watched is from for a kind of objects whose translation does not depend on
// others. translate returns the identity too; ok is false for an object that does
// not count.
func watched[T, M any](a *Adapter, wanted map[Kind]bool, kind Kind, informer func() cache.SharedIndexInformer,
	translate func(*T) (m M, id string, ok bool, err error), put func(M) engine.Change, remove func(id string) engine.Change,
) error {
	if !wanted[kind] {
		return nil
	}
	known := told[M]{}
	return a.from(string(kind), informer(), func(before, after any) []engine.Change {
		var was, is string
		var m M
		var ok bool
		if o := as[T](before); o != nil {
			_, was, _, _ = translate(o)
		}
		if o := as[T](after); o != nil {
			var err error
			m, is, ok, err = translate(o)
			a.problem(string(kind), is, err)
		}
		return known.follow(was, is, m, ok, put, remove)
	})
}

// watchObjects watches namespaces and budgets.
func (a *Adapter) watchObjects(wanted map[Kind]bool) error {
	err := watched(a, wanted, Namespaces, func() cache.SharedIndexInformer { return a.factory.Core().V1().Namespaces().Informer() },
		func(n *v1.Namespace) (*model.Namespace, string, bool, error) {
			return convert.Namespace(n), n.Name, true, nil
		},
		func(n *model.Namespace) engine.Change { return engine.Change{PutNamespace: n} },
		func(id string) engine.Change { return engine.Change{RemoveNamespace: id} })
	if err != nil {
		return err
	}
	budgetID := func(namespace, name string) string { return namespace + "/" + name }
	return watched(a, wanted, DisruptionBudgets, func() cache.SharedIndexInformer { return a.factory.Policy().V1().PodDisruptionBudgets().Informer() },
		func(b *policyv1.PodDisruptionBudget) (*model.Budget, string, bool, error) {
			m, err := convert.Budget(b, a.pods.idOf)
			return m, budgetID(b.Namespace, b.Name), m != nil, err
		},
		func(b *model.Budget) engine.Change { return engine.Change{PutBudget: b} },
		func(id string) engine.Change { return engine.Change{RemoveBudget: id} })
}

// object is watched for a kind that is a [model.Object].
func object[T any, M model.Object](a *Adapter, wanted map[Kind]bool, kind Kind, informer func() cache.SharedIndexInformer, translate func(*T) (M, error)) error {
	var none M
	ref := none.ObjectKind()
	return watched(a, wanted, kind, informer,
		func(o *T) (M, string, bool, error) {
			m, err := translate(o)
			if reflect.ValueOf(m).IsNil() { // it does not count
				return m, "", false, err
			}
			return m, m.ObjectID(), true, err
		},
		func(m M) engine.Change { return engine.Change{PutObject: m} },
		func(id string) engine.Change { return engine.Change{RemoveObject: &model.ObjectRef{Kind: ref, ID: id}} })
}

// watchStorage watches what the plugins for volumes look at.
func (a *Adapter) watchStorage(wanted map[Kind]bool) error {
	core, storage := a.factory.Core().V1(), a.factory.Storage().V1()
	if wanted[VolumeClaims] {
		a.listers.claims = core.PersistentVolumeClaims().Lister()
	}
	if wanted[Volumes] {
		a.listers.volumes = core.PersistentVolumes().Lister()
	}
	for _, watch := range []func() error{
		func() error {
			return object(a, wanted, StorageClasses, storage.StorageClasses().Informer, convert.StorageClass)
		},
		func() error {
			return object(a, wanted, StorageDrivers, storage.CSIDrivers().Informer, convert.StorageDriver)
		},
		func() error { return object(a, wanted, StorageNodes, storage.CSINodes().Informer, convert.NodeStorage) },
		func() error {
			return object(a, wanted, StorageCapacities, storage.CSIStorageCapacities().Informer, convert.StorageCapacity)
		},
		func() error {
			return object(a, wanted, VolumeAttachments, storage.VolumeAttachments().Informer, convert.VolumeAttachment)
		},
		func() error { return object(a, wanted, Volumes, core.PersistentVolumes().Informer, convert.Volume) },
		func() error {
			return object(a, wanted, VolumeClaims, core.PersistentVolumeClaims().Informer, convert.VolumeClaim)
		},
	} {
		if err := watch(); err != nil {
			return err
		}
	}
	return nil
}

// watchDevices watches what DynamicResources looks at.
func (a *Adapter) watchDevices(wanted map[Kind]bool) error {
	devices := a.factory.Resource().V1()
	if wanted[DeviceClaims] {
		a.listers.deviceClaims = devices.ResourceClaims().Lister()
	}
	for _, watch := range []func() error{
		func() error {
			return object(a, wanted, DeviceClasses, devices.DeviceClasses().Informer, convert.DeviceClass)
		},
		func() error {
			return object(a, wanted, DeviceSlices, devices.ResourceSlices().Informer, convert.DeviceSlice)
		},
		func() error {
			return object(a, wanted, DeviceTaintRules, devices.DeviceTaintRules().Informer, convert.DeviceTaintRule)
		},
		func() error {
			return object(a, wanted, DeviceClaims, devices.ResourceClaims().Informer, convert.DeviceClaim)
		},
	} {
		if err := watch(); err != nil {
			return err
		}
	}
	return nil
}

// watchGroups watches groups of pods. A group says which claims its members share,
// so those that wait are looked at again when it changes.
func (a *Adapter) watchGroups(wanted map[Kind]bool) error {
	put := func(g *model.Group) engine.Change { return engine.Change{PutGroup: g} }
	remove := func(id string) engine.Change { return engine.Change{RemoveGroup: id} }
	err := watched(a, wanted, CompositeGroups, func() cache.SharedIndexInformer {
		return a.factory.Scheduling().V1alpha3().CompositePodGroups().Informer()
	}, func(g *schedulingv1alpha3.CompositePodGroup) (*model.Group, string, bool, error) {
		m, err := convert.CompositeGroup(g)
		return m, convert.CompositeGroupID(g.Namespace, g.Name), m != nil, err
	}, put, remove)
	if err != nil || !wanted[Groups] {
		return err
	}
	groups := a.factory.Scheduling().V1beta1().PodGroups()
	a.listers.groups = groups.Lister()
	known := told[*model.Group]{}
	return a.from(string(Groups), groups.Informer(), func(before, after any) []engine.Change {
		var was, is, namespace string
		var m *model.Group
		if g := as[schedulingv1beta1.PodGroup](before); g != nil {
			was, namespace = convert.GroupID(g.Namespace, g.Name), g.Namespace
		}
		if g := as[schedulingv1beta1.PodGroup](after); g != nil {
			var err error
			m, err = convert.Group(g)
			is, namespace = convert.GroupID(g.Namespace, g.Name), g.Namespace
			a.problem(string(Groups), is, err)
		}
		return append(known.follow(was, is, m, m != nil, put, remove), a.pods.again(namespace)...)
	})
}
