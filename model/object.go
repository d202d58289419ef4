package model

import (
	"encoding/json"
	"fmt"
)

// ObjectKind names a kind of [Object].
type ObjectKind string

// The kinds of storage, of devices, of queues, of time and of what is measured, with their names in Kubernetes
// where it has them.
const (
	VolumeClaimKind      ObjectKind = "VolumeClaim"      // PersistentVolumeClaim
	VolumeKind           ObjectKind = "Volume"           // PersistentVolume
	StorageClassKind     ObjectKind = "StorageClass"     // StorageClass
	StorageDriverKind    ObjectKind = "StorageDriver"    // CSIDriver
	NodeStorageKind      ObjectKind = "NodeStorage"      // CSINode
	StorageCapacityKind  ObjectKind = "StorageCapacity"  // CSIStorageCapacity
	VolumeAttachmentKind ObjectKind = "VolumeAttachment" // VolumeAttachment
	DeviceSliceKind      ObjectKind = "DeviceSlice"      // ResourceSlice
	DeviceClassKind      ObjectKind = "DeviceClass"      // DeviceClass
	DeviceClaimKind      ObjectKind = "DeviceClaim"      // ResourceClaim
	DeviceTaintRuleKind  ObjectKind = "DeviceTaintRule"  // DeviceTaintRule
	QueueKind            ObjectKind = "Queue"
	PrincipalKind        ObjectKind = "Principal"
	LimitKind            ObjectKind = "Limit"
	HoldKind             ObjectKind = "Hold"         // none
	NodeLoadKind         ObjectKind = "NodeLoad"     // NodeMetrics (metrics.k8s.io)
	NodeTopologyKind     ObjectKind = "NodeTopology" // NodeResourceTopology (topology.node.k8s.io)
	AppGraphKind         ObjectKind = "AppGraph"     // AppGroup (appgroup.diktyo.x-k8s.io)
	NetworkCostsKind     ObjectKind = "NetworkCosts" // NetworkTopology (networktopology.diktyo.x-k8s.io)
)

// ObjectKinds lists the kinds.
var ObjectKinds = []ObjectKind{
	VolumeClaimKind, VolumeKind, StorageClassKind, StorageDriverKind, NodeStorageKind, StorageCapacityKind,
	VolumeAttachmentKind, DeviceSliceKind, DeviceClassKind, DeviceClaimKind, DeviceTaintRuleKind,
	QueueKind, PrincipalKind, LimitKind, HoldKind, NodeLoadKind, NodeTopologyKind,
	AppGraphKind, NetworkCostsKind,
}

// Object is what decisions depend on besides nodes, workloads and groups: the
// nouns of storage, of claimed devices and of queues, holds, and of what is measured. The [ObjectKind] constants
// list the kinds. It is sealed: only this package has objects, and an engine refuses a type that
// embeds one. Like all that an engine is given an object is frozen from then on; see
// [CloneObject].
type Object interface {
	// Validate returns all that is wrong as a [*ValidationError].
	Validate() error
	sealed()
}

// ObjectRef names an object.
type ObjectRef struct {
	// Kind is the object's kind.
	Kind ObjectKind
	// ID is its identity, unique among the objects of the kind.
	ID string
}

// RefOf names the object; of a nil pointer it has the kind alone. The zero
// ObjectRef is for nil, and for a type of another package's that embeds an object.
func RefOf(o Object) ObjectRef {
	for i := range kinds {
		if ref, ok := kinds[i].ref(o); ok {
			return ref
		}
	}
	return ObjectRef{}
}

// CloneObject returns a deep copy; nil of nil, and of what [RefOf] does not know. It is
// how to change an object that an engine has: change the clone, and put that.
func CloneObject[O Object](o O) O {
	var none O
	for i := range kinds {
		if _, ok := kinds[i].ref(o); ok {
			if c, ok := kinds[i].clone(o).(O); ok {
				return c
			}
			return none
		}
	}
	return none
}

// NewObject returns an empty object of the kind, nil for an unknown kind.
func NewObject(kind ObjectKind) Object {
	for i := range kinds {
		if kinds[i].name == kind {
			return kinds[i].empty()
		}
	}
	return nil
}

