package model

import (
	"maps"
	"slices"
)

// SameDemands reports whether both workloads may go to the same nodes and may do
// the same to get there, as far as that is not said by their labels, requests,
// usage limits, tolerations, devices, device claims, features and gates. The order of a list counts, and so
// does whether a selector is nil.
func (w *Workload) SameDemands(o *Workload) bool {
	return w.Namespace == o.Namespace && w.Profile == o.Profile &&
		w.Priority == o.Priority && w.MayPreempt() == o.MayPreempt() && w.Limit == o.Limit && w.MinLimit == o.MinLimit &&
		w.NodeName == o.NodeName && maps.Equal(w.NodeSelector, o.NodeSelector) && w.NodeAffinity.equal(o.NodeAffinity) &&
		w.Affinity.equal(o.Affinity) && w.AntiAffinity.equal(o.AntiAffinity) &&
		slices.EqualFunc(w.Spread, o.Spread, equalSpread) && slices.Equal(w.Ports, o.Ports) &&
		slices.Equal(w.VolumeClaims, o.VolumeClaims) && slices.EqualFunc(w.Disks, o.Disks, equalDisk)
}

func equalDisk(a, b Disk) bool {
	return slices.Equal(a.Keys, b.Keys) && a.ReadOnly == b.ReadOnly && a.Driver == b.Driver && a.Handle == b.Handle && a.Plugin == b.Plugin
}

func (a *NodeAffinity) equal(b *NodeAffinity) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Required.equal(b.Required) && slices.EqualFunc(a.Preferred, b.Preferred, func(x, y PreferredNodeTerm) bool {
		return x.Weight == y.Weight && equalNodeTerm(x.NodeTerm, y.NodeTerm)
	})
}

func (t *NodeTerms) equal(o *NodeTerms) bool {
	if t == nil || o == nil {
		return t == o
	}
	return slices.EqualFunc(t.Terms, o.Terms, equalNodeTerm)
}

func equalNodeTerm(a, b NodeTerm) bool {
	return equalRequirements(a.Labels, b.Labels) && equalRequirements(a.Fields, b.Fields)
}

func equalRequirements(a, b []Requirement) bool {
	return slices.EqualFunc(a, b, func(x, y Requirement) bool {
		return x.Key == y.Key && x.Operator == y.Operator && slices.Equal(x.Values, y.Values)
	})
}

func (s *Selector) equal(o *Selector) bool {
	if s == nil || o == nil {
		return s == o
	}
	return equalRequirements(s.Requirements, o.Requirements)
}

func (a *WorkloadAffinity) equal(b *WorkloadAffinity) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Required, b.Required, equalTerm) &&
		slices.EqualFunc(a.Preferred, b.Preferred, func(x, y WeightedAffinityTerm) bool {
			return x.Weight == y.Weight && equalTerm(x.AffinityTerm, y.AffinityTerm)
		})
}

func equalTerm(a, b AffinityTerm) bool {
	return a.TopologyKey == b.TopologyKey && a.Selector.equal(b.Selector) &&
		slices.Equal(a.Namespaces, b.Namespaces) && a.NamespaceSelector.equal(b.NamespaceSelector)
}

func equalSpread(a, b SpreadConstraint) bool {
	return a.TopologyKey == b.TopologyKey && a.MaxSkew == b.MaxSkew && a.Mode == b.Mode && a.MinDomains == b.MinDomains &&
		a.Selector.equal(b.Selector) && a.NodeAffinityPolicy == b.NodeAffinityPolicy &&
		a.NodeTaintsPolicy == b.NodeTaintsPolicy && slices.Equal(a.MatchLabelKeys, b.MatchLabelKeys)
}
