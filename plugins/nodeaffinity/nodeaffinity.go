package nodeaffinity

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// The reasons.
const (
	// Reason is given for nodes that the workload's own conditions rule out.
	Reason = "node(s) didn't match workload's node affinity/selector"
	// ReasonEnforced is given for nodes that the profile's added affinity
	// rules out.
	ReasonEnforced = "node(s) didn't match scheduler-enforced node affinity"
	// ReasonConflict is given for a workload whose terms name nodes, and no
	// node satisfies the names of any one term.
	ReasonConflict = "workload affinity terms conflict"
)

var (
	rejected = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, Reason)
	enforced = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, ReasonEnforced)
	conflict = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, ReasonConflict)
	skip     = extpoints.NewStatus(extpoints.Skip)
)

// required holds, from PreFilter to Filter, the workload's conditions.
var required = extpoints.NewStateKey[*helper.RequiredNodes](Name + "/required")

// NodeAffinity is the plugin.
//
// Rules: kube-scheduler plugins/nodeaffinity/node_affinity.go and
// k8s.io/component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go,
// 1.37.1.
type NodeAffinity struct {
	// added is the required part of the added affinity; nil is none.
	added *model.NodeTerms
	// addedPreferred is its preferred part; nil is none.
	addedPreferred []model.PreferredNodeTerm
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, _ extpoints.Handle) (*NodeAffinity, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &NodeAffinity{}
	if a.AddedAffinity != nil {
		p.added = a.AddedAffinity.Required
		p.addedPreferred = slices.Clone(a.AddedAffinity.Preferred)
	}
	return p, nil
}

// Name returns the plugin's name.
func (*NodeAffinity) Name() string { return Name }

// PreFilter skips workloads without conditions, prepares the conditions of the
// others, and narrows the search down where every alternative names its nodes.
func (p *NodeAffinity) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	terms := requiredTerms(w.Workload)
	if terms == nil && p.added == nil && len(w.NodeSelector) == 0 {
		return nil, skip
	}
	r := helper.RequiredNodesOf(w.Workload)
	required.Set(s, &r)
	if terms == nil || len(terms.Terms) == 0 {
		return nil, nil
	}
	names := namedNodes(terms.Terms)
	switch {
	case names == nil:
		return nil, nil
	case len(names) == 0:
		return nil, conflict
	}
	return &extpoints.PreFilterResult{Nodes: names}, nil
}

func requiredTerms(w *model.Workload) *model.NodeTerms {
	if w.NodeAffinity == nil {
		return nil
	}
	return w.NodeAffinity.Required
}

// namedNodes returns the nodes that the alternatives name between them, nil
// where one of them names none and so leaves all nodes possible.
func namedNodes(terms []model.NodeTerm) map[string]struct{} {
	union := map[string]struct{}{}
	for i := range terms {
		names, ok := namedByTerm(&terms[i])
		if !ok {
			return nil
		}
		for _, name := range names {
			union[name] = struct{}{}
		}
	}
	return union
}

// namedByTerm returns the nodes that all "name in ..." requirements of the term
// have in common, and whether there is such a requirement at all.
func namedByTerm(t *model.NodeTerm) (names []string, ok bool) {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Key != model.FieldName || f.Operator != model.In {
			continue
		}
		if !ok {
			names, ok = slices.Clone(f.Values), true
			continue
		}
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(f.Values, n) })
	}
	return names, ok
}

// Filter rejects nodes that the added affinity or the workload's own conditions
// do not match.
func (p *NodeAffinity) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if !p.added.Matches(node.Node) {
		return enforced
	}
	if r, ok := required.Get(s); ok {
		if !r.Matches(node.Node) {
			return rejected
		}
		return nil
	}
	return p.filterUnprepared(w, node)
}

// filterUnprepared is Filter for a profile in which PreFilter is disabled, and
// after a Skip.
func (*NodeAffinity) filterUnprepared(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if r := helper.RequiredNodesOf(w.Workload); !r.Matches(node.Node) {
		return rejected
	}
	return nil
}

// EventsToRegister asks for nodes that begin to match.
func (p *NodeAffinity) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeLabel},
		Hint:  p.afterNodeChange,
	}}, nil
}

// afterNodeChange says Queue for a node that the workload's own conditions now
// match and did not, or which was not there, provided that the added affinity
// matches it now.
//
// Like the reference it does not ask whether the added affinity matched before:
// a node that only just got the labels of the added affinity, and suited the
// workload's own conditions all the time, wakes nobody. Workloads that wait for
// it are tried again when their time in the unschedulable pool runs out.
func (p *NodeAffinity) afterNodeChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if !p.added.Matches(after) {
		return extpoints.HintSkip, nil
	}
	r := helper.RequiredNodesOf(w)
	if r.Matches(after) && (before == nil || !r.Matches(before)) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the node affinity and the node selector.
func (*NodeAffinity) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	c := helper.Canon(key)
	if len(w.NodeSelector) > 0 { // most have none, and to sort nothing makes allocations
		for _, label := range slices.Sorted(maps.Keys(w.NodeSelector)) {
			c = c.Str(label).Str(w.NodeSelector[label])
		}
	}
	c = append(c, ';')
	if w.NodeAffinity != nil {
		c = append(c, affinityString(w.NodeAffinity)...)
	}
	return c, true
}

// Sign signs the node affinity and the node selector.
func (*NodeAffinity) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	selector := make([]string, 0, len(w.NodeSelector))
	for key, value := range w.NodeSelector {
		selector = append(selector, string(helper.Canon(nil).Str(key).Str(value)))
	}
	return []extpoints.SignFragment{
		{Key: helper.SignNodeAffinity, Value: affinityString(w.NodeAffinity)},
		{Key: helper.SignNodeSelector, Value: string(helper.Canon(nil).Set(selector))},
	}, nil
}

// affinityString is the canonical form of a node affinity; the order of terms
// and of requirements has no meaning.
func affinityString(a *model.NodeAffinity) string {
	if a == nil {
		return ""
	}
	c := helper.Canon(nil)
	if a.Required != nil {
		terms := make([]string, 0, len(a.Required.Terms))
		for i := range a.Required.Terms {
			terms = append(terms, helper.NodeTermString(&a.Required.Terms[i]))
		}
		c = c.Str("required").Set(terms)
	}
	preferred := make([]string, 0, len(a.Preferred))
	for i := range a.Preferred {
		t := &a.Preferred[i]
		preferred = append(preferred, fmt.Sprint(t.Weight, " ", helper.NodeTermString(&t.NodeTerm)))
	}
	return string(c.Str("preferred").Set(preferred))
}

var (
	_ extpoints.PreFilterPlugin   = (*NodeAffinity)(nil)
	_ extpoints.FilterPlugin      = (*NodeAffinity)(nil)
	_ extpoints.PreScorePlugin    = (*NodeAffinity)(nil)
	_ extpoints.ScoreNormalizer   = (*NodeAffinity)(nil)
	_ extpoints.EnqueueExtensions = (*NodeAffinity)(nil)
	_ extpoints.NodeLocalPlugin   = (*NodeAffinity)(nil)
	_ extpoints.SignPlugin        = (*NodeAffinity)(nil)
)
