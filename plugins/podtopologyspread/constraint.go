package podtopologyspread

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// constraint is a spread constraint with its defaults filled in.
type constraint struct {
	key           string
	maxSkew       int32
	minDomains    int32 // at least 1
	selector      *model.Selector
	honorAffinity bool
	honorTaints   bool
}

// constraintOf fills in the defaults, and the values that the labels of the
// workload have for the MatchLabelKeys.
func constraintOf(c *model.SpreadConstraint, labels map[string]string) constraint {
	return constraint{
		key:           c.TopologyKey,
		maxSkew:       c.MaxSkew,
		minDomains:    max(c.MinDomains, 1),
		selector:      withLabels(c.Selector, c.MatchLabelKeys, labels),
		honorAffinity: c.NodeAffinityPolicy != model.Ignore,
		honorTaints:   c.NodeTaintsPolicy == model.Honor,
	}
}

// withLabels adds to the selector that the labels of the given keys be as they
// are in labels; keys that labels lacks are left out. A nil selector stays one
// that selects nothing.
func withLabels(s *model.Selector, keys []string, labels map[string]string) *model.Selector {
	if s == nil {
		return nil
	}
	var more []model.Requirement
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			more = append(more, model.Requirement{Key: key, Operator: model.In, Values: []string{value}})
		}
	}
	if more == nil {
		return s
	}
	return &model.Selector{Requirements: append(more, s.Requirements...)}
}

// isReplica reports whether the workload says which others it is a replica
// among; only then are there any that default constraints could count.
func isReplica(w *model.Workload) bool {
	return w.OwnerSelector != nil && len(w.OwnerSelector.Requirements) > 0
}

// counts reports whether the constraint counts any workload at all. One whose
// selector has no requirements does not; nevertheless it selects every
// workload, where it is asked about a single one. (kube-scheduler plugins/
// podtopologyspread/common.go countPodsMatchSelector, 1.37.1.)
func (c *constraint) counts() bool { return c.selector != nil && len(c.selector.Requirements) > 0 }

// sameCounts reports whether two constraints count the same workloads, as far
// as that can be told without effort.
func sameCounts(a, b *constraint) bool {
	if a.selector == b.selector {
		return true
	}
	if a.selector == nil || b.selector == nil {
		return false
	}
	return slices.EqualFunc(a.selector.Requirements, b.selector.Requirements, func(x, y model.Requirement) bool {
		return x.Key == y.Key && x.Operator == y.Operator && slices.Equal(x.Values, y.Values)
	})
}

// hasAllKeys reports whether the node is in a domain of the keys of all the
// constraints.
func hasAllKeys(n *model.Node, list []constraint) bool {
	for i := range list {
		if _, ok := n.TopologyValue(list[i].key); !ok {
			return false
		}
	}
	return true
}
