package model

import (
	"fmt"
	"slices"
	"strings"
)

// The values that the enumerated fields of devices may have, in the order in
// which messages list them.
var (
	deviceEffects    = []DeviceTaintEffect{DeviceTaintNone, DeviceTaintNoSchedule, DeviceTaintNoExecute}
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
	for i := range s.Devices {
		c.item("devices", i)
		c.device(&s.Devices[i], s.PerDevice)
		unlikeEarlier(&c, s.Devices, i, "name", func(a, b *SliceDevice) bool { return a.Name == b.Name })
		c.leave()
	}
	for i := range s.Counters {
		c.item("counters", i)
		c.notEmpty("name", s.Counters[i].Name)
		c.amounts("counters", s.Counters[i].Counters)
		unlikeEarlier(&c, s.Counters, i, "name", func(a, b *CounterSet) bool { return a.Name == b.Name })
		c.leave()
	}
	return invalid("device slice", s.ID, c.problems)
}

// access checks that it is said in one way from where something can be used.
func (c *checker) access(node string, nodes *NodeTerms, all, perDevice bool) {
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
		if d.Attributes[name].Type() == "" {
			c.report("attributes", fmt.Sprintf("%q must have a value of exactly one type", name))
		}
	}
	for _, name := range sortedKeys(d.Capacity) {
		if name == "" {
			c.report("capacity", "has an empty name")
		}
		c.capacity(name, d.Capacity[name], d.Shared)
	}
	for i := range d.Consumes {
		c.item("consumes", i)
		c.notEmpty("set", d.Consumes[i].Set)
		c.amounts("counters", d.Consumes[i].Counters)
		unlikeEarlier(c, d.Consumes, i, "set", func(a, b *CounterUse) bool { return a.Set == b.Set })
		c.leave()
	}
	for i := range d.Taints {
		c.item("taints", i)
		c.deviceTaint(&d.Taints[i])
		c.leave()
	}
	if perDevice {
		c.access(d.Node, d.Nodes, d.AllNodes, false)
	} else if d.Node != "" || d.Nodes != nil || d.AllNodes {
		c.report("node", "says which nodes have access, which is for slices with perDevice")
	}
	c.noEmptyItem("bindingConditions", d.BindingConditions)
	c.noEmptyItem("bindingFailures", d.BindingFailures)
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
		if m[name] < 0 {
			c.report(field, fmt.Sprintf("%q: %d is less than 0", name, m[name]))
		}
	}
}

func (c *checker) deviceTaint(t *DeviceTaint) {
	c.notEmpty("key", t.Key)
	oneOf(c, "effect", t.Effect, deviceEffects)
}

// Validate returns all that is wrong with the class as a [*ValidationError], nil
// where it is valid.
func (d *DeviceClass) Validate() error {
	var c checker
	c.notEmpty("name", d.Name)
	c.deviceSelectors("selectors", d.Selectors)
	switch d.Resource {
	case CPU, Memory, EphemeralStorage:
		c.report("resource", fmt.Sprintf("%q is no scalar", d.Resource))
	}
	if strings.HasPrefix(d.Resource, DeviceClassResource) {
		c.report("resource", fmt.Sprintf("%q stands for the class that it names", d.Resource))
	}
	for i := range d.Config {
		if len(d.Config[i].Requests) > 0 {
			c.item("config", i)
			c.report("requests", "must be empty; a class knows of no requests")
			c.leave()
		}
	}
	return invalid("device class", d.Name, c.problems)
}

