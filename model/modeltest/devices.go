package modeltest

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-project/berth/model"
)

// SliceBuilder builds a device slice step by step; start with [DeviceSlice].
type SliceBuilder struct{ slice model.DeviceSlice }

// DeviceSlice starts the one slice of a pool, which also gives it its ID. It can
// be used from nowhere yet.
func DeviceSlice(driver, pool string) *SliceBuilder {
	return &SliceBuilder{model.DeviceSlice{ID: pool, Driver: driver, Pool: pool, SliceCount: 1}}
}

// Build returns the slice. The builder may go on to be changed and to build
// others like it.
func (b *SliceBuilder) Build() *model.DeviceSlice {
	return model.CloneObject(&b.slice)
}

// With calls change on the slice under construction, for whatever has no method
// here.
func (b *SliceBuilder) With(change func(*model.DeviceSlice)) *SliceBuilder {
	change(&b.slice)
	return b
}

// Part makes it one of several slices of its pool, with an ID of its own.
func (b *SliceBuilder) Part(id string, generation, count int64) *SliceBuilder {
	b.slice.ID, b.slice.Generation, b.slice.SliceCount = id, generation, count
	return b
}

// Node names the only node with access.
func (b *SliceBuilder) Node(name string) *SliceBuilder {
	b.slice.Node = name
	return b
}

// AllNodes gives all nodes access.
func (b *SliceBuilder) AllNodes() *SliceBuilder {
	b.slice.AllNodes = true
	return b
}

// Nodes gives the nodes with these labels access.
func (b *SliceBuilder) Nodes(labels ...model.Requirement) *SliceBuilder {
	b.slice.Nodes = &model.NodeTerms{Terms: []model.NodeTerm{{Labels: labels}}}
	return b
}

// PerDevice lets each device say which nodes have access.
func (b *SliceBuilder) PerDevice() *SliceBuilder {
	b.slice.PerDevice = true
	return b
}

// Device adds a device, which the changes are made to.
func (b *SliceBuilder) Device(name string, changes ...func(*model.SliceDevice)) *SliceBuilder {
	d := model.SliceDevice{Name: name}
	for _, change := range changes {
		change(&d)
	}
	b.slice.Devices = append(b.slice.Devices, d)
	return b
}

// Devices adds n devices, named d0 and so on, which the changes are made to.
func (b *SliceBuilder) Devices(n int, changes ...func(*model.SliceDevice)) *SliceBuilder {
	for i := range n {
		b.Device(fmt.Sprintf("d%d", i), changes...)
	}
	return b
}

// Counter adds a counter, in a new set or in the last one.
func (b *SliceBuilder) Counter(set, name string, amount int64) *SliceBuilder {
	if n := len(b.slice.Counters); n == 0 || b.slice.Counters[n-1].Name != set {
		b.slice.Counters = append(b.slice.Counters, model.CounterSet{Name: set, Counters: map[string]int64{}})
	}
	b.slice.Counters[len(b.slice.Counters)-1].Counters[name] = amount
	return b
}

// Value is a value of an attribute: an int, a bool or a string. For a version
// use [Version].
func Value(v any) model.AttributeValue {
	switch v := v.(type) {
	case int:
		i := int64(v)
		return model.AttributeValue{Int: &i}
	case bool:
		return model.AttributeValue{Bool: &v}
	case string:
		return model.AttributeValue{String: &v}
	case model.AttributeValue:
		return v
	}
	panic(fmt.Sprintf("modeltest.Value of a %T", v))
}

// Version is a value of an attribute that is a version.
func Version(text string) model.AttributeValue { return model.AttributeValue{Version: &text} }

// Attribute is a change for [SliceBuilder.Device]: it sets an attribute, to what
// [Value] takes.
func Attribute(name string, v any) func(*model.SliceDevice) {
	return func(d *model.SliceDevice) {
		if d.Attributes == nil {
			d.Attributes = map[string]model.AttributeValue{}
		}
		d.Attributes[name] = Value(v)
	}
}

