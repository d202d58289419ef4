package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Matches reports whether the device of the driver fulfils the requirement. A
// value of another type than the device's is another value, and neither more
// nor less than it; so are two booleans neither more nor less than each other.
// A requirement that is not valid is fulfilled by no device.
func (r *DeviceRequirement) Matches(driver string, d *SliceDevice) bool {
	have, found := r.of(driver, d)
	if r.Operator == CompareExists {
		return found
	}
	if r.Operator == CompareAbsent {
		return !found
	}
	if !found || len(r.Values) == 0 {
		return false
	}
	return compares(have, r.Operator, r.Values)
}

// of is what the device has of what the requirement is about.
func (r *DeviceRequirement) of(driver string, d *SliceDevice) (AttributeValue, bool) {
	switch {
	case r.Driver:
		return AttributeValue{String: &driver}, true
	case r.Capacity != "":
		c, found := lookup(d.Capacity, driver, r.Capacity)
		return AttributeValue{Int: &c.Amount}, found
	}
	return d.Attribute(driver, r.Attribute)
}

// Attribute returns the attribute of the device of the driver, and whether it
// has it. A name may be qualified, domain/name: what the device calls by the
// bare name is in the domain of its driver. (k8s.io/dynamic-resource-allocation
// structured/internal/incubating/allocator_incubating.go lookupAttribute,
// 0.37.1.)
func (d *SliceDevice) Attribute(driver, name string) (AttributeValue, bool) {
	return lookup(d.Attributes, driver, name)
}

func lookup[V any](m map[string]V, driver, name string) (V, bool) {
	if v, found := m[name]; found {
		return v, true
	}
	if domain, bare, qualified := strings.Cut(name, "/"); qualified && domain == driver {
		v, found := m[bare]
		return v, found
	}
	var none V
	return none, false
}

func compares(have AttributeValue, op CompareOperator, values []AttributeValue) bool {
	switch op {
	case CompareEqual:
		return have.Equal(values[0])
	case CompareNotEqual:
		return !have.Equal(values[0])
	case CompareOneOf:
		return slices.ContainsFunc(values, have.Equal)
	case CompareNoneOf:
		return !slices.ContainsFunc(values, have.Equal)
	}
	order, comparable := have.compare(values[0])
	if !comparable {
		return false
	}
	switch op {
	case CompareLess:
		return order < 0
	case CompareAtMost:
		return order <= 0
	case CompareGreater:
		return order > 0
	case CompareAtLeast:
		return order >= 0
	}
	return false
}

// Equal reports whether the two values are of the same type and the same. Of
// versions the text counts, build metadata included.
func (v AttributeValue) Equal(o AttributeValue) bool {
	switch {
	case v.String != nil:
		return o.String != nil && *v.String == *o.String
	case v.Int != nil:
		return o.Int != nil && *v.Int == *o.Int
	case v.Bool != nil:
		return o.Bool != nil && *v.Bool == *o.Bool
	case v.Version != nil:
		return o.Version != nil && *v.Version == *o.Version
	}
	return false
}

// kind names the field that is set; empty where it is not exactly one.
func (v AttributeValue) kind() string {
	name, set := "", 0
	for _, f := range []struct {
		name string
		set  bool
	}{{"Int", v.Int != nil}, {"Bool", v.Bool != nil}, {"String", v.String != nil}, {"Version", v.Version != nil}} {
		if f.set {
			name, set = f.name, set+1
		}
	}
	if set != 1 {
		return ""
	}
	return name
}

// compare orders two values of one type that has an order.
func (v AttributeValue) compare(o AttributeValue) (order int, comparable bool) {
	switch {
	case v.Int != nil && o.Int != nil:
		return cmp.Compare(*v.Int, *o.Int), true
	case v.String != nil && o.String != nil:
		return strings.Compare(*v.String, *o.String), true
	case v.Version != nil && o.Version != nil:
		a, okA := parseVersion(*v.Version)
		b, okB := parseVersion(*o.Version)
		return a.compare(b), okA && okB
	}
	return 0, false
}

// version is a semantic version 2.0.0 without its build metadata, which has no
// say in the order.
type version struct {
	numbers [3]uint64
	pre     []string // the parts of the pre-release; none for a release
}

func parseVersion(text string) (version, bool) {
	var v version
	text, build, hasBuild := strings.Cut(text, "+")
	core, pre, hasPre := strings.Cut(text, "-")
	parts := strings.Split(core, ".")
	if len(parts) != 3 || hasBuild && !identifiers(build, false) || hasPre && !identifiers(pre, true) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || !isNumber(part) {
			return v, false
		}
		v.numbers[i] = n
	}
	if hasPre {
		v.pre = strings.Split(pre, ".")
	}
	return v, true
}

// identifiers reports whether the text is a list of identifiers with dots in
// between; whole numbers among them may not start with 0 where strict.
func identifiers(text string, strict bool) bool {
	for id := range strings.SplitSeq(text, ".") {
		other := strings.IndexFunc(id, func(c rune) bool {
			return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-'
		})
		digits := strings.Trim(id, "0123456789") == ""
		if id == "" || other >= 0 || strict && digits && !isNumber(id) {
			return false
		}
	}
	return true
}

// isNumber reports whether the text is digits without a needless 0 in front.
func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0')
}

// compare is the order of semantic versions: a pre-release comes before its
// release, numbers before words.
func (v version) compare(o version) int {
	if order := slices.Compare(v.numbers[:], o.numbers[:]); order != 0 {
		return order
	}
	if len(v.pre) == 0 || len(o.pre) == 0 {
		return cmp.Compare(len(o.pre), len(v.pre))
	}
	return slices.CompareFunc(v.pre, o.pre, func(a, b string) int {
		numA, numB := isNumber(a), isNumber(b)
		switch {
		case numA && numB:
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		case numA:
			return -1
		case numB:
			return 1
		}
		return strings.Compare(a, b)
	})
}

// AppliesTo reports whether the rule puts its taint on device i of the slice; a
// nil rule on none.
func (r *DeviceTaintRule) AppliesTo(s *DeviceSlice, i int) bool {
	return r != nil && (r.Driver == "" || r.Driver == s.Driver) && (r.Pool == "" || r.Pool == s.Pool) &&
		(r.Device == "" || r.Device == s.Devices[i].Name)
}
