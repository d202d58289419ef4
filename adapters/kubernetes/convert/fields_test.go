package convert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fieldFate says what happens to a field of Kubernetes' API and of everything
// below it, unless another line has a longer path. In paths, [] stands for an
// item of a list and {} for an entry of a map.
type fieldFate struct {
	path string
	// ignored is why nothing depends on the field; empty: something does.
	ignored string
}

// read is the fate of fields that are translated.
func read(paths ...string) []fieldFate { return unread("", paths...) }

// unread is the fate of fields that are not, for the same reason.
func unread(why string, paths ...string) []fieldFate {
	fates := make([]fieldFate, len(paths))
	for i, p := range paths {
		fates[i] = fieldFate{p, why}
	}
	return fates
}

// fieldTest proves the fates of all fields of one kind of object.
type fieldTest struct {
	kind  string
	fates []fieldFate
	// zero makes an object without content.
	zero func() any
	// bases prepare objects in which every field says something already, in a
	// way in which it counts. What counts in one may not count in another.
	bases map[string]func(object any)
	// result is what is made of an object, with all its errors.
	result func(object any) any
}

// TestEveryFieldIsAccountedFor goes through all fields of all kinds of objects
// that are translated, and changes one at a time. A field without a fate is an
// error: it is new, and somebody has to find out whether kube-scheduler reads
// it. A change of a field that is said to be translated must change the result
// in one of the objects at least; of one that is said to be ignored, in none.
func TestEveryFieldIsAccountedFor(t *testing.T) {
	t.Parallel()
	for _, test := range fieldTests {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			counts := map[string]bool{} // by path: whether a change made a difference
			for name, prepare := range test.bases {
				made := func() any {
					object := test.zero()
					fill(reflect.ValueOf(object).Elem())
					prepare(object)
					return object
				}
				test.changeEach(t, name, made(), test.result(made()), counts)
			}
			test.judge(t, counts)
		})
	}
}

// changeEach makes all changes to one object and notes which count. before is
// the result without any.
func (test *fieldTest) changeEach(t *testing.T, base string, object, before any, counts map[string]bool) {
	try := func(path, what string) {
		changed := !reflect.DeepEqual(test.result(object), before)
		counts[path] = counts[path] || changed
		if fate := test.fate(path); changed && fate != nil && fate.ignored != "" {
			t.Errorf("%s is said to be ignored (%s), but %s makes a difference to the object %q", path, fate.ignored, what, base)
		}
	}
	v := visitor{try: try, reads: test.readsBelow, presence: test.presence}
	v.visit("", reflect.ValueOf(object).Elem(), func() {})
	if !reflect.DeepEqual(test.result(object), before) {
		t.Fatalf("the test has not undone its changes to the object %q", base)
	}
}

// judge compares what counted with what was said.
func (test *fieldTest) judge(t *testing.T, counts map[string]bool) {
	used := map[string]bool{}
	for path, counted := range counts {
		fate := test.fate(path)
		switch {
		case fate == nil:
			t.Errorf("%s is unknown: find out whether kube-scheduler reads it, translate it or say why not", path)
			continue
		case fate.ignored == "" && !counted:
			t.Errorf("%s is said to be translated, but no change of it makes a difference", path)
		}
		used[fate.path] = true
	}
	for i, fate := range test.fates {
		if !used[fate.path] {
			t.Errorf("%s is no field, or other lines say more of all that is below it", fate.path)
		}
		if slices.ContainsFunc(test.fates[:i], func(f fieldFate) bool { return f.path == fate.path }) {
			t.Errorf("%s is listed twice", fate.path)
		}
	}
}

// fate is the line with the longest path that leads to the field.
func (test *fieldTest) fate(path string) *fieldFate {
	var best *fieldFate
	for i := range test.fates {
		f := &test.fates[i]
		rest, found := strings.CutPrefix(path, f.path)
		if found && (rest == "" || strings.ContainsAny(rest[:1], ".[{")) && (best == nil || len(f.path) > len(best.path)) {
			best = f
		}
	}
	return best
}

// readsBelow reports whether the field, or one that is below it, is translated.
func (test *fieldTest) readsBelow(path string) bool {
	if fate := test.fate(path); fate != nil && fate.ignored == "" {
		return true
	}
	return slices.ContainsFunc(test.fates, func(f fieldFate) bool {
		rest, below := strings.CutPrefix(f.path, path)
		return f.ignored == "" && below && rest != "" && strings.ContainsAny(rest[:1], ".[{")
	})
}

