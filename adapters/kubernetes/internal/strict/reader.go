package strict

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// reader compares a document with the type that it is for.
type reader struct{ problems []*Problem }

func target(into any) reflect.Type { return reflect.TypeOf(into).Elem() }

func (r *reader) report(at *field.Path, format string, args ...any) {
	path := ""
	if at != nil {
		path = at.String()
	}
	r.problems = append(r.problems, &Problem{path, fmt.Sprintf(format, args...)})
}

// fit is the value without what does not fit the type; nil, which every type takes, where
// nothing is left.
func (r *reader) fit(at *field.Path, value any, t reflect.Type) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case value == nil:
		return nil
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()), t == reflect.TypeFor[[]byte]():
		return r.leaf(at, value, t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return r.object(at, value, t)
	case reflect.Map:
		return r.table(at, value, t)
	case reflect.Slice:
		return r.list(at, value, t)
	case reflect.String:
		value = text(value)
	}
	return r.leaf(at, value, t)
}

func (r *reader) object(at *field.Path, value any, t reflect.Type) any {
	given, is := value.(map[string]any)
	if !is {
		r.report(at, "%s is not an object with fields", shown(value))
		return nil
	}
	known := fields(t)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if known[name] == nil {
			r.report(at.Child(name), "unknown field, not one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			delete(given, name)
			continue
		}
		if given[name] = r.fit(at.Child(name), given[name], known[name]); given[name] == nil {
			delete(given, name) // nothing is said of it
		}
	}
	return given
}

// fields are the types of the fields, by name in a document. Those of an embedded struct are
// the struct's own.
func fields(t reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && f.Anonymous:
			maps.Copy(known, fields(f.Type))
		default:
			known[name] = f.Type
		}
	}
	return known
}

func (r *reader) table(at *field.Path, value any, t reflect.Type) any {
	given, is := value.(map[string]any)
	if !is {
		r.report(at, "%s is not an object with names and values", shown(value))
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		before := len(r.problems)
		if given[key] = r.fit(at.Key(key), given[key], t.Elem()); len(r.problems) > before && given[key] == nil {
			delete(given, key)
		}
	}
	return given
}

// list keeps the indexes of a list: what does not fit is nil.
func (r *reader) list(at *field.Path, value any, t reflect.Type) any {
	given, is := value.([]any)
	if !is {
		r.report(at, "%s is not a list", shown(value))
		return nil
	}
	for i := range given {
		given[i] = r.fit(at.Index(i), given[i], t.Elem())
	}
	return given
}

// leaf is a value that its type takes or does not.
func (r *reader) leaf(at *field.Path, value any, t reflect.Type) any {
	plain, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(plain, reflect.New(t).Interface())
	}
	if err != nil {
		r.report(at, "%s is not %s", shown(value), kind(t))
		return nil
	}
	return value
}

// text is the value as a text where it is one, a number, or true or false, as
// sigs.k8s.io/yaml reads them for a field that is a text.
func text(value any) any {
	switch v := value.(type) {
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return value
}

// kind says in the words of a document what the type takes.
func kind(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[metav1.Duration]():
		return "a duration, such as 90s, 10m or 168h"
	case reflect.TypeFor[metav1.Time]():
		return "a time, such as 2030-01-31T15:04:05Z"
	case reflect.TypeFor[resource.Quantity]():
		return "a quantity, such as 2, 500m or 16Gi"
	case reflect.TypeFor[[]byte]():
		return "base64"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of at most %d bits", t.Bits())
	}
	return "a " + t.String() // no document here has such a field
}

// shown is the value as JSON.
func shown(value any) string {
	plain, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(plain)
}
