package model_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// TestCloneSharesNothing fills every field of every type that can be cloned, so a
// field that is forgotten is found without anybody adding a case here.
func TestCloneSharesNothing(t *testing.T) {
	checkClone(t, (*Node).Clone)
	checkClone(t, (*Workload).Clone)
	checkClone(t, (*Group).Clone)
	checkClone(t, (*Budget).Clone)
	checkClone(t, (*Namespace).Clone)
	checkClone(t, CloneObject[*VolumeClaim])
	checkClone(t, CloneObject[*Volume])
	checkClone(t, CloneObject[*StorageClass])
	checkClone(t, CloneObject[*StorageDriver])
	checkClone(t, CloneObject[*NodeStorage])
	checkClone(t, CloneObject[*StorageCapacity])
	checkClone(t, CloneObject[*VolumeAttachment])
	checkClone(t, CloneObject[*DeviceSlice])
	checkClone(t, CloneObject[*DeviceClass])
	checkClone(t, CloneObject[*DeviceClaim])
	checkClone(t, CloneObject[*DeviceTaintRule])
	checkClone(t, CloneObject[*Queue])
	checkClone(t, CloneObject[*Principal])
	checkClone(t, CloneObject[*Limit])
	checkClone(t, CloneObject[*Hold])
	checkClone(t, CloneObject[*NodeLoad])
	checkClone(t, CloneObject[*NodeTopology])
	checkClone(t, CloneObject[*AppGraph])
	checkClone(t, CloneObject[*NetworkCosts])
	checkClone(t, func(r *Resources) *Resources { c := r.Clone(); return &c })
}

func checkClone[T any](t *testing.T, clone func(*T) *T) {
	t.Helper()
	name := reflect.TypeFor[T]().Name()
	original, untouched := new(T), new(T)
	fill(t, reflect.ValueOf(original).Elem(), name)
	fill(t, reflect.ValueOf(untouched).Elem(), name)
	copied := clone(original)
	if !reflect.DeepEqual(copied, original) {
		t.Errorf("clone of %s differs:\n%+v\n%+v", name, copied, original)
	}
	for _, path := range shared(reflect.ValueOf(original), reflect.ValueOf(copied), name) {
		t.Errorf("clone shares %s", path)
	}
	if !reflect.DeepEqual(original, untouched) {
		t.Errorf("clone changed the original of %s", name)
	}
	if name != "Resources" && clone(nil) != nil {
		t.Errorf("clone of nil %s is not nil", name)
	}
}

// TestCloneOfRandom: equal in every detail, nil and empty lists included, and
// independent.
func TestCloneOfRandom(t *testing.T) {
	r := seeded(t)
	for range 1000 {
		c := modeltest.RandomCluster(r, 2, 2)
		checkEqualAndApart(t, c.Nodes[0], c.Nodes[0].Clone())
		checkEqualAndApart(t, c.Workloads[0], c.Workloads[0].Clone())
		checkEqualAndApart(t, c.Groups[0], c.Groups[0].Clone())
		b, n := modeltest.RandomBudget(r), modeltest.RandomNamespace(r)
		checkEqualAndApart(t, b, b.Clone())
		checkEqualAndApart(t, n, n.Clone())
	}
}

func checkEqualAndApart[T any](t *testing.T, original, copied *T) {
	t.Helper()
	if !reflect.DeepEqual(original, copied) {
		t.Fatalf("clone differs:\n%+v\n%+v", original, copied)
	}
	if paths := shared(reflect.ValueOf(original), reflect.ValueOf(copied), ""); paths != nil {
		t.Fatalf("clone shares %v", paths)
	}
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	objectType = reflect.TypeFor[Object]()
	anyType    = reflect.TypeFor[any]()
	// frozen stands for all that is decided: objects that clones may share.
	frozen = &DeviceClaim{ID: "x"}
)

// fill gives every field a value that is not zero, lists two items.
func fill(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	switch {
	case v.Type() == timeType:
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	case v.Type() == objectType, v.Type() == anyType:
		v.Set(reflect.ValueOf(frozen))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), path)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 4))
		for i := range 2 {
			fill(t, v.Index(i), path)
		}
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, path)
		fill(t, value, path)
		v.SetMapIndex(key, value)
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(1)
	default:
		t.Fatalf("%s: the test cannot fill a %s; teach it", path, v.Type())
	}
}

// shared lists the paths at which two values of the same shape hold the same
// memory.
func shared(a, b reflect.Value, path string) []string {
	if a.Type() == timeType || a.Type() == objectType || a.Type() == anyType {
		return nil // the location of a time is never changed, nor is an object, nor is Data
	}
	var paths []string
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() {
			return nil
		}
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
		return shared(a.Elem(), b.Elem(), path)
	case reflect.Map:
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			return []string{path}
		}
		for _, key := range a.MapKeys() {
			paths = append(paths, shared(a.MapIndex(key), b.MapIndex(key), path)...)
		}
	case reflect.Slice:
		if a.Cap() > 0 && b.Cap() > 0 && a.Pointer() == b.Pointer() {
			return []string{path}
		}
		for i := range a.Len() {
			paths = append(paths, shared(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			paths = append(paths, shared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)...)
		}
	}
	return paths
}
