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
	c.Allocatable = n.Allocatable.Clone()
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
	c.Requests = w.Requests.Clone()
	if w.Estimate != nil {
		estimate := w.Estimate.Clone()
		c.Estimate = &estimate
	}
	if w.FitLoad != nil {
		load := w.FitLoad.Clone()
		c.FitLoad = &load
	}
	c.NodeSelector = maps.Clone(w.NodeSelector)
	c.NodeAffinity = w.NodeAffinity.Clone()
	c.Affinity = w.Affinity.Clone()
	c.AntiAffinity = w.AntiAffinity.Clone()
	c.Spread = cloneEach(w.Spread, func(s *SpreadConstraint) {
		s.Selector = s.Selector.Clone()
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
	c.OwnerSelector = w.OwnerSelector.Clone()
	c.Gates = slices.Clone(w.Gates)
	return &c
}

// Clone returns a deep copy, nil of nil.
func (g *Group) Clone() *Group {
	if g == nil {
		return nil
	}
	c := *g
	c.DeviceClaims = slices.Clone(g.DeviceClaims)
	return &c
}

// Clone returns a deep copy, nil of nil.
func (b *Budget) Clone() *Budget {
	if b == nil {
		return nil
	}
	c := *b
	c.Selector = b.Selector.Clone()
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

// Clone returns a deep copy, nil of nil.
func (b *Binding) Clone() *Binding {
	if b == nil {
		return nil
	}
	c := *b
	c.Devices = slices.Clone(b.Devices)
	c.Decided = slices.Clone(b.Decided)
	return &c
}

// Clone returns a deep copy, nil of nil.
func (s *Selector) Clone() *Selector {
	if s == nil {
		return nil
	}
	return &Selector{Requirements: cloneRequirements(s.Requirements)}
}

// Clone returns a deep copy, nil of nil.
func (a *NodeAffinity) Clone() *NodeAffinity {
	if a == nil {
		return nil
	}
	c := *a
	c.Required = a.Required.Clone()
	c.Preferred = cloneEach(a.Preferred, func(t *PreferredNodeTerm) { t.unshare() })
	return &c
}

// Clone returns a deep copy, nil of nil.
func (t *NodeTerms) Clone() *NodeTerms {
	if t == nil {
		return nil
	}
	return &NodeTerms{Terms: cloneEach(t.Terms, (*NodeTerm).unshare)}
}

// Clone returns a deep copy, nil of nil.
func (a *WorkloadAffinity) Clone() *WorkloadAffinity {
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
	t.Selector = t.Selector.Clone()
	t.Namespaces = slices.Clone(t.Namespaces)
	t.NamespaceSelector = t.NamespaceSelector.Clone()
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
