// Package metrics has the metrics of kube-scheduler 1.37.1, fed by Berth's engine,
// and Berth's own, whose names begin with "berth_".
//
//	m := metrics.New(metrics.Options{Profiles: config.Profiles})
//	config.Listener = m.Listener() // or in an engine.Tee
//	e, err := engine.New(config)
//	m.Sample(e)
//	// gather from m.Registry()
//
// Names, types, help, levels, labels and buckets are kube-scheduler's, and so is
// what is counted when: the module parity compares both after the same histories.
// Durations are measured here, between events, or by the engine's clock.
//
// # From the engine's events (Listener)
//
//	schedule_attempts_total, scheduling_attempt_duration_seconds,
//	scheduling_algorithm_duration_seconds, pod_scheduling_attempts,
//	pod_scheduling_sli_duration_seconds, pod_scheduled_after_flush_total,
//	permit_wait_duration_seconds, queue_incoming_pods_total,
//	queue_incoming_entities_total, queued_entities, unschedulable_pods,
//	preemption_attempts_total, and the podgroup_ ones, where groups are on
//
// With less than kube-scheduler has:
//
//   - framework_extension_point_duration_seconds: Filter, with PreFilter and
//     extenders; Score, with PreScore, normalizing and extenders; Reserve; and
//     Permit, with PreBindPreFlight. For members of groups Filter and Score only.
//     The engine does not tell of points apart from each other, nor of the others.
//     A PreFilter plugin that turns a pod down ends Filter with Success.
//   - preemption_victims, workload_preemption_victims: observed when the pod or
//     group is tried again or goes, and without victims that somebody else had
//     asked to leave before.
//   - queue_incoming_*: not again, for a gated pod that an event has the gates
//     asked about and that stays gated, and for the other members of a group that
//     one joins.
//   - unschedulable_pods: of a gated pod whose gate opens while another closes, the
//     first; of a group, one gate for all members.
//   - queued_entities: members of a group that was deleted stay counted until the
//     group is there again or they go.
//   - goroutines: operation "binding" only, the pods that wait on Permit or are
//     being bound. Other work is not on goroutines of its own for longer than a
//     decision.
//   - volume_scheduling_stage_error_total: failures of Filter, Reserve and PreBind
//     of VolumeBinding that end an attempt or are reported.
//   - scheduling_algorithm_duration_seconds: without the tries in which room is
//     made for a group; podgroup_scheduling_algorithm_duration_seconds without the
//     scoring of placements after the last try.
//   - podgroup_schedule_attempts_total: also attempts that fail because the members
//     do not agree, which kube-scheduler does not count.
//
// An attempt also ends when its pod is seen on its node before the answer to its
// binding has come: scheduled; on another node, or deleted while it is bound:
// error; deleted while it waits on Permit: unschedulable.
//
// # From what the engine measures (Listener.PluginRan and those after it)
//
//	plugin_execution_duration_seconds, plugin_evaluation_total,
//	queueing_hint_execution_duration_seconds, event_handling_duration_seconds,
//	and where groups are on preemption_evaluation_duration_seconds,
//	preemption_execution_duration_seconds, workload_preemption_attempts_total,
//	generated_placements_total, placement_evaluations_total and
//	placement_evaluation_duration_seconds
//
// Otherwise than kube-scheduler has it:
//
//   - plugin_execution_duration_seconds: one cycle in ten is sampled, as there, but of
//     that one call of a plugin in 16, so the counts and sums of Filter, Score and the
//     extensions of PreFilter are no measure against those of other points. (There
//     every node is, and what is more than 1,000 observations in a second is lost.)
//     The points of groups are in every cycle, PlacementFeasible too; of PreEnqueue
//     each tenth call of a plugin. Never Sign: pods are signed only to explain.
//   - plugin_evaluation_total: NodeUnschedulable and TaintToleration have no
//     PreFilter here, VolumeBinding is left out where it scores nothing, and
//     ImageLocality has a PreScore; DefaultPreemption asks again only about the
//     members of a group whose answer may be another.
//   - queueing_hint_execution_duration_seconds: the first hint that says Queue
//     settles it; there others may be asked before it.
//   - event_handling_duration_seconds: the time that the queue takes, without that of
//     recording, which is shared by the changes that come together. An update of a
//     pod that waits is UnscheduledPodUpdate only. AssignedPodAdd is observed when the
//     pod is bound, where Berth has bound it.
//   - preemption_evaluation_duration_seconds: the whole of DefaultPreemption's turn,
//     also where a group may not displace anybody or waits for some that leave already.
//   - preemption_execution_duration_seconds: until all evictions are accepted, or the
//     first has failed and those under way are over; not where the pod or group
//     needs no room any more by then.
//
// # Sampled when they are gathered (Sample)
//
//	pending_pods, cache_size, berth_store_objects, berth_remembered_events,
//	inflight_events: event "PodPopped" only, since the engine counts the other
//	events without their names, in berth_remembered_events
//
// # Reported by other parts of the adapter
//
//	async_api_call_*, pending_async_api_calls (APIWrite and its like),
//	dra_bindingconditions_* (ConditionsAwaited),
//	dynamic_resource_allocation_resourceclaim_creates_total (ClaimCreated)
//
// # Not there
//
// Nothing is registered that is never fed. The list with all reasons is in the
// module parity (internal/metriclevel/missing_test.go). The engine does not tell what
// was protected (preemption_workload_disruptions, preemption_pdb_violations_total);
// and Berth has no batches (batch_*, get_node_hint_duration_seconds,
// store_schedule_results_duration_seconds), no goroutines for preemption, no
// functions before queueing hints, and no cache of its volume binder.
//
// /metrics/resources is [ResourcesHandler].
package metrics