// Capacity is a change for [SliceBuilder.Device]: it sets a capacity.
func Capacity(name string, amount int64, policy *model.CapacityPolicy) func(*model.SliceDevice) {
	return func(d *model.SliceDevice) {
		if d.Capacity == nil {
			d.Capacity = map[string]model.DeviceCapacity{}
		}
		d.Capacity[name] = model.DeviceCapacity{Amount: amount, Policy: policy}
	}
}

// Shared is a change for [SliceBuilder.Device]: several claims can have it.
func Shared(d *model.SliceDevice) { d.Shared = true }

// Consumes is a change for [SliceBuilder.Device]: it draws on a counter.
func Consumes(set, name string, amount int64) func(*model.SliceDevice) {
	return func(d *model.SliceDevice) {
		d.Consumes = append(d.Consumes, model.CounterUse{Set: set, Counters: map[string]int64{name: amount}})
	}
}

// Require is a condition on an attribute, with values that [Value] takes.
func Require(attribute string, op model.CompareOperator, values ...any) model.DeviceRequirement {
	r := model.DeviceRequirement{Attribute: attribute, Operator: op}
	for _, v := range values {
		r.Values = append(r.Values, Value(v))
	}
	return r
}

// DeviceClass returns a class of the devices that fulfil the requirements.
func DeviceClass(name string, requirements ...model.DeviceRequirement) *model.DeviceClass {
	c := &model.DeviceClass{Name: name}
	if len(requirements) > 0 {
		c.Selectors = []model.DeviceSelector{{Requirements: requirements}}
	}
	return c
}

// ClaimBuilder builds a device claim step by step; start with [DeviceClaim].
type ClaimBuilder struct{ claim model.DeviceClaim }

// DeviceClaim starts a claim of the given ID that asks for nothing.
func DeviceClaim(id string) *ClaimBuilder { return &ClaimBuilder{model.DeviceClaim{ID: id}} }

// Build returns the claim. The builder may go on to be changed and to build
// others like it.
func (b *ClaimBuilder) Build() *model.DeviceClaim {
	return model.CloneObject(&b.claim)
}

// With calls change on the claim under construction, for whatever has no method
// here.
func (b *ClaimBuilder) With(change func(*model.DeviceClaim)) *ClaimBuilder {
	change(&b.claim)
	return b
}

// Request adds a request for count devices of a class, 0 for all of them, which
// the changes are made to.
func (b *ClaimBuilder) Request(name, class string, count int64, changes ...func(*model.DeviceDemand)) *ClaimBuilder {
	d := Demand("", class, count, changes...)
	b.claim.Requests = append(b.claim.Requests, model.ClaimRequest{Name: name, Alternatives: []model.DeviceDemand{d}})
	return b
}

// FirstOf adds a request for the first of the alternatives that can be had.
func (b *ClaimBuilder) FirstOf(name string, alternatives ...model.DeviceDemand) *ClaimBuilder {
	b.claim.Requests = append(b.claim.Requests, model.ClaimRequest{Name: name, Prioritized: true, Alternatives: alternatives})
	return b
}

// Demand is an alternative for [ClaimBuilder.FirstOf]: count devices of a class,
// 0 for all of them, with changes made to it.
func Demand(name, class string, count int64, changes ...func(*model.DeviceDemand)) model.DeviceDemand {
	d := model.DeviceDemand{Name: name, Class: class, Count: count, All: count == 0}
	for _, change := range changes {
		change(&d)
	}
	return d
}

// Selecting is a change for a demand: only devices that fulfil the requirements
// will do.
func Selecting(requirements ...model.DeviceRequirement) func(*model.DeviceDemand) {
	return func(d *model.DeviceDemand) {
		d.Selectors = append(d.Selectors, model.DeviceSelector{Requirements: requirements})
	}
}

// Match wants devices with the same value of the attribute; of the requests, or
// where there are none of all.
func (b *ClaimBuilder) Match(attribute string, requests ...string) *ClaimBuilder {
	b.claim.Constraints = append(b.claim.Constraints, model.DeviceConstraint{Match: attribute, Requests: requests})
	return b
}

