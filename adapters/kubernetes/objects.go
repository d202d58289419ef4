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

// told are the objects of one kind that the engine was told of, by their names in the
// API: name, or namespace/name.
type told[M any] map[string]recorded[M]

// recorded is an object as the engine was told of it.
type recorded[M any] struct {
	id     string // by which the engine knows it
	object M
}

// teller makes of an object's change what the engine is told. A report that says
// nothing new to the engine is none: most changes of nodes are about their health.
type teller[T, M any] struct {
	a     *Adapter
	kind  string
	known told[M]
	// translate returns the identity too; ok is false for an object that does not
	// count.
	translate func(*T) (m M, id string, ok bool, err error)
	put       func(M) engine.Change
	remove    func(id string) engine.Change
	// repeated: a report counts also where it says the same as the one before. The engine
	// forgets with it what it has counted since.
	repeated bool
}

// changed is the source's function for such objects.
func (t *teller[T, M]) changed(before, after any) []engine.Change {
	var changes []engine.Change
	var now recorded[M]
	var ok bool
	key := nameOf(before, after)
	if o := as[T](after); o != nil {
		var err error
		now.object, now.id, ok, err = t.translate(o)
		t.a.problem(t.kind, key, err)
		if ok {
			t.a.translated(now.object, o)
		}
	}
	was, known := t.known[key]
	switch {
	case known && ok && was.id == now.id && !t.repeated && t.a.opts.Translated == nil && reflect.DeepEqual(was.object, now.object):
		return nil
	case known && (!ok || was.id != now.id):
		delete(t.known, key)
		changes = append(changes, t.remove(was.id))
	}
	if ok {
		t.known[key] = now
		changes = append(changes, t.put(now.object))
	}
	return changes
}

// nameOf is the name in the API of an object that came, changed or went.
func nameOf(before, after any) string {
	if after == nil {
		after = before
	}
	name, _ := cache.MetaNamespaceKeyFunc(after) // informers have nothing without one
	return name
}

// as is what an informer reports, nil where it reports nothing.
func as[T any](object any) *T {
	o, _ := object.(*T)
	return o
}

// nodes are the nodes that the engine was told of.
type nodes = told[*model.Node]

// newNodes makes the teller of nodes.
func (a *Adapter) newNodes() *teller[v1.Node, *model.Node] {
	return &teller[v1.Node, *model.Node]{
		a: a, kind: "nodes", known: a.nodes,
		translate: func(n *v1.Node) (*model.Node, string, bool, error) {
			m, err := convert.Node(n)
			return m, n.Name, m != nil, err
		},
		put:    func(n *model.Node) engine.Change { return engine.PutNode(n) },
		remove: func(id string) engine.Change { return engine.RemoveNode(id) },
	}
}

// problem logs what cannot be translated of an object. The rest of it counts.
func (a *Adapter) problem(kind, name string, err error) {
	if err != nil {
		a.log.Error(err, "Part of an object cannot be understood and is left out", "kind", kind, "object", name)
	}
}

// watched is from for a kind of objects whose translation does not depend on others.
func watched[T, M any](a *Adapter, wanted map[Kind]bool, kind Kind, informer func() cache.SharedIndexInformer,
	translate func(*T) (m M, id string, ok bool, err error), put func(M) engine.Change, remove func(id string) engine.Change,
) error {
	if !wanted[kind] {
		return nil
	}
	t := &teller[T, M]{a: a, kind: string(kind), known: told[M]{}, translate: translate, put: put, remove: remove}
	return a.from(string(kind), informer(), t.changed)
}

// watchObjects watches namespaces and budgets.
func (a *Adapter) watchObjects(wanted map[Kind]bool) error {
	err := watched(a, wanted, Namespaces, func() cache.SharedIndexInformer { return a.factory.Core().V1().Namespaces().Informer() },
		func(n *v1.Namespace) (*model.Namespace, string, bool, error) {
			return convert.Namespace(n), n.Name, true, nil
		},
		func(n *model.Namespace) engine.Change { return engine.PutNamespace(n) },
		func(id string) engine.Change { return engine.RemoveNamespace(id) })
	if err != nil {
		return err
	}
	budgetID := func(namespace, name string) string { return namespace + "/" + name }
	return watched(a, wanted, DisruptionBudgets, func() cache.SharedIndexInformer { return a.factory.Policy().V1().PodDisruptionBudgets().Informer() },
		func(b *policyv1.PodDisruptionBudget) (*model.Budget, string, bool, error) {
			m, err := convert.Budget(b, a.pods.idOf)
			return m, budgetID(b.Namespace, b.Name), m != nil, err
		},
		func(b *model.Budget) engine.Change { return engine.PutBudget(b) },
		func(id string) engine.Change { return engine.RemoveBudget(id) })
}