// presence reports whether the line of the field says that it is translated, and
// another that what is in it is not: what counts is that it is there.
func (test *fieldTest) presence(path string) bool {
	fate := test.fate(path)
	return fate != nil && fate.path == path && fate.ignored == "" && slices.ContainsFunc(test.fates, func(f fieldFate) bool {
		return f.ignored != "" && strings.HasPrefix(f.path, path+".")
	}) && !slices.ContainsFunc(test.fates, func(f fieldFate) bool { return f.ignored == "" && strings.HasPrefix(f.path, path+".") })
}

// leaves are the types that are not looked into.
var leaves = map[reflect.Type]func(n int) any{
	reflect.TypeFor[resource.Quantity](): func(n int) any { return *resource.NewQuantity(int64(n)*10, resource.DecimalSI) },
	reflect.TypeFor[metav1.Time]():       func(n int) any { return metav1.NewTime(time.Unix(int64(n)*1000, 0).UTC()) },
	reflect.TypeFor[metav1.FieldsV1]():   func(n int) any { return *metav1.NewFieldsV1(fmt.Sprint(n)) },
	reflect.TypeFor[intstr.IntOrString](): func(n int) any {
		return intstr.FromInt(n)
	},
	reflect.TypeFor[runtime.RawExtension](): func(n int) any { return runtime.RawExtension{Raw: []byte{byte(n)}} },
	// It may have others of its kind in it, to any depth.
	reflect.TypeFor[schedulingv1beta1.CompositePodGroupTemplate](): func(n int) any {
		return schedulingv1beta1.CompositePodGroupTemplate{Name: fmt.Sprint(n)}
	},
}

// fill gives every field below v a value: lists one item and maps one entry.
func fill(v reflect.Value) {
	if leaf, ok := leaves[v.Type()]; ok {
		v.Set(reflect.ValueOf(leaf(1)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
	case reflect.Uint8, reflect.Int32, reflect.Int64, reflect.Int:
		v.Set(reflect.ValueOf(1).Convert(v.Type()))
	default:
		panic("no idea how to fill a " + v.Type().String())
	}
}

// visitor changes one field after the other, and back.
type visitor struct {
	// try is called after each change.
	try func(path, what string)
	// reads reports whether something depends on a field, or is said to.
	reads func(path string) bool
	// presence reports whether all that counts of a field is that it is there.
	presence func(path string) bool
}

// visit tries the changes of all that is below v. stored is called after each
// change: values in maps are changed in a copy, which it puts back.
func (vi *visitor) visit(path string, v reflect.Value, stored func()) {
	if _, ok := leaves[v.Type()]; ok {
		vi.change(path, v, stored)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			vi.visit(path, v.Elem(), stored)
			vi.takeAway(path, v, stored)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			vi.visit(join(path, v.Type().Field(i)), v.Field(i), stored)
		}
	case reflect.Slice:
		for i := range v.Len() {
			vi.visit(path+"[]", v.Index(i), stored)
		}
		vi.takeAway(path+"[]", v, stored)
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			vi.visit(path+"{}", value, func() { v.SetMapIndex(key, value); stored() })
		}
		vi.takeAway(path+"{}", v, stored)
	default:
		vi.change(path, v, stored)
	}
}

// join is the path of a field, by its name in JSON.
func join(path string, f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "":
		return path
	case path == "":
		return name
	}
	return path + "." + name
}

// takeAway tries what happens without a pointer, list or map: where it leads
// straight to a value, where all that it leads to is ignored, and where it counts
// whether it is there.
func (vi *visitor) takeAway(path string, v reflect.Value, stored func()) {
	if !isLeaf(v.Type().Elem()) && vi.reads(path) && !vi.presence(path) {
		return
	}
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	v.SetZero()
	stored()
	vi.try(path, "taking it away")
	v.Set(old)
	stored()
}

func isLeaf(t reflect.Type) bool {
	if _, ok := leaves[t]; ok || t.Kind() == reflect.Struct && t.NumField() == 0 {
		return true
	}
	return !slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Map}, t.Kind())
}

// words are tried for strings: two that mean nothing and, for those that are
// translated, another one of each enumeration.
var words = []string{"changed", "", "Exists", "NoSchedule", "Never", "UDP", "Succeeded", "Ignore", "ScheduleAnyway", "Always"}

// change tries other values.
func (vi *visitor) change(path string, v reflect.Value, stored func()) {
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	try := func(value any) {
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
		stored()
		vi.try(path, fmt.Sprintf("the value %v", value))
	}
	switch leaf, ok := leaves[v.Type()]; {
	case ok:
		try(leaf(7))
	case v.Kind() == reflect.String:
		list := words
		if !vi.reads(path) {
			list = words[:2]
		}
		for _, w := range list {
			try(w)
		}
	case v.Kind() == reflect.Bool:
		try(!v.Bool())
	default:
		try(7)
	}
	v.Set(old)
	stored()
}
