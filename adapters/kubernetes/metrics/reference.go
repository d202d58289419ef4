package metrics

import "k8s.io/component-base/metrics"

// reference are kube-scheduler's metrics that events and reports feed; those
// that are sampled are in sampled.go. Names, labels, buckets, levels and help
// are data that dashboards and alerts depend on: they are those of
// pkg/scheduler/metrics/metrics.go, framework/plugins/volumebinding/metrics and
// k8s.io/dynamic-resource-allocation/resourceclaim/metrics, 1.37.1, and the
// parity module compares them.
type reference struct {
	attempts        *metrics.CounterVec
	attemptTook     *metrics.HistogramVec
	algorithmTook   *metrics.Histogram
	pointTook       *metrics.HistogramVec
	pluginTook      *metrics.HistogramVec
	pluginAsked     *metrics.CounterVec
	permitWaited    *metrics.HistogramVec
	hintTook        *metrics.HistogramVec
	sliTook         *metrics.HistogramVec
	podAttempts     *metrics.Histogram
	afterFlush      *metrics.Counter
	unschedulable   *metrics.GaugeVec
	goroutines      *metrics.GaugeVec
	incomingPods    *metrics.CounterVec
	incoming        *metrics.CounterVec
	queued          *metrics.GaugeVec
	preempted       *metrics.Histogram
	preemptions     *metrics.Counter
	volumeFailures  *metrics.CounterVec
	eventTook       *metrics.HistogramVec
	apiCalls        *metrics.CounterVec
	apiCallTook     *metrics.HistogramVec
	apiCallsPending *metrics.GaugeVec
	claimsCreated   *metrics.CounterVec
	conditionsMet   *metrics.CounterVec
	conditionsTook  *metrics.HistogramVec

	// Nil where groups are off.
	groupAttempts       *metrics.CounterVec
	groupAttemptTook    *metrics.HistogramVec
	groupAlgorithmTook  *metrics.Histogram
	groupPreempted      *metrics.Histogram
	groupPreemptions    *metrics.CounterVec
	preemptionEvaluated *metrics.HistogramVec
	preemptionExecuted  *metrics.HistogramVec

	// Nil where placements are off.
	placements      *metrics.CounterVec
	placementsTried *metrics.CounterVec
	placementTook   *metrics.HistogramVec
}

func (r *reference) define(d definer, o Options) {
	r.defineAttempts(d)
	r.defineQueue(d)
	r.defineEvents(d)
	r.defineReports(d)
	if o.Groups {
		r.defineGroups(d)
		r.defineRoom(d)
	}
	if o.Placements {
		r.definePlacements(d)
	}
}

