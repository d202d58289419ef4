package podtopologyspread

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for all that changes how things are spread: workloads
// on nodes that come, go, or change their labels; nodes that come, go, or
// change their labels or taints; and labels and tolerations of the workload
// itself.
//
// Three things that also change it the reference misses: labels of a node
// that no constraint has as its key, but the workload's node affinity asks for; a
// workload on a node beginning to terminate; and a label of the waiting
// workload that MatchLabelKeys names, if the selector selects the workload neither
// before nor after. Here they wake it too, unless the engine is told
// to keep to the reference ([extpoints.KubeScheduler137]).
func (p *PodTopologySpread) EventsToRegister() ([]extpoints.EventHint, error) {
	assigned := extpoints.Add | extpoints.UpdateWorkloadLabel | extpoints.Delete
	if p.compat == extpoints.Improved {
		assigned |= extpoints.Update // that it is terminating is none of the special kinds
	}
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: assigned},
			Hint:  p.afterAssignedChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload,
				Action: extpoints.UpdateWorkloadToleration | extpoints.UpdateWorkloadLabel},
			Hint: p.afterTargetChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource,
				Action: extpoints.Add | extpoints.Delete | extpoints.UpdateNodeLabel | extpoints.UpdateNodeTaint},
			Hint: p.afterNodeChange,
		},
	}, nil
}

// afterAssignedChange says Queue where a workload of the same namespace that a
// constraint selects came or went, or where new labels of one made a difference
// to a constraint.
func (p *PodTopologySpread) afterAssignedChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := c.OldWorkload, c.NewWorkload
	if before == nil && after == nil {
		return extpoints.HintQueue, helper.ErrNoWorkload
	}
	for _, other := range []*extpoints.WorkloadInfo{before, after} {
		if other != nil && other.Namespace != w.Namespace {
			return extpoints.HintSkip, nil
		}
	}
	list := p.constraints(w, model.SpreadRequired)
	switch {
	case before == nil:
		return helper.QueueIf(anySelects(list, after.Labels))
	case after == nil:
		return helper.QueueIf(anySelects(list, before.Labels))
	}
	leaves := p.compat == extpoints.Improved && after.Terminating && !before.Terminating
	return helper.QueueIf(selectedChanged(list, before, after) || leaves && anySelects(list, before.Labels))
}

// afterTargetChange says Queue where the workload's new labels make a difference
// to a constraint, and for new tolerations where a constraint asks for them.
func (p *PodTopologySpread) afterTargetChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.UpdatedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	list := p.constraints(w, model.SpreadRequired)
	if !slices.Equal(before.Tolerations, after.Tolerations) &&
		slices.ContainsFunc(list, func(c constraint) bool { return c.honorTaints }) {
		return extpoints.HintQueue, nil
	}
	return helper.QueueIf(selectedChanged(list, before, after) || p.compat == extpoints.Improved && matchedLabelChanged(before, after))
}

// matchedLabelChanged reports whether a label changed that some MatchLabelKeys
// name.
func matchedLabelChanged(before, after *extpoints.WorkloadInfo) bool {
	return slices.ContainsFunc(after.Spread, func(c model.SpreadConstraint) bool {
		return slices.ContainsFunc(c.MatchLabelKeys, func(key string) bool {
			was, had := before.Labels[key]
			is, has := after.Labels[key]
			return had != has || was != is
		})
	})
}

// afterNodeChange says Queue for a node that takes part before or after, and
// whose labels or taints made or may have made a difference.
func (p *PodTopologySpread) afterNodeChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := c.OldNode, c.NewNode
	if before == nil && after == nil {
		return extpoints.HintQueue, helper.ErrNoNode
	}
	list := p.constraints(w, model.SpreadRequired)
	had := before != nil && hasAllKeys(before, list)
	has := after != nil && hasAllKeys(after, list)
	if before == nil || after == nil || had != has {
		return helper.QueueIf(had || has)
	}
	return helper.QueueIf(has && (keysChanged(list, before, after) || !slices.Equal(before.Taints, after.Taints) ||
		p.compat == extpoints.Improved && asksForLabels(w, list) && !maps.Equal(before.Labels, after.Labels)))
}

// asksForLabels reports whether the workload's node affinity decides which nodes
// a constraint counts.
func asksForLabels(w *model.Workload, list []constraint) bool {
	return (len(w.NodeSelector) > 0 || w.NodeAffinity != nil && w.NodeAffinity.Required != nil) &&
		slices.ContainsFunc(list, func(c constraint) bool { return c.honorAffinity })
}

// anySelects reports whether one of the constraints selects the labels.
func anySelects(list []constraint, labels map[string]string) bool {
	return slices.ContainsFunc(list, func(c constraint) bool { return c.selector.Matches(labels) })
}

// selectedChanged reports whether one of the constraints selects a workload
// after a change but not before, or the other way round.
func selectedChanged(list []constraint, before, after *extpoints.WorkloadInfo) bool {
	return slices.ContainsFunc(list, func(c constraint) bool {
		return c.selector.Matches(before.Labels) != c.selector.Matches(after.Labels)
	})
}

// keysChanged reports whether the node is in another domain of one of the
// constraints.
func keysChanged(list []constraint, before, after *model.Node) bool {
	return slices.ContainsFunc(list, func(c constraint) bool {
		was, _ := before.TopologyValue(c.key)
		is, _ := after.TopologyValue(c.key)
		return is != was
	})
}
