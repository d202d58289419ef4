package dynamicresources

import (
	"bytes"
	"maps"
	"slices"

	"github.com/berth-project/berth/model"
)

// sameWishes compares what a claim asks for, before and after a report.
func sameWishes(a, b *model.DeviceClaim) bool {
	return slices.EqualFunc(a.Requests, b.Requests, sameRequest) &&
		slices.EqualFunc(a.Constraints, b.Constraints, func(x, y model.DeviceConstraint) bool {
			return x.Match == y.Match && x.Distinct == y.Distinct && slices.Equal(x.Requests, y.Requests)
		})
}

func sameRequest(a, b model.ClaimRequest) bool {
	return a.Name == b.Name && a.Prioritized == b.Prioritized && slices.EqualFunc(a.Alternatives, b.Alternatives, sameDemand)
}

func sameDemand(a, b model.DeviceDemand) bool {
	return a.Name == b.Name && a.Class == b.Class && a.All == b.All && a.Count == b.Count && a.AdminAccess == b.AdminAccess &&
		slices.EqualFunc(a.Selectors, b.Selectors, sameSelector) && slices.Equal(a.Tolerations, b.Tolerations) && maps.Equal(a.Capacity, b.Capacity)
}

func sameSelector(a, b model.DeviceSelector) bool {
	return a.Expression == b.Expression && slices.EqualFunc(a.Requirements, b.Requirements, func(x, y model.DeviceRequirement) bool {
		return x.Attribute == y.Attribute && x.Capacity == y.Capacity && x.Driver == y.Driver && x.Operator == y.Operator &&
			slices.EqualFunc(x.Values, y.Values, sameValue)
	})
}

func sameValue(a, b model.AttributeValue) bool {
	return samePointed(a.Int, b.Int) && samePointed(a.Bool, b.Bool) && samePointed(a.String, b.String) && samePointed(a.Version, b.Version)
}

func samePointed[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// sameStatus compares what has become of a claim, before and after a report. A
// report that says nothing new is made of new objects all the same.
func sameStatus(a, b *model.DeviceClaim) bool {
	return sameAllocation(a.Allocation, b.Allocation) && slices.Equal(a.ReservedFor, b.ReservedFor) &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(x, y model.DeviceConditions) bool {
			return x.DeviceID == y.DeviceID && x.Share == y.Share && slices.Equal(x.True, y.True)
		})
}

func sameAllocation(a, b *model.Allocation) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.At.Equal(b.At) && sameTerms(a.Nodes, b.Nodes) &&
		slices.EqualFunc(a.Devices, b.Devices, sameDevice) && slices.EqualFunc(a.Config, b.Config, sameConfig)
}

func sameDevice(a, b model.AllocatedDevice) bool {
	return a.DeviceID == b.DeviceID && a.Request == b.Request && a.AdminAccess == b.AdminAccess && a.Share == b.Share &&
		slices.Equal(a.Tolerations, b.Tolerations) && maps.Equal(a.Consumed, b.Consumed) && sameDrawn(a.Drawn, b.Drawn) &&
		slices.Equal(a.BindingConditions, b.BindingConditions) && slices.Equal(a.BindingFailures, b.BindingFailures)
}

func sameDrawn(a, b *model.Drawn) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Counters, b.Counters, func(x, y model.CounterUse) bool {
		return x.Set == y.Set && maps.Equal(x.Counters, y.Counters)
	})
}

func sameConfig(a, b model.AllocatedConfig) bool {
	return a.FromClass == b.FromClass && a.Driver == b.Driver && slices.Equal(a.Requests, b.Requests) && bytes.Equal(a.Parameters, b.Parameters)
}

func sameTerms(a, b *model.NodeTerms) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Terms, b.Terms, func(x, y model.NodeTerm) bool {
		return slices.EqualFunc(x.Labels, y.Labels, sameRequirement) && slices.EqualFunc(x.Fields, y.Fields, sameRequirement)
	})
}

func sameRequirement(a, b model.Requirement) bool {
	return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
}