func (r *reference) defineAttempts(d definer) {
	r.attempts = d.counters(metrics.STABLE, "scheduler_schedule_attempts_total",
		"Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem.",
		"result", "profile")
	r.attemptTook = d.histograms(metrics.STABLE, "scheduler_scheduling_attempt_duration_seconds",
		"Scheduling attempt latency in seconds (scheduling algorithm + binding)",
		metrics.ExponentialBuckets(0.001, 2, 15), "result", "profile")
	r.algorithmTook = d.histogram(metrics.BETA, "scheduler_scheduling_algorithm_duration_seconds",
		"Scheduling algorithm latency in seconds", metrics.ExponentialBuckets(0.001, 2, 15))
	r.pointTook = d.histograms(metrics.STABLE, "scheduler_framework_extension_point_duration_seconds",
		"Latency for running all plugins of a specific extension point.",
		metrics.ExponentialBuckets(0.0001, 2, 12), "extension_point", "status", "profile")
	r.pluginTook = d.histograms(metrics.BETA, "scheduler_plugin_execution_duration_seconds",
		"Duration for running a plugin at a specific extension point.",
		metrics.ExponentialBuckets(0.00001, 1.5, 20), "plugin", "extension_point", "status")
	r.pluginAsked = d.counters(metrics.BETA, "scheduler_plugin_evaluation_total",
		"Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, Filter, PreScore, and Score).",
		"plugin", "extension_point", "profile")
	r.permitWaited = d.histograms(metrics.BETA, "scheduler_permit_wait_duration_seconds",
		"Duration of waiting on permit.", metrics.ExponentialBuckets(0.001, 2, 15), "result")
	r.sliTook = d.histograms(metrics.BETA, "scheduler_pod_scheduling_sli_duration_seconds",
		"E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.",
		metrics.ExponentialBuckets(0.01, 2, 20), "attempts")
	r.podAttempts = d.histogram(metrics.STABLE, "scheduler_pod_scheduling_attempts",
		"Number of attempts to successfully schedule a pod.", metrics.ExponentialBuckets(1, 2, 5))
	r.goroutines = d.gauges(metrics.BETA, "scheduler_goroutines",
		"Number of running goroutines split by the work they do such as binding.", "operation")
	r.preempted = d.histogram(metrics.STABLE, "scheduler_preemption_victims",
		"Number of selected preemption victims for preemption initiated by a single pod", metrics.ExponentialBuckets(1, 2, 7))
	r.preemptions = d.counter(metrics.STABLE, "scheduler_preemption_attempts_total",
		"Total preemption attempts in the cluster till now")
	r.volumeFailures = d.counters(metrics.ALPHA, "scheduler_volume_scheduling_stage_error_total",
		"Volume scheduling stage error count", "operation")
}

func (r *reference) defineQueue(d definer) {
	r.afterFlush = d.counter(metrics.ALPHA, "scheduler_pod_scheduled_after_flush_total",
		"Number of pods that were successfully scheduled after being flushed from unschedulableEntities due to timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues.")
	r.unschedulable = d.gauges(metrics.BETA, "scheduler_unschedulable_pods",
		"The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.",
		"plugin", "profile")
	r.incomingPods = d.counters(metrics.STABLE, "scheduler_queue_incoming_pods_total",
		"Number of pods added to scheduling queues by event and queue type.", "queue", "event")
	r.incoming = d.counters(metrics.ALPHA, "scheduler_queue_incoming_entities_total",
		"Number of scheduling entities added to scheduling queues by event, queue type, and entity type. Entity types are either 'pod' (for individual pods that are not members of any podgroup) or 'podgroup'.",
		"queue", "event", "type")
	r.queued = d.gauges(metrics.ALPHA, "scheduler_queued_entities",
		"Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' stands for individual pods that are not members of any podgroup) by the queue type. 'active' means number of entities in activeQ; 'backoff' means number of entities in backoffQ; 'unschedulable' means number of entities in unschedulableEntities that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable entities that the scheduler never attempted to schedule because they are gated.",
		"queue", "type")
}

// defineEvents is about what happens to events.
func (r *reference) defineEvents(d definer) {
	r.eventTook = d.histograms(metrics.ALPHA, "scheduler_event_handling_duration_seconds",
		"Event handling latency in seconds.", metrics.ExponentialBuckets(0.0001, 2, 12), "event")
	r.hintTook = d.histograms(metrics.ALPHA, "scheduler_queueing_hint_execution_duration_seconds",
		"Duration for running a queueing hint function of a plugin.",
		metrics.ExponentialBuckets(0.00001, 1.5, 20), "plugin", "event", "hint")
}

