package extpointstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// compact is the object as JSON without what has its zero value.
func compact(object any) string {
	fields := set(object)
	text, err := json.Marshal(fields)
	if fields == nil || err != nil {
		return fmt.Sprintf("%+v", object)
	}
	return string(text)
}

// set are the fields of the object that are set, by name; nil where it cannot be written as JSON.
func set(object any) map[string]any {
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	return withoutZeros(fields)
}

func withoutZeros(fields map[string]any) map[string]any {
	for name, value := range fields {
		switch v := value.(type) {
		case nil:
			delete(fields, name)
		case map[string]any:
			if len(withoutZeros(v)) == 0 {
				delete(fields, name)
			}
		case string:
			if v == "" || v == zeroTime {
				delete(fields, name)
			}
		case float64:
			if v == 0 {
				delete(fields, name)
			}
		case bool:
			if !v {
				delete(fields, name)
			}
		case []any:
			for _, one := range v {
				if one, ok := one.(map[string]any); ok {
					withoutZeros(one)
				}
			}
			if len(v) == 0 {
				delete(fields, name)
			}
		}
	}
	return fields
}

const zeroTime = "0001-01-01T00:00:00Z"

// differences lists the fields that two objects of one type have different, with both values.
func differences(before, after any) string {
	was, is := set(before), set(after)
	names := map[string]any{}
	maps.Copy(names, was)
	maps.Copy(names, is)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !reflect.DeepEqual(was[name], is[name]) {
			list = append(list, fmt.Sprintf("%s from %s to %s", name, value(was[name]), value(is[name])))
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, "; ")
}

func value(v any) string {
	if v == nil {
		return "none"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
