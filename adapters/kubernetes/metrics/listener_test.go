package metrics

import (
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// The clock of these tests goes on by a millisecond at each reading, so that a
// phase takes as many as there are readings in it.

func TestPodThatFits(t *testing.T) {
	h := newHistory(t)
	h.apply(node("n1", 1000), node("n2", 1000), submit("a", 700))
	h.settle()
	h.expect(`
		scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
		scheduler_scheduling_attempt_duration_seconds_count{profile="default-scheduler",result="scheduled"} 1
		scheduler_scheduling_attempt_duration_seconds_sum{profile="default-scheduler",result="scheduled"} 0.006
		scheduler_scheduling_algorithm_duration_seconds_count 1
		scheduler_scheduling_algorithm_duration_seconds_sum 0.003
		scheduler_pod_scheduling_attempts_count 1
		scheduler_pod_scheduling_attempts_sum 1
		scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"} 1
		scheduler_pod_scheduling_sli_duration_seconds_sum{attempts="1"} 0.007
		scheduler_framework_extension_point_duration_seconds_count{extension_point="Filter",profile="default-scheduler",status="Success"} 1
		scheduler_framework_extension_point_duration_seconds_sum{extension_point="Filter",profile="default-scheduler",status="Success"} 0.001
		scheduler_framework_extension_point_duration_seconds_count{extension_point="Score",profile="default-scheduler",status="Success"} 1
		scheduler_framework_extension_point_duration_seconds_sum{extension_point="Score",profile="default-scheduler",status="Success"} 0.001
		scheduler_framework_extension_point_duration_seconds_count{extension_point="Reserve",profile="default-scheduler",status="Success"} 1
		scheduler_framework_extension_point_duration_seconds_sum{extension_point="Reserve",profile="default-scheduler",status="Success"} 0.001
		scheduler_framework_extension_point_duration_seconds_count{extension_point="Permit",profile="default-scheduler",status="Success"} 1
		scheduler_framework_extension_point_duration_seconds_sum{extension_point="Permit",profile="default-scheduler",status="Success"} 0.001
		scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 1
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="active",type="pod"} 1
		scheduler_queued_entities
		scheduler_goroutines
		scheduler_preemption_attempts_total
		berth_filtered_nodes_total{profile="default-scheduler",result="feasible"} 2
		berth_phase_duration_seconds_count{phase="filter",profile="default-scheduler"} 1
		berth_phase_duration_seconds_sum{phase="filter",profile="default-scheduler"} 0.001
		berth_phase_duration_seconds_count{phase="score",profile="default-scheduler"} 1
		berth_phase_duration_seconds_sum{phase="score",profile="default-scheduler"} 0.001
		berth_phase_duration_seconds_count{phase="reserve",profile="default-scheduler"} 1
		berth_phase_duration_seconds_sum{phase="reserve",profile="default-scheduler"} 0.001
		berth_phase_duration_seconds_count{phase="permit",profile="default-scheduler"} 1
		berth_phase_duration_seconds_sum{phase="permit",profile="default-scheduler"} 0.001
		berth_phase_duration_seconds_count{phase="bind",profile="default-scheduler"} 1
		berth_phase_duration_seconds_sum{phase="bind",profile="default-scheduler"} 0.001`)
}

func TestPodThatWaitsForRoom(t *testing.T) {
	h := newHistory(t)
	h.apply(node("n1", 1000), submit("a", 700), submit("b", 700))
	h.settle()
	h.expect(`
		scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
		scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
		scheduler_preemption_attempts_total 1
		scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1
		scheduler_queued_entities{queue="unschedulable",type="pod"} 1
		scheduler_pending_pods{queue="unschedulable"} 1
		scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"} 1
		scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 2
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="active",type="pod"} 2
		scheduler_cache_size{type="assumed_pods"} 1
		scheduler_cache_size{type="nodes"} 1
		scheduler_cache_size{type="pods"} 1
		berth_store_objects{kind="Node"} 1
		berth_store_objects{kind="Workload"} 2`)

	// Another node comes: the pod backs off, but nothing else is to be done.
	h.apply(node("n2", 1000))
	h.expect(`
		scheduler_queued_entities{queue="backoff",type="pod"} 1
		scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1
		scheduler_pending_pods{queue="backoff"} 1`)
	h.settle()
	h.expect(`
		scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 2
		scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
		scheduler_unschedulable_pods
		scheduler_queued_entities
		scheduler_pod_scheduling_attempts_count 2
		scheduler_pod_scheduling_attempts_sum 3
		scheduler_queue_incoming_pods_total{event="NodeAdd",queue="backoff"} 1
		scheduler_queue_incoming_pods_total{event="PopFromBackoffQ",queue="active"} 1
		scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"} 1
		scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 2
		scheduler_queue_incoming_entities_total{event="PopFromBackoffQ",queue="active",type="pod"} 1
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="active",type="pod"} 2
		scheduler_pod_scheduled_after_flush_total`)
}

func TestPodWokenByTheTimeout(t *testing.T) {
	h := newHistory(t)
	h.apply(node("n1", 1000), submit("a", 700), submit("b", 700))
	h.settle()
	h.apply(engine.Remove("a")) // wakes b, which fails again
	h.later(20 * time.Second)
	h.apply(submit("c", 700, func(w *model.Workload) { w.Priority = 1 }))
	h.settle()
	h.later(6 * time.Minute)
	h.apply(node("n2", 1000))
	h.settle()
	h.expect(`
		scheduler_pod_scheduled_after_flush_total 1
		scheduler_pod_scheduling_attempts_count 3
		scheduler_pod_scheduling_attempts_sum 5`)
}

func TestPodThatIsGated(t *testing.T) {
	h := newHistory(t)
	gated := func(w *model.Workload) { w.Gates = []string{"quota"} }
	h.apply(node("n1", 1000), submit("a", 700, gated), submit("b", 700, gated))
	h.expect(`
		scheduler_unschedulable_pods{plugin="SchedulingGates",profile="default-scheduler"} 2
		scheduler_queued_entities{queue="gated",type="pod"} 2
		scheduler_pending_pods{queue="gated"} 2
		scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="unschedulable"} 2
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="unschedulable",type="pod"} 2`)
	h.apply(engine.Update(spec("a", 700)), engine.Remove("b"))
	h.settle()
	h.expect(`
		scheduler_unschedulable_pods
		scheduler_queued_entities
		scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
		scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="unschedulable"} 2
		scheduler_queue_incoming_pods_total{event="TargetPodUpdatePodSchedulingGatesEliminated",queue="active"} 1`)
}

func TestWithoutNodes(t *testing.T) {
	h := newHistory(t)
	h.apply(submit("a", 700))
	h.settle()
	h.expect(`
		scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
		scheduler_scheduling_algorithm_duration_seconds_count 1
		scheduler_scheduling_algorithm_duration_seconds_sum 0.001
		scheduler_framework_extension_point_duration_seconds
		scheduler_preemption_attempts_total
		scheduler_unschedulable_pods
		scheduler_queued_entities{queue="backoff",type="pod"} 1`)
}

func TestBindingFails(t *testing.T) {
	h := newHistory(t)
	h.bind = errRefused
	h.apply(node("n1", 1000), submit("a", 700))
	h.settle()
	h.expect(`
		scheduler_schedule_attempts_total{profile="default-scheduler",result="error"} 1
		scheduler_scheduling_attempt_duration_seconds_count{profile="default-scheduler",result="error"} 1
		scheduler_scheduling_attempt_duration_seconds_sum{profile="default-scheduler",result="error"} 0.005
		scheduler_goroutines
		scheduler_unschedulable_pods
		scheduler_queued_entities{queue="backoff",type="pod"} 1
		scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="backoff"} 1
		scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 1`)
	h.bind = nil
	h.later(time.Minute)
	h.settle()
	h.expect(`
		scheduler_schedule_attempts_total{profile="default-scheduler",result="error"} 1
		scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
		scheduler_queue_incoming_entities_total{event="BackoffComplete",queue="active",type="pod"} 1
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="active",type="pod"} 1
		scheduler_queued_entities`)
}

// While a binding is under way its pod may be seen on a node, or go.
func TestWhileBeingBound(t *testing.T) {
	tests := map[string]struct {
		change engine.Change
		want   string
	}{
		"the answer is late": {
			engine.Confirm(model.Binding{Workload: "a", Node: "n1"}), "scheduled"},
		"somebody else put it elsewhere": {
			engine.Confirm(model.Binding{Workload: "a", Node: "n2"}), "error"},
		"it was deleted": {
			engine.Remove("a"), "error"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.apply(node("n1", 1000), submit("a", 700))
			tasks := h.decide()
			h.expect(`scheduler_goroutines{operation="binding"} 1`)
			h.apply(node("n2", 1000), test.change)
			attempts := `scheduler_schedule_attempts_total{profile="default-scheduler",result="` + test.want + `"} 1`
			h.expect("scheduler_goroutines\n" + attempts)
			h.finish(tasks[0])
			h.expect("scheduler_goroutines\nscheduler_queued_entities\n" + attempts)
			if n := len(h.metrics.recorder.pods); n != 0 {
				t.Errorf("%d pods are remembered", n)
			}
		})
	}
}

