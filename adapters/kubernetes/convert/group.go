package convert

import (
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

var (
	policyPath          = specPath.Child("schedulingPolicy")
	constraintsPath     = specPath.Child("schedulingConstraints", "topology")
	parentPath          = specPath.Child("parentCompositePodGroupName")
	schedulingGroupPath = specPath.Child("schedulingGroup", "podGroupName")
)

// GroupID is the identity of a pod group as a group: namespace/name. Unlike a
// pod, a group is known by its name to those that belong to it, so one that is
// made anew is the same to them.
func GroupID(namespace, name string) string { return namespace + "/" + name }

// CompositeGroupID is the identity of a composite pod group as a group:
// composite/namespace/name, for it may have the name of a pod group.
func CompositeGroupID(namespace, name string) string { return "composite/" + GroupID(namespace, name) }

// Group translates a pod group. The error, a [*model.ValidationError], lists all
// fields that cannot be translated, by their names in Kubernetes' API; the group
// is there even so, and valid.
//
// A group that says nothing of its policy has the policy Basic, and only the
// first topology constraint counts, as in the scheduler. Nothing is read of the
// Workload that the group was made after: it has templates only, and the
// scheduler does not even watch such objects.
//
// The group's preemption policy counts where [Gates] say so; else the pods' do.
//
// Rules: kube-scheduler pkg/scheduler/framework/plugins/gangscheduling/
// gangscheduling.go, plugins/topologyaware/topology_placement.go,
// framework/preemption/types.go and util/utils.go (PodGroupPriority), 1.37.1.
func Group(g *schedulingv1beta1.PodGroup, gates Gates) (*model.Group, error) {
	var c problems
	s := &g.Spec
	m := &model.Group{
		ID:           c.text(namePath, GroupID(g.Namespace, g.Name)),
		Namespace:    c.text(namespacePath, g.Namespace),
		Name:         c.text(namePath, g.Name),
		Parent:       c.parent(g.Namespace, s.ParentCompositePodGroupName),
		Policy:       model.Basic,
		Preemption:   groupPreemption(&c, s.PreemptionPolicy, gates),
		Disruption:   model.DisruptSingle,
		DeviceClaims: c.groupClaimRefs(g),
		CreatedAt:    g.CreationTimestamp.Time,
	}
	if gang := s.SchedulingPolicy.Gang; gang != nil {
		m.Policy = model.Gang
		m.MinCount = c.atLeastOne(policyPath.Child("gang", "minCount"), gang.MinCount)
	}
	if t := s.SchedulingConstraints; t != nil && len(t.Topology) > 0 {
		m.TopologyKey = c.text(constraintsPath.Index(0).Child("key"), t.Topology[0].Key)
	}
	if s.Priority != nil {
		m.Priority = *s.Priority
	}
	if s.DisruptionMode != nil && s.DisruptionMode.All != nil {
		m.Disruption = model.DisruptAll
	}
	return m, c.err("pod group", GroupID(g.Namespace, g.Name))
}

// CompositeGroup translates a composite pod group. What is said of [Group] holds
// for it, too; MinCount counts the groups in it.
func CompositeGroup(g *schedulingv1alpha3.CompositePodGroup, gates Gates) (*model.Group, error) {
	var c problems
	s := &g.Spec
	m := &model.Group{
		ID:         c.text(namePath, CompositeGroupID(g.Namespace, g.Name)),
		Namespace:  c.text(namespacePath, g.Namespace),
		Name:       c.text(namePath, g.Name),
		Parent:     c.parent(g.Namespace, s.ParentCompositePodGroupName),
		Composite:  true,
		Policy:     model.Basic,
		Preemption: groupPreemption(&c, s.PreemptionPolicy, gates),
		Disruption: model.DisruptSingle,
		CreatedAt:  g.CreationTimestamp.Time,
	}
	if m.Parent == m.ID {
		c.report(parentPath, "is the group itself")
		m.Parent = ""
	}
	if gang := s.SchedulingPolicy.Gang; gang != nil {
		m.Policy = model.Gang
		m.MinCount = c.atLeastOne(policyPath.Child("gang", "minGroupCount"), gang.MinGroupCount)
	}
	if t := s.SchedulingConstraints; t != nil && len(t.Topology) > 0 {
		m.TopologyKey = c.text(constraintsPath.Index(0).Child("key"), t.Topology[0].Key)
	}
	if s.Priority != nil {
		m.Priority = *s.Priority
	}
	if s.DisruptionMode != nil && s.DisruptionMode.All != nil {
		m.Disruption = model.DisruptAll
	}
	return m, c.err("composite pod group", GroupID(g.Namespace, g.Name))
}

func (p *problems) parent(namespace string, name *string) string {
	if name == nil {
		return ""
	}
	return p.text(parentPath, CompositeGroupID(namespace, *name))
}

// groupPreemption is the policy of a group, for which each version of the API
// has a type of its own; empty, so that the members decide, where it does not
// count.
func groupPreemption[P ~string](p *problems, policy *P, gates Gates) model.PreemptionPolicy {
	switch {
	case !gates.PodGroupPreemptionPolicy:
		return ""
	case policy == nil: // made while the gate was off
		return model.PreemptLower
	}
	switch m := model.PreemptionPolicy(*policy); m {
	case model.PreemptLower, model.PreemptNever:
		return m
	}
	p.report(preemptionPath, "%q is neither %s nor %s", *policy, model.PreemptLower, model.PreemptNever)
	return model.PreemptLower
}

func (p *problems) atLeastOne(at *field.Path, count int32) int32 {
	if count < 1 {
		p.report(at, "%d is less than 1", count)
		return 1
	}
	return count
}
