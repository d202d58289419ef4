package scenario

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// level is a taint whose value says how much the node can be relied upon.
func level(value string, effect corev1.TaintEffect) []corev1.Taint {
	return []corev1.Taint{{Key: "example.com/level", Value: value, Effect: effect}}
}

// comparing tolerates it where the value is greater, or less, than the limit.
func comparing(operator corev1.TolerationOperator, limit string) []corev1.Toleration {
	return []corev1.Toleration{{Key: "example.com/level", Operator: operator, Value: limit}}
}

func comparingToleration(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints(level("950", corev1.TaintEffectNoSchedule)).Obj())
	e.ScheduleWith(t, controlplane.SchedulerOptions{FeatureGates: comparisons})
	e.Create(t,
		cluster.Pod("above-950").Tolerations(comparing(corev1.TolerationOpGt, "950")).Obj(),
		cluster.Pod("below-950").Tolerations(comparing(corev1.TolerationOpLt, "950")).Obj(),
		cluster.Pod("above-900").Tolerations(comparing(corev1.TolerationOpGt, "900")).Obj(),
		cluster.Pod("above-minus-1").Tolerations(comparing(corev1.TolerationOpGt, "-1")).Obj(),
		cluster.Pod("below-1000").Tolerations(comparing(corev1.TolerationOpLt, "1000")).Obj())
	e.BoundTo(t, "above-900", "n")
	e.BoundTo(t, "above-minus-1", "n")
	e.BoundTo(t, "below-1000", "n")
	e.Unschedulable(t, "above-950", untolerated)
	e.Unschedulable(t, "below-950", untolerated)
}

func comparedTaint(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints(level("high", corev1.TaintEffectNoExecute)).Obj())
	e.ScheduleWith(t, controlplane.SchedulerOptions{FeatureGates: comparisons})
	e.Create(t, cluster.Pod("p").Tolerations(comparing(corev1.TolerationOpGt, "900")).Obj())
	e.Unschedulable(t, "p", untolerated)
	for _, value := range []string{"0950", "900"} { // no plain number, and not above
		e.UpdateNode(t, "n", func(n *corev1.Node) { n.Spec.Taints = level(value, corev1.TaintEffectNoExecute) })
		e.Create(t, cluster.Pod("at-"+value).Tolerations(comparing(corev1.TolerationOpEqual, value)).Obj())
		e.BoundTo(t, "at-"+value, "n") // so the scheduler knows the new value
		e.NotBound(t, "p")
	}
	e.UpdateNode(t, "n", func(n *corev1.Node) { n.Spec.Taints = level("901", corev1.TaintEffectNoExecute) })
	e.BoundTo(t, "p", "n")
}

func preferCompared(t *testing.T, e *Env) {
	e.Create(t,
		cluster.Node("a").Taints(level("800", corev1.TaintEffectPreferNoSchedule)).Obj(),
		cluster.Node("b").Taints(level("999", corev1.TaintEffectPreferNoSchedule)).Obj(),
		cluster.Node("c").Taints(level("high", corev1.TaintEffectPreferNoSchedule)).Obj())
	e.ScheduleWith(t, controlplane.SchedulerOptions{FeatureGates: comparisons})
	e.Create(t, cluster.Pod("p").Tolerations(comparing(corev1.TolerationOpGt, "950")).Obj())
	e.BoundTo(t, "p", "b")
	e.Create(t, cluster.Pod("q").Tolerations(comparing(corev1.TolerationOpLt, "950")).Obj())
	e.BoundTo(t, "q", "a")
}

func notComparing(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints(level("950", corev1.TaintEffectNoSchedule)).Obj())
	e.Schedule(t, "")
	e.Create(t,
		cluster.Pod("above-900").Tolerations(comparing(corev1.TolerationOpGt, "900")).Obj(),
		cluster.Pod("or-equal").Tolerations(append(comparing(corev1.TolerationOpGt, "900"), comparing(corev1.TolerationOpEqual, "950")...)).Obj())
	e.BoundTo(t, "or-equal", "n")
	e.Unschedulable(t, "above-900", untolerated)
}
