package model

import (
	"fmt"
	"slices"
	"strings"
)

// The values that the enumerated fields of devices may have, in the order in
// which messages list them.
var (
	// The operators Gt and Lt are for the taints of nodes.
	deviceTolerationOperators = []Operator{Equal, Exists}

	deviceEffects    = []TaintEffect{NoEffect, NoSchedule, NoExecute}
	compareOperators = []CompareOperator{
		CompareEqual, CompareNotEqual, CompareLess, CompareAtMost, CompareGreater, CompareAtLeast,
		CompareOneOf, CompareNoneOf, CompareExists, CompareAbsent,
	}
)

// maxAlternatives is how many alternatives a request may have
// (k8s.io/api/resource/v1 FirstAvailableDeviceRequestMaxSize, 0.37.1).
const maxAlternatives = 8

// Validate returns all that is wrong with the slice as a [*ValidationError], nil
// where it is valid. Whether it fits the other slices of its pool is not seen
// here.
func (s *DeviceSlice) Validate() error {
	var c checker
	c.notEmpty("id", s.ID)
	c.notEmpty("driver", s.Driver)
	c.notEmpty("pool", s.Pool)
	c.atLeast("generation", s.Generation, 0)
	c.atLeast("sliceCount", s.SliceCount, 1)
	c.access(s.Node, s.Nodes, s.AllNodes, s.PerDevice)
	if len(s.Devices) > 0 && len(s.Counters) > 0 {
		c.report("counters", "must be in a slice of their own, without devices")
	}
	var devices, sets unique[string]
	for i := range s.Devices {
		c.item("devices", i)
		c.device(&s.Devices[i], s.PerDevice)
		devices.check(&c, "name", s.Devices[i].Name)
		c.leave()
	}
	for i := range s.Counters {
		c.item("counters", i)
		c.notEmpty("name", s.Counters[i].Name)
		c.amounts("counters", s.Counters[i].Counters)
		sets.check(&c, "name", s.Counters[i].Name)
		c.leave()
	}
	return invalid("device slice", s.ID, c.problems)
}

// access checks that it is said in one way from where something can be used.
func (c *checker) access(node string, nodes *NodeTerms, all, perDevice bool) {
	c.text("node", node)
	ways := 0
	for _, said := range []bool{node != "", nodes != nil, all, perDevice} {
		if said {
			ways++
		}
	}
	if ways != 1 {
		c.report("node", fmt.Sprintf("of the fields that say which nodes have access exactly one must be set, not %d", ways))
	}
	c.oneTerm("nodes", nodes)
}

// oneTerm checks nodes with access: there is one term, so that the terms of
// several devices can be put together.
func (c *checker) oneTerm(field string, t *NodeTerms) {
	if t == nil {
		return
	}
	c.enter(field)
	if len(t.Terms) != 1 {
		c.report("terms", fmt.Sprintf("must be exactly one term, not %d", len(t.Terms)))
	}
	for i := range t.Terms {
		c.item("terms", i)
		c.nodeTerm(&t.Terms[i])
		c.leave()
	}
	c.leave()
}

func (c *checker) device(d *SliceDevice, perDevice bool) {
	c.notEmpty("name", d.Name)
	for _, name := range sortedKeys(d.Attributes) {
		if name == "" {
			c.report("attributes", "has an empty name")
		}
		c.text("attributes", name)
		if d.Attributes[name].kind() == "" {
			c.report("attributes", fmt.Sprintf("%q must have a value of exactly one type", name))
		}
		c.text("attributes", orNone(d.Attributes[name].String))
		c.text("attributes", orNone(d.Attributes[name].Version))
	}
	for _, name := range sortedKeys(d.Capacity) {
		if name == "" {
			c.report("capacity", "has an empty name")
		}
		c.text("capacity", name)
		c.capacity(name, d.Capacity[name], d.Shared)
	}
	c.counterUses("consumes", d.Consumes)
	for i := range d.Taints {
		c.item("taints", i)
		c.deviceTaint(&d.Taints[i])
		c.leave()
	}
	if perDevice {
		c.access(d.Node, d.Nodes, d.AllNodes, false)
	} else if d.Node != "" || d.Nodes != nil || d.AllNodes {
		c.report("node", "says which nodes have access, which is for slices with perDevice")
		c.text("node", d.Node)
		c.oneTerm("nodes", d.Nodes)
	}
	c.names("bindingConditions", d.BindingConditions)
	c.names("bindingFailures", d.BindingFailures)
}

func (c *checker) counterUses(field string, uses []CounterUse) {
	var sets unique[string]
	for i := range uses {
		c.item(field, i)
		c.notEmpty("set", uses[i].Set)
		c.amounts("counters", uses[i].Counters)
		sets.check(c, "set", uses[i].Set)
		c.leave()
	}
}

