package convert

import (
	"testing"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/berth-project/berth/model"
)

// Whose preemption policy counts: the group's, or none, so that the members decide.
func TestPreemptionPolicyOfAGroup(t *testing.T) {
	for _, c := range []struct {
		policy string // of the group; empty: nil
		counts bool
		want   model.PreemptionPolicy
	}{
		{"", true, model.PreemptLower},
		{"PreemptLowerPriority", true, model.PreemptLower},
		{"Never", true, model.PreemptNever},
		{"", false, ""},
		{"PreemptLowerPriority", false, ""},
		{"Never", false, ""},
	} {
		var group schedulingv1beta1.PodGroup
		var composite schedulingv1alpha3.CompositePodGroup
		group.Name, composite.Name = "g", "g"
		if c.policy != "" {
			group.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptionPolicy(c.policy))
			composite.Spec.PreemptionPolicy = new(schedulingv1alpha3.PreemptionPolicy(c.policy))
		}
		one, err := Group(&group, Gates{PodGroupPreemptionPolicy: c.counts})
		if err != nil {
			t.Fatal(err)
		}
		several, err := CompositeGroup(&composite, Gates{PodGroupPreemptionPolicy: c.counts})
		if err != nil {
			t.Fatal(err)
		}
		if one.Preemption != c.want || several.Preemption != c.want {
			t.Errorf("%+v: got %q, and %q of a composite group", c, one.Preemption, several.Preemption)
		}
	}
}
