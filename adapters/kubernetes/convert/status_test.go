package convert

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/model"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Unix(1000, 0))
	preempted := v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}
	with := func(conditions ...v1.PodCondition) v1.PodStatus { return v1.PodStatus{Conditions: conditions} }
	not := func(change func(*v1.PodCondition)) v1.PodCondition { c := preempted; change(&c); return c }
	tests := []struct {
		name string
		pod  v1.Pod
		want PodStatus
	}{
		{"waiting", v1.Pod{}, PodStatus{}},
		{"waiting for a node", v1.Pod{Status: v1.PodStatus{NominatedNodeName: "n"}}, PodStatus{Nominated: "n"}},
		{"bound", v1.Pod{Spec: v1.PodSpec{NodeName: "n"}}, PodStatus{Node: "n"}},
		{"started", v1.Pod{Spec: v1.PodSpec{NodeName: "n"}, Status: v1.PodStatus{StartTime: &at}}, PodStatus{Node: "n", StartedAt: at.Time}},
		{"told to go", v1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &at}}, PodStatus{Terminating: true}},
		{"succeeded", v1.Pod{Status: v1.PodStatus{Phase: v1.PodSucceeded}}, PodStatus{Finished: true}},
		{"failed", v1.Pod{Status: v1.PodStatus{Phase: v1.PodFailed}}, PodStatus{Finished: true}},
		{"out of sight", v1.Pod{Status: v1.PodStatus{Phase: v1.PodUnknown}}, PodStatus{}},
		{"preempted", v1.Pod{Status: with(preempted)}, PodStatus{Displaced: true}},
		{"to be evicted by somebody else", v1.Pod{Status: with(not(func(c *v1.PodCondition) { c.Reason = "EvictionByEvictionAPI" }))}, PodStatus{}},
		{"preempted no more", v1.Pod{Status: with(not(func(c *v1.PodCondition) { c.Status = v1.ConditionFalse }))}, PodStatus{}},
		{"another condition", v1.Pod{Status: with(not(func(c *v1.PodCondition) { c.Type = v1.PodReady }))}, PodStatus{}},
		{"the first condition counts", v1.Pod{Status: with(not(func(c *v1.PodCondition) { c.Reason = "" }), preempted)}, PodStatus{}},
	}
	for _, test := range tests {
		if got := Status(&test.pod); got != test.want {
			t.Errorf("%s: %+v, not %+v", test.name, got, test.want)
		}
	}
}

func TestPrioritize(t *testing.T) {
	t.Parallel()
	classes := []PriorityClass{
		{Name: "high", Value: 1000, Preemption: model.PreemptNever},
		{Name: "usual", Value: 20, Default: true},
		{Name: "low", Value: 10, Preemption: model.PreemptLower, Default: true},
	}
	one, never := int32(1), v1.PreemptNever
	tests := []struct {
		name    string
		spec    v1.PodSpec
		classes []PriorityClass
		want    int32
		policy  model.PreemptionPolicy
		err     string
	}{
		{"a priority stays", v1.PodSpec{Priority: &one, PriorityClassName: "high"}, classes, 1, "", ""},
		{"the class named", v1.PodSpec{PriorityClassName: "high"}, classes, 1000, model.PreemptNever, ""},
		{"of several default classes, the lowest", v1.PodSpec{}, classes, 10, model.PreemptLower, ""},
		{"a policy stays", v1.PodSpec{PreemptionPolicy: &never}, classes, 10, model.PreemptNever, ""},
		{"no default class", v1.PodSpec{}, classes[:1], 0, "", ""},
		{"no such class", v1.PodSpec{PriorityClassName: "higher"}, classes, 0, "", `pod "default/p": spec.priorityClassName: there is no priority class "higher"`},
	}
	for _, test := range tests {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: test.spec}
		w, err := Pod(p)
		if err != nil {
			t.Fatal(err)
		}
		err = Prioritize(w, p, test.classes)
		if w.Priority != test.want || w.Preemption != test.policy || text(err) != test.err {
			t.Errorf("%s: priority %d, policy %q, error %v, not %d, %q, %q", test.name, w.Priority, w.Preemption, err, test.want, test.policy, test.err)
		}
	}
}