// Distinct wants devices with different values of the attribute.
func (b *ClaimBuilder) Distinct(attribute string, requests ...string) *ClaimBuilder {
	b.claim.Constraints = append(b.claim.Constraints, model.DeviceConstraint{Distinct: attribute, Requests: requests})
	return b
}

// Given says which devices the claim has, and from which nodes; no terms: all.
func (b *ClaimBuilder) Given(nodes *model.NodeTerms, devices ...model.AllocatedDevice) *ClaimBuilder {
	b.claim.Allocation = &model.Allocation{Nodes: nodes, Devices: devices}
	return b
}

// The pools from which the generators of devices draw. Pools have one name with
// two drivers, and requests ask for attributes in both ways of writing.
var (
	drivers       = []string{"gpu.example.com", "net.example.com"}
	deviceModels  = []string{"a100", "t4"}
	deviceClasses = []string{"gpu", "big", "any", "net"}
	deviceEffects = []model.TaintEffect{model.NoEffect, model.NoSchedule, model.NoExecute}
)

// RandomDeviceClasses returns the classes that random claims ask for.
func RandomDeviceClasses() []*model.DeviceClass {
	return []*model.DeviceClass{
		DeviceClass("gpu", Require("kind", model.CompareEqual, "gpu")),
		DeviceClass("big", model.DeviceRequirement{Capacity: "memory", Operator: model.CompareAtLeast, Values: []model.AttributeValue{Value(20)}}),
		DeviceClass("any"),
		DeviceClass("net", model.DeviceRequirement{Driver: true, Operator: model.CompareEqual, Values: []model.AttributeValue{Value("net.example.com")}}),
	}
}

// RandomDeviceSlices returns valid slices of a few pools with few devices for
// the nodes: pools of one node, of some and of all, with devices that are
// shared, tainted or partitions of others, and pools that are being changed.
func RandomDeviceSlices(r *rand.Rand, nodes []string) []*model.DeviceSlice {
	var list []*model.DeviceSlice
	for i := range 2 + r.IntN(3) {
		list = append(list, randomPool(r, fmt.Sprintf("p%d", i), nodes)...)
	}
	return list
}

// randomPool returns the slices of one pool.
func randomPool(r *rand.Rand, pool string, nodes []string) []*model.DeviceSlice {
	driver := pick(r, drivers)
	parts := 1 + r.IntN(2)
	counters := r.IntN(3) == 0
	count := int64(parts)
	if counters {
		count++
	}
	if r.IntN(24) == 0 {
		count++ // one is missing
	}
	var list []*model.DeviceSlice
	name := 0
	for i := range parts {
		b := DeviceSlice(driver, pool).Part(fmt.Sprintf("%s-%d", pool, i), 1, count)
		if r.IntN(24) == 0 {
			b.slice.Generation-- // not replaced yet
		}
		reach(r, b, nodes)
		for range 1 + r.IntN(3) {
			d := randomDevice(r, fmt.Sprintf("d%d", name), counters)
			if name++; b.slice.PerDevice {
				reachOne(r, &d, nodes)
			}
			b.slice.Devices = append(b.slice.Devices, d)
		}
		list = append(list, b.Build())
	}
	if counters {
		b := DeviceSlice(driver, pool).Part(pool+"-counters", 1, count).Counter("card", "slots", int64(1+r.IntN(4)))
		reach(r, b, nodes)
		list = append(list, b.Build())
	}
	return list
}

// reach says from where a slice can be used.
func reach(r *rand.Rand, b *SliceBuilder, nodes []string) {
	switch r.IntN(6) {
	case 0:
		b.AllNodes()
	case 1:
		b.Nodes(model.Requirement{Key: ZoneKey, Operator: model.In, Values: picks(r, 2, []string{"z1", "z2"})})
		if len(b.slice.Nodes.Terms[0].Labels[0].Values) == 0 {
			b.slice.Nodes.Terms[0].Labels[0].Values = []string{"z1"}
		}
	case 2:
		b.PerDevice()
	default:
		b.Node(pick(r, nodes))
	}
}

