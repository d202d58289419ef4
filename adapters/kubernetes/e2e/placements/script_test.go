package placements

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// The same seed and number give the same case, others another one.
func TestDrawIsAFunctionOfSeedAndNumber(t *testing.T) {
	first := draw(1, 2).String()
	if first != draw(1, 2).String() {
		t.Error("not the same")
	}
	if first == draw(1, 3).String() || first == draw(2, 2).String() {
		t.Error("another seed or number gives the same")
	}
}

// Every pod that is drawn has a namespace and a class that there are, and a start time
// of its own.
func TestDrawnPodsFit(t *testing.T) {
	for number := range uint64(60) {
		started := map[int64]string{}
		c := draw(1, number)
		check := func(p *corev1.Pod) {
			t.Helper()
			if !slices.Contains(namespaces, p.Namespace) {
				t.Errorf("%s is in namespace %s", p.Name, p.Namespace)
			}
			known := func(class *schedulingv1.PriorityClass) bool { return class.Name == p.Spec.PriorityClassName }
			if !slices.ContainsFunc(priorityClasses(), known) && p.DeletionTimestamp == nil {
				t.Errorf("%s is of class %q", p.Name, p.Spec.PriorityClassName)
			}
			if since := p.Status.StartTime; since != nil {
				if other := started[since.Unix()]; other != "" || !since.Before(startTime(0)) {
					t.Errorf("%s has started at %v; so has %q", p.Name, since, other)
				}
				started[since.Unix()] = p.Name
			}
		}
		for _, p := range c.adopted {
			check(p)
		}
		for _, s := range c.steps {
			if s.adopt != nil {
				check(s.adopt)
			} else if s.submit != nil {
				check(s.submit)
			}
		}
	}
}
