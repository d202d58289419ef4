package model

import (
	"encoding/json"
	"fmt"
)

// ObjectKind names a kind of [Object].
type ObjectKind string

// The kinds of storage and of devices, with their names in Kubernetes.
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
)

// ObjectKinds lists the kinds.
var ObjectKinds = []ObjectKind{
	VolumeClaimKind, VolumeKind, StorageClassKind, StorageDriverKind, NodeStorageKind, StorageCapacityKind,
	VolumeAttachmentKind, DeviceSliceKind, DeviceClassKind, DeviceClaimKind, DeviceTaintRuleKind,
}

// Object is what decisions depend on besides nodes, workloads and groups. Like
// all that an engine is given it is frozen from then on.
type Object interface {
	ObjectKind() ObjectKind
	// ObjectID is its identity, unique among the objects of the kind.
	ObjectID() string
	// Validate returns all that is wrong as a [*ValidationError].
	Validate() error
}

// Decidable is an object that decisions change: a claim that is given a volume,
// a volume that is given to a claim, a claim that is given devices. What was
// decided holds from the decision on, before the world outside knows of it.
type Decidable interface {
	Object
	// Amend is called on the object as the world outside has just reported it,
	// with the object as decided before and the IDs of the workloads for whose
	// sake; it returns the decision upon the report: the report with what of the
	// decision it does not say yet, or nil where it says all of it, or the
	// opposite.
	Amend(decided Object, workloads []string) Object
	// Release is called on the object as decided when one of the workloads for
	// whose sake is gone, and others are not; it returns what is left.
	Release(workload string) Object
}

// ObjectRef names an object.
type ObjectRef struct {
	Kind ObjectKind
	ID   string
}

// NewObject returns an empty object of the kind, nil for an unknown kind.
func NewObject(kind ObjectKind) Object {
	switch kind {
	case VolumeClaimKind:
		return new(VolumeClaim)
	case VolumeKind:
		return new(Volume)
	case StorageClassKind:
		return new(StorageClass)
	case StorageDriverKind:
		return new(StorageDriver)
	case NodeStorageKind:
		return new(NodeStorage)
	case StorageCapacityKind:
		return new(StorageCapacity)
	case VolumeAttachmentKind:
		return new(VolumeAttachment)
	case DeviceSliceKind:
		return new(DeviceSlice)
	case DeviceClassKind:
		return new(DeviceClass)
	case DeviceClaimKind:
		return new(DeviceClaim)
	case DeviceTaintRuleKind:
		return new(DeviceTaintRule)
	}
	return nil
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
		named[i] = namedObject{o.ObjectKind(), text}
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