// capacity checks a capacity of a device. Only that of a shared device has a
// policy.
func (c *checker) capacity(name string, d DeviceCapacity, shared bool) {
	wrong := func(format string, args ...any) {
		c.report("capacity", fmt.Sprintf("%q: ", name)+fmt.Sprintf(format, args...))
	}
	if d.Amount < 0 {
		wrong("%d is less than 0", d.Amount)
	}
	p := d.Policy
	if p == nil {
		return
	}
	if !shared {
		wrong("has a policy, which is for shared devices")
	}
	if p.Default == nil && (len(p.Values) > 0 || p.Min != nil) {
		wrong("has values or a range, but no default")
	}
	if len(p.Values) > 0 && p.Min != nil {
		wrong("has both values and a range")
	}
	if p.Min == nil && (p.Max != nil || p.Step != nil) {
		wrong("has a range without its least amount")
	}
	if !slices.IsSorted(p.Values) {
		wrong("the values are not in ascending order")
	}
	if p.Step != nil && *p.Step < 1 {
		wrong("the step %d is less than 1", *p.Step)
	}
	if p.Default != nil && *p.Default < 0 {
		wrong("%d is less than 0", *p.Default)
	}
	for _, n := range slices.Concat(p.Values, listed(p.Min), listed(p.Max)) {
		if n < 0 || n > d.Amount {
			wrong("%d is not between 0 and %d", n, d.Amount)
		}
	}
}

func listed(n *int64) []int64 {
	if n == nil {
		return nil
	}
	return []int64{*n}
}

// amounts reports empty names and amounts below 0.
func (c *checker) amounts(field string, m map[string]int64) {
	for _, name := range sortedKeys(m) {
		if name == "" {
			c.report(field, "has an empty name")
		}
		c.text(field, name)
		if m[name] < 0 {
			c.report(field, fmt.Sprintf("%q: %d is less than 0", name, m[name]))
		}
	}
}

func (c *checker) deviceTaint(t *Taint) {
	c.notEmpty("key", t.Key)
	c.text("value", t.Value)
	oneOf(c, "effect", t.Effect, deviceEffects)
}

// Validate returns all that is wrong with the class as a [*ValidationError], nil
// where it is valid.
func (d *DeviceClass) Validate() error {
	var c checker
	c.notEmpty("name", d.Name)
	c.deviceSelectors("selectors", d.Selectors)
	c.text("resource", d.Resource)
	switch d.Resource {
	case CPU, Memory, EphemeralStorage:
		c.report("resource", fmt.Sprintf("%q is no scalar", d.Resource))
	}
	if strings.HasPrefix(d.Resource, DeviceClassResource) {
		c.report("resource", fmt.Sprintf("%q stands for the class that it names", d.Resource))
	}
	c.time("createdAt", d.CreatedAt)
	for i := range d.Config {
		c.item("config", i)
		if len(d.Config[i].Requests) > 0 {
			c.report("requests", "must be empty; a class knows of no requests")
			c.texts("requests", d.Config[i].Requests)
		}
		c.text("driver", d.Config[i].Driver)
		c.leave()
	}
	return invalid("device class", d.Name, c.problems)
}

func (c *checker) deviceSelectors(field string, list []DeviceSelector) {
	for i := range list {
		c.item(field, i)
		if len(list[i].Requirements) == 0 && list[i].Expression == "" {
			c.report("", "says nothing")
		}
		c.text("expression", list[i].Expression)
		for j := range list[i].Requirements {
			c.item("requirements", j)
			c.deviceRequirement(&list[i].Requirements[j])
			c.leave()
		}
		c.leave()
	}
}

func (c *checker) deviceRequirement(r *DeviceRequirement) {
	about := 0
	for _, said := range []bool{r.Attribute != "", r.Capacity != "", r.Driver} {
		if said {
			about++
		}
	}
	if about != 1 {
		c.report("attribute", fmt.Sprintf("exactly one of attribute, capacity and driver must be set, not %d", about))
	}
	c.text("attribute", r.Attribute)
	c.text("capacity", r.Capacity)
	oneOf(c, "operator", r.Operator, compareOperators)
	switch r.Operator {
	case CompareExists, CompareAbsent:
		if len(r.Values) != 0 {
			c.report("values", string(r.Operator)+" wants no values")
		}
	case CompareOneOf, CompareNoneOf:
		if len(r.Values) == 0 {
			c.report("values", string(r.Operator)+" wants at least one value")
		}
	default:
		if len(r.Values) != 1 {
			c.report("values", fmt.Sprintf("%s wants exactly one value, not %d", r.Operator, len(r.Values)))
		}
	}
	for i, v := range r.Values {
		c.item("values", i)
		c.comparedValue(r, v)
		c.leave()
	}
}

func (c *checker) comparedValue(r *DeviceRequirement, v AttributeValue) {
	kind := v.kind()
	ordered := r.Operator == CompareLess || r.Operator == CompareAtMost || r.Operator == CompareGreater || r.Operator == CompareAtLeast
	switch {
	case kind == "":
		c.report("", "must have a value of exactly one type")
	case kind == "Bool" && ordered:
		c.report("", "booleans have no order")
	case r.Capacity != "" && kind != "Int":
		c.report("", "a capacity is compared with an Int")
	case r.Driver && kind != "String":
		c.report("", "the driver is compared with a String")
	}
	c.text("string", orNone(v.String))
	if v.Version != nil {
		if _, ok := parseVersion(*v.Version); !ok {
			c.report("version", fmt.Sprintf("%q is no semantic version", *v.Version))
		}
	}
}

// orNone is the text, empty where there is none.
func orNone(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Validate returns all that is wrong with the rule as a [*ValidationError], nil
// where it is valid.
func (r *DeviceTaintRule) Validate() error {
	var c checker
	c.notEmpty("id", r.ID)
	c.text("driver", r.Driver)
	c.text("pool", r.Pool)
	c.text("device", r.Device)
	c.enter("taint")
	c.deviceTaint(&r.Taint)
	c.leave()
	return invalid("device taint rule", r.ID, c.problems)
}
