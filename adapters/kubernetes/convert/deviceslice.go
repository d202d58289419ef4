package convert

import (
	"errors"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

var (
	devicesPath  = specPath.Child("devices")
	countersPath = specPath.Child("sharedCounters")
)

// DeviceSlice translates a resource slice. Its ID is its name. Attributes and
// capacities keep their names, with a domain or without. Amounts are in
// thousandths; see [DeviceAmount].
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated, by their names in Kubernetes' API. The slice is there even so where
// it can be put right: without the attributes that cannot be translated, and with
// the nearest amounts. It is nil where it cannot; then its pool lacks a slice, and
// nothing can be given of it.
//
// What belongs to feature gates that are off in 1.37 is not read: lists as
// attributes (they are problems), compatibility groups, derived attributes, what
// devices add to a node's allocatable resources, and operations that nodes are
// to skip.
//
// Rules: k8s.io/dynamic-resource-allocation structured/internal/incubating, v0.37.1:
// pools_incubating.go (GatherPools), consumable_capacity.go.
func DeviceSlice(s *resourcev1.ResourceSlice) (*model.DeviceSlice, error) {
	var c problems
	spec := &s.Spec
	m := &model.DeviceSlice{
		ID:         c.text(namePath, s.Name),
		Driver:     spec.Driver,
		Pool:       spec.Pool.Name,
		Generation: spec.Pool.Generation,
		SliceCount: spec.Pool.ResourceSliceCount,
		Node:       orZero(spec.NodeName),
		Nodes:      c.nodeTerms(specPath.Child("nodeSelector"), spec.NodeSelector),
		AllNodes:   orZero(spec.AllNodes),
		PerDevice:  orZero(spec.PerDeviceNodeSelection),
		Counters:   c.counterSets(spec.SharedCounters),
	}
	for i := range spec.Devices {
		m.Devices = append(m.Devices, c.device(devicesPath.Index(i), &spec.Devices[i]))
	}
	if !c.valid(specPath, m) {
		m = nil
	}
	return m, c.err("resource slice", s.Name)
}

// valid reports what is wrong with an object that was made of another, by the
// names of its own fields, and whether nothing is.
func (p *problems) valid(at *field.Path, object interface{ Validate() error }) bool {
	err := object.Validate()
	if err == nil {
		return true
	}
	list := []model.Problem{{Message: err.Error()}}
	if e := (*model.ValidationError)(nil); errors.As(err, &e) {
		list = e.Problems
	}
	for _, problem := range list {
		p.report(at, "%s: %s", problem.Field, problem.Message)
	}
	return false
}

// orZero is what v points at, zero for nothing.
func orZero[T any](v *T) T {
	if v == nil {
		v = new(T)
	}
	return *v
}

// nodeTerms translates a node selector. Where a requirement cannot be read its
// term matches no node; the scheduler can place no pod then that needs to know.
func (p *problems) nodeTerms(at *field.Path, s *v1.NodeSelector) *model.NodeTerms {
	if s == nil {
		return nil
	}
	m := &model.NodeTerms{}
	for i := range s.NodeSelectorTerms {
		m.Terms = append(m.Terms, p.nodeTerm(at.Child("nodeSelectorTerms").Index(i), &s.NodeSelectorTerms[i], goodValues))
	}
	return m
}

// noNode matches no node, as one empty term does.
func noNode() *model.NodeTerms { return &model.NodeTerms{Terms: []model.NodeTerm{{}}} }

func (p *problems) device(at *field.Path, d *resourcev1.Device) model.SliceDevice {
	m := model.SliceDevice{
		Name:              p.text(at.Child("name"), d.Name),
		Attributes:        p.attributes(at.Child("attributes"), d.Attributes),
		Capacity:          p.capacities(at.Child("capacity"), d.Capacity),
		Consumes:          p.counterUses(at.Child("consumesCounters"), d.ConsumesCounters),
		Shared:            orZero(d.AllowMultipleAllocations),
		Node:              orZero(d.NodeName),
		Nodes:             p.nodeTerms(at.Child("nodeSelector"), d.NodeSelector),
		AllNodes:          orZero(d.AllNodes),
		BindsToNode:       orZero(d.BindsToNode),
		BindingConditions: d.BindingConditions,
		BindingFailures:   d.BindingFailureConditions,
	}
	for i := range d.Taints {
		m.Taints = append(m.Taints, deviceTaint(&d.Taints[i]))
	}
	return m
}

func (p *problems) attributes(at *field.Path, list map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) map[string]model.AttributeValue {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]model.AttributeValue, len(list))
	for _, name := range sortedKeys(list) {
		if value, ok := p.attribute(at.Key(string(name)), list[name]); ok {
			m[string(name)] = value
		}
	}
	return m
}