func TestPodThatSomebodyElsePlaced(t *testing.T) {
	h := newHistory(t)
	h.apply(node("n1", 1000), submit("a", 2000))
	h.settle()
	h.apply(engine.Confirm(model.Binding{Workload: "a", Node: "n1"}),
		engine.Adopt(spec("b", 1), model.Binding{Node: "n1"}))
	h.expect(`
		scheduler_unschedulable_pods
		scheduler_queued_entities
		scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
		scheduler_cache_size{type="nodes"} 1
		scheduler_cache_size{type="pods"} 2`)
	if n := len(h.metrics.recorder.pods); n != 0 {
		t.Errorf("%d pods are remembered", n)
	}
}

func TestPreemption(t *testing.T) {
	h := newHistory(t)
	h.apply(node("n1", 1000), submit("a", 500), submit("b", 500))
	h.settle()
	h.apply(submit("c", 900, func(w *model.Workload) { w.Priority = 10 }))
	h.settle()
	h.apply(engine.Remove("a"), engine.Remove("b"))
	h.later(time.Minute)
	h.settle()
	h.expect(`
		scheduler_preemption_attempts_total 1
		scheduler_preemption_victims_count 1
		scheduler_preemption_victims_sum 2
		berth_evictions_total{for="pod"} 2
		berth_failures_total`)
}

