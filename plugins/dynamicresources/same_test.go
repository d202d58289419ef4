package dynamicresources

import (
	"testing"
	"time"

	"github.com/berth-project/berth/model"
)

// A claim differs from one that is like it when any part of its status does,
// and not when anything else does.
func TestSameStatus(t *testing.T) {
	build := func() *model.DeviceClaim {
		c := one("c", given("n1", "d0"), reserved("w"))
		c.Conditions = []model.DeviceConditions{{Share: "s", True: []string{"Ready"}}}
		c.Allocation.Config = []model.AllocatedConfig{{DeviceConfig: model.DeviceConfig{Driver: "x", Requests: []string{"r"}, Parameters: []byte("p")}}}
		d := &c.Allocation.Devices[0]
		d.Consumed, d.Tolerations = map[string]int64{"m": 1}, []model.Toleration{{Key: "k"}}
		d.BindingConditions, d.BindingFailures = []string{"a"}, []string{"b"}
		return c
	}
	if !sameStatus(build(), build()) {
		t.Error("two claims that are alike differ")
	}
	term := func(c *model.DeviceClaim) *model.NodeTerm { return &c.Allocation.Nodes.Terms[0] }
	for name, change := range map[string]func(*model.DeviceClaim){
		"no devices":       func(c *model.DeviceClaim) { c.Allocation = nil },
		"reserved":         func(c *model.DeviceClaim) { c.ReservedFor = nil },
		"condition":        func(c *model.DeviceClaim) { c.Conditions[0].True = nil },
		"condition device": func(c *model.DeviceClaim) { c.Conditions[0].Device = "x" },
		"condition share":  func(c *model.DeviceClaim) { c.Conditions[0].Share = "x" },
		"time":             func(c *model.DeviceClaim) { c.Allocation.At = time.Unix(1, 0) },
		"everywhere":       func(c *model.DeviceClaim) { c.Allocation.Nodes = nil },
		"node":             func(c *model.DeviceClaim) { term(c).Fields[0].Values = []string{"x"} },
		"node operator":    func(c *model.DeviceClaim) { term(c).Fields[0].Operator = model.NotIn },
		"node key":         func(c *model.DeviceClaim) { term(c).Fields[0].Key = "x" },
		"label":            func(c *model.DeviceClaim) { term(c).Labels = []model.Requirement{{}} },
		"device":           func(c *model.DeviceClaim) { c.Allocation.Devices[0].Device = "x" },
		"request":          func(c *model.DeviceClaim) { c.Allocation.Devices[0].Request = "x" },
		"admin":            func(c *model.DeviceClaim) { c.Allocation.Devices[0].AdminAccess = true },
		"share":            func(c *model.DeviceClaim) { c.Allocation.Devices[0].Share = "x" },
		"consumed":         func(c *model.DeviceClaim) { c.Allocation.Devices[0].Consumed["m"] = 2 },
		"drawn":            func(c *model.DeviceClaim) { c.Allocation.Devices[0].Drawn = &model.Drawn{} },
		"tolerations":      func(c *model.DeviceClaim) { c.Allocation.Devices[0].Tolerations[0].Key = "x" },
		"to be true":       func(c *model.DeviceClaim) { c.Allocation.Devices[0].BindingConditions = nil },
		"failures":         func(c *model.DeviceClaim) { c.Allocation.Devices[0].BindingFailures = nil },
		"config source":    func(c *model.DeviceClaim) { c.Allocation.Config[0].FromClass = true },
		"config driver":    func(c *model.DeviceClaim) { c.Allocation.Config[0].Driver = "y" },
		"config requests":  func(c *model.DeviceClaim) { c.Allocation.Config[0].Requests = nil },
		"config":           func(c *model.DeviceClaim) { c.Allocation.Config[0].Parameters = nil },
	} {
		c := build()
		if change(c); sameStatus(build(), c) || sameStatus(c, build()) {
			t.Errorf("%s: taken for the same", name)
		}
	}
	c := build()
	c.Requests, c.Config, c.Deleting = nil, []model.DeviceConfig{{}}, true
	if !sameStatus(build(), c) {
		t.Error("what is not status makes a difference")
	}
}