func (p *problems) attribute(at *field.Path, a resourcev1.DeviceAttribute) (_ model.AttributeValue, ok bool) {
	if a.IntValues != nil || a.BoolValues != nil || a.StringValues != nil || a.VersionValues != nil {
		p.report(at, "lists need the feature gate DRAListTypeAttributes, which is off in 1.37")
		return model.AttributeValue{}, false
	}
	switch {
	case a.IntValue != nil:
		return model.AttributeValue{Int: a.IntValue}, true
	case a.BoolValue != nil:
		return model.AttributeValue{Bool: a.BoolValue}, true
	case a.StringValue != nil:
		return model.AttributeValue{String: a.StringValue}, true
	case a.VersionValue != nil:
		return model.AttributeValue{Version: a.VersionValue}, true
	}
	p.report(at, "has no value of a kind that is known")
	return model.AttributeValue{}, false
}

func (p *problems) capacities(at *field.Path, list map[resourcev1.QualifiedName]resourcev1.DeviceCapacity) map[string]model.DeviceCapacity {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]model.DeviceCapacity, len(list))
	for _, name := range sortedKeys(list) {
		c, here := list[name], at.Key(string(name))
		m[string(name)] = model.DeviceCapacity{
			Amount: p.deviceAmount(here.Child("value"), c.Value, offered),
			Policy: p.capacityPolicy(here.Child("requestPolicy"), c.RequestPolicy),
		}
	}
	return m
}

func (p *problems) capacityPolicy(at *field.Path, c *resourcev1.CapacityRequestPolicy) *model.CapacityPolicy {
	if c == nil {
		return nil
	}
	m := &model.CapacityPolicy{Default: p.maybeAmount(at.Child("default"), c.Default)}
	for i, v := range c.ValidValues {
		m.Values = append(m.Values, p.deviceAmount(at.Child("validValues").Index(i), v, wanted))
	}
	if r := c.ValidRange; r != nil {
		here := at.Child("validRange")
		m.Min, m.Max, m.Step = p.maybeAmount(here.Child("min"), r.Min), p.maybeAmount(here.Child("max"), r.Max), p.maybeAmount(here.Child("step"), r.Step)
	}
	return m
}

func (p *problems) counterSets(sets []resourcev1.CounterSet) []model.CounterSet {
	var list []model.CounterSet
	for i := range sets {
		at := countersPath.Index(i)
		list = append(list, model.CounterSet{
			Name:     p.text(at.Child("name"), sets[i].Name),
			Counters: p.counters(at.Child("counters"), sets[i].Counters, offered),
		})
	}
	return list
}

func (p *problems) counterUses(at *field.Path, uses []resourcev1.DeviceCounterConsumption) []model.CounterUse {
	var list []model.CounterUse
	for i := range uses {
		here := at.Index(i)
		list = append(list, model.CounterUse{
			Set:      p.text(here.Child("counterSet"), uses[i].CounterSet),
			Counters: p.counters(here.Child("counters"), uses[i].Counters, wanted),
		})
	}
	return list
}

func (p *problems) counters(at *field.Path, list map[string]resourcev1.Counter, of amountOf) map[string]int64 {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]int64, len(list))
	for _, name := range sortedKeys(list) {
		m[name] = p.deviceAmount(at.Key(name).Child("value"), list[name].Value, of)
	}
	return m
}
