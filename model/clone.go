package model

import (
	"maps"
	"slices"
)

// Clone returns a deep copy, nil of nil. It is how to change a node that an
// engine has: clone, change the copy, give it to the engine.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Labels = maps.Clone(n.Labels)
	c.Allocatable, c.Capacity = n.Allocatable.Clone(), n.Capacity.Clone()
	c.Taints = slices.Clone(n.Taints)
	c.Images = cloneEach(n.Images, func(i *NodeImage) { i.Names = slices.Clone(i.Names) })
	c.Devices = slices.Clone(n.Devices)
	c.Features = slices.Clone(n.Features)
	return &c
}

// Clone returns a deep copy, nil of nil.
func (w *Workload) Clone() *Workload {
	if w == nil {
		return nil
	}
	c := *w
	c.Labels = maps.Clone(w.Labels)
	c.Requests, c.UsageLimits = w.Requests.Clone(), w.UsageLimits.Clone()
	if w.Estimate != nil {
		estimate := w.Estimate.Clone()
		c.Estimate = &estimate
	}
	if w.FitLoad != nil {
		load := w.FitLoad.Clone()
		c.FitLoad = &load
	}
	c.NodeSelector = maps.Clone(w.NodeSelector)
	c.NodeAffinity = w.NodeAffinity.clone()
	c.Affinity = w.Affinity.clone()
	c.AntiAffinity = w.AntiAffinity.clone()
	c.Spread = cloneEach(w.Spread, func(s *SpreadConstraint) {
		s.Selector = s.Selector.clone()
		s.MatchLabelKeys = slices.Clone(s.MatchLabelKeys)
	})
	c.Tolerations = slices.Clone(w.Tolerations)
	c.Ports = slices.Clone(w.Ports)
	c.Images = slices.Clone(w.Images)
	c.Devices = cloneEach(w.Devices, func(r *DeviceRequest) { r.Models = slices.Clone(r.Models) })
	c.VolumeClaims = slices.Clone(w.VolumeClaims)
	c.Disks = cloneEach(w.Disks, func(d *Disk) { d.Keys = slices.Clone(d.Keys) })
	c.DeviceClaims = slices.Clone(w.DeviceClaims)
	c.Containers = cloneEach(w.Containers, func(p *Container) { p.Requests = p.Requests.Clone() })
	c.Features = slices.Clone(w.Features)
	c.Syscalls = slices.Clone(w.Syscalls)
	c.OwnerSelector = w.OwnerSelector.clone()
	c.Gates = slices.Clone(w.Gates)
	return &c
}

// Clone returns a deep copy, nil of nil.
func (g *Group) Clone() *Group {
	if g == nil {
		return nil
	}
	c := *g
	c.MinResources = g.MinResources.Clone()
	c.DeviceClaims = slices.Clone(g.DeviceClaims)
	return &c
}

// Clone returns a deep copy, nil of nil.
func (b *Budget) Clone() *Budget {
	if b == nil {
		return nil
	}
	c := *b
	c.Selector = b.Selector.clone()
	c.Displaced = slices.Clone(b.Displaced)
	return &c
}

// Clone returns a deep copy, nil of nil.
func (n *Namespace) Clone() *Namespace {
	if n == nil {
		return nil
	}
	c := *n
	c.Labels = maps.Clone(n.Labels)
	return &c
}

// clone returns a deep copy, nil of nil.
func (s *Selector) clone() *Selector {
	if s == nil {
		return nil
	}
	return &Selector{Requirements: cloneRequirements(s.Requirements)}
}

// clone returns a deep copy, nil of nil.
func (a *NodeAffinity) clone() *NodeAffinity {
	if a == nil {
		return nil
	}
	c := *a
	c.Required = a.Required.clone()
	c.Preferred = cloneEach(a.Preferred, func(t *PreferredNodeTerm) { t.unshare() })
	return &c
}

// clone returns a deep copy, nil of nil.
func (t *NodeTerms) clone() *NodeTerms {
	if t == nil {
		return nil
	}
	return &NodeTerms{Terms: cloneEach(t.Terms, (*NodeTerm).unshare)}
}

// clone returns a deep copy, nil of nil.
func (a *WorkloadAffinity) clone() *WorkloadAffinity {
	if a == nil {
		return nil
	}
	c := *a
	c.Required = cloneEach(a.Required, (*AffinityTerm).unshare)
	c.Preferred = cloneEach(a.Preferred, func(t *WeightedAffinityTerm) { t.unshare() })
	return &c
}

// unshare replaces all that a plain copy of a term shares with its original.
func (t *NodeTerm) unshare() {
	t.Labels = cloneRequirements(t.Labels)
	t.Fields = cloneRequirements(t.Fields)
}

// unshare replaces all that a plain copy of a term shares with its original.
func (t *AffinityTerm) unshare() {
	t.Selector = t.Selector.clone()
	t.Namespaces = slices.Clone(t.Namespaces)
	t.NamespaceSelector = t.NamespaceSelector.clone()
}

func cloneRequirements(requirements []Requirement) []Requirement {
	return cloneEach(requirements, func(r *Requirement) { r.Values = slices.Clone(r.Values) })
}

// cloneEach copies a list and calls unshare on each copied item.
func cloneEach[T any](items []T, unshare func(*T)) []T {
	copies := slices.Clone(items)
	for i := range copies {
		unshare(&copies[i])
	}
	return copies
}
