package bridge

import (
	"runtime"
	"sync"
	"weak"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/model"
)

// Objects remembers of which API objects the engine's workloads, nodes and other objects
// were made, by the addresses of what was made. It forgets an object when nobody has what
// was made of it any more. All methods may be called from any goroutine.
type Objects struct {
	m sync.Map // weak.Pointer[T] -> *entry
	// latest are the newest of objects that decisions change, by what they are. What is
	// decided about one is a noun of its own, of which there is no API object.
	latest sync.Map // model.ObjectRef -> *entry
}

// NewObjects makes an empty one.
func NewObjects() *Objects { return &Objects{} }

// Put notes that made, which the engine is told of, was made of object. Neither is changed
// from then on. made is a pointer to a noun of package model: a workload, a node, a group, or
// an object of storage or devices. Others are not remembered.
func (o *Objects) Put(made, object any) {
	switch made := made.(type) {
	case *model.Workload:
		put(o, made, object)
	case *model.Node:
		put(o, made, object)
	case *model.Group:
		put(o, made, object)
	case *model.VolumeClaim:
		put(o, made, object)
	case *model.Volume:
		put(o, made, object)
	case *model.StorageClass:
		put(o, made, object)
	case *model.StorageDriver:
		put(o, made, object)
	case *model.NodeStorage:
		put(o, made, object)
	case *model.StorageCapacity:
		put(o, made, object)
	case *model.VolumeAttachment:
		put(o, made, object)
	case *model.DeviceSlice:
		put(o, made, object)
	case *model.DeviceClass:
		put(o, made, object)
	case *model.DeviceClaim:
		put(o, made, object)
	}
}

// of is the API object of an object of storage or devices, nil where it is not known. Of one
// that a decision has changed it is that which was reported last.
func (o *Objects) of(made model.Object) any {
	if known := o.exactly(made); known != nil {
		return known
	}
	if e, ok := o.latest.Load(model.RefOf(made)); ok {
		return e.(*entry).object
	}
	return nil
}

func (o *Objects) exactly(made model.Object) any {
	switch made := made.(type) {
	case *model.VolumeClaim:
		return get(o, made).value()
	case *model.Volume:
		return get(o, made).value()
	case *model.StorageClass:
		return get(o, made).value()
	case *model.StorageDriver:
		return get(o, made).value()
	case *model.NodeStorage:
		return get(o, made).value()
	case *model.StorageCapacity:
		return get(o, made).value()
	case *model.VolumeAttachment:
		return get(o, made).value()
	case *model.DeviceSlice:
		return get(o, made).value()
	case *model.DeviceClass:
		return get(o, made).value()
	case *model.DeviceClaim:
		return get(o, made).value()
	}
	return nil
}

// group is the object of a group, nil where it is not known.
func (o *Objects) group(g *model.Group) any { return get(o, g).value() }

// pod is the entry of the workload's pod. A workload that the engine was told of by
// somebody else has a pod that is made up of what is known.
func (o *Objects) pod(w *model.Workload) *entry {
	if e := get(o, w); e != nil {
		return e
	}
	put(o, w, madeUpPod(w))
	return get(o, w)
}

// node is the node's object.
func (o *Objects) node(n *model.Node) *v1.Node {
	if e := get(o, n); e != nil {
		return e.object.(*v1.Node)
	}
	node := madeUpNode(n)
	put(o, n, node)
	return node
}

// entry is an API object with what is computed of it once.
type entry struct {
	object any

	once sync.Once
	info *framework.PodInfo
}

// value is the object, nil of no entry.
func (e *entry) value() any {
	if e == nil {
		return nil
	}
	return e.object
}

// pod is the object as a pod.
func (e *entry) pod() *v1.Pod { return e.object.(*v1.Pod) }

// podInfo is the pod's PodInfo. What cannot be parsed is left out, as in kube-scheduler
// (framework/types.go AddPod, 1.37.1).
func (e *entry) podInfo() *framework.PodInfo {
	e.once.Do(func() {
		e.info, _ = framework.NewPodInfo(e.pod()) //nolint:errcheck // see above
		e.info.CalculateResource()
	})
	return e.info
}

// put notes the object of what was made, which the map does not keep alive.
func put[T any](o *Objects, made *T, object any) {
	if made == nil {
		return
	}
	key, e := weak.Make(made), &entry{object: object}
	if _, known := o.m.Swap(key, e); !known {
		runtime.AddCleanup(made, func(key weak.Pointer[T]) { o.m.Delete(key) }, key)
	}
	switch m := any(made).(type) {
	case *model.VolumeClaim, *model.Volume, *model.DeviceClaim:
		ref := model.RefOf(m.(model.Object))
		o.latest.Store(ref, e)
		runtime.AddCleanup(made, func(e *entry) { o.latest.CompareAndDelete(ref, e) }, e)
	}
}

// get returns the entry of what was made, nil where there is none.
func get[T any](o *Objects, made *T) *entry {
	if made == nil {
		return nil
	}
	if e, ok := o.m.Load(weak.Make(made)); ok {
		return e.(*entry)
	}
	return nil
}

// madeUpPod is a pod that says what is known of a workload of which there is no object.
func madeUpPod(w *model.Workload) *v1.Pod {
	name := w.Name
	if name == "" {
		name = w.ID
	}
	priority := w.Priority
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.Namespace, UID: types.UID(w.ID), Labels: w.Labels},
		Spec: v1.PodSpec{
			SchedulerName: w.Profile, Priority: &priority, NodeName: "", NodeSelector: w.NodeSelector,
			Containers: []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: amounts(&w.Requests)}}},
		},
	}
}

// madeUpNode is madeUpPod for a node.
func madeUpNode(n *model.Node) *v1.Node {
	allocatable := amounts(&n.Allocatable)
	if n.MaxWorkloads > 0 {
		allocatable[v1.ResourcePods] = *resource.NewQuantity(n.MaxWorkloads, resource.DecimalSI)
	}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
		Spec:       v1.NodeSpec{Unschedulable: n.Unschedulable},
		Status:     v1.NodeStatus{Allocatable: allocatable, Capacity: allocatable},
	}
}

func amounts(r *model.Resources) v1.ResourceList {
	list := v1.ResourceList{}
	for name, amount := range map[v1.ResourceName]int64{v1.ResourceMemory: r.Memory, v1.ResourceEphemeralStorage: r.EphemeralStorage} {
		if amount != 0 {
			list[name] = *resource.NewQuantity(amount, resource.BinarySI)
		}
	}
	if r.CPU != 0 {
		list[v1.ResourceCPU] = *resource.NewMilliQuantity(r.CPU, resource.DecimalSI)
	}
	for _, s := range r.Scalars {
		list[v1.ResourceName(s.Name)] = *resource.NewQuantity(s.Amount, resource.DecimalSI)
	}
	return list
}