// kinds is the table of the kinds of object, in the order of [ObjectKinds].
var kinds = []kind{
	newKind(VolumeClaimKind, func(c *VolumeClaim) string { return c.ID }, (*VolumeClaim).clone),
	newKind(VolumeKind, func(v *Volume) string { return v.Name }, (*Volume).clone),
	newKind(StorageClassKind, func(c *StorageClass) string { return c.Name }, (*StorageClass).clone),
	newKind(StorageDriverKind, func(d *StorageDriver) string { return d.Name }, (*StorageDriver).clone),
	newKind(NodeStorageKind, func(s *NodeStorage) string { return s.Node }, (*NodeStorage).clone),
	newKind(StorageCapacityKind, func(c *StorageCapacity) string { return c.ID }, (*StorageCapacity).clone),
	newKind(VolumeAttachmentKind, func(a *VolumeAttachment) string { return a.ID }, (*VolumeAttachment).clone),
	newKind(DeviceSliceKind, func(s *DeviceSlice) string { return s.ID }, (*DeviceSlice).clone),
	newKind(DeviceClassKind, func(c *DeviceClass) string { return c.Name }, (*DeviceClass).clone),
	newKind(DeviceClaimKind, func(c *DeviceClaim) string { return c.ID }, (*DeviceClaim).clone),
	newKind(DeviceTaintRuleKind, func(r *DeviceTaintRule) string { return r.ID }, (*DeviceTaintRule).clone),
	newKind(QueueKind, func(q *Queue) string { return q.Name }, (*Queue).clone),
	newKind(PrincipalKind, func(p *Principal) string { return p.Name }, (*Principal).clone),
	newKind(LimitKind, func(l *Limit) string { return l.Name }, (*Limit).clone),
	newKind(HoldKind, func(h *Hold) string { return h.Name }, (*Hold).clone),
	newKind(NodeLoadKind, func(l *NodeLoad) string { return l.Node }, (*NodeLoad).clone),
	newKind(NodeTopologyKind, func(t *NodeTopology) string { return t.Node }, (*NodeTopology).clone),
	newKind(AppGraphKind, func(g *AppGraph) string { return g.ID }, (*AppGraph).clone),
	newKind(NetworkCostsKind, func(n *NetworkCosts) string { return n.Name }, (*NetworkCosts).clone),
}

// kind is what there is to know of a kind of object.
type kind struct {
	name  ObjectKind
	empty func() Object
	// ref names an object of the kind; false for one of another.
	ref   func(Object) (ObjectRef, bool)
	clone func(Object) Object
}

// newKind makes a line of the table.
func newKind[T any, P interface {
	*T
	Object
}](name ObjectKind, id func(P) string, clone func(P) P) kind {
	return kind{
		name:  name,
		empty: func() Object { return P(new(T)) },
		ref: func(o Object) (ObjectRef, bool) {
			p, ok := o.(P)
			if !ok || p == nil {
				return ObjectRef{Kind: name}, ok
			}
			return ObjectRef{name, id(p)}, true
		},
		clone: func(o Object) Object {
			if c := clone(o.(P)); c != nil {
				return c
			}
			return nil
		},
	}
}

// Objects is a list of objects that survives being written as JSON and read
// again.
type Objects []Object

type namedObject struct {
	Kind   ObjectKind
	Object json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (l Objects) MarshalJSON() ([]byte, error) {
	named := make([]namedObject, len(l))
	for i, o := range l {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		named[i] = namedObject{RefOf(o).Kind, text}
	}
	return json.Marshal(named)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *Objects) UnmarshalJSON(text []byte) error {
	var named []namedObject
	if err := json.Unmarshal(text, &named); err != nil {
		return err
	}
	*l = make(Objects, len(named))
	for i, n := range named {
		o := NewObject(n.Kind)
		if o == nil {
			return fmt.Errorf("object %d: %q is no kind of object", i, n.Kind)
		}
		if err := json.Unmarshal(n.Object, o); err != nil {
			return fmt.Errorf("object %d, a %s: %w", i, n.Kind, err)
		}
		(*l)[i] = o
	}
	return nil
}