func TestEvictionsForNobody(t *testing.T) {
	h := newHistory(t)
	h.evict = errRefused
	h.apply(node("n1", 1000), submit("a", 500))
	h.settle()
	if err := h.Raw.Evict(h.now, "a", "maintenance"); err != nil {
		t.Fatal(err)
	}
	h.settle()
	h.expect(`
		berth_evictions_total{for="none"} 1
		berth_failures_total 1`)
}

// patience is a Permit plugin that makes every pod wait for a minute.
type patience struct{}

func (patience) Name() string { return "Patience" }

func (patience) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return extpoints.NewStatus(extpoints.Wait), time.Minute
}

func withPatience(handle *extpoints.Handle) func(*engine.Config) {
	return func(c *engine.Config) {
		extpoints.Use(&c.Profiles[0], func(_ extpoints.NoArgs, h extpoints.Handle) (patience, error) {
			*handle = h
			return patience{}, nil
		}, extpoints.NoArgs{})
	}
}

func TestWaitingOnPermit(t *testing.T) {
	const permit = `
		scheduler_framework_extension_point_duration_seconds_count{extension_point="Filter",profile="default-scheduler",status="Success"} 1
		scheduler_framework_extension_point_duration_seconds_sum{extension_point="Filter",profile="default-scheduler",status="Success"} 0.001
		scheduler_framework_extension_point_duration_seconds_count{extension_point="Reserve",profile="default-scheduler",status="Success"} 1
		scheduler_framework_extension_point_duration_seconds_sum{extension_point="Reserve",profile="default-scheduler",status="Success"} 0.001
		scheduler_framework_extension_point_duration_seconds_count{extension_point="Permit",profile="default-scheduler",status="Wait"} 1
		scheduler_framework_extension_point_duration_seconds_sum{extension_point="Permit",profile="default-scheduler",status="Wait"} 0.001`
	tests := map[string]struct {
		then func(h *history, w extpoints.WaitingWorkload)
		want string
	}{
		"allowed": {
			func(h *history, w extpoints.WaitingWorkload) { w.Allow("Patience"); h.Settle(h.now); h.settle() }, `
			scheduler_permit_wait_duration_seconds_count{result="Success"} 1
			scheduler_permit_wait_duration_seconds_sum{result="Success"} 0.001
			scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
			scheduler_unschedulable_pods`},
		"turned down": {
			func(h *history, w extpoints.WaitingWorkload) { w.Reject("Patience", "no"); h.Settle(h.now) }, `
			scheduler_permit_wait_duration_seconds_count{result="Unschedulable"} 1
			scheduler_permit_wait_duration_seconds_sum{result="Unschedulable"} 0.001
			scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
			scheduler_unschedulable_pods{plugin="Patience",profile="default-scheduler"} 1`},
		"deleted": {
			func(h *history, _ extpoints.WaitingWorkload) { h.apply(engine.Remove("a")) }, `
			scheduler_permit_wait_duration_seconds_count{result="Unschedulable"} 1
			scheduler_permit_wait_duration_seconds_sum{result="Unschedulable"} 0.001
			scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
			scheduler_unschedulable_pods`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var handle extpoints.Handle
			h := newHistory(t, withPatience(&handle))
			h.apply(node("n1", 1000), submit("a", 700))
			h.settle()
			h.expect("scheduler_permit_wait_duration_seconds\n" + `scheduler_goroutines{operation="binding"} 1` + permit)
			test.then(h, handle.Waiting().Get("a"))
			h.expect("scheduler_goroutines" + test.want + permit)
		})
	}
}