// defineReports is about what other parts of the adapter report.
func (r *reference) defineReports(d definer) {
	r.apiCalls = d.counters(metrics.ALPHA, "scheduler_async_api_call_execution_total",
		"Total number of API calls executed by the async dispatcher.", "call_type", "result")
	r.apiCallTook = d.histograms(metrics.ALPHA, "scheduler_async_api_call_execution_duration_seconds",
		"Duration in seconds for executing API call in the async dispatcher.",
		metrics.ExponentialBuckets(0.001, 2, 15), "call_type", "result")
	r.apiCallsPending = d.gauges(metrics.ALPHA, "scheduler_pending_async_api_calls",
		"Number of API calls currently pending in the async queue.", "call_type")
	r.claimsCreated = d.counters(metrics.ALPHA, "dynamic_resource_allocation_resourceclaim_creates_total",
		"Number of ResourceClaims creation requests, categorized by creation status, admin access, and owning API group and kind (either Pod or scheduling.k8s.io/PodGroup)",
		"status", "admin_access", "owner_api_group", "owner_api_kind")
	r.conditionsMet = d.counters(metrics.ALPHA, "scheduler_dra_bindingconditions_allocations_total",
		"Number of allocations using devices with BindingConditions, counted per driver per scheduling attempt",
		"profile", "driver", "status")
	r.conditionsTook = d.histograms(metrics.ALPHA, "scheduler_dra_bindingconditions_wait_duration_seconds",
		"Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.",
		metrics.ExponentialBuckets(0.1, 2, 14), "profile", "driver", "status")
}

func (r *reference) defineGroups(d definer) {
	r.groupAttempts = d.counters(metrics.ALPHA, "scheduler_podgroup_schedule_attempts_total",
		"Number of attempts to schedule pod group, by the result. 'unschedulable' means a pod group could not be scheduled, while 'error' means an internal scheduler problem.",
		"result", "profile")
	r.groupAttemptTook = d.histograms(metrics.ALPHA, "scheduler_podgroup_scheduling_attempt_duration_seconds",
		"Pod group scheduling attempt latency in seconds", metrics.ExponentialBuckets(0.001, 2, 15), "result", "profile")
	r.groupAlgorithmTook = d.histogram(metrics.ALPHA, "scheduler_podgroup_scheduling_algorithm_duration_seconds",
		"Pod group scheduling algorithm latency in seconds", metrics.ExponentialBuckets(0.001, 2, 15))
	r.groupPreempted = d.histogram(metrics.ALPHA, "scheduler_workload_preemption_victims",
		"Number of pod preemption victims caused by workload preemption.", metrics.ExponentialBuckets(1, 2, 11))
}

// defineRoom is about room that is made, for pods by themselves too: kube-scheduler
// has these where groups are on.
func (r *reference) defineRoom(d definer) {
	r.groupPreemptions = d.counters(metrics.ALPHA, "scheduler_workload_preemption_attempts_total",
		"Total preemption attempts initiated by workload (including pod groups) in the cluster till now.", "result")
	r.preemptionEvaluated = d.histograms(metrics.ALPHA, "scheduler_preemption_evaluation_duration_seconds",
		"Duration in seconds for identifying the target preemption victims.",
		metrics.ExponentialBuckets(0.001, 2, 16), "preemptor", "result")
	r.preemptionExecuted = d.histograms(metrics.ALPHA, "scheduler_preemption_execution_duration_seconds",
		"Duration in seconds for preempting the target preemption victims. With async preemption enabled, preemption execution does not block the scheduling of other pods.",
		metrics.ExponentialBuckets(0.001, 2, 16), "preemptor", "result")
}

func (r *reference) definePlacements(d definer) {
	r.placements = d.counters(metrics.ALPHA, "scheduler_generated_placements_total",
		"Number of candidate placements generated when scheduling pod groups.", "profile")
	r.placementsTried = d.counters(metrics.ALPHA, "scheduler_placement_evaluations_total",
		"Number of candidate placements evaluated when scheduling pod groups, by result. 'feasible' means the pod group fit into the placement, while 'infeasible' means it did not.",
		"result", "profile")
	r.placementTook = d.histograms(metrics.ALPHA, "scheduler_placement_evaluation_duration_seconds",
		"Latency in seconds of evaluating a single candidate placement when scheduling pod groups, by result. 'feasible' means the pod group fit into the placement, while 'infeasible' means it did not.",
		metrics.ExponentialBuckets(0.001, 2, 15), "result", "profile")
}
