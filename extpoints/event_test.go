package extpoints

import (
	"testing"

	"github.com/berth-project/berth/model"
)

func TestClusterEventMatches(t *testing.T) {
	event := func(r model.ObjectKind, a Action) ClusterEvent { return ClusterEvent{Resource: r, Action: a} }
	for _, c := range []struct {
		name                 string
		registered, incoming ClusterEvent
		want                 bool
	}{
		{"the same", event(NodeResource, Add), event(NodeResource, Add), true},
		{"another action", event(NodeResource, Add), event(NodeResource, Delete), false},
		{"another kind", event(NodeResource, Add), event(AssignedWorkload, Add), false},
		{"one of a union", event(NodeResource, Add|UpdateNodeTaint), event(NodeResource, UpdateNodeTaint), true},
		{"the first of a union", event(NodeResource, Add|UpdateNodeTaint), event(NodeResource, Add), true},
		{"not in the union", event(NodeResource, Add|UpdateNodeTaint), event(NodeResource, UpdateNodeLabel), false},
		{"a kind of update, for all updates", event(NodeResource, Update), event(NodeResource, UpdateNodeLabel), true},
		{"an unspecific update, for all updates", event(TargetWorkload, Update), event(TargetWorkload, Update), true},
		{"an unspecific update, for one kind", event(TargetWorkload, UpdateWorkloadLabel), event(TargetWorkload, Update), false},
		// An incoming union counts only up to the size of the registered one.
		{"a smaller union", event(NodeResource, Delete|UpdateNodeTaint), event(NodeResource, Add|Delete), true},
		{"a larger union", event(NodeResource, Add|Delete), event(NodeResource, Delete|UpdateNodeTaint), false},
		{"no action", event(NodeResource, Add), event(NodeResource, 0), false},

		{"any workload: assigned", event(AnyWorkload, Delete), event(AssignedWorkload, Delete), true},
		{"any workload: unscheduled", event(AnyWorkload, Add), event(UnscheduledWorkload, Add), true},
		{"any workload: target", event(AnyWorkload, UpdateWorkloadLabel), event(TargetWorkload, UpdateWorkloadLabel), true},
		{"any workload: not a node", event(AnyWorkload, Add), event(NodeResource, Add), false},
		{"any workload: another action", event(AnyWorkload, Add), event(AssignedWorkload, Delete), false},
		{"assigned is not any workload", event(AssignedWorkload, Add), event(AnyWorkload, Add), false},

		{"any kind", event(AnyResource, Add), event(NodeResource, Add), true},
		{"any kind, another action", event(AnyResource, Add), event(NodeResource, Delete), false},
		{"any kind is not matched by one", event(NodeResource, Add), event(AnyResource, Add), false},
		{"everything", event(AnyResource, AllActions), event(GroupResource, UpdateNodeDevices), true},
		{"everything, and no action", event(AnyResource, AllActions), event(GroupResource, 0), true},
	} {
		if got := c.registered.Matches(c.incoming); got != c.want {
			t.Errorf("%s: %v for %v: %v", c.name, c.registered, c.incoming, got)
		}
	}
}

// The order of the actions is part of the rule, so it is the reference's
// (k8s.io/kube-scheduler framework/types.go, 0.37.1) for those that both have.
func TestOrderOfActions(t *testing.T) {
	order := []Action{
		Add, Delete, UpdateNodeAllocatable, UpdateNodeLabel, UpdateNodeTaint, UpdateNodeDevices, UpdateNodeFeatures, UpdateWorkloadLabel,
		UpdateWorkloadScaleDown, UpdateWorkloadScaleUp, UpdateWorkloadToleration, UpdateWorkloadGatesEliminated,
	}
	var all Action
	for i, a := range order {
		if a != 1<<i {
			t.Errorf("%v is %b", a, a)
		}
		if i > 1 && Update&a == 0 {
			t.Errorf("%v is not an update", a)
		}
		all |= a
	}
	if Update&(Add|Delete) != 0 || AllActions&all != all || !(ClusterEvent{Resource: AnyResource, Action: AllActions}).IsWildcard() {
		t.Errorf("Update is %b, AllActions %b", Update, AllActions)
	}
}

func TestEventNames(t *testing.T) {
	for want, e := range map[string]ClusterEvent{
		"Node/Add":                 {Resource: NodeResource, Action: Add},
		"Node/Add|UpdateNodeTaint": {Resource: NodeResource, Action: Add | UpdateNodeTaint},
		"TargetWorkload/Update":    {Resource: TargetWorkload, Action: Update},
		"*/All":                    {Resource: AnyResource, Action: AllActions},
		"BackoffComplete":          {Resource: AnyResource, Action: AllActions, Label: "BackoffComplete"},
		"AssignedWorkload/Delete|UpdateWorkloadGatesEliminated": {Resource: AssignedWorkload, Action: Delete | UpdateWorkloadGatesEliminated},
	} {
		if e.String() != want {
			t.Errorf("%v, want %v", e, want)
		}
	}
	if HintQueue.String() != "Queue" || HintSkip.String() != "Skip" {
		t.Error("the names of the hints")
	}
}
