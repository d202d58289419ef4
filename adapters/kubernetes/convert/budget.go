package convert

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// Budget translates a disruption budget. Its ID is namespace/name.
//
// Kubernetes lists the pods that are terminating by name. id, which is
// called for each, tells the workload that the pod with the name is now, empty for
// none. So a budget with such pods must be translated again when a pod of that
// name comes: the scheduler counts it as terminating, too.
//
// The error, a [*model.ValidationError], lists what cannot be read of the
// selector. The budget is there even so, and protects nobody, as in the
// scheduler.
//
// Rules: kube-scheduler pkg/scheduler/framework/preemption/util.go
// (FilterVictimsWithPDBViolation), 1.37.1.
func Budget(b *policyv1.PodDisruptionBudget, id func(namespace, name string) string) (*model.Budget, error) {
	var c problems
	m := &model.Budget{
		ID:        c.text(namePath, b.Namespace+"/"+b.Name),
		Namespace: c.text(namespacePath, b.Namespace),
		Allowed:   max(0, b.Status.DisruptionsAllowed), // less than none is none
	}
	m.Selector, _ = c.selector(field.NewPath("spec", "selector"), b.Spec.Selector)
	for _, name := range sortedKeys(b.Status.DisruptedPods) {
		if workload := id(b.Namespace, name); workload != "" {
			m.Displaced = append(m.Displaced, workload)
		}
	}
	return m, c.err("budget", m.ID)
}