// object is watched for a kind that is a [model.Object].
func object[T any, M model.Object](a *Adapter, wanted map[Kind]bool, kind Kind, informer func() cache.SharedIndexInformer, translate func(*T) (M, error)) error {
	if !wanted[kind] {
		return nil
	}
	return a.from(string(kind), informer(), objectTeller(a, kind, translate).changed)
}

// objectTeller tells of a kind that is a [model.Object].
func objectTeller[T any, M model.Object](a *Adapter, kind Kind, translate func(*T) (M, error)) *teller[T, M] {
	var none M
	ref := model.RefOf(none).Kind
	return &teller[T, M]{
		a: a, kind: string(kind), known: told[M]{},
		translate: func(o *T) (M, string, bool, error) {
			m, err := translate(o)
			if reflect.ValueOf(m).IsNil() { // it does not count
				return m, "", false, err
			}
			return m, model.RefOf(m).ID, true, err
		},
		put:    func(m M) engine.Change { return engine.PutObject(m) },
		remove: func(id string) engine.Change { return engine.RemoveObject(model.ObjectRef{Kind: ref, ID: id}) },
	}
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
	if wanted[StorageClasses] {
		a.listers.storageClasses = storage.StorageClasses().Lister()
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
			return a.watchRooms(wanted, storage.CSIStorageCapacities().Informer)
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

// watchRooms watches the room that is left for volumes. The engine counts what it has had made until it is
// reported again, and a pool that is larger on paper than on disk may report the same for ever.
func (a *Adapter) watchRooms(wanted map[Kind]bool, informer func() cache.SharedIndexInformer) error {
	if !wanted[StorageCapacities] {
		return nil
	}
	t := objectTeller(a, StorageCapacities, convert.StorageCapacity)
	t.repeated = true
	return a.from(string(StorageCapacities), informer(), t.changed)
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
		func() error {
			if !wanted[DeviceClaims] {
				return nil
			}
			return a.lately.claims.follow(devices.ResourceClaims().Informer())
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
	put := func(g *model.Group) engine.Change { return engine.PutGroup(g) }
	remove := func(id string) engine.Change { return engine.RemoveGroup(id) }
	err := watched(a, wanted, CompositeGroups, func() cache.SharedIndexInformer {
		return a.factory.Scheduling().V1alpha3().CompositePodGroups().Informer()
	}, func(g *schedulingv1alpha3.CompositePodGroup) (*model.Group, string, bool, error) {
		m, err := convert.CompositeGroup(g, a.opts.Gates)
		return m, convert.CompositeGroupID(g.Namespace, g.Name), m != nil, err
	}, put, remove)
	if err != nil || !wanted[Groups] {
		return err
	}
	groups := a.factory.Scheduling().V1beta1().PodGroups()
	a.listers.groups = groups.Lister()
	if err := a.lately.groups.follow(groups.Informer()); err != nil {
		return err
	}
	t := &teller[schedulingv1beta1.PodGroup, *model.Group]{
		a: a, kind: string(Groups), known: told[*model.Group]{}, put: put, remove: remove,
		translate: func(g *schedulingv1beta1.PodGroup) (*model.Group, string, bool, error) {
			m, err := convert.Group(g, a.opts.Gates)
			return m, convert.GroupID(g.Namespace, g.Name), m != nil, err
		},
	}
	return a.from(string(Groups), groups.Informer(), func(before, after any) []engine.Change {
		namespace, _, _ := cache.SplitMetaNamespaceKey(nameOf(before, after))
		return append(t.changed(before, after), a.pods.again(namespace)...)
	})
}
