package metriclevel

const (
	noBatch  = "Berth does not batch: each pod is decided for itself"
	noBudget = "the engine does not tell which victims were protected"
)

// missing are the metrics of kube-scheduler that Berth does not have, and why.
var missing = map[string]string{
	"scheduler_preemption_workload_disruptions": noBudget,
	"scheduler_preemption_pdb_violations_total": noBudget,

	"scheduler_preemption_goroutines_duration_seconds": "there is no goroutine for a preemption: each eviction is a task of its own; deprecated since 1.37",
	"scheduler_preemption_goroutines_execution_total":  "there is no goroutine for a preemption: each eviction is a task of its own",

	"scheduler_batch_attempts_total":                    noBatch,
	"scheduler_batch_cache_flushed_total":               noBatch,
	"scheduler_batch_rescore_attempts_total":            noBatch,
	"scheduler_batch_rescore_duration_seconds":          noBatch,
	"scheduler_get_node_hint_duration_seconds":          noBatch,
	"scheduler_store_schedule_results_duration_seconds": noBatch,

	"scheduler_pre_queueing_hint_evaluations_total": "there are no such functions (SchedulerPreQueueingHints, alpha): the queue looks pods up by plugin",
	"scheduler_volume_binder_cache_requests_total":  "nothing counts in it, in kube-scheduler either",
}
