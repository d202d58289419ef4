package interpodaffinity

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for workloads that come, go and change their labels, for
// a change of the workload's own labels, for nodes that come or change theirs,
// and for namespaces that do.
//
// The reference's hints miss some changes that let a workload in, which
// then waits until its time in the unschedulable pool runs out. They know nothing
// of the labels of namespaces; they do not see that the last workload that one
// wanted to be near has gone and so made it the first of its kind; and of a node
// they look at the workload's own terms only, not at those of others that bar it,
// and at none that goes. Here these wake it too, unless the engine is told
// to keep to the reference ([extpoints.KubeScheduler137]).
func (p *InterPodAffinity) EventsToRegister() ([]extpoints.EventHint, error) {
	h := hints{reference: p.compat == extpoints.KubeScheduler137}
	events := []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Add | extpoints.UpdateWorkloadLabel | extpoints.Delete},
			Hint:  h.afterWorkloadChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel},
			Hint:  afterOwnLabelChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeLabel},
			Hint:  h.afterNodeChange,
		},
	}
	if !h.reference {
		events = append(events,
			// What was on a node that goes is in nobody's way any more.
			extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Delete}},
			extpoints.EventHint{
				Event: extpoints.ClusterEvent{Resource: extpoints.NamespaceResource, Action: extpoints.AllActions},
				Hint:  afterNamespaceChange,
			})
	}
	return events, nil
}

// hints are the hints in one of their two forms.
type hints struct {
	reference bool // and no more
}

// afterWorkloadChange says Queue for a workload that is now wanted near and was
// not, or was there, and for one that is no longer in the way or gone; and, beyond
// the reference, for one that is no longer wanted, or gone, where the waiting
// workload itself is of the kind it wants.
func (h hints) afterWorkloadChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := c.OldWorkload, c.NewWorkload
	if before == nil && after == nil {
		return extpoints.HintQueue, helper.ErrNoWorkload
	}
	near, apart := required(w.Affinity), required(w.AntiAffinity)
	wanted := after != nil && h.allSelect(near, w.Namespace, after.Workload)
	if before == nil {
		return helper.QueueIf(wanted)
	}
	wasWanted := h.allSelect(near, w.Namespace, before.Workload)
	if wanted && !wasWanted {
		return extpoints.HintQueue, nil
	}
	if !h.reference && wasWanted && !wanted && h.allSelect(near, w.Namespace, w) {
		return extpoints.HintQueue, nil // it may be the first of its kind now
	}
	inTheWay := h.anySelects(apart, w.Namespace, before.Workload)
	if after != nil {
		return helper.QueueIf(inTheWay && h.gotOut(apart, w.Namespace, c))
	}
	return helper.QueueIf(inTheWay || h.anySelects(required(before.AntiAffinity), before.Namespace, w))
}

// gotOut reports whether a workload whose labels have changed is out of the way:
// of all the terms, or, beyond the reference, of one of them, whose domains may
// be larger.
func (h hints) gotOut(terms []model.AffinityTerm, carrier string, c *extpoints.Event) bool {
	if h.reference {
		return !h.anySelects(terms, carrier, c.NewWorkload.Workload)
	}
	for i := range terms {
		if h.selects(&terms[i], carrier, c.OldWorkload.Workload) && !h.selects(&terms[i], carrier, c.NewWorkload.Workload) {
			return true
		}
	}
	return false
}

// afterOwnLabelChange says Queue: some term of another may not mean the
// workload any longer.
func afterOwnLabelChange(*model.Workload, *extpoints.Event) (extpoints.Hint, error) {
	return extpoints.HintQueue, nil
}

// afterNodeChange says Queue for a new node, unless required affinity is all
// there is and the node has no label for it; and for a node that has moved
// from one domain to another, into one for affinity, or out of one for
// anti-affinity. Beyond the reference it says Queue for every new node where
// there is no affinity, and for every node that has left some domain: others may
// bar the workload elsewhere, or there.
func (h hints) afterNodeChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	near, apart := required(w.Affinity), required(w.AntiAffinity)
	if before == nil {
		before = &model.Node{}
		if len(apart) > 0 || !h.reference && len(near) == 0 {
			return extpoints.HintQueue, nil
		}
	}
	for i := range near {
		was, had := before.TopologyValue(near[i].TopologyKey)
		is, has := after.TopologyValue(near[i].TopologyKey)
		if has && (!had || is != was) {
			return extpoints.HintQueue, nil
		}
	}
	for i := range apart {
		if left(before, after, apart[i].TopologyKey) {
			return extpoints.HintQueue, nil
		}
	}
	if !h.reference {
		if left(before, after, model.ByZone) {
			return extpoints.HintQueue, nil
		}
		for key := range before.Labels {
			if left(before, after, key) {
				return extpoints.HintQueue, nil
			}
		}
	}
	return extpoints.HintSkip, nil
}

// left reports whether the node has left the domain that it was in.
func left(before, after *model.Node, key string) bool {
	was, had := before.TopologyValue(key)
	is, has := after.TopologyValue(key)
	return had && (!has || is != was)
}

// afterNamespaceChange says Queue where a term of the workload selects
// namespaces by label, and where the namespace is its own: then it may be terms
// of others that select it no longer.
func afterNamespaceChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	for _, ns := range []*model.Namespace{c.OldNamespace, c.NewNamespace} {
		if ns != nil && ns.Name == w.Namespace {
			return extpoints.HintQueue, nil
		}
	}
	for _, terms := range [][]model.AffinityTerm{required(w.Affinity), required(w.AntiAffinity)} {
		for i := range terms {
			if s := terms[i].NamespaceSelector; s != nil && len(s.Requirements) > 0 {
				return extpoints.HintQueue, nil
			}
		}
	}
	return extpoints.HintSkip, nil
}

// selects reports whether a term means the workload as far as can be told
// without a view. The reference asks its namespace selector about a namespace
// without labels; beyond it, the namespace may be any that it selects.
func (h hints) selects(t *model.AffinityTerm, carrier string, w *model.Workload) bool {
	covers := names(t, carrier, w.Namespace) || t.NamespaceSelector.Matches(nil) || !h.reference && t.NamespaceSelector != nil
	return covers && t.Selector.Matches(w.Labels)
}

// allSelect reports whether there are terms, and all of them mean the workload.
func (h hints) allSelect(terms []model.AffinityTerm, carrier string, w *model.Workload) bool {
	for i := range terms {
		if !h.selects(&terms[i], carrier, w) {
			return false
		}
	}
	return len(terms) > 0
}

// anySelects reports whether some term means the workload.
func (h hints) anySelects(terms []model.AffinityTerm, carrier string, w *model.Workload) bool {
	for i := range terms {
		if h.selects(&terms[i], carrier, w) {
			return true
		}
	}
	return false
}
