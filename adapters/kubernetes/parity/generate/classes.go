package generate

import (
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Classes are the names of priority classes. What they say of the priority only decides what they
// say of others: pods have priorities of their own.
var Classes = []string{"plain", "calm", "brief", "proud"}

// PriorityClass draws the class of the name: what has which priority may displace its pods, and
// after which time others may, too.
func (s *Source) PriorityClass(name string) *schedulingv1.PriorityClass {
	const prefix = "preemption-toleration.scheduling.x-k8s.io/"
	c := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}, Value: Pick(s, int32(-1), 0, 5, 10)}
	if s.Percent(75) {
		c.Annotations[prefix+"minimum-preemptable-priority"] = Pick(s, "-1", "0", "1", "5", "10", "11", "100", "1000000000", "x", "99999999999")
	}
	if s.Percent(90) {
		c.Annotations[prefix+"toleration-seconds"] = Pick(s, "-1", "-7", "0", "1", "5", "30", "300", "900", "x", "1.5")
	}
	return c
}

// classed draws the pod's class.
func (s *Source) classed(p *v1.Pod) {
	if s.Classed && s.Percent(85) {
		p.Spec.PriorityClassName = Pick(s, Classes...)
	}
}

// scheduled notes when the pod got its node, where something goes by that.
func (s *Source) scheduled(p *v1.Pod, at time.Time) {
	if s.Classed {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}}
	}
}