func gang(id string, min int32) engine.Change {
	return engine.PutGroup(&model.Group{ID: id, Name: id, Policy: model.Gang, MinCount: min})
}

func member(of string) func(*model.Workload) { return func(w *model.Workload) { w.Group = of } }

func TestGroup(t *testing.T) {
	h := newHistory(t)
	h.apply(node("n1", 1000), gang("g", 2), submit("a", 700, member("g")))
	h.expect(`
		scheduler_queued_entities{queue="gated",type="podgroup"} 1
		scheduler_unschedulable_pods{plugin="GangScheduling",profile="default-scheduler"} 1`)
	h.apply(submit("b", 700, member("g")))
	h.expect(`
		scheduler_queued_entities{queue="active",type="podgroup"} 1
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="active",type="podgroup"} 1
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="unschedulable",type="podgroup"} 1`)
	h.settle()
	h.expect(`
		scheduler_podgroup_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
		scheduler_podgroup_scheduling_attempt_duration_seconds_count{profile="default-scheduler",result="unschedulable"} 1
		scheduler_podgroup_scheduling_attempt_duration_seconds_sum{profile="default-scheduler",result="unschedulable"} 0.007
		scheduler_podgroup_scheduling_algorithm_duration_seconds_count 1
		scheduler_podgroup_scheduling_algorithm_duration_seconds_sum 0.004
		scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 2
		scheduler_scheduling_algorithm_duration_seconds_count 2
		scheduler_scheduling_algorithm_duration_seconds_sum 0.003
		scheduler_preemption_attempts_total
		scheduler_queued_entities{queue="backoff",type="podgroup"} 1
		scheduler_queue_incoming_entities_total{event="ScheduleAttemptFailure",queue="backoff",type="podgroup"} 1
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="active",type="podgroup"} 1
		scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="unschedulable",type="podgroup"} 1`)

	h.apply(node("n2", 1000))
	h.later(time.Minute)
	h.settle()
	h.expect(`
		scheduler_podgroup_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
		scheduler_podgroup_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
		scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 2
		scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 2
		scheduler_pod_scheduling_attempts_count 2
		scheduler_pod_scheduling_attempts_sum 4
		scheduler_queued_entities
		scheduler_unschedulable_pods
		scheduler_goroutines`)
	if n, trees := len(h.metrics.recorder.pods), len(h.metrics.recorder.trees); n+trees != 0 {
		t.Errorf("%d pods and %d trees are remembered", n, trees)
	}
}

func TestGroupThatMakesRoom(t *testing.T) {
	h := newHistory(t)
	high := func(w *model.Workload) { w.Group, w.Priority = "g", 10 }
	g := gang("g", 2)
	g.Value().(*model.Group).Priority = 10
	h.apply(node("n1", 1000), node("n2", 1000), submit("x", 900), submit("y", 900))
	h.settle()
	h.apply(g, submit("a", 700, high), submit("b", 700, high))
	h.settle()
	h.expect(`
		scheduler_podgroup_schedule_attempts_total{profile="default-scheduler",result="waiting_on_preemption"} 1
		berth_evictions_total{for="podgroup"} 2`)
	h.apply(engine.Remove("x"), engine.Remove("y"))
	h.later(time.Minute)
	h.settle()
	h.expect(`
		scheduler_podgroup_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
		scheduler_podgroup_schedule_attempts_total{profile="default-scheduler",result="waiting_on_preemption"} 1
		scheduler_workload_preemption_victims_count 1
		scheduler_workload_preemption_victims_sum 2
		scheduler_preemption_victims`)
}

func TestProfiles(t *testing.T) {
	h := newHistory(t, func(c *engine.Config) {
		other := plugins.DefaultProfile()
		other.Name = "calm"
		other.Remove(plugins.DefaultPreemption)
		c.Profiles = append(c.Profiles, other)
	})
	h.apply(node("n1", 1000),
		submit("a", 2000, func(w *model.Workload) { w.Profile = "" }),
		submit("b", 2000, func(w *model.Workload) { w.Profile = "calm" }))
	h.settle()
	h.expect(`
		scheduler_schedule_attempts_total{profile="calm",result="unschedulable"} 1
		scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
		scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="calm"} 1
		scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1
		scheduler_preemption_attempts_total 1`)
}
