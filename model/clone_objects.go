package model

import (
	"maps"
	"slices"
)

// clone returns a deep copy, nil of nil.
func (c *VolumeClaim) clone() *VolumeClaim {
	return clonePointer(c, func(c *VolumeClaim) {
		c.AccessModes = slices.Clone(c.AccessModes)
		c.Selector = c.Selector.clone()
	})
}

// clone returns a deep copy, nil of nil.
func (v *Volume) clone() *Volume {
	return clonePointer(v, func(v *Volume) {
		v.Labels = maps.Clone(v.Labels)
		v.AccessModes = slices.Clone(v.AccessModes)
		v.Nodes = v.Nodes.clone()
		v.StandInNodes = v.StandInNodes.clone()
		v.Claim = clonePlain(v.Claim)
	})
}

// clone returns a deep copy, nil of nil.
func (c *StorageClass) clone() *StorageClass {
	return clonePointer(c, func(c *StorageClass) { c.AllowedNodes = c.AllowedNodes.clone() })
}

// clone returns a deep copy, nil of nil.
func (d *StorageDriver) clone() *StorageDriver { return clonePlain(d) }

// clone returns a deep copy, nil of nil.
func (s *NodeStorage) clone() *NodeStorage {
	return clonePointer(s, func(s *NodeStorage) {
		s.Drivers = cloneEach(s.Drivers, func(d *NodeDriver) { d.MaxVolumes = clonePlain(d.MaxVolumes) })
		s.StandsIn = slices.Clone(s.StandsIn)
	})
}

// clone returns a deep copy, nil of nil.
func (c *StorageCapacity) clone() *StorageCapacity {
	return clonePointer(c, func(c *StorageCapacity) {
		c.Nodes = c.Nodes.clone()
		c.Capacity = clonePlain(c.Capacity)
		c.MaxVolumeSize = clonePlain(c.MaxVolumeSize)
		c.Taken = slices.Clone(c.Taken)
	})
}

// clone returns a deep copy, nil of nil.
func (a *VolumeAttachment) clone() *VolumeAttachment { return clonePlain(a) }

// clone returns a deep copy, nil of nil.
func (s *DeviceSlice) clone() *DeviceSlice {
	return clonePointer(s, func(s *DeviceSlice) {
		s.Nodes = s.Nodes.clone()
		s.Devices = cloneEach(s.Devices, (*SliceDevice).unshare)
		s.Counters = cloneEach(s.Counters, func(c *CounterSet) { c.Counters = maps.Clone(c.Counters) })
	})
}

// clone returns a deep copy, nil of nil.
func (d *DeviceClass) clone() *DeviceClass {
	return clonePointer(d, func(d *DeviceClass) {
		d.Selectors = cloneEach(d.Selectors, (*DeviceSelector).unshare)
		d.Config = cloneEach(d.Config, (*DeviceConfig).unshare)
	})
}

// clone returns a deep copy, nil of nil.
func (d *DeviceClaim) clone() *DeviceClaim {
	return clonePointer(d, func(d *DeviceClaim) {
		d.Requests = cloneEach(d.Requests, func(r *ClaimRequest) {
			r.Alternatives = cloneEach(r.Alternatives, (*DeviceDemand).unshare)
		})
		d.Constraints = cloneEach(d.Constraints, func(c *DeviceConstraint) { c.Requests = slices.Clone(c.Requests) })
		d.Config = cloneEach(d.Config, (*DeviceConfig).unshare)
		d.Allocation = clonePointer(d.Allocation, (*Allocation).unshare)
		d.ReservedFor = slices.Clone(d.ReservedFor)
		d.Conditions = cloneEach(d.Conditions, func(c *DeviceConditions) { c.True = slices.Clone(c.True) })
		d.Uses = slices.Clone(d.Uses)
	})
}

// clone returns a deep copy, nil of nil.
func (r *DeviceTaintRule) clone() *DeviceTaintRule { return clonePlain(r) }

// unshare replaces all that a plain copy of a device shares with its original.
func (d *SliceDevice) unshare() {
	d.Attributes = cloneValues(d.Attributes, (*AttributeValue).unshare)
	d.Capacity = cloneValues(d.Capacity, func(c *DeviceCapacity) {
		c.Policy = clonePointer(c.Policy, func(p *CapacityPolicy) {
			p.Default, p.Values = clonePlain(p.Default), slices.Clone(p.Values)
			p.Min, p.Max, p.Step = clonePlain(p.Min), clonePlain(p.Max), clonePlain(p.Step)
		})
	})
	d.Consumes = cloneEach(d.Consumes, func(c *CounterUse) { c.Counters = maps.Clone(c.Counters) })
	d.Taints = slices.Clone(d.Taints)
	d.Nodes = d.Nodes.clone()
	d.BindingConditions = slices.Clone(d.BindingConditions)
	d.BindingFailures = slices.Clone(d.BindingFailures)
}

// unshare replaces all that a plain copy of a value shares with its original.
func (v *AttributeValue) unshare() {
	v.Int, v.Bool, v.String, v.Version = clonePlain(v.Int), clonePlain(v.Bool), clonePlain(v.String), clonePlain(v.Version)
}

// unshare replaces all that a plain copy of a selector shares with its original.
func (s *DeviceSelector) unshare() {
	s.Requirements = cloneEach(s.Requirements, func(r *DeviceRequirement) {
		r.Values = cloneEach(r.Values, (*AttributeValue).unshare)
	})
}

// unshare replaces all that a plain copy of a demand shares with its original.
func (d *DeviceDemand) unshare() {
	d.Selectors = cloneEach(d.Selectors, (*DeviceSelector).unshare)
	d.Tolerations = slices.Clone(d.Tolerations)
	d.Capacity = maps.Clone(d.Capacity)
}

// unshare replaces all that a plain copy of a configuration shares with its
// original.
func (c *DeviceConfig) unshare() {
	c.Requests = slices.Clone(c.Requests)
	c.Parameters = slices.Clone(c.Parameters)
}

// unshare replaces all that a plain copy of an allocation shares with its
// original.
func (a *Allocation) unshare() {
	a.Devices = cloneEach(a.Devices, func(d *AllocatedDevice) {
		d.Tolerations = slices.Clone(d.Tolerations)
		d.Consumed = maps.Clone(d.Consumed)
		d.Drawn = clonePointer(d.Drawn, func(w *Drawn) {
			w.Counters = cloneEach(w.Counters, func(c *CounterUse) { c.Counters = maps.Clone(c.Counters) })
		})
		d.BindingConditions = slices.Clone(d.BindingConditions)
		d.BindingFailures = slices.Clone(d.BindingFailures)
	})
	a.Nodes = a.Nodes.clone()
	a.Config = cloneEach(a.Config, func(c *AllocatedConfig) { c.DeviceConfig.unshare() })
}

// clonePlain copies what shares nothing, nil of nil.
func clonePlain[T any](p *T) *T { return clonePointer(p, func(*T) {}) }

// clonePointer copies what is pointed to and calls unshare on the copy; nil of nil.
func clonePointer[T any](p *T, unshare func(*T)) *T {
	if p == nil {
		return nil
	}
	c := *p
	unshare(&c)
	return &c
}

// cloneValues copies a map and calls unshare on each copied value.
func cloneValues[K comparable, V any](m map[K]V, unshare func(*V)) map[K]V {
	copies := maps.Clone(m)
	for k, v := range copies {
		unshare(&v)
		copies[k] = v
	}
	return copies
}
