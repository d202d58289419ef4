package convert

import (
	"fmt"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/berth-project/berth/model"
)

// notText takes the place of a string.
const notText = "example.com/a\xff"

// TestWhateverIsNoText: what is left of an object is valid, whichever of its strings is no
// text. Of those that cannot be put right nothing is left.
func TestWhateverIsNoText(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	places := 0
	for i := range 20 {
		for _, object := range []any{
			g.pod(i), g.node(i), g.podGroup(i), g.compositePodGroup(i), g.resourceSlice(i), g.deviceClass(), g.resourceClaim(i), g.deviceTaintRule(),
			g.volumeClaim(i), g.volume(i), g.storageClass(i), g.nodeStorage(), g.storageCapacity(i), g.volumeAttachment(i),
		} {
			eachString(reflect.ValueOf(object).Elem(), reflect.TypeOf(object).String(), func(place string) {
				places++
				to, err := toModel(object)
				if reflect.ValueOf(to).IsNil() {
					return
				}
				if invalid := to.Validate(); invalid != nil {
					t.Errorf("%s: what is left is not valid: %v (reported: %v)", place, invalid, err)
				}
			})
		}
	}
	if places < 5000 {
		t.Errorf("there were %d places", places)
	}
}

func toModel(object any) (validator, error) {
	switch o := object.(type) {
	case *v1.Pod:
		return Pod(o)
	case *v1.Node:
		return Node(o)
	case *schedulingv1beta1.PodGroup:
		return Group(o, Gates{})
	case *schedulingv1alpha3.CompositePodGroup:
		return CompositeGroup(o, Gates{})
	case *resourcev1.ResourceSlice:
		return DeviceSlice(o)
	case *resourcev1.DeviceClass:
		return DeviceClass(o)
	case *resourcev1.ResourceClaim:
		return DeviceClaim(o)
	case *resourcev1.DeviceTaintRule:
		return DeviceTaintRule(o)
	case *v1.PersistentVolumeClaim:
		return VolumeClaim(o)
	case *v1.PersistentVolume:
		return Volume(o)
	case *storagev1.StorageClass:
		return StorageClass(o)
	case *storagev1.CSINode:
		return NodeStorage(o)
	case *storagev1.CSIStorageCapacity:
		return StorageCapacity(o)
	case *storagev1.VolumeAttachment:
		return VolumeAttachment(o)
	}
	return (*model.Node)(nil), fmt.Errorf("a %T", object)
}

// eachString puts what is no text into one string after the other, and the string back after
// each visit.
func eachString(v reflect.Value, place string, visit func(place string)) {
	switch v.Kind() {
	case reflect.String:
		before := v.String()
		v.SetString(notText)
		visit(place)
		v.SetString(before)
	case reflect.Pointer:
		if !v.IsNil() {
			eachString(v.Elem(), place, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				eachString(v.Field(i), place+"."+field.Name, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachString(v.Index(i), fmt.Sprintf("%s[%d]", place, i), visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			eachString(value, place, func(place string) {
				before := v.MapIndex(key)
				v.SetMapIndex(key, value)
				visit(place)
				v.SetMapIndex(key, before)
			})
			renamed := reflect.ValueOf(notText).Convert(key.Type())
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(renamed, value)
			visit(place)
			v.SetMapIndex(renamed, reflect.Value{})
			v.SetMapIndex(key, value)
		}
	}
}