func reachOne(r *rand.Rand, d *model.SliceDevice, nodes []string) {
	if r.IntN(3) == 0 {
		d.AllNodes = true
		return
	}
	d.Node = pick(r, nodes)
}

func randomDevice(r *rand.Rand, name string, counters bool) model.SliceDevice {
	d := model.SliceDevice{Name: name}
	Attribute("kind", pick(r, []string{"gpu", "gpu", "nic"}))(&d)
	if r.IntN(4) > 0 {
		Attribute(pick(r, []string{"model", "gpu.example.com/model"}), pick(r, deviceModels))(&d)
	}
	if r.IntN(3) > 0 {
		Attribute("root", r.IntN(2))(&d)
	}
	d.Shared = r.IntN(4) == 0
	if r.IntN(2) == 0 {
		Capacity("memory", int64(10*(1+r.IntN(3))), randomPolicy(r, d.Shared))(&d)
	}
	if counters && r.IntN(3) > 0 {
		Consumes("card", "slots", int64(1+r.IntN(2)))(&d)
	}
	if r.IntN(8) == 0 {
		d.Taints = []model.Taint{{Key: "broken", Effect: pick(r, deviceEffects)}}
	}
	if r.IntN(8) == 0 {
		d.BindingConditions = []string{"Attached"}
	}
	d.BindsToNode = r.IntN(8) == 0
	return d
}

// randomPolicy is sometimes that of a capacity of a shared device.
func randomPolicy(r *rand.Rand, shared bool) *model.CapacityPolicy {
	if !shared || r.IntN(2) == 0 {
		return nil
	}
	amount := func(n int64) *int64 { return &n }
	if r.IntN(2) == 0 {
		return &model.CapacityPolicy{Default: amount(5), Values: []int64{5, 10}}
	}
	return &model.CapacityPolicy{Default: amount(4), Min: amount(4), Max: amount(10), Step: amount(3)}
}

// RandomDeviceClaim returns a valid claim that has been given nothing.
func RandomDeviceClaim(r *rand.Rand, id string) *model.DeviceClaim {
	b := DeviceClaim(id)
	for i := range 1 + r.IntN(2) {
		name := fmt.Sprintf("r%d", i)
		if r.IntN(4) > 0 {
			b.Request(name, pick(r, deviceClasses), int64(r.IntN(4)), func(d *model.DeviceDemand) { randomDemand(r, d, true) })
			continue
		}
		var alternatives []model.DeviceDemand
		for j := range 1 + r.IntN(3) {
			alternatives = append(alternatives, Demand(fmt.Sprintf("s%d", j), pick(r, deviceClasses), int64(r.IntN(4)), func(d *model.DeviceDemand) { randomDemand(r, d, false) }))
		}
		b.FirstOf(name, alternatives...)
	}
	for range r.IntN(3) {
		attribute := pick(r, []string{"gpu.example.com/model", "gpu.example.com/root", "net.example.com/root"})
		requests := pick(r, [][]string{nil, nil, {"r0"}, {"r0/s0"}})
		if requests != nil && b.claim.Requests[0].Prioritized == (requests[0] == "r0") {
			requests = nil
		}
		if r.IntN(2) == 0 {
			b.Match(attribute, requests...)
		} else {
			b.Distinct(attribute, requests...)
		}
	}
	return b.Build()
}

func randomDemand(r *rand.Rand, d *model.DeviceDemand, alone bool) {
	if r.IntN(4) == 0 {
		Selecting(Require("gpu.example.com/model", model.CompareEqual, pick(r, deviceModels)))(d)
	}
	if r.IntN(4) == 0 {
		d.Capacity = map[string]int64{"memory": int64(1 + r.IntN(12))}
	}
	if r.IntN(4) == 0 {
		d.Tolerations = []model.Toleration{{Operator: model.Exists}}
	}
	d.AdminAccess = alone && r.IntN(8) == 0
}
