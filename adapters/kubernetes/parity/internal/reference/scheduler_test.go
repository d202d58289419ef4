package reference

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func pod(name string, priority int32, cpu string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{SchedulerName: ProfileName, Priority: &priority, Containers: []v1.Container{{Name: "c", Image: "i",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}}}}}
}

// One node, and three pods of which two fit: the scheduler binds, waits, and makes
// room, all in the calls that it is asked in.
func TestScheduler(t *testing.T) {
	s, err := New(Config{Now: start})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const moment = 5 * time.Millisecond // after each bind the pod is seen on its node
	s.Put(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("4Gi"), v1.ResourcePods: resource.MustParse("10")}}})

	steps := []struct {
		pod  *v1.Pod
		want string
	}{
		{pod("a", 0, "300m"), `a on n1 (1 evaluated, 1 feasible)`},
		{pod("b", 0, "500m"), `b on n1 (1 evaluated, 1 feasible)`},
		{pod("c", 0, "500m"), `c nowhere: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod." by [NodeResourcesFit]`},
		{pod("d", 1, "600m"), `d nowhere: "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims" by [NodeResourcesFit], nominated to n1, displacing [b]`},
	}
	for i, step := range steps {
		s.SetTime(start.Add(time.Duration(i) * time.Second))
		s.Put(step.pod)
		d, ok := s.ScheduleOne()
		if !ok || d.String() != step.want {
			t.Fatalf("%v %v\nwant %v", ok, d, step.want)
		}
		if d.Node != "" { // its node takes it in
			bound := step.pod.DeepCopy()
			bound.Spec.NodeName = d.Node
			bound.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(s.Clock.Now().Add(moment))}}
			s.Put(bound)
		}
		s.Deliver()
	}
	if _, ok := s.ScheduleOne(); ok {
		t.Error("there is nothing to do before the victim has gone")
	}
	going := s.Get(pod("b", 0, "1")).(*v1.Pod)
	if _, told := podutil.GetPodCondition(&going.Status, v1.DisruptionTarget); going.DeletionTimestamp == nil || told == nil {
		t.Errorf("the victim does not know: %+v", going.Status)
	}
	if _, scheduled := podutil.GetPodCondition(&going.Status, v1.PodScheduled); scheduled == nil || !scheduled.LastTransitionTime.Time.Equal(start.Add(time.Second+moment)) {
		t.Errorf("telling the victim has changed when it was scheduled: %v", scheduled)
	}
	if got := s.Nominations("n1"); len(got) != 1 || got[0] != "d" {
		t.Errorf("nominated to n1: %v", got)
	}
	s.Delete(pod("b", 0, "1"))
	s.SetTime(start.Add(10 * time.Second))
	s.FlushBackoff()
	if d, ok := s.ScheduleOne(); !ok || d.String() != "d on n1 (1 evaluated, 1 feasible)" {
		t.Errorf("%v %v", ok, d)
	}
}
