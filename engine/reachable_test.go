package engine_test

import (
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// finder goes through all that can be reached from a value, also what is not exported and
// what is left in the room that slices have, and looks for texts.
type finder struct {
	mark string
	seen map[visited]bool
	// found has, by the path of fields to where they are, the texts with the mark.
	found map[string][]string
	queue []reached
}

type visited struct {
	at  unsafe.Pointer
	of  reflect.Type
	len int
}

type reached struct {
	v    reflect.Value
	path string
}

// textsIn returns the texts that contain the mark and can be reached from the root, by where
// they are.
func textsIn(root any, mark string) map[string][]string {
	runtime.GC() // what pools keep goes with the second
	runtime.GC()
	f := finder{mark: mark, seen: map[visited]bool{}, found: map[string][]string{}}
	f.queue = append(f.queue, reached{reflect.ValueOf(root), ""})
	for len(f.queue) > 0 {
		last := f.queue[len(f.queue)-1]
		f.queue = f.queue[:len(f.queue)-1]
		f.look(last.v, last.path)
	}
	return f.found
}

func (f *finder) look(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); strings.Contains(s, f.mark) {
			f.found[path] = append(f.found[path], strings.Clone(s))
		}
	case reflect.Pointer:
		if !v.IsNil() && f.isNew(v.UnsafePointer(), v.Type(), 0) {
			f.queue = append(f.queue, reached{v.Elem(), path})
		}
	case reflect.Interface:
		if !v.IsNil() {
			f.queue = append(f.queue, reached{v.Elem(), path})
		}
	case reflect.Map:
		if !v.IsNil() && f.isNew(v.UnsafePointer(), v.Type(), 0) {
			for it := v.MapRange(); it.Next(); {
				f.look(it.Key(), path+"{key}")
				f.queue = append(f.queue, reached{it.Value(), path + "{}"})
			}
		}
	case reflect.Slice:
		if whole := v.Slice3(0, v.Cap(), v.Cap()); v.Cap() > 0 && f.isNew(v.UnsafePointer(), v.Type(), v.Cap()) && holdsMore(v.Type().Elem()) {
			for i := range whole.Len() {
				at := path + "[]"
				if i >= v.Len() {
					at = path + "[beyond]"
				}
				f.look(whole.Index(i), at)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			f.look(v.Index(i), path+"[]")
		}
	case reflect.Struct:
		f.fields(v, path)
	}
}

func (f *finder) fields(v reflect.Value, path string) {
	t := v.Type()
	if t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer[") {
		if p := v.FieldByName("v").UnsafePointer(); p != nil {
			f.look(reflect.NewAt(v.Field(0).Type().Elem().Elem(), p), path)
		}
		return
	}
	for i := range t.NumField() {
		step := "." + t.Field(i).Name
		if strings.HasSuffix(path, step) {
			step = "" // a list
		}
		f.look(v.Field(i), path+step)
	}
}

// isNew notes what was looked at; slices that share room are looked at by their length.
func (f *finder) isNew(at unsafe.Pointer, t reflect.Type, n int) bool {
	key := visited{at, t, n}
	if f.seen[key] {
		return false
	}
	f.seen[key] = true
	return true
}

// holdsMore reports whether values of the type can lead to a text.
func holdsMore(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice, reflect.Array, reflect.Struct:
		return true
	}
	return false
}
