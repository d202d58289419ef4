package metriclevel

import (
	"regexp"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
)

// counted are the metrics whose values are compared after histories.
var counted = []string{
	"scheduler_schedule_attempts_total", "scheduler_scheduling_attempt_duration_seconds",
	"scheduler_scheduling_algorithm_duration_seconds", "scheduler_pod_scheduling_attempts",
	"scheduler_pod_scheduling_sli_duration_seconds", "scheduler_pod_scheduled_after_flush_total",
	"scheduler_permit_wait_duration_seconds", "scheduler_goroutines",
	"scheduler_queue_incoming_pods_total", "scheduler_queue_incoming_entities_total",
	"scheduler_queued_entities", "scheduler_unschedulable_pods",
	"scheduler_preemption_attempts_total", "scheduler_preemption_victims",
	"scheduler_podgroup_schedule_attempts_total", "scheduler_podgroup_scheduling_attempt_duration_seconds",
	"scheduler_podgroup_scheduling_algorithm_duration_seconds", "scheduler_workload_preemption_victims",
	"scheduler_volume_scheduling_stage_error_total",
	"scheduler_plugin_evaluation_total", "scheduler_workload_preemption_attempts_total",
	"scheduler_preemption_evaluation_duration_seconds", "scheduler_preemption_execution_duration_seconds",
	"scheduler_generated_placements_total", "scheduler_placement_evaluations_total",
	"scheduler_placement_evaluation_duration_seconds",
}

// excuse is a difference between values that is meant to be, in histories about
// the listed things.
type excuse struct {
	about   []decisionlevel.About
	series  *regexp.Regexp
	reason  string
	atMost  bool // Berth's value is never more than kube-scheduler's
	atLeast bool // nor less
}

var (
	everywhere = []decisionlevel.About{decisionlevel.Pods, decisionlevel.Groups, decisionlevel.Devices}
	gates      = []decisionlevel.About{decisionlevel.Groups, decisionlevel.Devices}
	groups     = []decisionlevel.About{decisionlevel.Groups}
)

var excuses = []excuse{
	{everywhere, regexp.MustCompile(`^(sum of )?scheduler_(workload_)?preemption_victims\{`),
		"observed when the pod is tried again: only then is it known that all were asked", true, false},
	{gates, regexp.MustCompile(`^scheduler_queue_incoming_(pods|entities)_total\{.*queue="unschedulable"`),
		"the queue does not tell of a pod that is gated and, when it is looked at again, stays so", true, false},
	{gates, regexp.MustCompile(`^scheduler_unschedulable_pods\{plugin="(DynamicResources|SchedulingGates|GangScheduling)"`),
		"the queue tells of the first gate of a gated pod, and of one gate for all members of a group", false, false},
	{groups, regexp.MustCompile(`^scheduler_queue_incoming_pods_total\{event="UnscheduledPodAdd"`),
		"kube-scheduler counts all members again when one joins", true, false},
	{groups, regexp.MustCompile(`^scheduler_permit_wait_duration_seconds\{`),
		"a group that fits is let through as one, nobody waits for the others", true, false},
	{groups, regexp.MustCompile(`^scheduler_scheduling_algorithm_duration_seconds\{`),
		"the tries in which DefaultPreemption makes room for a group are told to nobody", true, false},
	{groups, regexp.MustCompile(`^scheduler_podgroup_schedul.*(result="error"|algorithm)`),
		"kube-scheduler does not count attempts that fail because members do not agree", false, true},
	{everywhere, regexp.MustCompile(`^scheduler_plugin_evaluation_total\{extension_point="PreFilter",plugin="(NodeUnschedulable|TaintToleration)"`),
		"the plugin has no PreFilter", true, false},
	{everywhere, regexp.MustCompile(`^scheduler_plugin_evaluation_total\{extension_point="(PreScore|Score)",plugin="VolumeBinding"`),
		"the plugin is left out where it scores nothing", true, false},
	{everywhere, regexp.MustCompile(`^scheduler_plugin_evaluation_total\{extension_point="PreScore",plugin="ImageLocality"`),
		"in kube-scheduler the plugin has no PreScore", false, true},
	{groups, regexp.MustCompile(`^scheduler_plugin_evaluation_total\{extension_point="Filter"`),
		"DefaultPreemption asks again only about the members of a group whose answer may be another", false, false},
	{groups, regexp.MustCompile(`^scheduler_preemption_evaluation_duration_seconds\{preemptor="podgroup"`),
		"observed also where a group may not displace anybody, or waits for those that leave already", false, true},
}
