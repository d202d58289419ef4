//go:build berth_invariants

package invariants

import (
	"hash/maphash"
	"math"
	"reflect"
	"time"
)

var seed = maphash.MakeSeed()

// Hash returns a hash of the value and of all that it points to. It is the same
// for the same content within one process. Values must not point to themselves.
// Functions, channels and interfaces that hold them count as equal, and so does all
// that an interface without methods holds: what that is, the engine does not know.
func Hash(v any) uint64 { return hash(reflect.ValueOf(v)) }

var (
	timeType = reflect.TypeFor[time.Time]()
	anyType  = reflect.TypeFor[any]()
)

func hash(v reflect.Value) uint64 {
	if !v.IsValid() {
		return 1
	}
	if v.Type() == timeType && v.CanInterface() {
		// Its location is a pointer into state that fills itself lazily.
		return number(uint64(v.Interface().(time.Time).UnixNano()))
	}
	if v.Type() == anyType {
		return 9
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return number(1)
		}
		return number(0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return number(v.Uint())
	case reflect.Float32, reflect.Float64:
		return number(math.Float64bits(v.Float()))
	case reflect.String:
		return maphash.String(seed, v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return 2
		}
		return mix(3, hash(v.Elem()))
	case reflect.Slice, reflect.Array:
		h := mix(4, uint64(v.Len()))
		for i := range v.Len() {
			h = mix(h, hash(v.Index(i)))
		}
		return h
	case reflect.Struct:
		h := uint64(5)
		for i := range v.NumField() {
			h = mix(h, hash(v.Field(i)))
		}
		return h
	case reflect.Map:
		// A sum does not depend on the order of the entries.
		sum := mix(6, uint64(v.Len()))
		for entries := v.MapRange(); entries.Next(); {
			sum += mix(hash(entries.Key()), hash(entries.Value()))
		}
		return sum
	}
	return 7
}

func number(n uint64) uint64 { return mix(8, n) }

func mix(a, b uint64) uint64 { return maphash.Comparable(seed, [2]uint64{a, b}) }
