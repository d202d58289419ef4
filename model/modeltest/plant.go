package modeltest

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/berth-project/berth/model"
)

// Planted makes values of the type with the leaf in them, one for each place that can hold it:
// where all else is zero, and once more where nothing is. The place is named as
// [model.Problem].Field names it, but for upper and lower case; what is in a map has the name of
// the map. A leaf that is a string fits every type of strings. Fields of type any, which are not
// the model's to look at, stay nil.
func Planted[T any](typ reflect.Type, leaf T) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for at := 0; ; at++ {
			for _, alone := range []bool{true, false} {
				p := planter{leaf: reflect.ValueOf(leaf), left: at, alone: alone}
				root := reflect.New(typ).Elem()
				if !p.grow(root, "") {
					return
				}
				if !yield(p.place, root.Interface()) {
					return
				}
			}
		}
	}
}

// planter makes one value.
type planter struct {
	leaf  reflect.Value
	left  int    // places before the one that is meant
	place string // its name, once it is found
	alone bool   // all else is zero
}

// grow fills the value. It reports whether the leaf is in it.
func (p *planter) grow(v reflect.Value, path string) bool {
	if p.fits(v.Type()) {
		p.left--
		if p.left == -1 {
			p.place = path
			v.Set(p.leaf.Convert(v.Type()))
			return true
		}
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return p.grow(v.Elem(), path)
	case reflect.Slice:
		return p.growList(v, path)
	case reflect.Map:
		return p.growMap(v, path)
	case reflect.Struct:
		return p.growStruct(v, path)
	case reflect.Interface:
		if v.NumMethod() > 0 {
			panic(fmt.Sprintf("%s: no value is known for a %s", path, v.Type()))
		}
	default:
		panic(fmt.Sprintf("%s: no value is known for a %s", path, v.Type()))
	}
	return false
}

func (p *planter) fits(t reflect.Type) bool {
	return t == p.leaf.Type() || t.Kind() == reflect.String && p.leaf.Kind() == reflect.String
}

// growList makes a list of one item, or, of objects, of one of each kind, which are never
// zero besides the leaf: they need an identity.
func (p *planter) growList(v reflect.Value, path string) (has bool) {
	if v.Type().Elem() == reflect.TypeFor[model.Object]() {
		alone := p.alone
		p.alone = false
		defer func() { p.alone = alone }()
		for i, kind := range model.ObjectKinds {
			o := model.NewObject(kind)
			if p.grow(reflect.ValueOf(o).Elem(), fmt.Sprintf("%s[%d]", path, i)) {
				has = true
			}
			v.Set(reflect.Append(v, reflect.ValueOf(o)))
		}
		return has
	}
	v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	return p.grow(v.Index(0), path+"[0]")
}

func (p *planter) growMap(v reflect.Value, path string) bool {
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	inKey := p.grow(key, path)
	inValue := p.grow(value, path)
	if inValue {
		p.place = path
	}
	v.Set(reflect.MakeMap(v.Type()))
	v.SetMapIndex(key, value)
	return inKey || inValue
}

func (p *planter) growStruct(v reflect.Value, path string) (has bool) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
		return false
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		in := path
		if !field.Anonymous {
			in = strings.TrimPrefix(path+"."+field.Name, ".")
		}
		switch {
		case p.grow(v.Field(i), in):
			has = true
		case p.alone:
			v.Field(i).SetZero()
		}
	}
	return has
}