func (c *checker) deviceSelectors(field string, list []DeviceSelector) {
	for i := range list {
		c.item(field, i)
		if len(list[i].Requirements) == 0 && list[i].Expression == "" {
			c.report("", "says nothing")
		}
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
	kind := v.Type()
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
	if v.Version != nil {
		if _, ok := parseVersion(*v.Version); !ok {
			c.report("version", fmt.Sprintf("%q is no semantic version", *v.Version))
		}
	}
}

// Validate returns all that is wrong with the claim as a [*ValidationError], nil
// where it is valid. Whether the devices that it was given exist is not seen
// here.
func (d *DeviceClaim) Validate() error {
	var c checker
	c.notEmpty("id", d.ID)
	for i := range d.Requests {
		c.item("requests", i)
		c.claimRequest(&d.Requests[i])
		unlikeEarlier(&c, d.Requests, i, "name", func(a, b *ClaimRequest) bool { return a.Name == b.Name })
		c.leave()
	}
	for i := range d.Constraints {
		k := &d.Constraints[i]
		c.item("constraints", i)
		if (k.Match == "") == (k.Distinct == "") {
			c.report("match", "exactly one of match and distinct must be set")
		}
		c.requestNames(d, k.Requests)
		c.leave()
	}
	for i := range d.Config {
		c.item("config", i)
		c.requestNames(d, d.Config[i].Requests)
		c.leave()
	}
	if d.Owner != "" && d.OwnerGroup != "" {
		c.report("ownerGroup", "must be empty where owner is set")
	}
	c.consumers(d)
	if d.Allocation != nil {
		c.enter("allocation")
		c.allocation(d.Allocation)
		c.leave()
	}
	return invalid("device claim", d.ID, c.problems)
}

func (c *checker) consumers(d *DeviceClaim) {
	for i := range d.ReservedFor {
		c.item("reservedFor", i)
		if (d.ReservedFor[i].Workload == "") == (d.ReservedFor[i].Group == "") {
			c.report("workload", "exactly one of workload and group must be set")
		}
		unlikeEarlier(c, d.ReservedFor, i, "consumer", func(a, b *Consumer) bool { return *a == *b })
		c.leave()
	}
	if len(d.ReservedFor) > MaxClaimConsumers {
		c.report("reservedFor", fmt.Sprintf("there are %d, more than %d", len(d.ReservedFor), MaxClaimConsumers))
	}
	if len(d.ReservedFor) > 0 && d.Allocation == nil {
		c.report("reservedFor", "must be empty where nothing is allocated")
	}
}

func (c *checker) allocation(a *Allocation) {
	for i := range a.Devices {
		d := &a.Devices[i]
		c.item("devices", i)
		c.notEmpty("driver", d.Driver)
		c.notEmpty("pool", d.Pool)
		c.notEmpty("device", d.Device)
		c.amounts("consumed", d.Consumed)
		if d.Share == "" && len(d.Consumed) > 0 {
			c.report("consumed", "is for shares of a device")
		}
		c.deviceTolerations(d.Tolerations)
		c.leave()
	}
	c.oneTerm("nodes", a.Nodes)
}

func (c *checker) claimRequest(r *ClaimRequest) {
	c.requestName(r.Name)
	switch n := len(r.Alternatives); {
	case !r.Prioritized && n != 1:
		c.report("alternatives", fmt.Sprintf("must be exactly one, not %d, unless prioritized", n))
	case n < 1 || n > maxAlternatives:
		c.report("alternatives", fmt.Sprintf("%d is not between 1 and %d", n, maxAlternatives))
	}
	for i := range r.Alternatives {
		d := &r.Alternatives[i]
		c.item("alternatives", i)
		if r.Prioritized {
			c.requestName(d.Name)
			unlikeEarlier(c, r.Alternatives, i, "name", func(a, b *DeviceDemand) bool { return a.Name == b.Name })
			if d.AdminAccess {
				c.report("adminAccess", "must not be set where there are alternatives")
			}
		} else if d.Name != "" {
			c.report("name", "must be empty unless prioritized")
		}
		c.demand(d)
		c.leave()
	}
}

func (c *checker) demand(d *DeviceDemand) {
	c.notEmpty("class", d.Class)
	c.deviceSelectors("selectors", d.Selectors)
	if d.All {
		if d.Count != 0 {
			c.report("count", fmt.Sprintf("%d is not 0, and all are wanted", d.Count))
		}
	} else {
		c.atLeast("count", d.Count, 1)
	}
	c.amounts("capacity", d.Capacity)
	c.deviceTolerations(d.Tolerations)
}

func (c *checker) deviceTolerations(list []DeviceToleration) {
	for i := range list {
		t := &list[i]
		c.item("tolerations", i)
		oneOfOrEmpty(c, "operator", t.Operator, tolerationOperators)
		if t.Key == "" && t.Operator != TolerateExists {
			c.report("key", "may only be empty, for every key, where operator is "+string(TolerateExists))
		}
		if t.Value != "" && t.Operator == TolerateExists {
			c.report("value", "must be empty where operator is "+string(TolerateExists))
		}
		oneOfOrEmpty(c, "effect", t.Effect, deviceEffects)
		c.leave()
	}
}

// requestName checks a name that others are put together from.
func (c *checker) requestName(name string) {
	c.notEmpty("name", name)
	if strings.Contains(name, "/") {
		c.report("name", fmt.Sprintf("%q has a slash, which comes between a request and its alternative", name))
	}
}

// requestNames checks names of requests of the claim, or of their alternatives.
func (c *checker) requestNames(d *DeviceClaim, names []string) {
	for i, name := range names {
		request, alternative, qualified := strings.Cut(name, "/")
		known := slices.ContainsFunc(d.Requests, func(r ClaimRequest) bool {
			return r.Name == request && (!qualified || r.Prioritized &&
				slices.ContainsFunc(r.Alternatives, func(a DeviceDemand) bool { return a.Name == alternative }))
		})
		if !known {
			c.item("requests", i)
			c.report("", fmt.Sprintf("%q is no request of the claim", name))
			c.leave()
		}
	}
}

// deviceClaimRefs checks the uses of claims by a workload or a group.
func (c *checker) deviceClaimRefs(field string, refs []DeviceClaimRef) {
	for i := range refs {
		c.item(field, i)
		c.notEmpty("name", refs[i].Name)
		c.text("id", refs[i].ID)
		if refs[i].ID == "" && !refs[i].Generated {
			c.report("id", "may only be empty where the claim is generated")
		}
		unlikeEarlier(c, refs, i, "name", func(a, b *DeviceClaimRef) bool { return a.Name == b.Name })
		c.leave()
	}
}

// containers checks the parts of a workload.
func (c *checker) containers(field string, list []Container) {
	for i := range list {
		c.item(field, i)
		c.resources("requests", &list[i].Requests)
		c.leave()
	}
}

// Validate returns all that is wrong with the rule as a [*ValidationError], nil
// where it is valid.
func (r *DeviceTaintRule) Validate() error {
	var c checker
	c.notEmpty("id", r.ID)
	c.enter("taint")
	c.deviceTaint(&r.Taint)
	c.leave()
	return invalid("device taint rule", r.ID, c.problems)
}
