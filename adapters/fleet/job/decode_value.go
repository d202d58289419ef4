package job

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder fills specs from the nodes of a file. It goes by the fields' types, as
// encoding/json does, but knows the lines and does not stop at the first problem.
type decoder struct {
	checker
	specs []Spec
}

// read fills what target points to.
func (d *decoder) read(path string, n *yaml.Node, target any) {
	d.value(path, n, reflect.ValueOf(target).Elem())
}

// value fills v. A null leaves it as it is.
func (d *decoder) value(path string, n *yaml.Node, v reflect.Value) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.reportLine(n.Line, path, "anchors and aliases are not read, write the value itself")
		return
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return
	}
	switch target := v.Addr().Interface().(type) {
	case *time.Time:
		d.time(path, n, target)
		return
	case json.Unmarshaler:
		d.unmarshal(path, n, target)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(path, n, v.Elem())
	case reflect.Struct:
		d.object(path, n, v)
	case reflect.Map:
		d.table(path, n, v)
	case reflect.Slice:
		d.list(path, n, v)
	default:
		d.scalar(path, n, v)
	}
}

// neverZero are fields that stand for 1 where they are 0. A file that says 0 means something
// else.
var neverZero = map[reflect.Type]string{
	reflect.TypeFor[Spec](): "tasks", reflect.TypeFor[Resources](): "cpu", reflect.TypeFor[GPUs](): "count",
}

// object fills a struct.
func (d *decoder) object(path string, n *yaml.Node, v reflect.Value) {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = f.Index
		}
	}
	d.pairs(path, n, func(key, value *yaml.Node) {
		field := join(path, key.Value)
		if index, ok := fields[key.Value]; ok {
			before := len(d.problems)
			d.value(field, value, v.FieldByIndex(index))
			if neverZero[v.Type()] == key.Value && v.FieldByIndex(index).IsZero() && value.Tag != "!!null" && len(d.problems) == before {
				d.reportLine(value.Line, field, "must be above 0; without the field it is 1")
			}
			return
		}
		d.reportLine(key.Line, cut(field), "there is no such field%s", like(key.Value, fields))
	})
}

// table fills a map from texts.
func (d *decoder) table(path string, n *yaml.Node, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(path, n, func(key, value *yaml.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(cut(join(path, key.Value)), value, item)
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
	})
}

// pairs calls f with the keys and values of a mapping.
func (d *decoder) pairs(path string, n *yaml.Node, f func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.reportLine(n.Line, path, "must be fields with values, it is %s", kindOf(n))
		return
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "":
			d.reportLine(key.Line, path, "the name of a field must be a text")
		case seen[key.Value]:
			d.reportLine(key.Line, cut(join(path, key.Value)), "is there twice")
		default:
			seen[key.Value] = true
			f(key, n.Content[i+1])
		}
	}
}

// list fills a slice.
func (d *decoder) list(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.reportLine(n.Line, path, `must be a list, such as ["a", "b"], it is %s`, kindOf(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(fmt.Sprintf("%s[%d]", path, i), item, v.Index(i))
	}
}

// time fills a time.
func (d *decoder) time(path string, n *yaml.Node, target *time.Time) {
	t, err := time.Parse(time.RFC3339Nano, n.Value)
	if err != nil {
		d.reportLine(n.Line, path, `must be a time with its zone, such as "2026-01-31T18:00:00+01:00"`)
		return
	}
	*target = t
}

// unmarshal fills what reads itself from a string or a number.
func (d *decoder) unmarshal(path string, n *yaml.Node, target json.Unmarshaler) {
	if n.Kind != yaml.ScalarNode {
		d.reportLine(n.Line, path, "must be a text or a number, it is %s", kindOf(n))
		return
	}
	data := []byte(n.Value)
	if n.Tag != "!!int" && n.Tag != "!!float" || !json.Valid(data) {
		data, _ = json.Marshal(n.Value) // a string has no errors
	}
	if err := target.UnmarshalJSON(data); err != nil {
		d.reportLine(n.Line, path, "%s", err)
	}
}

// scalar fills a text, a number or a bool.
func (d *decoder) scalar(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.reportLine(n.Line, path, "must be one value, it is %s", kindOf(n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		if n.Tag != "!!bool" {
			d.reportLine(n.Line, path, "%s is neither true nor false", quote(n.Value))
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int, reflect.Int32, reflect.Int64:
		number, err := strconv.ParseInt(n.Value, 10, v.Type().Bits())
		if err != nil || n.Tag != "!!int" {
			d.reportLine(n.Line, path, "%s is no whole number, or too large", quote(n.Value))
			return
		}
		v.SetInt(number)
	case reflect.Float64:
		number, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			d.reportLine(n.Line, path, "%s is no number", quote(n.Value))
			return
		}
		v.SetFloat(number)
	default:
		panic(fmt.Sprintf("job: the decoder does not know fields of type %s", v.Type()))
	}
}

// kindOf says what a node is, for people.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "fields with values"
	case yaml.SequenceNode:
		return "a list"
	}
	return quote(n.Value)
}

// like suggests the field that was meant, where only the case or a line differs.
func like(name string, fields map[string][]int) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for f := range fields {
		if plain(f) == plain(name) {
			return fmt.Sprintf(", %q is meant", f)
		}
	}
	return ""
}

// join appends a field to a path, which may be empty.
func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// cut shortens a path that has an outside text in it, and makes it one line.
func cut(path string) string {
	path = strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '?'
		}
		return r
	}, path)
	if len(path) > 2*MaxName {
		return path[:2*MaxName] + "..."
	}
	return path
}
