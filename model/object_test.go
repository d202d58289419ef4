package model_test

import (
	"reflect"
	"testing"

	. "github.com/berth-project/berth/model"
)

// TestObjects: every kind has a name, an empty object, an identity and a copy, and
// nil has none of them.
func TestObjects(t *testing.T) {
	named := map[ObjectKind]Object{
		VolumeClaimKind:      &VolumeClaim{ID: "x"},
		VolumeKind:           &Volume{Name: "x"},
		StorageClassKind:     &StorageClass{Name: "x"},
		StorageDriverKind:    &StorageDriver{Name: "x"},
		NodeStorageKind:      &NodeStorage{Node: "x"},
		StorageCapacityKind:  &StorageCapacity{ID: "x"},
		VolumeAttachmentKind: &VolumeAttachment{ID: "x"},
		DeviceSliceKind:      &DeviceSlice{ID: "x"},
		DeviceClassKind:      &DeviceClass{Name: "x"},
		DeviceClaimKind:      &DeviceClaim{ID: "x"},
		DeviceTaintRuleKind:  &DeviceTaintRule{ID: "x"},
		QueueKind:            &Queue{Name: "x"},
		PrincipalKind:        &Principal{Name: "x"},
		LimitKind:            &Limit{Name: "x"},
		HoldKind:             &Hold{Name: "x"},
		NodeLoadKind:         &NodeLoad{Node: "x"},
		NodeTopologyKind:     &NodeTopology{Node: "x"},
		AppGraphKind:         &AppGraph{ID: "x"},
		NetworkCostsKind:     &NetworkCosts{Name: "x"},
	}
	if len(named) != len(ObjectKinds) {
		t.Errorf("%d kinds are tested, there are %d", len(named), len(ObjectKinds))
	}
	for _, kind := range ObjectKinds {
		o := named[kind]
		if got := RefOf(o); got != (ObjectRef{kind, "x"}) {
			t.Errorf("%T is %+v", o, got)
		}
		if empty := NewObject(kind); reflect.TypeOf(empty) != reflect.TypeOf(o) || !reflect.ValueOf(empty).Elem().IsZero() {
			t.Errorf("NewObject(%s) is %#v", kind, empty)
		}
		if c := CloneObject(o); c == o || !reflect.DeepEqual(c, o) {
			t.Errorf("the clone of %+v is %+v", o, c)
		}
		none := reflect.Zero(reflect.TypeOf(o)).Interface().(Object)
		if got := RefOf(none); got != (ObjectRef{Kind: kind}) {
			t.Errorf("a nil %T is %+v", o, got)
		}
		if c := CloneObject(none); c != nil {
			t.Errorf("the clone of a nil %T is %#v", o, c)
		}
	}
	if o := NewObject("Thing"); o != nil {
		t.Errorf("an object of no kind: %#v", o)
	}
}

// TestObjectsAreSealed: what embeds an object is no object.
func TestObjectsAreSealed(t *testing.T) {
	type wrapped struct{ *Volume }
	type open struct{ Object }
	for _, o := range []Object{nil, wrapped{&Volume{Name: "x"}}, &wrapped{}, (*wrapped)(nil), open{}} {
		if got := RefOf(o); got != (ObjectRef{}) {
			t.Errorf("%T is %+v", o, got)
		}
		if c := CloneObject(o); c != nil {
			t.Errorf("the clone of a %T is %#v", o, c)
		}
	}
}
