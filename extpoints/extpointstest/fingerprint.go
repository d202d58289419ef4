package extpointstest

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
)

// fingerprint is a number that changes when anything changes that can be reached
// from the value, unexported fields included. What packages sync and
// sync/atomic keep is left out: a memo behind them is no change.
func fingerprint(v any) uint64 {
	w := walker{seen: map[seenKey]bool{}}
	return w.hash(reflect.ValueOf(v))
}

var textSeed = maphash.MakeSeed()

type seenKey struct {
	at  uintptr
	typ reflect.Type
}

type walker struct {
	seen map[seenKey]bool
}

// hash combines the hashes of the parts in order; for maps, whose order has no
// meaning, it adds them up.
func (w *walker) hash(v reflect.Value) uint64 {
	if !v.IsValid() {
		return 1
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return mix(2, 1)
		}
		return mix(2, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return mix(3, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return mix(4, v.Uint())
	case reflect.Float32, reflect.Float64:
		return mix(5, math.Float64bits(v.Float()))
	case reflect.String:
		return mix(6, maphash.String(textSeed, v.String()))
	case reflect.Slice, reflect.Array:
		return w.list(v)
	case reflect.Map:
		return w.table(v)
	case reflect.Struct:
		return w.fields(v)
	case reflect.Pointer:
		return w.pointer(v)
	case reflect.Interface:
		if v.IsNil() {
			return 7
		}
		return mix(w.hash(v.Elem()), w.hash(reflect.ValueOf(v.Elem().Type().String())))
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return mix(8, uint64(v.Pointer()))
	}
	panic(fmt.Sprintf("fingerprint of a %s", v.Kind()))
}

func (w *walker) list(v reflect.Value) uint64 {
	h := mix(9, uint64(v.Len()))
	if v.Kind() == reflect.Slice && v.IsNil() {
		h = mix(h, 1)
	}
	for i := range v.Len() {
		h = mix(h, w.hash(v.Index(i)))
	}
	return h
}

func (w *walker) table(v reflect.Value) uint64 {
	h := mix(10, uint64(v.Len()))
	if v.IsNil() {
		h = mix(h, 1)
	}
	for entry := v.MapRange(); entry.Next(); {
		// Each entry is hashed as if it were alone, because which of two is
		// met first is not always the same.
		alone := walker{seen: map[seenKey]bool{}}
		h += mix(alone.hash(entry.Key()), alone.hash(entry.Value()))
	}
	return h
}

func (w *walker) fields(v reflect.Value) uint64 {
	switch v.Type().PkgPath() {
	case "sync", "sync/atomic", "internal/sync":
		return 11
	}
	if v.Type().String() == "time.Location" {
		return 12 // it remembers the last question
	}
	h := mix(13, uint64(v.NumField()))
	for i := range v.NumField() {
		h = mix(h, w.hash(v.Field(i)))
	}
	return h
}

func (w *walker) pointer(v reflect.Value) uint64 {
	if v.IsNil() {
		return 14
	}
	key := seenKey{v.Pointer(), v.Type()}
	if w.seen[key] {
		return 15
	}
	w.seen[key] = true
	return mix(16, w.hash(v.Elem()))
}

func mix(a, b uint64) uint64 {
	h := (bits.RotateLeft64(a, 7) ^ b) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}
