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
		d.Consumed, d.Tolerations = map[string]int64{"m": 1}, []model.DeviceToleration{{Key: "k"}}
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