// What a claim asks for is another when any part of it is.
func TestSameWishes(t *testing.T) {
	number, yes := int64(1), true
	build := func() *model.DeviceClaim {
		return &model.DeviceClaim{
			Constraints: []model.DeviceConstraint{{Requests: []string{"r"}, Match: "m", Distinct: "d"}},
			Requests: []model.ClaimRequest{{Name: "r", Alternatives: []model.DeviceDemand{{
				Name: "a", Class: "gpu", Count: 1, Capacity: map[string]int64{"m": 1}, Tolerations: []model.Toleration{{Key: "k"}},
				Selectors: []model.DeviceSelector{{Expression: "e", Requirements: []model.DeviceRequirement{
					{Attribute: "x", Capacity: "c", Operator: model.CompareEqual, Values: []model.AttributeValue{{Int: &number}}},
				}}},
			}}}},
		}
	}
	if !sameWishes(build(), build()) {
		t.Error("two claims that are alike differ")
	}
	demand := func(c *model.DeviceClaim) *model.DeviceDemand { return &c.Requests[0].Alternatives[0] }
	wants := func(c *model.DeviceClaim) *model.DeviceRequirement { return &demand(c).Selectors[0].Requirements[0] }
	text, other := "1", int64(2)
	for name, change := range map[string]func(*model.DeviceClaim){
		"requests":           func(c *model.DeviceClaim) { c.Requests = nil },
		"request":            func(c *model.DeviceClaim) { c.Requests[0].Name = "s" },
		"prioritized":        func(c *model.DeviceClaim) { c.Requests[0].Prioritized = true },
		"alternative":        func(c *model.DeviceClaim) { demand(c).Name = "b" },
		"class":              func(c *model.DeviceClaim) { demand(c).Class = "net" },
		"all":                func(c *model.DeviceClaim) { demand(c).All = true },
		"count":              func(c *model.DeviceClaim) { demand(c).Count = 2 },
		"admin":              func(c *model.DeviceClaim) { demand(c).AdminAccess = true },
		"amount":             func(c *model.DeviceClaim) { demand(c).Capacity["m"] = 2 },
		"tolerations":        func(c *model.DeviceClaim) { demand(c).Tolerations = nil },
		"expression":         func(c *model.DeviceClaim) { demand(c).Selectors[0].Expression = "f" },
		"attribute":          func(c *model.DeviceClaim) { wants(c).Attribute = "y" },
		"capacity":           func(c *model.DeviceClaim) { wants(c).Capacity = "d" },
		"driver":             func(c *model.DeviceClaim) { wants(c).Driver = true },
		"operator":           func(c *model.DeviceClaim) { wants(c).Operator = model.CompareLess },
		"value":              func(c *model.DeviceClaim) { wants(c).Values[0].Int = &other },
		"value of a kind":    func(c *model.DeviceClaim) { wants(c).Values[0] = model.AttributeValue{String: &text} },
		"value of another":   func(c *model.DeviceClaim) { wants(c).Values[0] = model.AttributeValue{Version: &text} },
		"value of two kinds": func(c *model.DeviceClaim) { wants(c).Values[0].Bool = &yes },
		"constraints":        func(c *model.DeviceClaim) { c.Constraints = nil },
		"match":              func(c *model.DeviceClaim) { c.Constraints[0].Match = "n" },
		"distinct":           func(c *model.DeviceClaim) { c.Constraints[0].Distinct = "n" },
		"of requests":        func(c *model.DeviceClaim) { c.Constraints[0].Requests = nil },
	} {
		c := build()
		if change(c); sameWishes(build(), c) || sameWishes(c, build()) {
			t.Errorf("%s: taken for the same", name)
		}
	}
}
